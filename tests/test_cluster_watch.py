"""Watches: what they replay, what they hand on, and how they end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from clusters import Toy, ToySpec, ToyStatus, pod, server, store, toy, with_meta

from kubequeue.cluster.objects import Node, ObjectMeta, Pod
from kubequeue.cluster.watch import Watch, WatchEvent
from kubequeue.errors import (
    BadRequestError,
    ExpiredError,
    InvalidArgumentError,
    ServerTimeoutError,
    UnavailableError,
)

KEY = "team-a/a"


def _said(events: list[WatchEvent]) -> list[str]:
    return [
        f"{e.type} {e.object.metadata.name}@{e.object.metadata.resource_version}" for e in events
    ]


def test_a_watch_tells_what_happens_after_its_version() -> None:
    """What came before it is not told; the version of the list goes on without a gap."""
    kept = store()
    kept.create(toy("a"))
    version = kept.list(Toy).resource_version
    kept.create(toy("b"))
    watch = kept.watch(Toy, "", version)
    kept.delete(Toy, "team-a/b")
    assert _said(watch.take()) == ["ADDED b@2", "DELETED b@3"]
    assert watch.take() == []


@pytest.mark.parametrize("version", ["", "0"])
def test_a_watch_without_a_version_begins_with_everything(version: str) -> None:
    """As ADDED, by namespace and name, and then what happens."""
    kept = store()
    for name, namespace in [("b", "team-a"), ("a", "team-a"), ("c", "team-b")]:
        kept.create(toy(name, namespace))
    kept.delete(Toy, "team-a/a")
    watch = kept.watch(Toy, "team-a", version)
    kept.create(toy("d"))
    assert _said(watch.take()) == ["ADDED b@1", "ADDED d@5"]


def test_events_have_the_object_and_the_time_of_the_write() -> None:
    """The object as that write left it, even when the watch begins later."""
    kept = store()
    made = kept.create(toy())
    kept._sim.run(until=1.5)
    kept.update(replace(made, spec=ToySpec(2)))
    kept._sim.run(until=3.0)
    first, second = kept.watch(Toy, "", "1").take() + kept.watch(Toy).take()
    assert (first.type, first.object.spec, first.at_ns) == ("MODIFIED", ToySpec(2), 1_500_000_000)
    assert (second.type, second.object, second.at_ns) == ("ADDED", first.object, 3_000_000_000)


def test_a_watch_sees_its_kind_and_its_namespace_only() -> None:
    """The version goes on over what it does not see."""
    kept = store()
    watch = kept.watch(Toy, "team-a")
    kept.create(toy("x", "team-b"))
    kept.create(pod())
    kept.create(toy("y"))
    assert _said(watch.take()) == ["ADDED y@3"]


def test_a_namespace_that_nobody_has_used_can_be_watched() -> None:
    """It is empty until somebody makes something in it."""
    kept = store()
    watch = kept.watch(Toy, "later")
    assert watch.take() == []
    kept.create(toy("x", "later"))
    assert _said(watch.take()) == ["ADDED x@1"]


def test_cluster_wide_objects_reach_a_watch_once() -> None:
    """Their namespace is the empty one, which is also the word for all."""
    kept = store()
    watch = kept.watch(Node)
    kept.create(Node(ObjectMeta("node-1")))
    assert _said(watch.take()) == ["ADDED node-1@1"]


def test_a_receiver_gets_what_was_held_and_then_each_event_as_it_happens() -> None:
    """In order, at the instant of the write."""
    kept = store()
    watch = kept.watch(Toy)
    kept.create(toy("a"))
    got: list[WatchEvent] = []
    watch.receive(got.append)
    assert _said(got) == ["ADDED a@1"]
    kept.create(toy("b"))
    assert _said(got) == ["ADDED a@1", "ADDED b@2"]
    with pytest.raises(InvalidArgumentError, match="one receiver"):
        watch.receive(got.append)


def test_a_receiver_that_writes_does_not_mix_the_order_of_others() -> None:
    """Everybody hears of the first write before the second, who was told of it first or not."""
    kept = store()
    got: list[WatchEvent] = []

    def answer(event: WatchEvent) -> None:
        if event.type == "ADDED":
            kept.update_status(replace(event.object, status=ToyStatus(1)))

    kept.watch(Toy).receive(answer)
    kept.watch(Toy).receive(got.append)
    kept.create(toy())
    assert _said(got) == ["ADDED a@1", "MODIFIED a@2"]


def test_a_watch_that_is_opened_while_events_are_handed_on_misses_and_doubles_none() -> None:
    """What it replays it is not told again."""
    kept = store()
    opened: list[Watch] = []

    def on_event(event: WatchEvent) -> None:
        if event.type == "ADDED":
            kept.update_status(replace(event.object, status=ToyStatus(1)))
            opened.append(kept.watch(Toy, "", "1"))
            opened.append(kept.watch(Toy))

    kept.watch(Toy).receive(on_event)
    kept.create(toy())
    assert [_said(watch.take()) for watch in opened] == [["MODIFIED a@2"], ["ADDED a@2"]]


def test_a_stopped_watch_is_told_nothing() -> None:
    """Not what was held either, and it can be stopped from inside its receiver."""
    kept = store()
    held, live = kept.watch(Toy), kept.watch(Toy)
    got: list[WatchEvent] = []

    def once(event: WatchEvent) -> None:
        got.append(event)
        live.stop()

    live.receive(once)
    kept.create(toy("a"))
    held.stop()
    held.stop()
    kept.create(toy("b"))
    assert (_said(got), held.take(), held.stopped, live.stopped) == (["ADDED a@1"], [], True, True)


def test_stopped_watches_are_let_go() -> None:
    """A client that opens watches again and again does not make every write slower."""
    _, api = server()
    for name in "abc":
        api.watch("me", Toy).stop()
        api.store.create(toy(name))
    assert api.store._shelf(Toy).history._watches == {"": []}
    assert len(api._watches) == 1


def test_a_watch_stopped_by_what_it_held_is_told_no_more() -> None:
    """The rest of what was held is gone too."""
    kept = store()
    watch = kept.watch(Toy)
    kept.create(toy("a"))
    kept.create(toy("b"))
    got: list[WatchEvent] = []

    def once(event: WatchEvent) -> None:
        got.append(event)
        watch.stop()

    watch.receive(once)
    assert _said(got) == ["ADDED a@1"]


def test_a_broken_watch_ends_with_an_error() -> None:
    """The error says why; nothing follows it, and its version is where to go on from."""
    _, api = server()
    watch, other = api.watch("me", Toy), api.watch("me", Pod)
    inside = api.store.watch(Toy)
    api.store.create(toy("a"))
    api.break_watches(Toy)
    api.break_watches(Toy)
    api.store.create(toy("b"))
    *_, last = taken = watch.take()
    assert [event.type for event in taken] == ["ADDED", "ERROR"]
    assert isinstance(last.object, UnavailableError)
    assert (watch.stopped, other.stopped, len(inside.take())) == (True, False, 2)
    api.break_watches(error=UnavailableError("the server goes down"))
    assert str(other.take()[0].object) == "the server goes down"
    assert _said(api.watch("me", Toy, "", "1").take()) == ["ADDED b@2"]


def test_a_version_that_was_compacted_away_is_expired() -> None:
    """The error says which version was asked for and which is the oldest one left."""
    kept = store()
    for name in "abc":
        kept.create(toy(name))
    kept.compact("2")
    with pytest.raises(ExpiredError) as caught:
        kept.watch(Toy, "", "1")
    assert str(caught.value) == "too old resource version: 1 (2)"
    assert _said(kept.watch(Toy, "", "2").take()) == ["ADDED c@3"]
    kept.compact()
    with pytest.raises(ExpiredError):
        kept.watch(Toy, "", "2")
    assert kept.watch(Toy, "", "3").take() == []
    assert len(kept.watch(Toy).take()) == 3


def test_compaction_takes_nothing_from_a_watch_that_is_open() -> None:
    """What it holds it keeps."""
    kept = store()
    watch = kept.watch(Toy)
    kept.create(toy())
    kept.compact()
    kept.compact("9999999")
    assert _said(watch.take()) == ["ADDED a@1"]
    assert kept.watch(Toy, "", "1").take() == []


def test_a_short_history_forgets_from_its_old_end() -> None:
    """Of each kind by itself: a busy one does not expire the others."""
    kept = store(history=2)
    kept.create(pod())
    for name in "abcd":
        kept.create(toy(name))
    assert _said(kept.watch(Toy, "", "3").take()) == ["ADDED c@4", "ADDED d@5"]
    with pytest.raises(ExpiredError):
        kept.watch(Toy, "", "2")
    assert _said(kept.watch(Pod, "", "1").take()) == []


def test_a_version_from_the_future_is_refused() -> None:
    """As a time-out, as Kubernetes does: the server is not there yet."""
    with pytest.raises(ServerTimeoutError) as caught:
        store().watch(Toy, "", "7")
    assert str(caught.value) == "Timeout: Too large resource version: 7, current: 0"


@pytest.mark.parametrize("version", ["one", "-1", "1.0", 7, None])
def test_what_is_no_version_is_refused(version: Any) -> None:
    """Versions are texts that a server gave."""
    with pytest.raises(BadRequestError, match="resourceVersion: Invalid value"):
        store().watch(Toy, "", version)


@pytest.mark.parametrize("history", [0, -1, 1.5, None])
def test_a_history_of_nothing_is_refused(history: Any) -> None:
    """A watch could never be opened."""
    with pytest.raises(InvalidArgumentError, match="history"):
        store(history=history)


def test_nobody_is_told_of_a_write_that_was_refused() -> None:
    """No version and no event come of it."""
    kept = store()
    kept.create(toy())
    watch = kept.watch(Toy, "", "1")
    with pytest.raises(BadRequestError):
        kept.create(toy("b", resource_version="1"))
    with pytest.raises(BadRequestError):
        kept.patch(Toy, KEY, lambda t: with_meta(t, name="b"))
    assert (watch.take(), kept.resource_version) == ([], "1")


def test_the_end_of_an_object_that_a_finalizer_held_shows_what_was_stored() -> None:
    """The update that took the last finalizer was never written; only its caller sees it."""
    kept = store()
    made = kept.create(toy(finalizers=["one"]))
    marked = kept.delete(Toy, KEY)
    watch = kept.watch(Toy, "", marked.metadata.resource_version)
    answer = kept.update(replace(with_meta(marked, finalizers=()), spec=ToySpec(7)))
    (event,) = watch.take()
    assert (event.type, event.object.spec) == ("DELETED", made.spec)
    assert event.object.metadata.finalizers == ("one",)
    assert (answer.metadata.finalizers, answer.spec) == ((), ToySpec(7))


def test_watches_that_were_stopped_do_not_pile_up() -> None:
    """Also of a kind to which nothing happens."""
    kept = store()
    for _ in range(100):
        kept.watch(Toy).stop()
    last = kept.watch(Toy)
    assert kept._shelves[Toy].history._watches == {"": [last]}
