"""What happened to the objects of one kind, and whoever watches it happen.

Mirrors the watch cache of apiserver v0.36, pkg/storage/cacher: a history of each kind that is
forgotten from its old end. Events reach a watch at the instant of the write; how much later a
client sees them is the client's own affair (its informer has a lag).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from kubequeue.errors import APIError, ExpiredError, InvalidArgumentError, UnavailableError

ADDED, MODIFIED, DELETED, ERROR = "ADDED", "MODIFIED", "DELETED", "ERROR"


class WatchEvent(NamedTuple):
    """What happened: ADDED, MODIFIED, DELETED, or ERROR, which ends a watch.

    ``object`` is the object as the write left it (DELETED: as it was at last, with the version of
    its removal), and for ERROR an `APIError`. Mirrors ``watch.Event``.
    """

    type: str
    object: Any
    at_ns: int


class Watch:
    """The events of one kind, in the order they happened, for one receiver.

    They are held until somebody calls `receive` or `take`. A watch ends by `stop`, from the
    receiver's side, or by `break_`, from the server's; ``stopped`` says whether it has.
    """

    __slots__ = ("_held", "_last", "_receiver", "kind", "namespace", "stopped")

    def __init__(self, kind: type[Any], namespace: str, after: int) -> None:
        self.kind = kind
        self.namespace = namespace
        self.stopped = False
        self._last = after
        self._held: deque[WatchEvent] = deque()
        self._receiver: Callable[[WatchEvent], object] | None = None

    def receive(self, receiver: Callable[[WatchEvent], object]) -> None:
        """Hand ``receiver`` what is held, then each event at the instant it happens.

        Raises `InvalidArgumentError` when there is a receiver already.
        """
        if self._receiver is not None:
            raise InvalidArgumentError("receive()", receiver, "one receiver for each watch")
        while self._held:
            receiver(self._held.popleft())
        self._receiver = receiver

    def take(self) -> list[WatchEvent]:
        """The events that came since the last call, for whoever would rather ask."""
        taken = list(self._held)
        self._held.clear()
        return taken

    def stop(self) -> None:
        """No event will follow, and nothing is held any more. A second call does nothing."""
        self.stopped = True
        self._held.clear()

    def break_(self, at_ns: int, error: APIError | None = None) -> None:
        """The connection breaks: an ERROR with its reason is the last event. Once only."""
        if not self.stopped:
            error = error or UnavailableError("the watch was closed by the server")
            self._hand_on(WatchEvent(ERROR, error, at_ns))
            self.stopped = True

    def begin_with(self, event: WatchEvent) -> None:
        """Hold an event about what was there before the watch."""
        self._held.append(event)

    def send(self, version: int, event: WatchEvent) -> None:
        """The server's side of it: hand the event on, unless this watch has it already."""
        if version > self._last and not self.stopped:
            self._last = version
            self._hand_on(event)

    def _hand_on(self, event: WatchEvent) -> None:
        if self._receiver is None:
            self._held.append(event)
        else:
            self._receiver(event)


class History:
    """The events of one kind, the last ``size`` of them, and the watches on them."""

    __slots__ = ("_compacted", "_log", "_watches")

    def __init__(self, size: int) -> None:
        self._log: deque[tuple[int, WatchEvent]] = deque(maxlen=size)
        self._compacted = 0
        self._watches: dict[str, list[Watch]] = {}

    def __len__(self) -> int:
        return len(self._log)

    @property
    def oldest(self) -> int:
        """The oldest version that a watch can start from."""
        return self._compacted

    def append(self, version: int, event: WatchEvent) -> None:
        """One more event; the oldest may go for it. Costs O(1)."""
        log = self._log
        if len(log) == log.maxlen:
            self._compacted = log[0][0]
        log.append((version, event))

    def compact(self, version: int) -> None:
        """Forget what happened up to and including ``version``."""
        while self._log and self._log[0][0] <= version:
            self._log.popleft()
        self._compacted = max(self._compacted, version)

    def watch(self, watch: Watch, after: int) -> None:
        """Replay into ``watch`` what happened after a version, and go on from there.

        Raises `ExpiredError` when that is not known any more. Costs O(events replayed), and O(the
        watches on that namespace).
        """
        if after < self._compacted:
            raise ExpiredError(after, self._compacted)
        missed: list[tuple[int, WatchEvent]] = []
        for version, event in reversed(self._log):
            if version <= after:
                break
            missed.append((version, event))
        for version, event in reversed(missed):
            if watch.namespace in ("", event.object.metadata.namespace):
                watch.send(version, event)
        still = [each for each in self._watches.get(watch.namespace, ()) if not each.stopped]
        self._watches[watch.namespace] = [*still, watch]

    def send(self, version: int, event: WatchEvent) -> None:
        """Hand an event to every watch that asked for its namespace. Costs O(those watches)."""
        for namespace in {"": 0, event.object.metadata.namespace: 1}:
            stopped = False
            for watch in tuple(self._watches.get(namespace, ())):
                watch.send(version, event)
                stopped = stopped or watch.stopped
            if stopped:
                self._watches[namespace] = [w for w in self._watches[namespace] if not w.stopped]
