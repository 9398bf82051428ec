"""The numbers behind the metrics: what one queue and one controller count, from their hooks.

Mirrors pkg/internal/metrics/workqueue.go, pkg/controller/priorityqueue/metrics.go and
pkg/internal/controller/metrics/metrics.go (controller-runtime v0.24.1).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from itertools import accumulate, repeat
from operator import mul
from typing import Any

from simpy import Environment

NANOSECONDS = 1_000_000_000
_UNFINISHED_WORK_PERIOD = NANOSECONDS // 2
_MAX_PRIORITIES = 25
_CARDINALITY_EXCEEDED = "exceeded_cardinality_limit"

QUEUE_BOUNDS = tuple(accumulate(repeat(10.0, 11), mul, initial=10e-9))
"""Upper bounds of the buckets of queue and work time, in seconds: 1e-8 to 1e3.

Multiplied one from the other as in Go, so some miss their round number by the last digit.
"""

RECONCILE_BOUNDS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8),
    *(0.9, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0),
    *(15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
"""Upper bounds of the buckets of reconcile time, in seconds."""


class Histogram:
    """Counts of durations below each bound, in seconds; the sum is a float, added up as in Go.

    >>> histogram = Histogram((1.0, 2.5))
    >>> histogram.observe(1_500_000_000)
    >>> histogram.buckets(), histogram.sum
    ([('1', 0), ('2.5', 1), ('+Inf', 1)], 1.5)
    """

    __slots__ = ("_bounds", "_counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, ns: int) -> None:
        """Count one duration, given in nanoseconds. Costs O(log bounds)."""
        # As Go's Duration.Seconds does it; from a second on, one division rounds otherwise.
        seconds = ns / NANOSECONDS
        if ns > NANOSECONDS:
            seconds = ns // NANOSECONDS + ns % NANOSECONDS / NANOSECONDS
        self._counts[bisect_left(self._bounds, seconds)] += 1
        self.sum += seconds

    @property
    def count(self) -> int:
        """How many durations were observed."""
        return sum(self._counts)

    def buckets(self) -> list[tuple[str, int]]:
        """Bounds, written as Go writes them, and cumulative counts."""
        bounds = [*(repr(bound).removesuffix(".0") for bound in self._bounds), "+Inf"]
        return list(zip(bounds, accumulate(self._counts), strict=True))


class PriorityLabels(dict[int | None, str]):
    """The label of each priority seen so far, until there are too many.

    From the 26th on all go to one label, those seen before too, so what was raised under its own
    label is lowered under the shared one. Mirrors ``workqueue.go: priorityLabel``.
    """

    def __missing__(self, priority: int | None) -> str:
        """The label of a priority that was not seen before; None is the queue without any."""
        self[priority] = "" if priority is None else str(priority)
        if len(self) > _MAX_PRIORITIES:
            self.update(dict.fromkeys(self, _CARDINALITY_EXCEEDED))
        return self[priority]


class QueueMetrics:
    """The numbers of one queue; its methods are hooks of ``QueueObserver``.

    Mirrors ``metrics.go: defaultQueueMetrics`` and ``workqueue.go: depthWithPriorityMetric``.
    """

    def __init__(self, env: Environment, by_priority: bool) -> None:
        self._env: Any = env  # its clock is an integer, which SimPy's types do not say
        self.depth: defaultdict[str, int] = defaultdict(int, {} if by_priority else {"": 0})
        self.adds = 0
        self.retries = 0
        self.queue_duration = Histogram(QUEUE_BOUNDS)
        self.work_duration = Histogram(QUEUE_BOUNDS)
        self._labels = PriorityLabels()
        self._add_times: dict[Any, int] = {}
        self._processing_start_times: dict[Any, int] = {}
        self._looked_at: tuple[int, tuple[int, ...]] = (0, ())
        self._next_update: float = self._env.now + _UNFINISHED_WORK_PERIOD

    def added(self, key: Any, priority: int | None) -> None:
        self.adds += 1
        self.depth[self._labels[priority]] += 1
        self._add_times.setdefault(key, self._env.now)

    def got(self, key: Any, priority: int | None, *_: object) -> None:
        now = self._env.now
        if now >= self._next_update:
            self.update_unfinished_work()
        self.depth[self._labels[priority]] -= 1
        self._processing_start_times[key] = now
        added_at = self._add_times.pop(key, None)
        if added_at is not None:
            self.queue_duration.observe(now - added_at)

    def depth_moved(self, old: int, new: int) -> None:
        self.depth[self._labels[old]] -= 1
        self.depth[self._labels[new]] += 1

    def done(self, key: Any, *_: object) -> None:
        now = self._env.now
        if now >= self._next_update:
            self.update_unfinished_work()
        started_at = self._processing_start_times.pop(key, None)
        if started_at is not None:
            self.work_duration.observe(now - started_at)

    def retried(self) -> None:
        self.retries += 1

    def shut_down(self) -> None:
        self.update_unfinished_work()
        self._next_update = float("inf")

    @property
    def unfinished_work(self) -> int:
        """The ages of all keys that are out, added up, in nanoseconds, as of the last look."""
        looked_at, started = self._looked_at
        return looked_at * len(started) - sum(started)

    @property
    def longest_running_processor(self) -> int:
        """The age of the key that is out for longest, in nanoseconds, as of the last look."""
        looked_at, started = self._looked_at
        return looked_at - min(started, default=looked_at)

    def update_unfinished_work(self) -> None:
        """Bring the ages of what is out up to the last half second that Go would have looked at.

        Go's loop looks every 500 ms from the queue's start. Between two hooks nothing comes out or
        in, so looking back from the next one, or from a scrape, gives the same numbers.
        """
        late = self._env.now - self._next_update
        if late < 0:
            return
        looked_at = self._env.now - late % _UNFINISHED_WORK_PERIOD
        self._looked_at = looked_at, tuple(self._processing_start_times.values())
        self._next_update = looked_at + _UNFINISHED_WORK_PERIOD


class ControllerMetrics:
    """The numbers of one controller; its methods are hooks of ``ControllerObserver``."""

    def __init__(self) -> None:
        self.max_concurrent_reconciles = 0
        self.active_workers = 0
        self.total = {"error": 0, "requeue": 0, "requeue_after": 0, "success": 0}
        self.errors = 0
        self.terminal_errors = 0
        self.panics = 0
        self.reconcile_time = Histogram(RECONCILE_BOUNDS)

    def started(self, workers: int) -> None:
        self.max_concurrent_reconciles = workers

    def round_started(self, *_: object) -> None:
        self.active_workers += 1

    def round_ended(self, _worker: str, _key: Any, outcome: Any) -> None:
        self.active_workers -= 1
        self.total[outcome.result] += 1
        if outcome.result == "error":
            self.errors += 1
            self.terminal_errors += outcome.terminal
            self.panics += outcome.panicked
        self.reconcile_time.observe(outcome.took_ns)
