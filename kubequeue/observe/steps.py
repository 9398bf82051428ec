"""One step, one stretch of time, and how stretches are found among the steps."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kubequeue.observe.sentences import sentence


@dataclass(frozen=True, slots=True)
class Instant:
    """One step of one part of the model.

    Attributes:
        at: seconds since the start.
        kind: the name of the hook that told of it, such as ``got``.
        source: the queue, controller, client, cache or manager it happened in.
        actor: the loop or worker that did it; empty when it came from outside.
        key: the key it was about, None when it was about none.
        values: what else belongs to its kind.
    """

    at: float
    kind: str
    source: str
    actor: str
    key: Any
    values: tuple[Any, ...]

    def __str__(self) -> str:
        """The step in one sentence."""
        return sentence(self.kind, self.actor, self.key, self.values)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a key spent in one place.

    Attributes:
        kind: ``waiting`` or ``ready`` (pending in the queue), ``locked`` (out of the queue),
            ``round`` (a Reconcile runs) or ``call`` (to the API server, without the wait for a
            token).
        source: the queue, controller or client.
        worker: who holds the key, or the call, such as ``create Pod``; empty while it is pending.
        key: the key.
        start: seconds.
        end: seconds, None while it lasts.
        outcome: how a round ended, or the code that a call was answered with (0: it was given up);
            ``crashed`` when its process died. Empty for the other kinds.
    """

    kind: str
    source: str
    worker: str
    key: Any
    start: float
    end: float | None
    outcome: str = ""


_OPENS = {
    "delayed": "waiting",
    "added": "ready",
    "got": "locked",
    "round_started": "round",
    "sent": "call",
}
_CLOSES = {
    "added": "waiting",
    "got": "ready",
    "done": "locked",
    "round_ended": "round",
    "answered": "call",
}
_HAS_WORKER = ("locked", "round", "call")
_HAS_OUTCOME = ("round", "call")


def spans_of(instants: list[Instant]) -> Iterator[Span]:
    """Pair the step that opens a stretch with the one that closes it, first opened first closed."""
    opened: defaultdict[tuple[Any, ...], deque[Instant]] = defaultdict(deque)
    for instant in instants:
        if instant.kind == "crashed":
            yield from _cut_off(opened, instant)
        closed = opened[_place(_CLOSES.get(instant.kind, ""), instant)]
        if closed:
            yield _span(_CLOSES[instant.kind], closed.popleft(), instant)
        if instant.kind in _OPENS:
            opened[_place(_OPENS[instant.kind], instant)].append(instant)
    for (kind, *_), left in opened.items():
        yield from (_span(kind, start, None) for start in left)


def _cut_off(opened: dict[tuple[Any, ...], deque[Instant]], crash: Instant) -> Iterator[Span]:
    """What a crash ended: everything that lasted in that place."""
    for (kind, source, *_), left in opened.items():
        while left and source == crash.source:
            yield _span(kind, left.popleft(), crash)


def _place(kind: str, instant: Instant) -> tuple[Any, ...]:
    """What the two ends of a stretch have in common; without locks a key may have two rounds."""
    return kind, instant.source, instant.key, instant.actor if kind in _HAS_OUTCOME else ""


def _span(kind: str, start: Instant, end: Instant | None) -> Span:
    outcome = ""
    if end and kind in _HAS_OUTCOME:
        outcome = "crashed" if end.kind == "crashed" else str(end.values[0])
    worker = start.actor if kind in _HAS_WORKER else ""
    until = end.at if end else None
    return Span(kind, start.source, worker, start.key, start.at, until, outcome)
