"""What goes when its owner has gone.

Mirrors ``garbagecollector.go: attemptToDeleteItem`` (kubernetes v1.36,
pkg/controller/garbagecollector) for background deletion; foreground and orphans are left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.duration import Seconds, after_ns, drawn_ns
from kubequeue.cluster.metadata import NamespacedName, OwnerReference
from kubequeue.cluster.objects import Object, key_of
from kubequeue.cluster.watch import DELETED, WatchEvent
from kubequeue.sim import Simulation


class _Dependent(NamedTuple):
    kind: type[Any]
    key: NamespacedName
    uid: str


class GarbageCollector:
    """Deletes what is owned once the last of its owners has gone, or was never there.

    Args:
        sim, server: where the objects are; every kind of the server is watched.
        delay: seconds from the end of an owner to the delete, a number or a range drawn from
            ``sim.stream("garbage_collector/delay")``, for each owned object.

    An owner is told by its uid, so another one of the same name is not it. An object that still
    has an owner loses the references to those that have gone. Deletion is graceful: Pods get
    their grace period. Raises `InvalidArgumentError` for a delay below zero.
    """

    def __init__(self, sim: Simulation, server: APIServer, *, delay: Seconds = 0.0) -> None:
        self._sim = sim
        self._store = server.store
        self._delay = drawn_ns(sim, delay, "garbage_collector/delay")
        self._present: set[str] = set()
        self._owners: dict[str, tuple[OwnerReference, ...]] = {}
        self._dependents: dict[str, dict[str, _Dependent]] = {}
        for kind in self._store.kinds:
            self._store.watch(kind).receive(self._on_event)

    def _on_event(self, event: WatchEvent) -> None:
        if event.type == DELETED:
            self._gone(event.object)
        else:
            self._seen(event.object)

    def _seen(self, obj: Object) -> None:
        """Note who owns the object, and look again when one of them is not there."""
        meta = obj.metadata
        self._present.add(meta.uid)
        owners = meta.owner_references
        known = self._owners.get(meta.uid, ())
        if owners == known:
            return
        dependent = _Dependent(type(obj), key_of(obj), meta.uid)
        self._unlink(meta.uid)
        self._owners[meta.uid] = owners
        for owner in owners:
            self._dependents.setdefault(owner.uid, {})[meta.uid] = dependent
        if any(owner.uid not in self._present for owner in owners):
            self._look_later(dependent)

    def _gone(self, obj: Object) -> None:
        uid = obj.metadata.uid
        self._present.discard(uid)
        self._unlink(uid)
        for dependent in self._dependents.get(uid, {}).values():
            self._look_later(dependent)

    def _unlink(self, uid: str) -> None:
        """The object is no longer a dependent of anybody's."""
        for owner in self._owners.pop(uid, ()):
            dependents = self._dependents[owner.uid]
            dependents.pop(uid, None)
            if not dependents:
                del self._dependents[owner.uid]

    def _look_later(self, dependent: _Dependent) -> None:
        after_ns(self._sim, self._delay(), lambda: self._attempt_to_delete(dependent))

    def _attempt_to_delete(self, dependent: _Dependent) -> None:
        """Delete it when none of its owners is there. Mirrors ``attemptToDeleteItem``."""
        kind, key, uid = dependent
        owners = self._owners.get(uid, ())
        solid = tuple(owner for owner in owners if owner.uid in self._present)
        if solid:
            self._store.patch(kind, key, lambda obj: _owned_by(obj, solid))
        elif owners:
            self._store.delete(kind, key, uid=uid)


def _owned_by(obj: Any, owners: tuple[OwnerReference, ...]) -> Any:
    return replace(obj, metadata=replace(obj.metadata, owner_references=owners))
