"""The cache and its informers: what reaches them when, and what they answer."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from simpy.events import Event

from kubequeue import InvalidArgumentError, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.objects import NamespacedName, Node, ObjectMeta, OwnerReference, Pod, key_of
from kubequeue.errors import (
    APIError,
    CacheNotSyncedError,
    InternalError,
    NoConnectionError,
    NotFoundError,
    TooManyRequestsError,
    UnavailableError,
    UnknownNamespaceError,
)
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.limits import RateLimits


class Told:
    """A handler that writes down what it is told, and what the cache holds at that time."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self.events: list[tuple[Any, ...]] = []
        self.behind = 0

    def on_add(self, obj: Pod, is_in_initial_list: bool) -> None:
        self.events.append(("add", obj.metadata.name, is_in_initial_list))
        self.behind += obj not in self.cache.informer(Pod).indexer

    def on_update(self, old: Pod, new: Pod) -> None:
        same = old.metadata.resource_version == new.metadata.resource_version
        self.events.append(("update", new.metadata.name, same))
        self.behind += new not in self.cache.informer(Pod).indexer

    def on_delete(self, obj: Pod) -> None:
        self.events.append(("delete", obj.metadata.name))
        self.behind += obj in self.cache.informer(Pod).indexer


class Rig:
    """A server without latency, a cache of Pods, and a handler."""

    def __init__(self, *, history: int = 10_000, **options: Any) -> None:
        self.sim = Simulation()
        self.server: APIServer = APIServer(self.sim, latency=0, history=history)
        self.store = self.server.store
        self.cache = Cache(self.sim, self.server, "operator", **options)
        self.pods = self.cache.informer(Pod)
        self.told = Told(self.cache)
        self.pods.add_event_handler(self.told)

    def started(self) -> Rig:
        self.cache.start()
        self.sim.settle()
        return self

    def names(self, **options: Any) -> list[str]:
        return [pod.metadata.name for pod in self.cache.list(Pod, **options)]

    def advance(self, seconds: float) -> None:
        self.sim.run(until=self.sim.now + seconds)


class Resyncs:
    """When the handler of a rig was told of a Pod as it was before."""

    def __init__(self, rig: Rig) -> None:
        self._told: list[tuple[str, float]] = []
        self._sim = rig.sim
        rig.pods.add_event_handler(self)

    def of(self, name: str) -> list[float]:
        return [at for told, at in self._told if told == name]

    def on_add(self, obj: Pod, is_in_initial_list: bool) -> None: ...
    def on_delete(self, obj: Pod) -> None: ...
    def on_update(self, old: Pod, new: Pod) -> None:
        if old is new:
            self._told.append((new.metadata.name, self._sim.now))


def pod(name: str, namespace: str = "default", **labels: str) -> Pod:
    return Pod(ObjectMeta(name, namespace, labels=labels))


def touch(rig: Rig, name: str, **labels: str) -> None:
    rig.store.patch(
        Pod,
        f"default/{name}",
        lambda old: Pod(_relabelled(old.metadata, labels), old.spec, old.status),
    )


def _relabelled(meta: ObjectMeta, labels: dict[str, str]) -> ObjectMeta:
    return replace(meta, labels=labels)


def test_the_cache_is_up_to_date_before_a_handler_hears() -> None:
    """A round that an event causes finds that event in the cache."""
    rig = Rig()
    rig.store.create(pod("a"))
    rig.started()
    rig.store.create(pod("b"))
    touch(rig, "a", x="1")
    rig.store.delete(Pod, "default/b")
    rig.sim.settle()
    assert rig.told.events[:3] == [("add", "a", True), ("add", "b", False), ("update", "a", False)]
    assert rig.told.events[-1] == ("delete", "b")
    assert rig.told.behind == 0


def test_reads_before_the_first_list_are_refused() -> None:
    """An empty answer would look as if there were nothing."""
    rig = Rig()
    with pytest.raises(CacheNotSyncedError, match="before its first list was there"):
        rig.cache.list(Pod)
    rig.started()
    assert rig.names() == []
    with pytest.raises(CacheNotSyncedError, match="which nobody watches; name it in owns="):
        rig.cache.get(Node, "/n")


def test_reads_are_in_order_of_keys_and_by_label_and_owner() -> None:
    """Equal runs give equal answers, whatever the order of the events."""
    rig = Rig().started()
    for name, namespace in (("c", "default"), ("a", "default"), ("b", "other")):
        rig.store.create(pod(name, namespace, group=name, ray="x"))
    rig.sim.settle()
    assert rig.names() == ["a", "c", "b"]
    assert rig.names(namespace="other") == ["b"]
    assert rig.names(labels={"ray": "x"}) == ["a", "c", "b"]
    assert rig.names(namespace="default", labels={"ray": "x", "group": "c"}) == ["c"]
    assert rig.names(labels={"ray": "y"}) == rig.names(owner_uid="none") == []
    assert rig.cache.get(Pod, "default/a") is rig.store.get(Pod, "default/a")
    with pytest.raises(NotFoundError, match='pods "d" not found'):
        rig.cache.get(Pod, NamespacedName("default", "d"))
    rig.pods.indexer._check()


def test_lag_delays_and_never_reorders() -> None:
    """A lag that gets shorter lets nothing overtake, because a watch is one connection."""
    rig = Rig(lag=2.0).started()
    rig.store.create(pod("a"))
    rig.advance(1.0)
    rig.pods.lag = 0.5
    touch(rig, "a", x="1")
    rig.store.create(pod("b"))
    rig.advance(0.9)
    assert rig.names() == []
    rig.advance(0.1)
    assert rig.told.events == [("add", "a", False), ("update", "a", False), ("add", "b", False)]
    rig.store.create(pod("c"))
    rig.advance(0.4)
    assert rig.names() == ["a", "b"]
    rig.advance(0.1)
    assert rig.names() == ["a", "b", "c"]


def test_a_drawn_lag_keeps_the_order_and_repeats() -> None:
    """A range is drawn from a stream of its own: equal seeds, equal lags."""
    runs = []
    for _ in range(2):
        rig = Rig(lag=(0.1, 1.0)).started()
        for number in range(20):
            rig.store.create(pod(f"p{number:02}"))
            rig.advance(0.2)
        rig.advance(5)
        assert [event[1] for event in rig.told.events] == [f"p{n:02}" for n in range(20)]
        runs.append([i.at for i in rig.sim.trace.instants if i.kind == "cached"])
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 5


def test_paused_means_that_nothing_comes_until_resumed() -> None:
    """The watch goes on, so nothing is lost."""
    rig = Rig(lag=1.0).started()
    rig.store.create(pod("a"))
    rig.pods.pause()
    rig.advance(10)
    assert rig.names() == []
    rig.store.create(pod("b"))
    rig.pods.resume()
    rig.sim.settle()
    assert rig.names() == ["a"]
    rig.advance(1)
    assert rig.names() == ["a", "b"]


def test_a_closed_watch_goes_on_where_the_cache_is() -> None:
    """What was under way on the old connection comes over the new one."""
    rig = Rig(lag=2.0).started()
    rig.store.create(pod("a"))
    rig.advance(1.0)
    rig.pods.break_watch()
    rig.advance(1.9)
    assert rig.names() == []
    rig.advance(0.1)
    assert rig.told.events == [("add", "a", False)]
    assert [i.kind for i in rig.sim.trace.instants if i.kind == "listed"] == ["listed"]


def test_a_watch_broken_by_the_server_is_listed_anew() -> None:
    """After a back-off of 0.8 s; unchanged objects come as a resync, missing ones as a delete."""
    rig = Rig()
    rig.store.create(pod("a"))
    rig.store.create(pod("b"))
    rig.started()
    rig.advance(5)
    rig.server.break_watches(Pod)
    rig.store.delete(Pod, "default/b")
    rig.store.create(pod("c"))
    rig.told.events.clear()
    rig.advance(0.7)
    assert rig.names() == ["a", "b"]
    rig.advance(0.2)
    assert rig.names() == ["a", "c"]
    assert rig.told.events == [("delete", "b"), ("update", "a", True), ("add", "c", False)]
    assert rig.told.behind == 0


def test_a_new_list_is_in_the_cache_whole_before_a_handler_hears() -> None:
    """So whoever is told of a delete does not find what else is gone, and finds what is new."""
    rig = Rig()
    for name in "abc":
        rig.store.create(pod(name))
    rig.started()
    seen: list[list[str]] = []
    rig.told.on_delete = lambda obj: seen.append(rig.names())  # type: ignore[method-assign]
    rig.pods.break_watch(UnavailableError())
    rig.sim.settle()
    rig.store.delete(Pod, "default/a")
    rig.store.delete(Pod, "default/b")
    rig.store.create(pod("d"))
    rig.advance(5)
    assert seen == [["c", "d"]] * 2


def test_an_error_of_the_server_comes_behind_what_the_server_sent_before() -> None:
    """A delete and a create of one name are no update, though the watch breaks after them."""
    rig = Rig(lag=2.0).started()
    rig.store.create(pod("a"))
    rig.advance(5)
    rig.told.events.clear()
    rig.store.delete(Pod, "default/a")
    rig.store.create(pod("a"))
    rig.advance(1)
    rig.server.break_watches()
    rig.advance(30)
    assert rig.told.events[1:3] == [("delete", "a"), ("add", "a", False)]
    ended = [i.at for i in rig.sim.trace.instants if i.kind == "watch_ended"]
    assert ended == [8.0]


def test_a_watch_waits_for_no_token() -> None:
    """The list took the only one, and the next is 10 s away."""
    rig = Rig(limits=RateLimits(0.1, 1)).started()
    rig.store.create(pod("a"))
    rig.advance(1)
    assert rig.names() == ["a"]


def test_back_off_begins_anew_every_two_minutes() -> None:
    """Though the server was away all the time."""
    rig = Rig()
    asked: list[float] = []

    def failing(*args: Any) -> Generator[Event, Any, Any]:
        asked.append(round(rig.sim.now, 3))
        raise UnavailableError
        yield

    rig.server.list = failing  # type: ignore[method-assign,assignment]
    rig.started()
    rig.advance(160)
    waits = [round(after - before, 3) for before, after in itertools.pairwise(asked)]
    assert waits == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0, 0.8, 1.6, 3.2, 6.4]


@pytest.mark.parametrize("lag", [0.0, 1.0])
def test_a_handler_that_raises_does_not_stop_the_cache(lag: float) -> None:
    """The run ends with the error, and goes on with what comes after."""
    rig = Rig(lag=lag)

    def fail(obj: Pod, is_in_initial_list: bool) -> None:
        raise KeyError(obj.metadata.name)

    rig.store.create(pod("a"))
    rig.told.on_add = fail  # type: ignore[method-assign]
    with pytest.raises(KeyError):
        rig.started()
    rig.store.create(pod("b"))
    rig.store.create(pod("c"))
    for _ in "bc":
        with pytest.raises(KeyError):
            rig.advance(5)
    assert rig.names() == ["a", "b", "c"]


def test_an_expired_version_is_listed_anew() -> None:
    """The history was compacted while the watch was away: Expired, back-off, list."""
    rig = Rig(history=5).started()
    rig.store.create(pod("a"))
    rig.advance(5)
    rig.pods.pause()
    for number in range(20):
        touch(rig, "a", n=str(number))
    rig.pods.break_watch()
    rig.pods.resume()
    rig.sim.settle()
    assert dict(rig.cache.get(Pod, "default/a").metadata.labels) == {}
    rig.advance(0.8)
    assert dict(rig.cache.get(Pod, "default/a").metadata.labels) == {"n": "19"}
    (ended,) = [i for i in rig.sim.trace.instants if i.kind == "watch_ended" and "too" in str(i)]
    assert "too old resource version" in str(ended)


def test_a_resync_tells_of_everything_again() -> None:
    """As updates that changed nothing, each period, which is drawn for each informer."""
    rig = Rig(resync_period=10.0, namespaces=["default", "other"])
    resyncs = Resyncs(rig)
    rig.store.create(pod("a"))
    rig.store.create(pod("b", "other"))
    rig.started()
    rig.advance(100)
    periods = []
    for name in "ab":
        at = resyncs.of(name)
        first, *others = [after - before for before, after in itertools.pairwise([0.0, *at])]
        assert 9 <= first < 11
        assert others == pytest.approx([first] * len(others))
        periods.append(first)
    assert periods[0] != periods[1]


def test_a_new_list_sets_back_the_next_resync() -> None:
    """The period counts from the last list; a watch that is only taken up again is no list."""
    rig = Rig(resync_period=10.0)
    resyncs = Resyncs(rig)
    rig.store.create(pod("a"))
    rig.started()
    rig.advance(12)
    (period,) = resyncs.of("a")
    rig.pods.break_watch()
    rig.advance(2 * period - rig.sim.now - 1)
    assert len(resyncs.of("a")) == 1
    listed_at = rig.sim.now + 0.8
    rig.pods.break_watch(UnavailableError())
    rig.advance(15)
    assert resyncs.of("a")[1:] == pytest.approx([listed_at, listed_at + period])


def test_there_is_no_resync_without_a_watch() -> None:
    """While the server is away nobody is told that nothing has changed."""
    rig = Rig(resync_period=1.0)
    resyncs = Resyncs(rig)
    rig.store.create(pod("a"))
    rig.started()

    def failing(*args: Any) -> Generator[Event, Any, Any]:
        raise UnavailableError
        yield

    rig.server.list = failing  # type: ignore[method-assign,assignment]
    rig.pods.break_watch(UnavailableError())
    rig.advance(100)
    assert resyncs.of("a") == []


def test_a_late_handler_is_told_of_what_is_there() -> None:
    """As of an initial list, so that a second controller misses nothing."""
    rig = Rig()
    rig.store.create(pod("a"))
    rig.started()
    late = Told(rig.cache)
    rig.pods.add_event_handler(late)
    assert late.events == [("add", "a", True)]


def test_only_the_watched_namespaces_are_there() -> None:
    """One or several; whoever reads another is told so, and cluster-wide kinds are there."""
    rig = Rig(namespaces=["team-b", "team-a"])
    rig.cache.informer(Node)
    for namespace in ("team-a", "team-b", "team-c"):
        rig.store.create(pod("x", namespace))
    rig.store.create(Node(ObjectMeta("n")))
    rig.started()
    assert [key_of(p).namespace for p in rig.cache.list(Pod)] == ["team-a", "team-b"]
    with pytest.raises(UnknownNamespaceError, match="unknown namespace for the cache: 'team-c'"):
        rig.cache.get(Pod, "team-c/x")
    with pytest.raises(UnknownNamespaceError, match="it watches team-a, team-b"):
        rig.cache.list(Pod, "team-c")
    assert rig.cache.get(Node, "/n").metadata.name == "n"
    rig.store.create(pod("y", "team-a"))
    rig.store.create(pod("y", "team-c"))
    rig.sim.settle()
    assert len(rig.cache.list(Pod)) == 3


def test_a_server_that_is_away_is_asked_again_and_again() -> None:
    """Back-off 0.8, 1.6, 3.2 s ... and the cache has synced once it answers."""
    rig = Rig()
    real, asked = rig.server.list, []

    def failing(*args: Any) -> Generator[Event, Any, Any]:
        asked.append(round(rig.sim.now, 3))
        if len(asked) < 4:
            raise UnavailableError
        return (yield from real(*args))

    rig.server.list = failing  # type: ignore[method-assign,assignment]
    rig.started()
    rig.advance(10)
    assert asked == [0.0, 0.8, 2.4, 5.6]
    assert rig.cache.has_synced


@pytest.mark.parametrize(
    ("error", "lists"),
    [
        (NoConnectionError(), 0),
        (TooManyRequestsError(), 0),
        (UnavailableError(), 1),
        (InternalError("etcd"), 1),
    ],
)
def test_which_errors_of_a_watch_need_no_new_list(error: APIError, lists: int) -> None:
    """A refused connection and 429: the next try is from the same version, after a back-off."""
    rig = Rig()
    rig.server = faulty = FaultyServer(rig.sim, rig.server)
    rig.cache = Cache(rig.sim, faulty, "operator")
    rig.cache.informer(Pod)
    rig.started()
    rig.advance(5)
    fault = faulty.fail("watch", Pod, error=error)
    rig.cache.informer(Pod).break_watch()
    rig.advance(0.7)
    rig.store.create(pod("a"))
    assert rig.names() == []
    rig.advance(0.2)
    assert rig.names() == ["a"]
    assert fault.struck == 1
    listed = [i for i in rig.sim.trace.instants if i.kind == "listed"]
    assert len(listed) == 1 + lists


def test_a_busy_server_that_ends_a_watch_is_not_asked_for_a_list() -> None:
    """With 429 the version is as good as before."""
    rig = Rig().started()
    rig.advance(5)
    rig.server.break_watches(Pod, TooManyRequestsError())
    rig.store.create(pod("a"))
    rig.advance(0.7)
    assert rig.names() == []
    rig.advance(0.2)
    assert rig.names() == ["a"]
    assert [i.kind for i in rig.sim.trace.instants if i.kind == "listed"] == ["listed"]


@pytest.mark.parametrize(
    "options", [{"lag": -1.0}, {"lag": (2.0, 1.0)}, {"resync_period": -1.0}, {"namespaces": 3}]
)
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    """At once and in a sentence, not in the middle of a run."""
    with pytest.raises(InvalidArgumentError, match="expected"):
        Rig(**options)


def test_an_index_of_one_s_own() -> None:
    """As KubeRay's on the owner of a Pod: kept up to date, whenever it was added."""
    rig = Rig()
    rig.store.create(pod("a", node="n1"))
    rig.started()
    rig.pods.indexer.add_index("node", lambda obj: [obj.metadata.labels.get("node", "")])
    rig.store.create(pod("b", node="n1"))
    touch(rig, "a", node="n2")
    rig.sim.settle()
    on = [[p.metadata.name for p in rig.cache.index(Pod, "node", node)] for node in ("n1", "n2")]
    assert on == [["b"], ["a"]]
    rig.store.delete(Pod, "default/b")
    rig.sim.settle()
    assert list(rig.cache.index(Pod, "node", "n1")) == []
    rig.pods.indexer._check()
    with pytest.raises(InvalidArgumentError, match="one of \\['label', 'namespace', 'node'"):
        rig.cache.index(Pod, "zone", "z1")
    with pytest.raises(InvalidArgumentError, match="a name that no index has yet"):
        rig.pods.indexer.add_index("owner", lambda obj: [])


def test_reads_by_owner_and_by_labels_that_no_object_has() -> None:
    """What is asked for in one namespace is not found in another."""
    rig = Rig().started()
    for namespace in ("red", "blue"):
        owner = OwnerReference("Set", "s", f"uid-{namespace}")
        meta = ObjectMeta("a", namespace, labels={"x": "1"}, owner_references=(owner,))
        rig.store.create(Pod(meta))
    rig.sim.settle()
    assert [p.metadata.namespace for p in rig.cache.list(Pod, owner_uid="uid-red")] == ["red"]
    assert rig.names(namespace="blue", owner_uid="uid-red") == []
    assert rig.names(namespace="red", owner_uid="uid-red", labels={"x": "1"}) == ["a"]
    assert rig.names(namespace="red", owner_uid="uid-red", labels={"x": "2"}) == []
    assert rig.names(namespace="green", labels={"x": "1"}) == []
