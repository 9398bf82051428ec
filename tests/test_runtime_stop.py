"""What an end of a process does to what runs in it: side by side, in calls, in the last rounds."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from operators import Set, World
from simpy.events import Event

from kubequeue import Request
from kubequeue.cluster.objects import Lease, ObjectMeta, Pod
from kubequeue.errors import APIError, ForbiddenError
from kubequeue.runtime.leaderelection import LeaderElection
from kubequeue.runtime.limits import KUBERAY, RateLimits
from kubequeue.runtime.manager import Manager

Steps = Generator[Event, Any, Any]


def pod(name: str) -> Pod:
    return Pod(ObjectMeta(name, "default"))


def side_by_side(world: World, limits: RateLimits = KUBERAY) -> Manager:
    """A manager whose round creates three Pods side by side; not started."""
    manager = Manager(world.sim, world.server, limits=limits)

    def reconcile(_: Request) -> Steps:
        calls = [manager.process(manager.client.create(pod(f"p{n}"))) for n in range(3)]
        yield from calls

    manager.controller("set", for_=Set, reconcile=reconcile)
    world.add_set("a", 0)
    return manager


def test_writes_can_go_out_side_by_side() -> None:
    """Three calls of a second each take one second."""
    world = World(latency=1.0)
    side_by_side(world).start()
    world.advance(2.1)
    assert world.names() == ["p0", "p1", "p2"]


@pytest.mark.parametrize("limits", [KUBERAY, RateLimits(1, 1)])
def test_what_runs_beside_a_round_is_gone_with_the_process(limits: RateLimits) -> None:
    """Neither a call on its way there nor one that waits for a token is done."""
    world = World(latency=1.0)
    manager = side_by_side(world, limits)
    manager.start()
    world.advance(1.2)
    manager.crash()
    late = manager.process(manager.client.create(pod("late")))
    world.advance(100)
    assert world.names() == []
    assert not late.triggered


def test_an_error_that_nobody_waits_for_is_dropped() -> None:
    """Whoever waits gets it; the round that did not goes on."""
    world = World()
    manager = side_by_side(world)
    seen: list[str] = []

    def fail() -> Steps:
        yield world.sim.sleep(1)
        raise ForbiddenError("operator", "create", "pods", "", "a", "default")

    def wait() -> Steps:
        try:
            yield manager.process(fail())
        except APIError as error:
            seen.append(error.reason)

    manager.process(fail())
    manager.process(wait())
    world.advance(5)
    assert seen == ["Forbidden"]


def test_a_cleanup_that_calls_does_not_keep_a_process_from_its_end() -> None:
    """A deferred call of Go does not run either when its process is killed."""
    world = World()
    world.add_set("a", 0)
    manager = Manager(world.sim, world.server)

    def reconcile(_: Request) -> Steps:
        try:
            yield world.sim.sleep(100)
        finally:
            yield from manager.client.create(pod("cleanup"))

    manager.controller("set", for_=Set, reconcile=reconcile)
    manager.start()
    world.advance(5)
    manager.crash()
    world.advance(100)
    assert manager.end_reason == "crashed"
    assert world.names() == []


# --- A graceful stop cancels what rounds call -------------------------------------------------


def one_call(world: World, call: Any, limits: RateLimits = KUBERAY) -> tuple[Manager, list[Any]]:
    """A manager whose one round makes a call, and when that raised what; started."""
    manager = Manager(world.sim, world.server, limits=limits)
    raised: list[Any] = []

    def reconcile(_: Request) -> Steps:
        try:
            yield from call(manager)
        except APIError as error:
            raised.append((world.sim.now, str(error)))
        raised.append(len(manager.client.list(Set)))
        yield from manager.client.live.get(Set, "default/a")

    manager.controller("set", for_=Set, reconcile=reconcile)
    world.add_set("a", 0)
    manager.start()
    return manager, raised


@pytest.mark.parametrize(("at", "there"), [(1.2, []), (1.7, ["p"])])
def test_a_stop_ends_the_call_under_way(at: float, there: list[str]) -> None:
    """At once, with an error; the write has happened if it had reached the server."""
    world = World(latency=1.0)
    manager, raised = one_call(world, lambda manager: manager.client.create(pod("p")))
    world.sim.run(until=at)
    manager.stop()
    world.sim.settle()
    assert raised == [(at, "context canceled"), 1]
    assert manager.end_reason == "stopped"
    world.advance(100)
    assert world.names() == there
    (round_,) = world.sim.trace.rounds()
    assert (round_.end, round_.outcome) == (at, "error")
    (call,) = [s for s in world.sim.trace.spans if s.kind == "call" and s.worker == "create Pod"]
    assert (call.end, call.outcome) == (at, "0")
    assert "gives up create Pod default/p: context canceled" in world.sim.trace.story()
    value = world.sim.metrics.value
    assert value("rest_client_requests_total", code="<error>", method="POST") == 1


def test_a_stop_ends_the_wait_for_a_token() -> None:
    """Nobody waits 10 s for a token that is for nothing."""
    world = World(latency=0.0)

    def call(manager: Manager) -> Steps:
        yield from manager.client.create(pod("p"))
        yield from manager.client.create(pod("q"))

    manager, raised = one_call(world, call, RateLimits(0.1, 1))
    world.advance(5)
    manager.stop()
    world.sim.settle()
    assert raised == [(5.0, "context canceled"), 1]
    assert manager.end_reason == "stopped"
    assert world.names() == ["p"]


def test_a_stop_from_inside_a_round_is_felt_at_its_next_call() -> None:
    """Also when the call that the server is at work on is what causes the stop."""
    world = World(latency=1.0)
    manager, raised = one_call(world, lambda manager: manager.client.create(pod("p")))
    world.store.watch(Pod).receive(lambda _: manager.stop())
    world.advance(100)
    assert raised == [(1.5, "context canceled"), 1]
    assert manager.end_reason == "stopped"


def test_a_stop_ends_what_is_called_side_by_side() -> None:
    """And leaves no error behind that would end the run."""
    world = World(latency=1.0)
    manager = side_by_side(world)
    manager.start()
    world.advance(1.2)
    manager.stop()
    world.advance(100)
    assert manager.end_reason == "stopped"
    assert world.names() == []


def test_a_stopping_leader_still_renews_and_gives_back_its_lease() -> None:
    """What is cancelled is the context of the rounds, not that of the election."""
    world = World()
    world.add_set("a")
    manager = world.operator(seconds=20.0, leader_election=LeaderElection())
    manager.start()
    world.advance(1)
    manager.stop()
    world.advance(16)
    lease = world.store.get(Lease, "ray-system/ray-operator-leader")
    assert lease.spec.renew_time > 14
    world.advance(5)
    assert manager.end_reason == "stopped"
    lease = world.store.get(Lease, "ray-system/ray-operator-leader")
    assert lease.spec.holder_identity == ""
