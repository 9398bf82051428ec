"""A limit in time for something that may take too long."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

from simpy.events import Event

from kubequeue.errors import ServerTimeoutError
from kubequeue.runtime.lifetime import Lifetime, heard
from kubequeue.sim import Simulation

R = TypeVar("R")


class Deadline:
    """So many seconds for each thing that is done under it."""

    def __init__(self, sim: Simulation, lifetime: Lifetime, seconds: float) -> None:
        self._sim = sim
        self._lifetime = lifetime
        self._seconds = seconds

    def limit(self, steps: Generator[Event, Any, R]) -> Generator[Event, Any, R]:
        """What ``steps`` return or raise; `ServerTimeoutError` when that takes too long.

        Steps that are given up end where they are: the write of a call may have happened.
        Mirrors the time-out of an HTTP client, and Go's ``context.WithTimeout``.
        """
        process = self._lifetime.process(steps)
        process.callbacks.append(heard)
        try:
            yield process | self._sim.sleep(max(self._seconds, 0.0))
            if not process.triggered:
                raise ServerTimeoutError("context deadline exceeded")
        finally:
            if not process.triggered:
                self._lifetime.kill(process)
        answer: Any = process.value
        if not process.ok:  # it failed in the instant in which the time was up
            raise answer
        result: R = answer
        return result
