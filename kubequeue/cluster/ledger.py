"""The shelves of a cluster, the one version they share, and the way of a write to who watches.

Mirrors what etcd and the watch cache are to apiserver v0.36, pkg/storage.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any

from kubequeue.cluster.given import several
from kubequeue.cluster.objects import T
from kubequeue.cluster.resource import Resource
from kubequeue.cluster.shelf import Shelf, parse_version
from kubequeue.cluster.watch import ADDED, DELETED, History, Watch, WatchEvent
from kubequeue.errors import InvalidArgumentError, NoKindMatchError, ServerTimeoutError
from kubequeue.sim import Simulation

any_replace: Any = replace
NO_PARTS: Mapping[str, Any] = {}
by_key = attrgetter("metadata.namespace", "metadata.name")


class Ledger:
    """Every object by its kind, with one version for all of them, and the watches on them."""

    def __init__(self, sim: Simulation, kinds: Iterable[type[Any]], history: int) -> None:
        if not isinstance(history, int) or history < 1:
            raise InvalidArgumentError("history", history, "1 event or more to remember")
        self._sim = sim
        self._version = 0
        given = several("kinds", kinds, "a list of kinds, such as (Pod, Service)")
        self._shelves = {kind: Shelf(Resource.of(kind), history) for kind in given}
        self._outbox: deque[tuple[History, int, WatchEvent]] = deque()
        self._sending = False

    @property
    def kinds(self) -> tuple[type[Any], ...]:
        """The kinds it has, in the order they were given."""
        return tuple(self._shelves)

    @property
    def resource_version(self) -> str:
        """The version of the last write, whatever it was of."""
        return str(self._version)

    def resource(self, kind: type[Any]) -> Resource:
        """What Kubernetes calls a kind. Raises `NoKindMatchError`."""
        return self._shelf(kind).resource

    def watch(self, kind: type[Any], namespace: str = "", resource_version: str = "") -> Watch:
        """What happens to the objects of a kind after a version, in one or in all namespaces.

        Without a version, or from "0", it begins with every object there is, as ADDED. A namespace
        that holds nothing yet is watched too. Costs O(events replayed).
        """
        shelf = self._shelf(kind)
        after = parse_version(resource_version)
        if after > self._version:
            raise ServerTimeoutError(
                f"Too large resource version: {after}, current: {self._version}"
            )
        watch = Watch(kind, namespace, after or self._version)
        if not after:
            for obj in sorted(shelf.within(namespace), key=by_key):
                watch.begin_with(WatchEvent(ADDED, obj, self._sim.now_ns))
        shelf.history.watch(watch, after or self._version)
        return watch

    def compact(self, resource_version: str | None = None) -> None:
        """Forget the history up to a version, by default all: older watches cannot start."""
        version = self._version if resource_version is None else parse_version(resource_version)
        for shelf in self._shelves.values():
            shelf.history.compact(min(version, self._version))

    def _shelf(self, kind: type[Any]) -> Shelf:
        try:
            return self._shelves[kind]
        except (KeyError, TypeError):
            name = getattr(kind, "kind", getattr(kind, "__name__", repr(kind)))
            known = tuple(shelf.resource.kind for shelf in self._shelves.values())
            raise NoKindMatchError(name, getattr(kind, "group", ""), known) from None

    def _write(
        self,
        type_: str,
        shelf: Shelf,
        obj: T,
        parts: Mapping[str, Any] = NO_PARTS,
        *,
        tell: bool = True,
        **metadata: Any,
    ) -> T:
        """One write: the next version, the object, the event, and whoever watches.

        ``parts`` are a new spec or status, ``metadata`` is what is new in there. Without ``tell``
        the event goes out with that of the next write.
        """
        self._version += 1
        meta = replace(obj.metadata, resource_version=str(self._version), **metadata)
        obj = any_replace(obj, metadata=meta, **parts)
        if type_ == DELETED:
            del shelf.spaces[meta.namespace][meta.name]
        else:
            shelf.spaces[meta.namespace][meta.name] = obj
        event = WatchEvent(type_, obj, self._sim.now_ns)
        shelf.history.append(self._version, event)
        self._outbox.append((shelf.history, self._version, event))
        if tell and not self._sending:
            self._send_all()
        return obj

    def _send_all(self) -> None:
        """Hand events on in the order of their versions, when a receiver writes in turn too."""
        self._sending = True
        try:
            while self._outbox:
                history, version, event = self._outbox.popleft()
                history.send(version, event)
        finally:
            self._sending = False
