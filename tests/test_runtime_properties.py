"""What always holds of a cache, whatever its connection goes through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubequeue import Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Pod, key_of
from kubequeue.runtime.cache import Cache

NAMES = st.sampled_from(["a", "b", "c"])
NAMESPACES = st.sampled_from(["red", "blue"])
STEPS = st.one_of(
    st.tuples(st.just("create"), NAMESPACES, NAMES),
    st.tuples(st.just("label"), NAMESPACES, NAMES, st.sampled_from(["x", "y"])),
    st.tuples(st.just("delete"), NAMESPACES, NAMES),
    st.tuples(st.just("lag"), st.sampled_from([0.0, 0.7, (0.1, 2.0)])),
    st.tuples(st.sampled_from(["pause", "resume", "break_watch", "server breaks"])),
    st.tuples(st.just("wait"), st.sampled_from([0.0, 0.3, 1.0, 5.0])),
)


class Follower:
    """A handler that keeps a copy of its own, and complains when an event does not fit it."""

    def __init__(self) -> None:
        self.there: dict[NamespacedName, Pod] = {}
        self.newest: dict[NamespacedName, int] = {}

    def on_add(self, obj: Pod, _: bool) -> None:
        assert key_of(obj) not in self.there
        self._see(obj)

    def on_update(self, old: Pod, new: Pod) -> None:
        assert self.there[key_of(new)] == old
        self._see(new)

    def on_delete(self, obj: Pod) -> None:
        del self.there[key_of(obj)]

    def _see(self, obj: Pod) -> None:
        key, version = key_of(obj), int(obj.metadata.resource_version)
        assert version >= self.newest.get(key, 0), "an older version after a newer one"
        self.there[key], self.newest[key] = obj, version


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(STEPS, max_size=30), namespaces=st.sampled_from(["", ("red", "blue")]))
def test_a_cache_catches_up_and_never_goes_back(steps: list[Any], namespaces: Any) -> None:
    """Lags, pauses, broken watches and forgotten history: every event fits the one before it, and
    once the connection holds the cache is what the server is."""
    sim = Simulation()
    server = APIServer(sim, latency=0.01, history=4)
    cache = Cache(sim, server, "operator", namespaces=namespaces)
    pods, follower = cache.informer(Pod), Follower()
    pods.add_event_handler(follower)
    cache.start()
    for step in steps:
        _do(step, sim, server, pods)
        pods.indexer._check()
        assert {key_of(pod): pod for pod in pods.indexer} == follower.there
    pods.lag = 0.0
    pods.resume()
    sim.run(until=sim.now + 200)
    assert list(cache.list(Pod)) == list(server.store.list(Pod).items)


def _do(step: tuple[Any, ...], sim: Simulation, server: APIServer, pods: Any) -> None:
    what, *rest = step
    if what == "wait":
        sim.run(until=sim.now + rest[0])
    elif what == "lag":
        pods.lag = rest[0]
    elif what == "server breaks":
        server.break_watches(Pod)
    elif what in ("pause", "resume", "break_watch"):
        getattr(pods, what)()
    else:
        _write(what, NamespacedName(*rest[:2]), server, *rest[2:])


def _write(what: str, key: NamespacedName, server: APIServer, label: str = "") -> None:
    store = server.store
    there = key in {key_of(pod) for pod in store.list(Pod).items}
    if what == "create" and not there:
        store.create(Pod(ObjectMeta(key.name, key.namespace)))
    elif what == "delete" and there:
        store.delete(Pod, key)
    elif what == "label" and there:
        store.patch(
            Pod,
            key,
            lambda pod: replace(pod, metadata=replace(pod.metadata, labels={"l": label})),
        )
