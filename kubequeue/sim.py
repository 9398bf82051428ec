"""The virtual world that everything else runs in: a clock, chance and whoever observes.

Time is kept in integer nanoseconds, as Go keeps it, so that two equal deadlines compare equal; it
is spoken of in seconds. Everything that lasts is a generator driven by SimPy. Nothing here reads
the wall clock or a global random stream, so equal seeds give equal runs, byte for byte.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import simpy
from simpy.core import EmptySchedule
from simpy.events import Event, Process, Timeout

from kubequeue.errors import InstantNeverEndsError, InvalidArgumentError, NeverIdleError
from kubequeue.moments import Mark, MarkReached, ShuffledEnvironment
from kubequeue.observe.metrics import Metrics
from kubequeue.observe.observers import join
from kubequeue.observe.trace import Trace

NANOSECONDS = 1_000_000_000
_MOST = 2**63 - 1
_MAX_EVENTS_UNTIL_IDLE = 5_000_000


def to_ns(seconds: float, what: str) -> int:
    """Seconds to integer nanoseconds; ``what`` names the value in the error.

    Raises `InvalidArgumentError` for what is no finite number, or too much for a Go duration, which
    is 64 bits. Costs O(1).
    """
    try:
        nanoseconds = round((seconds - 0) * NANOSECONDS)  # a text times a number is a long text
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(what, seconds, "a finite number of seconds") from None
    if -_MOST <= nanoseconds <= _MOST:
        return nanoseconds
    raise InvalidArgumentError(what, seconds, "seconds that a Go duration can hold, 292 years")


class Simulation:
    """A run of the model: its clock, its random streams, and what observes it.

    Args:
        seed: any integer; equal seeds give equal runs, in every process.
        shuffle_ties: events at one instant come as they were caused, or, when true, in an order
            drawn from the seed. Each is an order that Go's scheduler may choose too.
        trace: keep every step in ``sim.trace`` (memory grows with the run).
        metrics: keep controller-runtime's metrics in ``sim.metrics``.
        max_events_per_instant: how many events may follow one another without time moving on.

    >>> sim = Simulation()
    >>> sim.run(until=1.5)
    >>> sim.now
    1.5
    """

    def __init__(
        self,
        seed: int = 0,
        *,
        shuffle_ties: bool = False,
        trace: bool = True,
        metrics: bool = True,
        max_events_per_instant: int = 1_000_000,
    ) -> None:
        self.seed = seed
        self._streams: dict[str, random.Random] = {}
        self.env: simpy.Environment = (
            ShuffledEnvironment(self.stream("ties")) if shuffle_ties else simpy.Environment()
        )
        self.trace = Trace(self.env)
        self.metrics = Metrics(self.env)
        self._observers = [*[self.trace] * trace, *[self.metrics] * metrics]
        if max_events_per_instant < 1:
            raise InvalidArgumentError(
                "max_events_per_instant", max_events_per_instant, "1 or more"
            )
        self._max_events_per_instant = max_events_per_instant
        self._names: set[tuple[str, str]] = set()
        self._running = False

    @property
    def now(self) -> float:
        """Virtual seconds since the start."""
        return self.env.now / NANOSECONDS

    @property
    def now_ns(self) -> int:
        """Virtual nanoseconds since the start, exact."""
        return int(self.env.now)

    def stream(self, name: str) -> random.Random:
        """The random stream of that name: its own seed, so that using one moves no other."""
        if name not in self._streams:
            self._streams[name] = random.Random(f"{self.seed}/{name}")
        return self._streams[name]

    def sleep(self, seconds: float) -> Timeout:
        """An event to yield: it fires after ``seconds`` of virtual time.

        Raises `InvalidArgumentError` when ``seconds`` is negative or no finite number.
        """
        delay = to_ns(seconds, "seconds")
        if delay < 0:
            raise InvalidArgumentError("seconds", seconds, "zero or more: time cannot go back")
        return Timeout(self.env, delay)

    def event(self) -> Event:
        """A bare event to yield: it fires when somebody calls its ``succeed()``."""
        return Event(self.env)

    def process(self, generator: Generator[Event, Any, Any]) -> Process:
        """Start a generator beside everything else; what it yields are events to wait for."""
        return Process(self.env, generator)

    def call_at(self, seconds: float, function: Callable[[], object]) -> None:
        """Call ``function`` when the clock shows ``seconds``.

        Raises `InvalidArgumentError` when that time has passed.
        """
        timeout = Timeout(self.env, self._ns_ahead(seconds, "seconds"))
        timeout.callbacks.append(lambda _: _call(function))

    def run(self, until: float | None = None) -> None:
        """Let everything happen up to and including the time ``until``, or until nothing is left.

        Raises `InvalidArgumentError` for a time that has passed or a call from inside a run,
        `InstantNeverEndsError` when events go on for ever at one instant, and `NeverIdleError` when
        a run without ``until`` does not end by itself. After each of them the run can go on.
        """
        with self._one_run():
            if until is None:
                self._run_until_idle()
            else:
                self._run_to(self.now_ns + self._ns_ahead(until, "until"))

    def run_to_ns(self, deadline: int) -> None:
        """Run up to and including a nanosecond: exact where a number of seconds is rounded."""
        with self._one_run():
            self._run_to(max(deadline, self.now_ns))

    def settle(self) -> None:
        """Let everything happen that can happen without time moving on."""
        with self._one_run():
            self._run_to(self.now_ns)

    def step(self) -> bool:
        """Let one event happen; False when there was none left. Costs O(log events)."""
        if self.env.peek() == simpy.core.Infinity:
            return False
        with self._one_run():
            self.env.step()
        return True

    def observe(self, protocol: type[Any], kind: str, name: str, *args: object) -> Any:
        """One observer for a producer, joined from what each observer of this run makes for it.

        ``kind`` names the maker, as in ``trace.queue(name)``. Raises `InvalidArgumentError` when
        another producer of that kind has the name; no name at all is nobody's.
        """
        if (kind, name) in self._names:
            raise InvalidArgumentError("name", name, f"a name that no other {kind} here has")
        if name:
            self._names.add((kind, name))
        parts = [getattr(observer, kind)(name, *args) for observer in self._observers]
        return join(protocol, parts)

    def release(self, kind: str, name: str) -> None:
        """Give a name free: the producer that had it is gone."""
        self._names.discard((kind, name))

    @contextmanager
    def _one_run(self) -> Iterator[None]:
        """A run inside a run would let time go on behind the back of the outer one."""
        if self._running:
            raise InvalidArgumentError("run()", "a call from inside a run", "one run at a time")
        self._running = True
        try:
            yield
        finally:
            self._running = False

    def _ns_ahead(self, seconds: float, what: str) -> int:
        ahead = to_ns(seconds, what) - self.now_ns
        if ahead < 0:
            raise InvalidArgumentError(what, seconds, f"a time not before now, t = {self.now} s")
        return ahead

    def _run_to(self, deadline: int) -> None:
        """Run every event up to ``deadline``, and leave the clock there."""
        mark = Mark(self.env, deadline)
        try:
            while not self._run_some():
                pass
        finally:
            mark.lift()

    def _run_until_idle(self) -> None:
        for _ in range(_MAX_EVENTS_UNTIL_IDLE // self._max_events_per_instant + 1):
            if self._run_some():
                return
        raise NeverIdleError(self.now, _MAX_EVENTS_UNTIL_IDLE)

    def _run_some(self) -> bool:
        """Run as many events as one instant may hold; True when a mark or idleness ends it."""
        step = self.env.step
        instant = self.env.now
        try:
            for _ in range(self._max_events_per_instant):
                step()
        except (MarkReached, EmptySchedule):
            return True
        if self.env.now == instant:
            raise InstantNeverEndsError(self.now, self._max_events_per_instant)
        return False


def _call(function: Callable[[], object]) -> None:
    function()
