"""Facts about a store that hold whatever is done to it, in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from clusters import Toy, ToySpec, ToyStatus, pod, store, toy, with_meta
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kubequeue.cluster.objects import NamespacedName, Object, Pod, PodStatus, key_of
from kubequeue.cluster.watch import Watch
from kubequeue.errors import APIError, ConflictError, ExpiredError, NotFoundError

NAMES = st.sampled_from(["a", "b"])
NAMESPACES = st.sampled_from(["team-a", "team-b"])
FINALIZERS = st.sampled_from([(), ("one",), ("one", "two")])
GRACE = st.sampled_from([None, None, 0, 5, 30, 60])
KINDS: dict[str, type[Any]] = {"Toy": Toy, "Pod": Pod}
KIND = st.sampled_from(list(KINDS))
Held = dict[NamespacedName, Any]


class Follower:
    """What somebody knows who listed at one version and watches from there."""

    def __init__(self, kind: type[Any], namespace: str, items: tuple[Any, ...]) -> None:
        self.kind = kind
        self.namespace = namespace
        self.held: Held = {key_of(obj): obj for obj in items}
        self.last = 0

    def follow(self, watch: Watch) -> None:
        """Apply what came; each event has to fit what is known."""
        for event in watch.take():
            key, meta = key_of(event.object), event.object.metadata
            assert int(meta.resource_version) > self.last, "the order of writes was lost"
            assert (event.type == "ADDED") == (key not in self.held)
            self.last = int(meta.resource_version)
            if event.type == "DELETED":
                del self.held[key]
            else:
                self.held[key] = event.object


class StoreMachine(RuleBasedStateMachine):
    """Every verb in any order, beside what can be known of it from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.store = store(history=12)
        self.version = 0
        self.compacted = 0
        self.seen: list[Any] = []
        self.followers: list[tuple[Follower, Watch]] = []
        for kind in KINDS.values():
            for namespace in ("", "team-a"):
                self._open(kind, namespace)

    def _open(self, kind: type[Any], namespace: str) -> None:
        listed = self.store.list(kind, namespace)
        watch = self.store.watch(kind, namespace, listed.resource_version)
        self.followers.append((Follower(kind, namespace, listed.items), watch))

    def _all(self) -> list[Any]:
        return [obj for kind in KINDS.values() for obj in self.store.list(kind).items]

    def _try(self, call: Callable[[], Object]) -> Object | None:
        """A write: it either is refused and changes nothing, or gives what is there now."""
        before = self._all()
        version = int(self.store.resource_version)
        try:
            written = call()
        except APIError:
            assert self._all() == before, "a refused write left something behind"
            assert int(self.store.resource_version) == version
            return None
        self.seen.append(written)
        return written

    @rule(kind=KIND, name=NAMES, namespace=NAMESPACES, finalizers=FINALIZERS, on_node=st.booleans())
    def create(
        self, kind: str, name: str, namespace: str, finalizers: tuple[str, ...], on_node: bool
    ) -> None:
        """A new object, or AlreadyExists."""
        if kind == "Toy":
            new: Any = toy(name, namespace, finalizers=finalizers)
        else:
            new = pod(name, namespace, "node-1" if on_node else "", finalizers=finalizers)
        made = self._try(lambda: self.store.create(new))
        if made is not None:
            assert made.metadata.generation == 1

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), size=st.integers(1, 3), label=st.sampled_from("xy"))
    def update(self, data: st.DataObject, size: int, label: str) -> None:
        """Any version that was ever seen is written back, changed: stale ones are refused."""
        read = data.draw(st.sampled_from(self.seen))
        spec: Any = ToySpec(size)
        status: Any = ToyStatus(99)
        if type(read) is Pod:
            spec = replace(read.spec, termination_grace_period_seconds=float(size))
            status = PodStatus("Unknown")
        given = replace(with_meta(read, labels={"l": label}), spec=spec, status=status)
        present = self._present(read)
        written = self._try(lambda: self.store.update(given))
        is_current = present is not None and present.metadata == read.metadata
        assert (written is not None) == is_current
        if written is not None:
            grew = int(spec != present.spec)
            assert written.metadata.generation == present.metadata.generation + grew
            assert (written.spec, written.status) == (spec, present.status)

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), seen=st.integers(0, 3))
    def update_status(self, data: st.DataObject, seen: int) -> None:
        """The status is written and nothing else is, from the newest version only."""
        read = data.draw(st.sampled_from(self.seen))
        status: Any = ToyStatus(seen)
        spec: Any = ToySpec(99)
        if type(read) is Pod:
            status, spec = PodStatus("Running", ready=seen > 1), replace(read.spec, node_name="n")
        given = replace(with_meta(read, labels={"l": "z"}), status=status, spec=spec)
        present = self._present(read)
        written = self._try(lambda: self.store.update_status(given))
        if written is not None:
            assert present.metadata == read.metadata
            before, after = present.metadata, written.metadata
            assert (written.spec, written.status) == (present.spec, status)
            assert replace(after, resource_version=before.resource_version) == before

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), finalizers=FINALIZERS)
    def patch_finalizers(self, data: st.DataObject, finalizers: tuple[str, ...]) -> None:
        """What is deleted takes no new finalizer, and may go with its last."""
        read = data.draw(st.sampled_from(self.seen))
        kind, key = type(read), key_of(read)
        self._try(
            lambda: self.store.patch(kind, key, lambda o: with_meta(o, finalizers=finalizers))
        )

    @precondition(lambda self: self.seen)
    @rule(data=st.data(), grace=GRACE, sure=st.booleans())
    def delete(self, data: st.DataObject, grace: float | None, sure: bool) -> None:
        """Marked or gone; held by a finalizer; never another object than the one meant."""
        read = data.draw(st.sampled_from(self.seen))
        kind, key, meta = type(read), key_of(read), read.metadata
        uid = meta.uid if sure else None
        present = self._present(read)
        options: dict[str, Any] = {"uid": uid, "grace_period_seconds": grace}
        deleted = self._try(lambda: self.store.delete(kind, key, **options))
        if deleted is None:
            assert present is None or (sure and present.metadata.uid != meta.uid)
        elif present.metadata.finalizers:
            assert self.store.get(kind, key).metadata.deletion_timestamp is not None
        elif kind is Toy or grace == 0:
            assert self._present(read) is None

    @rule(seconds=st.integers(1, 20))
    def wait(self, seconds: int) -> None:
        """Time goes on; by itself nothing happens to the store."""
        sim = self.store._sim
        sim.run(until=sim.now + seconds)

    @rule(back=st.integers(0, 3))
    def compact(self, back: int) -> None:
        """Some of the history is forgotten."""
        upto = max(0, int(self.store.resource_version) - back)
        self.compacted = max(self.compacted, upto)
        self.store.compact(str(upto))

    @rule(kind=KIND, namespace=st.sampled_from(["", "team-a", "team-b"]))
    def open_watch(self, kind: str, namespace: str) -> None:
        """One more that lists and watches from there."""
        if len(self.followers) < 12:
            self._open(KINDS[kind], namespace)

    @rule(kind=KIND, back=st.integers(0, 30))
    def watch_from_the_past(self, kind: str, back: int) -> None:
        """It is Expired, or it has every event of the kind since then that an open watch had."""
        after = max(1, int(self.store.resource_version) - back)
        oldest = self.store._shelf(KINDS[kind]).history.oldest
        if after < oldest:
            with pytest.raises(ExpiredError, match=f"too old resource version: {after} "):
                self.store.watch(KINDS[kind], "", str(after))
        elif after <= int(self.store.resource_version):
            assert after >= self.compacted
            replayed = self.store.watch(KINDS[kind], "", str(after)).take()
            versions = [self._version(event.object) for event in replayed]
            assert versions == sorted(versions)
            assert all(version > after for version in versions)
            newer = [o for o in self.store.list(KINDS[kind]).items if self._version(o) > after]
            assert {self._version(o) for o in newer} <= set(versions)

    @staticmethod
    def _version(obj: Any) -> int:
        return int(obj.metadata.resource_version)

    def _present(self, read: Any) -> Any:
        try:
            return self.store.get(type(read), key_of(read))
        except NotFoundError:
            return None

    @invariant()
    def the_version_only_rises(self) -> None:
        """Never back, and never below that of an object."""
        version = int(self.store.resource_version)
        assert version >= self.version
        self.version = version
        versions = [self._version(obj) for obj in self._all()]
        assert len(set(versions)) == len(versions)
        assert max(versions, default=0) <= version

    @invariant()
    def whoever_watches_knows_all(self) -> None:
        """List and watch rebuild exactly what is in the store."""
        for follower, watch in self.followers:
            follower.follow(watch)
            items = self.store.list(follower.kind, follower.namespace).items
            assert list(items) == sorted(follower.held.values(), key=key_of)

    @invariant()
    def what_is_marked_is_held_by_something(self) -> None:
        """A finalizer, or a grace period that its kubelet has to end."""
        for obj in self._all():
            meta = obj.metadata
            if meta.deletion_timestamp is not None:
                assert meta.finalizers or meta.deletion_grace_period_seconds > 0


TestStore = StoreMachine.TestCase
TestStore.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)


def test_two_clients_that_retry_lose_no_update() -> None:
    """Optimistic concurrency: whoever reads anew after a Conflict adds to what is there."""
    kept = store()
    kept.create(toy(size=0))
    stale = kept.get(Toy, "team-a/a")
    for _ in range(10):
        fresh = kept.get(Toy, "team-a/a")
        kept.update(replace(fresh, spec=ToySpec(fresh.spec.size + 1)))
        try:
            kept.update(replace(stale, spec=ToySpec(stale.spec.size + 1)))
        except ConflictError:
            stale = kept.get(Toy, "team-a/a")
            kept.update(replace(stale, spec=ToySpec(stale.spec.size + 1)))
    assert kept.get(Toy, "team-a/a").spec == ToySpec(20)
