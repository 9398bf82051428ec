"""In which order the events of one instant come, and the event that ends a run."""

from __future__ import annotations

import random
from typing import Any

import simpy
from simpy.events import NORMAL, Event

_BEHIND_ALL: Any = 2**30


class ShuffledEnvironment(simpy.Environment):
    """Events of one instant come in an order drawn from a seed, one of the orders Go may choose."""

    def __init__(self, stream: random.Random) -> None:
        super().__init__()
        self._draw = stream.getrandbits

    def schedule(self, event: Event, priority: Any = NORMAL, delay: Any = 0) -> None:
        # SimPy's own urgent events (the start of a process) stay ahead of all others.
        drawn: Any = NORMAL + self._draw(24) if priority == NORMAL else priority
        super().schedule(event, drawn, delay)


class MarkReached(Exception):  # noqa: N818 - a signal for control flow, no error
    """The last event of a run has been."""


class Mark:
    """An event behind all others of its instant that ends the run, unless it was lifted before."""

    def __init__(self, env: simpy.Environment, at: int) -> None:
        event = Event(env)
        event._ok, event._value = True, None
        event.callbacks.append(self._reached)
        self._ends_run = True
        env.schedule(event, _BEHIND_ALL, at - env.now)

    def lift(self) -> None:
        """Let the run go on past the mark."""
        self._ends_run = False

    def _reached(self, _: Event) -> None:
        if self._ends_run:
            raise MarkReached
