"""What a trace tells of clients, caches and managers, and that equal runs tell it equally."""

from __future__ import annotations

import json

from operators import Set, World

from kubequeue import Simulation, to_perfetto
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import KINDS, Pod
from kubequeue.observe.operator_trace import CacheTrace, ClientTrace, ManagerTrace
from kubequeue.observe.sentences import sentence
from kubequeue.runtime.observer import CacheObserver, ClientObserver, ManagerObserver

COUNTED_ONLY = {"throttled"}


def test_every_hook_is_written_down_and_has_a_sentence() -> None:
    """A hook that nobody writes down would be a hole in the story."""
    for protocol, trace in (
        (ClientObserver, ClientTrace),
        (CacheObserver, CacheTrace),
        (ManagerObserver, ManagerTrace),
    ):
        hooks = {name for name in vars(protocol) if not name.startswith("_")}
        assert hooks - COUNTED_ONLY == {name for name in vars(trace) if not name.startswith("_")}


def test_the_life_of_an_operator_is_a_story() -> None:
    """From the start to the end, in sentences."""
    world = World()
    world.add_set("a", 1)
    manager = world.operator(name="operator-0")
    manager.start()
    world.advance(1)
    manager.cache.informer(Pod).break_watch()
    world.advance(1)
    manager.stop()
    world.advance(1)
    told = [
        str(i) for i in world.sim.trace.instants if i.kind in ("lived", "listed", "watch_ended")
    ]
    assert told == [
        "operator-0 starts.",
        "operator-0 leads.",
        "the cache takes over a list of Set: 1 there.",
        "the cache takes over a list of Pod: 0 there.",
        "the cache no longer watches Pod: the watch was closed.",
        "operator-0 stops.",
        "operator-0 ended: stopped.",
    ]
    sources = {i.source for i in world.sim.trace.instants}
    assert sources == {"operator-0", "operator-0/set"}
    assert sentence("cached", "Pod", "default/a", ("DELETED", "7")) == (
        "the cache no longer has Pod default/a, at version 7."
    )


def test_one_key_can_be_followed_from_the_event_to_the_write() -> None:
    """Cache, queue, worker and client, in that order."""
    world = World()
    manager = world.operator()
    manager.start()
    world.advance(1)
    world.add_set("a", 1)
    world.advance(1)
    kinds = [i.kind for i in world.sim.trace.instants if i.at >= 1 and i.key == "default/a"]
    assert kinds[:5] == ["cached", "buffered", "added", "got", "round_started"]


def test_a_call_is_a_stretch_in_perfetto() -> None:
    """Named after what was asked of the server."""
    world = World()
    world.add_set("a", 1)
    world.operator().start()
    world.advance(10)
    events = json.loads(to_perfetto(world.sim.trace))["traceEvents"]
    calls = [event for event in events if event.get("cat") == "call"]
    assert [event["name"] for event in calls].count("create Pod") == 1
    assert {event["args"]["outcome"] for event in calls} == {"200", "201"}


def test_equal_runs_tell_the_same_and_other_orders_end_the_same() -> None:
    """Byte for byte; and with ties shuffled the cluster comes to the same rest."""
    stories, ends = [], []
    for seed, shuffle in ((1, False), (1, False), (2, True), (3, True), (3, True)):
        world = World()
        world.sim = Simulation(seed, shuffle_ties=shuffle)
        world.server = APIServer(world.sim, (*KINDS, Set), latency=(0.001, 0.02))
        world.store = world.server.store
        for number in range(5):
            world.add_set(f"s{number}", 4)
        manager = world.operator(seconds=0.01, workers=3, lag=(0.0, 0.1))
        manager.start()
        world.advance(2)
        manager.crash()
        world.operator(workers=3, lag=(0.0, 0.1)).start()
        world.advance(30)
        stories.append(world.sim.trace.story() + world.sim.metrics.exposition())
        ends.append((world.names(), [each.status for each in world.store.list(Set).items]))
    assert stories[0] == stories[1]
    assert stories[3] == stories[4]
    assert stories[2] != stories[3]
    assert ends == [ends[0]] * 5
