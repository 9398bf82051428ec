"""The local copy of one kind, and who is told when it changes.

Mirrors tools/cache/shared_informer.go of client-go v0.36, with one indexer for all namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from simpy.events import Event

from kubequeue.cluster.duration import Seconds
from kubequeue.cluster.objects import NamespacedName, key_of
from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.indexer import Indexer
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.runtime.observer import CacheObserver
from kubequeue.runtime.reflector import Reflector
from kubequeue.runtime.restclient import RESTClient
from kubequeue.runtime.selection import Selector
from kubequeue.sim import Simulation, to_ns


class EventHandler(Protocol):
    """Who is told of changes. Mirrors ``controller.go: ResourceEventHandler`` (client-go v0.36)."""

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """An object is there that was not; or it was there when the handler, or the cache, came."""

    def on_update(self, old: Any, new: Any) -> None:
        """An object changed; a resync tells of it with two equal resource versions."""

    def on_delete(self, obj: Any) -> None:
        """An object is gone; this is the last that was known of it."""


class Informer:
    """Lists and watches one kind, keeps its objects in ``indexer``, and tells the handlers.

    The indexer holds a change before any handler hears of it. Events of one namespace come in the
    order in which the server made them.

    Args:
        sim, client: what it lives in, and whom it asks.
        kind: the class of the objects.
        namespaces: which to watch; ``("",)`` is all of them.
        lag: seconds from the server's event to the cache, or (lowest, highest).
        resync_period: tell the handlers of every object again each so many seconds; 0 for never.
        selector: labels, or a function of an object; what it does not pick is as if not there.
        observer: who is told of lists, changes and broken watches.

    Raises `InvalidArgumentError` for a negative lag or period. Mirrors ``shared_informer.go:
    sharedIndexInformer`` (client-go v0.36).
    """

    def __init__(
        self,
        sim: Simulation,
        client: RESTClient,
        kind: type[Any],
        *,
        namespaces: Iterable[str] = ("",),
        lag: Seconds = 0.0,
        resync_period: float = 0.0,
        selector: Selector | None = None,
        observer: CacheObserver | None = None,
    ) -> None:
        if to_ns(resync_period, "resync_period") < 0:
            raise InvalidArgumentError("resync_period", resync_period, "zero seconds or more")
        self.kind = kind
        self.indexer = Indexer()
        self.synced: Event = sim.event()
        """Fires once the first list of every namespace is in the indexer."""
        self._sim = sim
        self._observer = observer or sim.observe(CacheObserver, "cache", "")
        self._handlers: list[EventHandler] = []
        self._resync_period = resync_period
        self._lag = lag
        self._reflectors = [
            Reflector(sim, client, kind, namespace, self, lag, selector) for namespace in namespaces
        ]
        self._started = False

    @property
    def has_synced(self) -> bool:
        """Whether the first list of every namespace is in the indexer. Mirrors ``HasSynced``."""
        return all(reflector.has_synced for reflector in self._reflectors)

    @property
    def lag(self) -> Seconds:
        """Seconds from the server's event to the cache; may be set at any time, for what follows.

        Raises `InvalidArgumentError` for less than zero.
        """
        return self._lag

    @lag.setter
    def lag(self, seconds: Seconds) -> None:
        for reflector in self._reflectors:
            reflector.delivery.lag = seconds
        self._lag = seconds

    def pause(self) -> None:
        """Let nothing more into the cache, until `resume`; the watches go on."""
        for reflector in self._reflectors:
            reflector.delivery.pause()

    def resume(self) -> None:
        """Let into the cache what came in the meantime, at once and in order."""
        for reflector in self._reflectors:
            reflector.delivery.resume()

    def break_watch(self, error: Exception | None = None) -> None:
        """End every watch of this informer; what is under way is lost on the way.

        Without an ``error`` the connection just ends, and the watch goes on from the last version
        in the cache; with one, or when the server has forgotten that version, everything is listed
        anew after a back-off.
        """
        for reflector in self._reflectors:
            reflector.break_watch(error)

    def add_event_handler(self, handler: EventHandler) -> None:
        """Tell ``handler`` of every change, and first of what is there already. Costs O(objects).

        Mirrors ``shared_informer.go: AddEventHandler``.
        """
        self._handlers.append(handler)
        for obj in self.indexer:
            handler.on_add(obj, True)

    def start(self, lifetime: Lifetime) -> None:
        """List and watch, until ``lifetime`` ends. A second call does nothing."""
        if self._started:
            return
        self._started = True
        for reflector in self._reflectors:
            lifetime.process(reflector.run())
        if self._resync_period:
            lifetime.process(self._resync())
        lifetime.at_end(self.pause)

    def replace(self, reflector: Reflector, objects: list[Any]) -> None:
        """The answer to a list: everything that is there now, in one namespace or in all.

        Mirrors ``delta_fifo.go: Replace`` and what follows from it.
        """
        initial = not reflector.has_synced
        self._observer.listed(self.kind.kind, reflector.namespace, len(objects))
        there = {key_of(obj) for obj in objects}
        gone = [o for o in self.indexer.select(reflector.namespace) if key_of(o) not in there]
        for obj in objects:
            self._put(obj, initial)
        for obj in gone:
            self.deleted(obj)
        reflector.has_synced = True
        if initial and self.has_synced:
            self.synced.succeed()

    def put(self, obj: Any) -> None:
        """An event says that this is how an object is now."""
        self._put(obj, False)

    def deleted(self, obj: Any) -> None:
        """An event says that an object is gone."""
        key = key_of(obj)
        if self.indexer.delete(key) is None:
            return
        self._told("DELETED", key, obj)
        for handler in self._handlers:
            handler.on_delete(obj)

    def held(self, namespace: str) -> Iterable[Any]:
        """What is in the indexer of a namespace, or of all."""
        return self.indexer.select(namespace)

    def watch_ended(self, namespace: str, why: str) -> None:
        """A watch is over, and why."""
        self._observer.watch_ended(self.kind.kind, namespace, why)

    def _put(self, obj: Any, initial: bool) -> None:
        old = self.indexer.put(obj)
        if old is None:
            self._told("ADDED", key_of(obj), obj)
            for handler in self._handlers:
                handler.on_add(obj, initial)
            return
        if old is not obj:
            self._told("MODIFIED", key_of(obj), obj)
        for handler in self._handlers:
            handler.on_update(old, obj)

    def _told(self, change: str, key: NamespacedName, obj: Any) -> None:
        self._observer.cached(self.kind.kind, change, str(key), obj.metadata.resource_version)

    def _resync(self) -> Any:
        """Tell of every object again, as an update that changed nothing."""
        yield self.synced
        while True:
            yield self._sim.sleep(self._resync_period)
            for obj in list(self.indexer):
                for handler in self._handlers:
                    handler.on_update(obj, obj)
