"""When the handlers of an informer are told of everything again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy.events import Event, Timeout

from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import Simulation, to_ns


class Resync:
    """Calls ``resync`` each period while a watch is on, counted from the last list.

    The period is the one asked for times a factor in [0.9, 1.1), drawn once from a stream, so that
    informers do not keep in step; 0 is never. Raises `InvalidArgumentError` for less.
    Mirrors ``informers.go: calculateResyncPeriod`` (controller-runtime v0.24.1, pkg/cache/internal)
    and ``reflector.go: startResync`` (client-go v0.36).
    """

    def __init__(
        self, sim: Simulation, period: float, stream: str, resync: Callable[[], object]
    ) -> None:
        period_ns = to_ns(period, "resync_period")
        if period_ns < 0:
            raise InvalidArgumentError("resync_period", period, "zero seconds or more")
        self._env: Any = sim.env
        self._resync = resync
        self._period = int(period_ns * (sim.stream(stream).random() / 5 + 0.9)) if period_ns else 0
        self._due = 0
        self._on = False

    def begin(self) -> None:
        """A list is there: the next resync is a whole period away."""
        self._on = True
        self._due = self._env.now + self._period

    def end(self) -> None:
        """The watch is over: no resync before the next list."""
        self._on = False

    def run(self) -> Generator[Event, Any, None]:
        """Its loop; it ends at once when there is no period."""
        while self._period:
            if self._env.now < self._due:
                yield Timeout(self._env, self._due - self._env.now)  # it may be later by then
                continue
            self._due = self._env.now + self._period
            if self._on:
                self._resync()
