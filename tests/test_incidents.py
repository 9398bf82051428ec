"""Public incidents and measurements, as checks of the model: numbers are those of the threads.

KubeRay's own are in test_kuberay_incidents.py; NTH-1280 is with the client.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
from operators import World
from simpy.events import Event

from kubequeue import (
    Controller,
    FIFOQueue,
    ItemExponentialFailureRateLimiter,
    PriorityQueue,
    QueueStalledError,
    Result,
    Simulation,
    TokenBucket,
)
from kubequeue.cluster.objects import ObjectMeta, Pod, key_of
from kubequeue.errors import AlreadyExistsError
from kubequeue.runtime.handler import LOW_PRIORITY
from kubequeue.runtime.manager import Manager
from kubequeue.workqueue.queue import Queue
from kubequeue.workqueue.ratelimiter import default_controller_rate_limiter

Steps = Generator[Event, Any, Any]


def serve(
    make: Callable[..., Queue],
    service: float,
    *,
    workers: int = 1,
    poll: Callable[[str], float] = lambda _: 0.0,
    requeue_priority: int | None = None,
    metrics: bool = False,
) -> tuple[Simulation, Queue, dict[str, float]]:
    """Workers over a queue; when each key was first taken, in the dict."""
    sim = Simulation(trace=False, metrics=metrics)
    queue = make(sim, "served")
    first: dict[str, float] = {}

    def reconcile(request: str) -> Steps:
        first.setdefault(str(request), sim.now)
        yield sim.sleep(service)
        return Result(requeue_after=poll(request), priority=requeue_priority)

    Controller(sim, queue, reconcile, max_concurrent_reconciles=workers).start()
    return sim, queue, first


# --- K0SMOTRON-1534: six machines for one --------------------------------------------------------

STARTS = (0.0, 0.0, 0.0, 10.0, 20.0, 30.0)
FAR_BEHIND = 35.0


def _nothing(_: str) -> Steps:
    """A round of the controller, which is only there for its cache."""
    return
    yield


@pytest.mark.parametrize(
    ("names", "live", "creates", "refused"),
    [("drawn", False, 6, 0), ("fixed", False, 1, 5), ("drawn", True, 1, 0)],
)
def test_k0smotron_1534_a_stale_cache_and_drawn_names(
    names: str, live: bool, creates: int, refused: int
) -> None:
    """Six rounds see no machine: each makes one, if its name is new and nobody looks first."""
    world = World(latency=0.0)
    manager = Manager(world.sim, world.server, lag=FAR_BEHIND)
    manager.controller("machine", for_=Pod, reconcile=_nothing)
    manager.start()
    world.advance(1.0)
    begun, refusals = world.sim.now, []

    def round_() -> Steps:
        there = manager.client.list(Pod, "default")
        if not there and live:
            there = (yield from manager.client.live.list(Pod, "default")).items
        if there:
            return
        meta = ObjectMeta("machine", "default")
        if names == "drawn":
            meta = ObjectMeta(namespace="default", generate_name="machine-")
        try:
            yield from manager.client.create(Pod(meta))
        except AlreadyExistsError as error:
            refusals.append(error)

    def worker() -> Steps:
        """The rounds of one key, one after another."""
        for start in STARTS:
            yield world.sim.sleep(max(begun + start - world.sim.now, 0))
            yield from round_()

    world.sim.process(worker())
    world.sim.run(until=begun + 34.0)
    assert (len(world.names()), len(refusals)) == (creates, refused)
    world.sim.run(until=begun + 100.0)
    surplus = manager.client.list(Pod, "default")[1:]
    for pod in surplus:
        world.store.delete(Pod, key_of(pod))
    assert (len(surplus), len(world.names())) == (creates - 1, 1)


# --- CR-3538, CR-3540: deadlock on shutdown ------------------------------------------------------


@pytest.mark.parametrize(("fixed", "ends_at"), [(False, 30.0), (True, 0.0)])
def test_cr_3538_a_stop_takes_the_whole_grace_period(fixed: bool, ends_at: float) -> None:
    """A hand-over to a waiter that has left keeps the lock: a worker never comes back from done."""
    world = World(latency=0.0)
    manager = Manager(world.sim, world.server)

    def make(sim: Simulation, name: str) -> PriorityQueue:
        return PriorityQueue(sim, name, fixed_shutdown=fixed)

    def reconcile(request: str) -> Steps:
        yield busy if request == "default/busy" else world.sim.sleep(0)

    busy = world.sim.event()
    made = manager.controller(
        "set", for_=Pod, reconcile=reconcile, max_concurrent_reconciles=2, queue=make
    )
    manager.start()
    world.advance(1.0)
    assert made.queue is not None
    made.queue.add("default/busy")
    world.sim.settle()
    made.queue.add("default/late")  # on its way to the worker that waits ...
    assert len(made.queue) == 1
    manager.stop()
    while made.queue is not None and not made.queue.shutting_down:
        world.sim.step()  # ... when the shutdown comes
    busy.succeed()
    world.sim.run(until=100.0)
    assert manager.end_reason == "stopped"
    assert _ended_at(world.sim) - 1.0 == pytest.approx(ends_at, abs=0.01)


def _ended_at(sim: Simulation) -> float:
    return next(i.at for i in sim.trace.instants if i.kind == "lived" and i.values[0] == "ended")


def _released(seed: int, fixed: bool) -> tuple[int, bool]:
    """Twenty add an item and get one while it shuts down: how many come back, and the lock too."""
    sim = Simulation(seed, shuffle_ties=True)
    queue = PriorityQueue(sim, fixed_shutdown=fixed)
    stream, released = sim.stream("test"), []

    def program() -> Steps:
        yield sim.sleep(stream.choice([0.0, 0.01]))
        queue.add(stream.randrange(20))
        released.append((yield from queue.get_with_priority()))

    for _ in range(20):
        sim.process(program())
    sim.call_at(0.01, queue.shut_down)
    sim.run(until=1.0)
    try:
        len(queue)
    except QueueStalledError:
        return len(released), False
    return len(released), True


def test_cr_3538_in_some_order_the_lock_is_never_given_back() -> None:
    """The report's own program, in forty orders of one instant; with the fix in none of them."""
    assert {_released(seed, fixed=True) for seed in range(40)} == {(20, True)}
    assert {_released(seed, fixed=False) for seed in range(40)} == {(20, True), (20, False)}


# --- CR-3330: a ready high-priority item waits behind low ones -----------------------------------


def test_cr_3330_what_is_urgent_and_due_goes_to_the_next_free_worker() -> None:
    """Ten keys at -100, one at 0 due in 1 s, 1 s each: second, or third if just missed.

    The order before 0.22.2 (by the time of becoming ready) would serve it as the eleventh.
    """
    sim, queue, first = serve(PriorityQueue, 1.0)
    queue.add_with_opts(*(f"low/{n}" for n in range(10)), priority=LOW_PRIORITY)
    queue.add_with_opts("urgent", after=1.0)
    sim.run(until=60)
    assert sorted(first, key=first.__getitem__).index("urgent") in (1, 2)
    assert first["urgent"] in (1.0, 2.0)


# --- CR-3496, MIROIR-122: low-priority items starve ----------------------------------------------

POLLED = [f"polled/{n}" for n in range(90)]
NEW = [f"new/{n}" for n in range(3)]


def _starve(make: Callable[..., Queue], service: float, workers: int = 1) -> tuple[Any, Queue]:
    """90 keys polled every 30 s at priority 0, and three at -100; when those were served."""
    sim, queue, first = serve(make, service, workers=workers, poll=lambda _: 30.0)
    for key in POLLED:
        queue.add_with_opts(key, priority=0)
    queue.add_with_opts(*NEW, priority=LOW_PRIORITY)
    sim.run(until=1800)
    return [round(first[key]) for key in NEW if key in first], queue


@pytest.mark.parametrize(
    ("service", "last"), [(0.2, 18), (0.3, 28), (0.33, 60), (0.34, None), (0.5, None)]
)
def test_cr_3496_below_a_load_of_one_they_are_served(service: float, last: int | None) -> None:
    """90 keys every 30 s + s: at 0.33 s there is room for three more, at 0.34 s there is none."""
    served, _ = _starve(PriorityQueue, service)
    if last is None:
        assert served == []
    else:
        assert len(served) == 3
        assert max(served) == pytest.approx(last, abs=2)


@pytest.mark.parametrize(("service", "depth"), [(0.4, 14), (0.5, 29)])
def test_cr_3496_depth_settles_far_below_the_number_of_keys(service: float, depth: int) -> None:
    """What is in line at priority 0: 89 - 30 / s; the three at -100 stand behind it."""
    served, queue = _starve(PriorityQueue, service)
    assert served == []
    assert len(queue) - 3 == pytest.approx(depth, abs=1.5)


def test_cr_3496_what_helped() -> None:
    """Without priorities, at 0.4 s, after 36-37 s; with four workers, at 0.5 s, after 12 s."""
    served, _ = _starve(FIFOQueue, 0.4)
    assert served == pytest.approx([36, 36, 37], abs=1)
    served, _ = _starve(PriorityQueue, 0.5, workers=4)
    assert served == pytest.approx([12, 12, 12], abs=1)


# --- K8S-104554, CG-973: the bucket has no ceiling -----------------------------------------------


def test_k8s_104554_the_last_of_ten_thousand_waits_for_990_s() -> None:
    """10 a second after a burst of 100: item k waits (k - 100) / 10 s; without the bucket 5 ms."""
    sim = Simulation()
    limiter = default_controller_rate_limiter(sim)
    waits = [limiter.when(f"key/{k}") / 1e9 for k in range(1, 10_001)]
    assert waits[:100] == [0.005] * 100
    assert waits[-1] == pytest.approx(990.0)
    assert waits[1_099] == pytest.approx(100.0)
    alone = ItemExponentialFailureRateLimiter()
    assert {alone.when(f"key/{k}") for k in range(10_000)} == {5_000_000}


# --- XPRT-674: the depth metric does not see what the limiter holds ------------------------------


def test_xprt_674_depth_and_queue_time_look_fine() -> None:
    """1,000 keys each 60 s through 10 a second: 6.7 a second more are delayed, none in line."""
    sim = Simulation(trace=False)
    queue = FIFOQueue(sim, "slow")
    bucket = TokenBucket(sim, 10, 100)
    first: dict[str, float] = {}
    asked: dict[str, float] = {}

    def reconcile(request: str) -> Steps:
        first.setdefault(str(request), sim.now)
        yield sim.sleep(0.001)

    def due(number: int) -> Steps:
        yield sim.sleep(number * 0.06)
        while True:
            asked.setdefault(f"due/{number}", sim.now)
            queue.add_after(f"due/{number}", bucket.reserve() / 1e9)
            yield sim.sleep(60.0)

    Controller(sim, queue, reconcile, max_concurrent_reconciles=10).start()
    for number in range(1_000):
        sim.process(due(number))
    sim.run(until=60.0)
    delayed = 1_000 - len(first) - len(queue)
    assert delayed == pytest.approx(60 * 6.7 - 100, abs=10)
    assert len(queue) <= 1
    sim.run(until=300.0)
    waits = [first[key] - asked[key] for key in first]
    assert max(waits) > 25.0
    count = sim.metrics.value("workqueue_queue_duration_seconds_count", name="slow")
    quick = sim.metrics.value("workqueue_queue_duration_seconds_bucket", name="slow", le="0.001")
    assert quick == count > 1_000


# --- AIVEN-1261: the standing population sets the latency ----------------------------------------


@pytest.mark.parametrize(
    ("objects", "service", "minutes"), [(900, 0.93, 14.0), (1_065, 1.06, 18.8), (100, 0.93, 0.0)]
)
def test_aiven_1261_a_new_key_waits_for_all_who_are_there(
    objects: int, service: float, minutes: float
) -> None:
    """One worker, everybody comes back at once or after 100 s: a new key waits N x service."""
    poll = 0.001 if objects > 100 else 105.0
    sim, queue, first = serve(PriorityQueue, service, poll=lambda _: poll)
    queue.add_with_opts(*(f"old/{n}" for n in range(objects)))
    sim.run(until=objects * service + 50)
    queue.add("new")
    asked = sim.now
    sim.run(until=asked + 2_000)
    assert (first["new"] - asked) / 60 == pytest.approx(minutes, abs=0.1)


def test_aiven_1261_polls_at_a_lower_priority_let_it_pass() -> None:
    """The same 900 with their requeues below 0: the next free worker takes the new key."""
    sim, queue, first = serve(
        PriorityQueue, 0.93, poll=lambda _: 0.001, requeue_priority=LOW_PRIORITY
    )
    queue.add_with_opts(*(f"old/{n}" for n in range(900)), priority=LOW_PRIORITY)
    sim.run(until=900)
    queue.add("new")
    sim.run(until=910)
    assert first["new"] - 900 <= 1.0


# --- M1: shipwright, workers against the client's limit ------------------------------------------

BUILDS = 1_150


@pytest.mark.parametrize(
    ("workers", "qps", "burst", "total", "mean"),
    [
        (1, 20, 30, 204, 0.18),
        (5, 20, 30, 56.2, 0.24),
        (10, 20, 30, 56.2, 0.49),
        (50, 20, 30, 56.2, 2.4),
        (10, 100, 100, 20.4, 0.18),
    ],
)
def test_m1_more_workers_make_rounds_longer_and_no_more_of_them(
    workers: int, qps: float, burst: int, total: float, mean: float
) -> None:
    """Measured 204 / 54 / 53 / 53 / 22 s; the limit is one call a round, from 20/30 or 100/100."""
    sim = Simulation(trace=False, metrics=False)
    queue, bucket = PriorityQueue(sim, "build"), TokenBucket(sim, qps, burst)
    took: list[float] = []

    def reconcile(_: str) -> Steps:
        begun = sim.now
        yield sim.sleep(0.177)
        yield sim.sleep(bucket.reserve() / 1e9)
        took.append(sim.now - begun)

    Controller(sim, queue, reconcile, max_concurrent_reconciles=workers).start()
    queue.add_with_opts(*(f"build/{n}" for n in range(BUILDS)))
    sim.run()
    assert sim.now == pytest.approx(total, rel=0.02)
    assert sum(took) / BUILDS == pytest.approx(mean, rel=0.07)


# --- M5: KubeRay on KWOK, how many workers were there really -------------------------------------


@pytest.mark.parametrize(
    ("workers", "qps", "total", "span"),
    [(1, -1.0, 196, 1.96), (10, -1.0, 19.6, 1.96), (10, 51.0, 196, 19.5)],
)
def test_m5_span_and_total_together_tell_the_variants_apart(
    workers: int, qps: float, total: float, span: float
) -> None:
    """100 clusters of 100 Pods, 1.96 s of creates each; measured 200 s and 1.93-1.97 s: one."""
    sim = Simulation(trace=False, metrics=False)
    queue, bucket = PriorityQueue(sim, "kwok"), TokenBucket(sim, abs(qps), 1)
    spans: list[float] = []

    def reconcile(_: str) -> Steps:
        begun = sim.now
        for _pod in range(100):
            throttled = bucket.reserve() / 1e9 if qps > 0 else 0.0
            yield sim.sleep(max(throttled, 0.0196))
        spans.append(sim.now - begun)

    Controller(sim, queue, reconcile, max_concurrent_reconciles=workers).start()
    queue.add_with_opts(*(f"cluster/{n}" for n in range(100)))
    sim.run()
    assert sim.now == pytest.approx(total, rel=0.02)
    assert sorted(spans)[50] == pytest.approx(span, rel=0.02)


# --- M7: the widget benchmark --------------------------------------------------------------------


@pytest.mark.parametrize(("workers", "mean"), [(1, 0.050), (5, 0.248)])
def test_m7_the_client_limit_looks_like_a_slow_server(workers: int, mean: float) -> None:
    """10 ms of work and one write a round at 20/30: 50 and 248 ms, and equal throughput."""
    sim = Simulation(trace=False, metrics=False)
    queue, bucket = PriorityQueue(sim, "widget"), TokenBucket(sim, 20, 30)
    took: list[float] = []

    def reconcile(_: str) -> Steps:
        begun = sim.now
        yield sim.sleep(0.010)
        yield sim.sleep(bucket.reserve() / 1e9)
        took.append(sim.now - begun)

    Controller(sim, queue, reconcile, max_concurrent_reconciles=workers).start()
    queue.add_with_opts(*(f"widget/{n}" for n in range(10_000)))
    sim.run(until=180.0)
    assert len(took) == pytest.approx(180 * 20 + 30, abs=10)
    assert sum(took) / len(took) == pytest.approx(mean, rel=0.02)
