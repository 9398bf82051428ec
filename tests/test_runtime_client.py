"""The client: reads from the cache, writes behind token buckets, and what is counted of them."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from simpy.events import Event

from kubequeue import InvalidArgumentError, Simulation, to_perfetto
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.objects import Lease, LeaseSpec, Node, NodeStatus, ObjectMeta, Pod, Service
from kubequeue.errors import ConflictError, NotFoundError, ServerTimeoutError, UnavailableError
from kubequeue.runtime import limits
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.client import Client
from kubequeue.runtime.limits import CLIENT_GO, OFF, RateLimits

Steps = Generator[Event, Any, Any]
BOUNDS = ("0.005", "0.025", "0.1", "0.25", "0.5", "1", "2", "4", "8", "15", "30", "60")


class Rig:
    """A server, a cache that watches what it is told to, and a client."""

    def __init__(self, limits: RateLimits = OFF, latency: float = 0.0, *kinds: type[Any]) -> None:
        self.sim = Simulation()
        self.server = FaultyServer(self.sim, APIServer(self.sim, latency=latency))
        self.cache = Cache(self.sim, self.server, "operator")
        for kind in kinds:
            self.cache.informer(kind)
        self.cache.start()
        self.client = Client(self.sim, self.cache, self.server, "operator", limits)

    def run(self, steps: Steps) -> Any:
        """What ``steps`` return, however long they take."""
        process = self.sim.process(steps)
        process.defused = True
        self.sim.run(until=self.sim.now + 1000)
        if isinstance(process.value, Exception):
            raise process.value
        return process.value


def pod(name: str) -> Pod:
    return Pod(ObjectMeta(name, "default"))


def test_a_write_reaches_the_server_and_the_cache_later() -> None:
    """Between the two, a reconciler reads what was before its own write."""
    rig = Rig(OFF, 0.0, Pod)
    rig.cache.informer(Pod).lag = 3.0
    rig.sim.settle()
    writing = rig.sim.process(rig.client.create(pod("a")))
    rig.sim.settle()
    created: Any = writing.value
    assert [each.metadata.name for each in rig.server.store.list(Pod).items] == ["a"]
    assert rig.client.list(Pod) == []
    with pytest.raises(NotFoundError):
        rig.client.get(Pod, "default/a")
    rig.sim.run(until=3)
    assert rig.client.get(Pod, "default/a").metadata.uid == created.metadata.uid


def test_every_verb_reaches_the_server() -> None:
    """Create, read live, update, status, patch, delete: each as the server does it."""
    rig = Rig()
    client = rig.client

    def steps() -> Steps:
        node = yield from client.create(Node(ObjectMeta("n")))
        node = yield from client.update_status(replace(node, status=NodeStatus(ready=False)))
        node = yield from client.patch(
            Node, "/n", lambda n: replace(n, spec=replace(n.spec, unschedulable=True))
        )
        live = yield from client.live.get(Node, "/n")
        assert live == node
        assert (live.status.ready, live.spec.unschedulable) == (False, True)
        listed = yield from client.live.list(Node)
        assert listed.items == (node,)
        yield from client.update(replace(node, spec=replace(node.spec, unschedulable=False)))
        with pytest.raises(ConflictError):
            yield from client.update(node)
        yield from client.delete(Node, "/n")
        with pytest.raises(NotFoundError):
            yield from client.live.get(Node, "/n")

    rig.run(steps())


def test_fifty_workers_behind_one_small_bucket() -> None:
    """NTH-1280: 50 workers with 10 serial calls each at 5/10 wait 10 s a call, 98 s in all."""
    rig = Rig(replace(CLIENT_GO, shared=True), 0.01)
    ended: list[float] = []

    def worker(number: int) -> Steps:
        for call in range(10):
            # Two kinds, and yet one bucket.
            obj: Any = pod(f"p-{number}-{call}")
            if call % 2:
                obj = Lease(ObjectMeta(f"l-{number}-{call}", "default"), LeaseSpec())
            yield from rig.client.create(obj)
        ended.append(rig.sim.now)

    for number in range(50):
        rig.sim.process(worker(number))
    rig.sim.run(until=200)
    assert len(ended) == 50
    assert max(ended) == pytest.approx(98.01, abs=1e-6)
    waits = [i.values[0] / 1e9 for i in rig.sim.trace.instants if i.kind == "sent"]
    assert len(waits) == 500
    assert waits[:60] == pytest.approx(
        [0.0] * 10 + [0.2 * n for n in range(1, 41)] + [8.19 + 0.2 * n for n in range(10)]
    )
    assert waits[60:] == pytest.approx([9.99] * 440)


def test_each_kind_has_a_bucket_of_its_own() -> None:
    """So Pods that are created in numbers do not hold up Services or the lease."""
    rig = Rig(CLIENT_GO)
    pods = [rig.sim.process(rig.client.create(pod(f"p{n}"))) for n in range(20)]
    service = rig.sim.process(rig.client.create(Service(ObjectMeta("s", "default"))))
    rig.sim.settle()
    assert sum(process.triggered for process in pods) == 10
    assert service.triggered
    rig.sim.run(until=2)
    assert all(process.triggered for process in pods)


def test_live_reads_take_tokens_and_time_and_cached_reads_do_not() -> None:
    """A read past the cache costs what a write costs."""
    rig = Rig(RateLimits(1, 1), 0.5, Pod)

    def steps() -> Steps:
        for _ in range(3):
            rig.client.list(Pod)
            yield from rig.client.live.list(Pod)
        return rig.sim.now

    rig.sim.run(until=10)
    assert rig.run(steps()) == 12.5


def test_live_reads_take_no_token_from_writes() -> None:
    """The API reader is a client of its own; only a bucket for everything is for both."""
    ends = []
    for shared in (False, True):
        rig = Rig(RateLimits(0.1, 1, shared=shared))

        def steps(rig: Rig = rig) -> Steps:
            yield from rig.client.live.list(Pod)
            yield from rig.client.create(pod("a"))
            return rig.sim.now

        ends.append(rig.run(steps()))
    assert ends == [0.0, 10.0]


def test_the_presets() -> None:
    """What each version of KubeRay does to its own calls."""
    assert (limits.KUBERAY.qps, limits.KUBERAY.burst) == (100, 200)
    assert (limits.KUBERAY_1_3.qps, limits.KUBERAY_1_3.burst) == (20, 30)
    assert (limits.CLIENT_GO.qps, limits.CLIENT_GO.burst) == (5, 10)
    assert limits.KUBERAY_1_4.off
    assert limits.OFF.off


@pytest.mark.parametrize(
    ("qps", "burst"), [(0, 10), (float("nan"), 10), (5, 0), (5, 1.5), ("5", 10)]
)
def test_limits_that_make_no_sense_are_refused(qps: Any, burst: Any) -> None:
    """Zero QPS would stand for client-go's default in Go; here it is asked for by its name."""
    with pytest.raises(InvalidArgumentError, match="expected"):
        RateLimits(qps, burst)
    with pytest.raises(InvalidArgumentError, match="RateLimits, such as KUBERAY or OFF"):
        Rig((5, 10))  # type: ignore[arg-type]


def test_calls_are_counted_by_code_and_timed() -> None:
    """The families of client-go, with their labels, and buckets that a dashboard expects."""
    rig = Rig(RateLimits(1, 1), 0.1)
    rig.server.fail("create", Pod, times=1)
    rig.server.lose_answer("delete", Pod)

    def steps() -> Steps:
        for _ in range(2):
            with contextlib.suppress(UnavailableError):
                yield from rig.client.create(pod("a"))
        with pytest.raises(ServerTimeoutError):
            yield from rig.client.delete(Pod, "default/a")

    rig.run(steps())
    value = rig.sim.metrics.value
    host = "10.96.0.1:443"
    assert value("rest_client_requests_total", code="503", method="POST", host=host) == 1
    assert value("rest_client_requests_total", code="201", method="POST", host=host) == 1
    assert value("rest_client_requests_total", code="504", method="DELETE", host=host) == 1
    # The time of a call counts from before its token: 0.1 s, and then 0.9 s more.
    assert value("rest_client_request_duration_seconds_sum", verb="POST") == pytest.approx(1.1)
    assert value("rest_client_rate_limiter_duration_seconds_sum", verb="POST") == pytest.approx(0.9)
    assert value("rest_client_rate_limiter_duration_seconds_count", verb="DELETE") == 1
    lines = rig.sim.metrics.exposition().splitlines()
    for family in ("request", "rate_limiter"):
        bounds = [
            line.partition('le="')[2].partition('"')[0]
            for line in lines
            if line.startswith(f"rest_client_{family}_duration_seconds_bucket") and "POST" in line
        ]
        assert bounds == [*BOUNDS, "+Inf"]


def test_no_limit_means_no_wait_to_tell_of() -> None:
    """client-go does not time the wait for a limiter that there is not."""
    rig = Rig(OFF)
    rig.run(rig.client.create(pod("a")))
    assert "rest_client_rate_limiter" not in rig.sim.metrics.exposition()


def test_a_call_can_be_followed_in_the_trace() -> None:
    """From the client to the server and back, and into the cache."""
    rig = Rig(RateLimits(1, 1), 0.1, Pod)
    rig.sim.run(until=5)
    rig.run(rig.client.create(pod("a")))
    rig.run(rig.client.create(pod("b")))
    with pytest.raises(NotFoundError):
        rig.run(rig.client.delete(Pod, "default/c"))
    calls = [s for s in rig.sim.trace.spans if s.kind == "call" and s.worker == "create Pod"]
    assert [(s.key, s.start, s.end, s.outcome) for s in calls] == [
        ("default/a", 5.0, 5.1, "201"),
        ("default/b", 1005.0, 1005.1, "201"),
    ]
    story = rig.sim.trace.story("default/a").splitlines()
    assert [line.partition("s  ")[2] for line in story] == [
        "the client asks the server to create Pod default/a.",
        "the cache has Pod default/a, at version 1.",
        "the server answers create Pod default/a with 201.",
    ]
    assert 'pods \\"c\\" not found' in to_perfetto(rig.sim.trace)


def test_a_closed_client_sends_nothing() -> None:
    """A dead process writes no more, and its caller gets no answer to go on with."""
    rig = Rig()
    rig.client.close()
    writing = rig.sim.process(rig.client.create(pod("a")))
    rig.sim.run(until=100)
    assert not writing.triggered
    assert rig.server.store.list(Pod).items == ()


def test_a_client_that_is_closed_while_its_callers_wait_sends_nothing_more() -> None:
    """Neither what waits for a token nor what is on its way there; answers do not come back."""
    rig = Rig(RateLimits(1, 1), 1.0)
    calls = [rig.sim.process(rig.client.create(pod(f"p{n}"))) for n in range(3)]
    rig.sim.run(until=0.7)
    rig.client.close()
    rig.sim.run(until=100)
    assert [each.metadata.name for each in rig.server.store.list(Pod).items] == ["p0"]
    assert not any(call.triggered for call in calls)
    rig = Rig(OFF, 1.0)
    refused = rig.sim.process(rig.client.delete(Pod, "default/a"))
    rig.sim.run(until=0.7)
    rig.client.close()
    rig.sim.run(until=100)
    assert not refused.triggered
