"""A manager: in which order it starts and stops, what its parts share, and what a crash leaves."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from operators import Set, World
from simpy.events import Event

from kubequeue import FIFOQueue, InvalidArgumentError, Request
from kubequeue.cluster.objects import Node, ObjectMeta, Pod, Service
from kubequeue.errors import ConflictError, UnknownNamespaceError
from kubequeue.runtime.builder import Watches
from kubequeue.runtime.handler import (
    LOW_PRIORITY,
    enqueue_request_for_object,
    enqueue_request_for_owner,
)
from kubequeue.runtime.manager import Manager
from kubequeue.runtime.predicates import (
    Predicate,
    and_,
    annotations_changed,
    generation_changed,
    labels_changed,
    or_,
    resource_version_changed,
)

Steps = Generator[Event, Any, Any]


# --- Starting and stopping --------------------------------------------------------------------


def test_from_nothing_to_a_steady_state() -> None:
    """Every Set gets its Pods, its status, and then nobody works any more."""
    world = World()
    for number in range(5):
        world.add_set(f"s{number}", 3)
    world.operator().start()
    world.advance(60)
    assert len(world.names()) == 15
    assert [each.status for each in world.store.list(Set).items] == [3] * 5
    assert world.rounds[-1][2] < 1


def test_caches_then_sync_then_workers() -> None:
    """No round runs before all that the controller watches is in the cache."""
    world = World(latency=1.0)
    world.add_set("a")
    manager = world.operator()
    manager.start()
    world.advance(0.9)
    assert not manager.cache.has_synced
    assert world.rounds == []
    world.advance(0.1)
    assert world.rounds == [("", "default/a", 1.0)]
    assert world.sim.metrics.value("controller_runtime_max_concurrent_reconciles") == 1


def test_the_initial_list_enters_at_low_priority_and_so_does_a_resync() -> None:
    """What has just changed goes before what a restart finds."""
    world = World()
    for number in range(3):
        world.add_set(f"s{number}", 0)
    manager = world.operator(seconds=1.0, resync_period=100)
    manager.start()
    world.advance(0.5)
    world.add_set("new", 0)
    world.advance(89)
    got = [i for i in world.sim.trace.instants if i.kind == "got"]
    assert [(i.key, i.values[0]) for i in got] == [
        ("default/s0", LOW_PRIORITY),
        ("default/new", 0),
        ("default/s1", LOW_PRIORITY),
        ("default/s2", LOW_PRIORITY),
    ]
    world.advance(20)
    again = [i for i in world.sim.trace.instants if i.kind == "got"][4:]
    assert {i.values[0] for i in again} == {LOW_PRIORITY}
    assert len(again) == 4


def test_a_fifo_queue_does_as_well() -> None:
    """The older queue has no priorities, and is handed none that matter."""
    world = World()
    world.add_set("a", 0)
    manager = Manager(world.sim, world.server)
    seen: list[str] = []

    def reconcile(request: Request) -> Steps:
        seen.append(request)
        yield world.sim.sleep(0)

    manager.controller("set", for_=Set, reconcile=reconcile, queue=FIFOQueue)
    manager.start()
    world.advance(1)
    assert seen == ["default/a"]


def test_stop_lets_rounds_end_and_starts_none() -> None:
    """Without a call to the server; then informers end, and the cluster changes unheard."""
    world = World()
    for number in range(3):
        world.add_set(f"s{number}", 1)
    manager = world.operator(seconds=10.0)
    manager.start()
    world.advance(5)
    manager.stop()
    manager.stop()
    assert not manager.ended.triggered
    world.advance(10)
    assert manager.end_reason == "stopped"
    assert world.names() == []
    (round_,) = world.sim.trace.rounds()
    assert round_.end == pytest.approx(10.01, abs=0.02)
    assert round_.outcome == "error"
    world.add_set("late")
    world.advance(100)
    assert len(world.rounds) == 1
    assert len(manager.cache.list(Set)) == 3


def test_what_does_not_end_in_time_is_cut_off() -> None:
    """After graceful_shutdown_timeout the process exits, as the kubelet would have it."""
    world = World()
    world.add_set("a", 1)
    manager = world.operator(seconds=100.0, graceful_shutdown_timeout=30.0)
    manager.start()
    world.advance(5)
    manager.stop()
    world.advance(29.9)
    assert not manager.ended.triggered
    world.advance(0.1)
    assert manager.end_reason == "stopped"
    world.advance(1000)
    assert world.names() == []
    assert world.sim.trace.rounds()[0].outcome == "crashed"


def test_stop_before_the_start() -> None:
    """It never lived, and cannot be started any more."""
    world = World()
    manager = world.operator()
    manager.stop()
    assert manager.end_reason == "stopped"
    with pytest.raises(InvalidArgumentError, match="a new Manager for each life"):
        manager.start()


# --- What is shared ---------------------------------------------------------------------------


def test_three_controllers_with_two_workers_make_six_rounds_at_once() -> None:
    """Each controller has a queue and workers of its own, and all share one informer a kind."""
    world = World()
    for number in range(10):
        world.add_set(f"s{number}", 0)
    manager = Manager(world.sim, world.server)
    running, most = 0, 0

    def reconcile(_: Request) -> Steps:
        nonlocal running, most
        running += 1
        most = max(most, running)
        yield world.sim.sleep(1)
        running -= 1

    for name in ("raycluster", "rayjob", "rayservice"):
        manager.controller(name, for_=Set, reconcile=reconcile, max_concurrent_reconciles=2)
    manager.start()
    world.advance(20)
    assert most == 6
    assert len(world.sim.trace.rounds()) == 30
    calls = [i.actor for i in world.sim.trace.instants if i.kind == "sent"]
    assert calls == ["list Set", "watch Set"]
    active = world.sim.metrics.value("controller_runtime_active_workers")
    assert active == 0


def test_an_owner_is_woken_by_what_it_owns() -> None:
    """By the controller reference alone, in the namespace of the object, before and after."""
    world = World()
    world.add_set("a", 1)
    world.operator().start()
    world.advance(10)
    before = len(world.rounds)
    world.store.delete(Pod, "default/a-0")
    world.advance(10)
    assert world.rounds[before][1] == "default/a"
    assert world.names() == ["a-0"]


def test_handlers_say_which_requests_an_event_stands_for() -> None:
    """The object itself, or its owners of one kind."""
    world = World()
    world.add_set("a", 1)
    world.operator().start()
    world.advance(10)
    pod = world.store.get(Pod, "default/a-0")
    assert enqueue_request_for_object(pod) == ("default/a-0",)
    assert list(enqueue_request_for_owner(Set)(pod)) == ["default/a"]
    assert list(enqueue_request_for_owner(Service)(pod)) == []
    (owner,) = pod.metadata.owner_references
    share = replace(owner, controller=False)
    other = replace(pod, metadata=replace(pod.metadata, owner_references=(share,)))
    assert list(enqueue_request_for_owner(Set)(other)) == []
    assert list(enqueue_request_for_owner(Set, only_controller_owner=False)(other)) == ["default/a"]


def test_predicates() -> None:
    """KubeRay's choice: its own status writes do not wake it, all else does."""
    world = World()
    old = world.add_set("a", 1)
    status = world.store.update_status(replace(old, status=9))
    spec = world.store.update(replace(status, spec=5))
    labels = replace(spec, metadata=replace(spec.metadata, labels={"a": "b"}))
    notes = replace(spec, metadata=replace(spec.metadata, annotations={"a": "b"}))
    any_of = or_(generation_changed, labels_changed, annotations_changed)
    assert [any_of.update(old, new) for new in (status, spec)] == [False, True]
    assert [any_of.update(spec, new) for new in (labels, notes, spec)] == [True, True, False]
    assert any_of.create(old)
    assert any_of.delete(old)
    both = and_(generation_changed, resource_version_changed)
    assert [both.update(old, new) for new in (status, spec, old)] == [False, True, False]
    assert not or_(Predicate(create=lambda _: False)).create(old)
    with pytest.raises(InvalidArgumentError, match="one Predicate or more"):
        or_()
    with pytest.raises(InvalidArgumentError, match="one Predicate or more"):
        and_(generation_changed, "no")  # type: ignore[arg-type]


def test_predicates_are_for_the_kind_itself() -> None:
    """Events of what it owns pass all the same."""
    world = World()
    world.add_set("a", 1)
    manager = Manager(world.sim, world.server)
    seen: list[float] = []

    def reconcile(_: Request) -> Steps:
        seen.append(world.sim.now)
        yield world.sim.sleep(0)

    watches = [Watches(Pod, lambda pod: [Request(pod.metadata.namespace, "mapped")])]
    manager.controller(
        "set", for_=Set, reconcile=reconcile, watches=watches, predicates=generation_changed
    )
    manager.start()
    world.advance(1)
    current = world.store.get(Set, "default/a")
    world.store.update_status(replace(current, status=1))
    world.advance(1)
    assert len(seen) == 1
    world.store.create(Pod(ObjectMeta("p", "default")))
    world.advance(1)
    assert len(seen) == 2


def test_an_answer_from_the_server_is_an_error_and_no_panic() -> None:
    """As in Go: the client returns an error, and the round returns it."""
    world = World()
    world.add_set("a", 1)
    manager = Manager(world.sim, world.server, namespaces="default")
    errors = [ConflictError("sets", "a"), None]

    def reconcile(_: Request) -> Steps:
        yield world.sim.sleep(0)
        error = errors.pop(0) if errors else None
        if error is not None:
            raise error
        manager.client.get(Set, "elsewhere/a")

    manager.controller("set", for_=Set, reconcile=reconcile)
    manager.start()
    world.advance(0.03)
    value = world.sim.metrics.value
    assert value("controller_runtime_reconcile_panics_total") == 0
    assert value("controller_runtime_reconcile_errors_total") == 3
    assert "unknown namespace" in str(UnknownNamespaceError("Set", "elsewhere", ("default",)))


def test_only_watched_namespaces_wake_a_controller() -> None:
    """The others are as if they were not there."""
    world = World()
    for namespace in ("team-a", "team-b", "team-c"):
        world.add_set("x", 0, namespace)
    world.operator(namespaces=("team-a", "team-c")).start()
    world.advance(5)
    assert {key for _, key, _ in world.rounds} == {"team-a/x", "team-c/x"}


# --- Crash and restart ------------------------------------------------------------------------


def test_a_crash_leaves_nothing_running_at_whichever_step() -> None:
    """After each of several hundred steps: no write, no round, no cache update follows."""
    for step in range(0, 400, 7):
        world = World()
        for number in range(3):
            world.add_set(f"s{number}", 3)
        manager = world.operator(seconds=0.005, workers=2, lag=0.02)
        manager.start()
        for _ in range(step):
            world.sim.step()
        manager.crash()
        version, rounds = world.store.resource_version, len(world.rounds)
        told = len(world.sim.trace)
        world.advance(1000)
        assert world.store.resource_version == version, step
        assert len(world.rounds) == rounds, step
        assert world.sim.trace.since(told) == [], step
        # A new process begins with nothing and gets there all the same.
        world.operator().start()
        world.advance(60)
        assert len(world.names()) == 9, step
        assert [each.status for each in world.store.list(Set).items] == [3] * 3, step


@pytest.mark.parametrize("latency", [0.0, 0.01])
def test_a_crash_from_inside_a_round_ends_that_round(latency: float) -> None:
    """It goes on to its next yield and no further, and writes nothing more."""
    world = World(latency=latency)
    world.add_set("a", 1)
    manager = Manager(world.sim, world.server)
    reached: list[str] = []

    def reconcile(_: Request) -> Steps:
        yield world.sim.sleep(1)
        manager.crash()
        reached.append("after the crash")
        yield from manager.client.create(Pod(ObjectMeta("never", "default")))
        reached.append("after the write")

    manager.controller("set", for_=Set, reconcile=reconcile)
    manager.start()
    world.advance(100)
    assert reached == ["after the crash"]
    assert world.names() == []
    assert manager.end_reason == "crashed"


def test_a_call_under_way_has_happened_if_it_had_reached_the_server() -> None:
    """Killed before: not written. Killed while the answer comes back: written, and unknown."""
    for at, there in ((0.4, []), (0.6, ["a-0"])):
        world = World(latency=1.0)
        world.add_set("a", 1)
        manager = world.operator()
        manager.start()
        world.advance(1.0 + at)
        manager.crash()
        world.advance(100)
        assert world.names() == there


def test_the_trace_shows_where_a_crash_cut() -> None:
    """A round of the old life ends there, and the new life's rounds are its own."""
    world = World()
    world.add_set("a", 1)
    first = world.operator(seconds=10.0)
    first.start()
    world.advance(5)
    first.crash()
    world.operator(seconds=10.0).start()
    world.advance(100)
    cut, whole, *_ = world.sim.trace.rounds()
    assert (cut.end, cut.outcome) == (5.0, "crashed")
    assert whole.start == pytest.approx(5.01, abs=0.02)
    assert whole.end is not None
    assert whole.end - whole.start >= 10
    assert "manager crashes" in world.sim.trace.story()
    active = world.sim.metrics.value("controller_runtime_active_workers")
    assert active == 0


def test_a_finally_of_a_killed_round_runs_and_an_except_does_not() -> None:
    """A crash is no error that a reconciler could handle."""
    world = World()
    world.add_set("a", 1)
    manager = Manager(world.sim, world.server)
    seen: list[str] = []

    def reconcile(_: Request) -> Steps:
        try:
            yield world.sim.sleep(100)
        except Exception:
            seen.append("except")
        finally:
            seen.append("finally")

    manager.controller("set", for_=Set, reconcile=reconcile)
    manager.start()
    world.advance(5)
    manager.crash()
    manager.crash()
    world.advance(200)
    assert seen == ["finally"]


def test_two_operators_over_one_namespace_do_not_exclude_each_other() -> None:
    """Without a lease two processes run rounds of one key at one time."""
    world = World()
    world.add_set("a", 1)
    for name in ("one", "two"):
        world.operator(seconds=5.0, name=name).start()
    world.advance(4)
    assert [(who, key) for who, key, _ in world.rounds] == [
        ("one", "default/a"),
        ("two", "default/a"),
    ]
    assert world.sim.metrics.value("controller_runtime_active_workers") == 2
    world.advance(60)
    assert world.names() == ["a-0"]


# --- Bad input --------------------------------------------------------------------------------


def test_mistakes_are_told_in_a_sentence() -> None:
    """At the call that makes them."""
    world = World()
    manager = world.operator()

    def reconcile(_: Request) -> Steps:
        yield world.sim.sleep(0)

    with pytest.raises(InvalidArgumentError, match="a name that no controller here has yet"):
        manager.controller("set", for_=Set, reconcile=reconcile)
    with pytest.raises(InvalidArgumentError, match="a class of objects, such as Pod"):
        manager.controller("b", for_="Pod", reconcile=reconcile)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="a class of objects, such as Pod"):
        manager.controller("b", for_=Set, reads=[3], reconcile=reconcile)  # type: ignore[list-item]
    manager.start()
    with pytest.raises(InvalidArgumentError, match="every controller before start"):
        manager.controller("c", for_=Set, reconcile=reconcile)
    with pytest.raises(InvalidArgumentError, match="a new Manager for each life"):
        manager.start()
    with pytest.raises(InvalidArgumentError, match="zero seconds or more"):
        world.operator(graceful_shutdown_timeout=-1.0)
    with pytest.raises(InvalidArgumentError, match="names; none at all for every one"):
        world.operator(namespaces=[1])


def test_what_is_only_read_is_in_the_cache_too() -> None:
    """A kind that wakes nobody has to be named, or a read of it says so."""
    world = World()
    world.store.create(Node(ObjectMeta("n")))
    world.add_set("a", 0)
    manager = Manager(world.sim, world.server)
    read: list[str] = []

    def reconcile(_: Request) -> Steps:
        yield world.sim.sleep(0)
        read.extend(node.metadata.name for node in manager.client.list(Node))

    manager.controller("set", for_=Set, reads=[Node], reconcile=reconcile)
    manager.start()
    world.advance(1)
    assert read == ["n"]
