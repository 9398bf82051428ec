"""What happened in a run: every step as an instant that can say itself, every stretch as a span.

A hook appends one small tuple; sentences, spans and tables are made from these when asked for.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simpy import Environment

from kubequeue.observe.sentences import sentence

if TYPE_CHECKING:
    from pandas import DataFrame

NANOSECONDS = 1_000_000_000
Record = tuple[Any, ...]
"""Nanoseconds, kind, source, actor, key, and what else belongs to the kind."""


@dataclass(frozen=True, slots=True)
class Instant:
    """One step of one part of the model.

    Attributes:
        at: seconds since the start.
        kind: the name of the hook that told of it, such as ``got``.
        source: the queue or controller it happened in.
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
        kind: ``waiting`` or ``ready`` (pending in the queue), ``locked`` (out of the queue) or
            ``round`` (a Reconcile runs).
        source: the queue or controller.
        worker: who holds the key; empty while it is pending.
        key: the key.
        start: seconds.
        end: seconds, None while it lasts.
        outcome: how a round ended; empty for the other kinds.
    """

    kind: str
    source: str
    worker: str
    key: Any
    start: float
    end: float | None
    outcome: str = ""


class Trace:
    """Everything that the queues and controllers of one simulation did, in order.

    >>> from kubequeue import PriorityQueue, Simulation
    >>> sim = Simulation()
    >>> PriorityQueue(sim, "raycluster").add("default/a")
    >>> sim.settle()
    >>> print(sim.trace.instants[0])
    default/a enters the add buffer.
    """

    def __init__(self, env: Environment) -> None:
        self._env = env
        self._records: list[Record] = []
        self.workers: dict[str, int] = {}
        """How many workers each controller started."""

    def __len__(self) -> int:
        """How many steps there are. Costs O(1)."""
        return len(self._records)

    @property
    def now(self) -> float:
        """Virtual seconds since the start of the simulation that is traced."""
        return self._env.now / NANOSECONDS

    @property
    def instants(self) -> list[Instant]:
        """Every step, in order. Costs O(n)."""
        return self.since(0)

    def since(self, steps: int) -> list[Instant]:
        """What came after the first so many ``steps``, in order. Costs O(result)."""
        return [
            Instant(at / NANOSECONDS, kind, source, actor, key, tuple(values))
            for at, kind, source, actor, key, *values in self._records[steps:]
        ]

    @property
    def spans(self) -> list[Span]:
        """Every stretch, in order of its start. Costs O(n log n)."""
        return sorted(_spans(self.instants), key=lambda span: span.start)

    def rounds(self) -> list[Span]:
        """The rounds of all workers, in order of their start. Costs O(n log n)."""
        return [span for span in self.spans if span.kind == "round"]

    def story(self, key: Any = None) -> str:
        """One line for each step, about ``key`` alone when one is given. Costs O(n)."""
        return "\n".join(
            f"{instant.at:10.3f} s  {instant}"
            for instant in self.instants
            if key is None or instant.key == key
        )

    def spans_to_pandas(self) -> DataFrame:
        """A row for each span: kind, source, worker, key, start_s, end_s, outcome."""
        import pandas as pd

        rows = [
            (s.kind, s.source, s.worker, str(s.key), s.start, s.end, s.outcome) for s in self.spans
        ]
        names = ["kind", "source", "worker", "key", "start_s", "end_s", "outcome"]
        return pd.DataFrame(rows, columns=names)

    def to_pandas(self) -> DataFrame:
        """A row for each instant: at_s, kind, source, actor, key, sentence."""
        import pandas as pd

        rows = [
            (i.at, i.kind, i.source, i.actor, "" if i.key is None else str(i.key), str(i))
            for i in self.instants
        ]
        return pd.DataFrame(rows, columns=["at_s", "kind", "source", "actor", "key", "sentence"])

    def queue(self, name: str, _by_priority: bool) -> QueueTrace:
        """The observer of one queue."""
        return QueueTrace(self._env, name, self._records)

    def controller(self, name: str) -> ControllerTrace:
        """The observer of one controller."""
        return ControllerTrace(self._env, name, self._records, self.workers)


class QueueTrace:
    """Writes down what one queue does; its methods are the hooks of ``QueueObserver``."""

    def __init__(self, env: Environment, name: str, records: list[Record]) -> None:
        self._env = env
        self._name = name
        self._append = records.append
        self._loop = ""

    def buffered(self, keys: tuple[Any, ...], opts: Any) -> None:
        self._loop = ""  # with the older queue, what follows is the caller's own doing
        for key in keys:
            self._append((self._env.now, "buffered", self._name, "", key, *opts))

    def woke(self, loop: str) -> None:
        self._loop = loop
        self._append((self._env.now, "woke", self._name, loop, None))

    def delayed(self, key: Any, ready_at_ns: int) -> None:
        self._append((self._env.now, "delayed", self._name, self._loop, key, ready_at_ns))

    def merged(self, key: Any, priority: int | None, ready_at_ns: int | None) -> None:
        self._append((self._env.now, "merged", self._name, self._loop, key, priority, ready_at_ns))

    def added(self, key: Any, priority: int | None) -> None:
        self._append((self._env.now, "added", self._name, self._loop, key, priority))

    def passed_over(self, key: Any) -> None:
        self._append((self._env.now, "passed_over", self._name, self._loop, key))

    def waited(self, waiter: str) -> None:
        self._append((self._env.now, "waited", self._name, waiter, None))

    def got(self, key: Any, priority: int | None, waiter: str, locked: bool) -> None:
        self._append((self._env.now, "got", self._name, waiter, key, priority, locked))

    def abandoned(self, key: Any, waiter: str) -> None:
        self._append((self._env.now, "abandoned", self._name, self._loop, key, waiter))

    def done(self, key: Any, holder: str | None) -> None:
        self._append((self._env.now, "done", self._name, holder or "", key))

    def shut_down(self) -> None:
        self._append((self._env.now, "shut_down", self._name, "", None))


class ControllerTrace:
    """Writes down the rounds of one controller; its methods are hooks of ``ControllerObserver``."""

    def __init__(
        self, env: Environment, name: str, records: list[Record], workers: dict[str, int]
    ) -> None:
        self._env = env
        self._name = name
        self._append = records.append
        self._workers = workers

    def started(self, workers: int) -> None:
        self._workers[self._name] = workers

    def round_started(self, worker: str, key: Any, priority: int) -> None:
        self._append((self._env.now, "round_started", self._name, worker, key, priority))

    def round_ended(self, worker: str, key: Any, outcome: Any) -> None:
        self._append((self._env.now, "round_ended", self._name, worker, key, *outcome))


_OPENS = {"delayed": "waiting", "added": "ready", "got": "locked", "round_started": "round"}
_CLOSES = {"added": "waiting", "got": "ready", "done": "locked", "round_ended": "round"}


def _spans(instants: list[Instant]) -> Iterator[Span]:
    """Pair the step that opens a stretch with the one that closes it, first opened first closed."""
    opened: defaultdict[tuple[Any, ...], deque[Instant]] = defaultdict(deque)
    for instant in instants:
        closed = opened[_place(_CLOSES.get(instant.kind, ""), instant)]
        if closed:
            yield _span(_CLOSES[instant.kind], closed.popleft(), instant)
        if instant.kind in _OPENS:
            opened[_place(_OPENS[instant.kind], instant)].append(instant)
    for (kind, *_), left in opened.items():
        yield from (_span(kind, start, None) for start in left)


def _place(kind: str, instant: Instant) -> tuple[Any, ...]:
    """What the two ends of a stretch have in common; without locks a key may have two rounds."""
    return kind, instant.source, instant.key, instant.actor if kind == "round" else ""


def _span(kind: str, start: Instant, end: Instant | None) -> Span:
    outcome = end.values[0] if kind == "round" and end else ""
    worker = start.actor if kind in ("locked", "round") else ""
    until = end.at if end else None
    return Span(kind, start.source, worker, start.key, start.at, until, outcome)
