"""List a kind, then watch what becomes of it, for as long as the process lives.

Mirrors tools/cache/reflector.go of client-go v0.36 in its list-then-watch mode.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, NamedTuple, Protocol

from simpy.events import Event

from kubequeue.cluster.duration import Seconds
from kubequeue.errors import APIError, InternalError, UnavailableError
from kubequeue.runtime.delivery import Delivery
from kubequeue.runtime.restclient import RESTClient
from kubequeue.runtime.selection import Selection, Selector
from kubequeue.sim import NANOSECONDS, Simulation

_FIRST_BACKOFF = 8 * NANOSECONDS // 10
_LONGEST_BACKOFF = 30 * NANOSECONDS
_BACKOFF_RESET = 120 * NANOSECONDS
_SHORT_WATCH = NANOSECONDS

Steps = Generator[Event, Any, None]


class Sink(Protocol):
    """Where a reflector puts what it hears."""

    def replace(self, reflector: Reflector, objects: list[Any]) -> None:
        """Everything that is there now."""

    def put(self, obj: Any) -> None:
        """An object was added or changed."""

    def deleted(self, obj: Any) -> None:
        """An object is gone."""

    def held(self, namespace: str) -> Iterable[Any]:
        """What it has of a namespace, or of all."""

    def watch_ended(self, namespace: str, why: str) -> None:
        """A list failed or a watch is over."""


class _Listed(NamedTuple):
    """The answer to a list, on its way to the cache."""

    objects: list[Any]
    resource_version: str


class Backoff:
    """0.8 s, doubled up to 30 s, and 0.8 s again after two minutes without; no jitter.

    Mirrors the constants of ``reflector.go`` and ``backoff.go: DelayWithReset`` (apimachinery),
    where up to as much again is drawn on top.
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._next = _FIRST_BACKOFF
        self._reset_at = 0

    def wait(self) -> Event:
        """An event to yield before the next try."""
        now = self._sim.now_ns
        if now >= self._reset_at:
            self._next = _FIRST_BACKOFF
        delay, self._next = self._next, min(2 * self._next, _LONGEST_BACKOFF)
        self._reset_at = now + _BACKOFF_RESET
        return self._sim.sleep(delay / NANOSECONDS)


class Reflector:
    """Keeps ``sink`` up to date with one kind in one namespace. `run` is its loop.

    A watch that just ends is taken up again from the last version that reached the sink; one that
    ends with an error, or within a second and with nothing, is followed by a new list after a
    back-off, and so is a version that the server has forgotten. (Upstream renews each watch after
    5 to 10 minutes; as that costs no event, it is left out here.) With a ``selector`` the server
    leaves out what it does not pick: that costs no event either.
    Mirrors ``reflector.go: Reflector`` (client-go v0.36).
    """

    def __init__(
        self,
        sim: Simulation,
        client: RESTClient,
        kind: type[Any],
        namespace: str,
        sink: Sink,
        lag: Seconds,
        selector: Selector | None = None,
    ) -> None:
        self.namespace = namespace
        self.has_synced = False
        stream = f"lag/{client.user}/{kind.kind}/{namespace}"
        self.delivery = Delivery(sim, self._hand_on, lag, stream)
        self._sim = sim
        self._client = client
        self._kind = kind
        self._sink = sink
        self._selection = None if selector is None else Selection(selector)
        self._backoff = Backoff(sim)
        self._seen: str | None = None
        self._ended: Event | None = None
        self._events = 0

    def run(self) -> Steps:
        """List and watch, again and again. Mirrors ``reflector.go: RunWithContext``."""
        while True:
            try:
                yield from self._list_and_watch()
            except APIError as error:
                self._sink.watch_ended(self.namespace, str(error))
            yield self._backoff.wait()

    def break_watch(self, error: Exception | None = None) -> None:
        """End the watch that there is; what is under way is lost."""
        if self._ended is not None and not self._ended.triggered:
            self._ended.succeed(error)

    def _list_and_watch(self) -> Steps:
        """Mirrors ``reflector.go: ListAndWatchWithContext``."""
        listed = yield from self._client.list(self._kind, self.namespace)
        items = self._selected(listed.items)
        self.delivery.put(_Listed(items, listed.resource_version), late=False)
        version: str | None = listed.resource_version
        while version is not None:
            try:
                watch = yield from self._client.watch(self._kind, self.namespace, version)
            except (UnavailableError, InternalError) as error:
                self._sink.watch_ended(self.namespace, str(error))
                yield self._backoff.wait()
                continue
            yield from self._watch(watch)
            version = self._seen  # None: the very first list was lost on the way
            self._selected(self._sink.held(self.namespace))

    def _selected(self, objects: Iterable[Any]) -> list[Any]:
        """What of these is selected; a watch is about to go on from there."""
        return list(objects) if self._selection is None else self._selection.begin(objects)

    def _watch(self, watch: Any) -> Steps:
        """Take what one watch tells until it ends; raises the error that it ended with."""
        started, self._events = self._sim.now_ns, 0
        self._ended = self._sim.event()
        try:
            watch.receive(self._receive)
            error = yield self._ended
        finally:
            watch.stop()
        self.delivery.clear()
        if error is not None:
            raise error
        if not self._events and self._sim.now_ns - started < _SHORT_WATCH:
            raise UnavailableError("very short watch: it ended within a second, without an event")
        self._sink.watch_ended(self.namespace, "the watch was closed")

    def _receive(self, event: Any) -> None:
        """Called by the server at the instant of a change."""
        if event.type == "ERROR":
            self.break_watch(event.object)
            return
        if self._selection is not None:
            event = self._selection.of(event)
        if event is not None:
            self._events += 1
            self.delivery.put(event)

    def _hand_on(self, thing: Any) -> None:
        """What was under way is here."""
        if type(thing) is _Listed:
            self._seen = thing.resource_version
            self._sink.replace(self, thing.objects)
            return
        self._seen = thing.object.metadata.resource_version
        if thing.type == "DELETED":
            self._sink.deleted(thing.object)
        else:
            self._sink.put(thing.object)
