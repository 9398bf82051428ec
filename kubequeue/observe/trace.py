"""What happened in a run: every step as an instant that can say itself, every stretch as a span.

A hook appends one small tuple; sentences, spans and tables are made from these when asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simpy import Environment

from kubequeue.observe.kuberay import KubeRayTrace
from kubequeue.observe.operator_trace import CacheTrace, ClientTrace, ManagerTrace
from kubequeue.observe.steps import Instant, Span, spans_of

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Instant", "Span", "Trace"]

NANOSECONDS = 1_000_000_000
Record = tuple[Any, ...]
"""Nanoseconds, kind, source, actor, key, and what else belongs to the kind."""


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
        return sorted(spans_of(self.instants), key=lambda span: span.start)

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

    def client(self, name: str) -> ClientTrace:
        """The observer of one client."""
        return ClientTrace(self._env, name, self._records)

    def cache(self, name: str) -> CacheTrace:
        """The observer of one cache."""
        return CacheTrace(self._env, name, self._records)

    def manager(self, name: str) -> ManagerTrace:
        """The observer of one manager."""
        return ManagerTrace(self._env, name, self._records)

    def kuberay(self, _name: str) -> KubeRayTrace:
        """The observer of the operator."""
        return KubeRayTrace(self._env, self._records)


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
