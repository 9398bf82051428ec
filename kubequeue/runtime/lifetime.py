"""How one operating-system process lives and dies: everything that runs in it ends with it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy.events import URGENT, Event, Process

from kubequeue.sim import Simulation


class Lifetime:
    """What runs inside one process of the operator; `end` stops all of it, wherever it is.

    A process that is killed takes no further step: it is cut off from the event that it waits for.
    (SimPy's own ``interrupt`` would raise inside a round, and a reconciler may catch that.)

    >>> sim = Simulation()
    >>> life, steps = Lifetime(sim), []
    >>> def loop():
    ...     while True:
    ...         steps.append(sim.now)
    ...         yield sim.sleep(1)
    >>> process = life.process(loop())
    >>> sim.call_at(2.5, life.end)
    >>> sim.run()
    >>> steps
    [0.0, 1.0, 2.0]
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._processes: dict[Process, None] = {}
        self._at_end: list[Callable[[], object]] = []
        self.ended = False
        self.inside: Simulation = _Inside(sim, self)
        """The same simulation as seen from inside: what is started through it ends with this."""

    def process(self, generator: Generator[Event, Any, Any]) -> Process:
        """Start a generator beside everything else, until it returns or this life ends."""
        process = self._sim.process(generator)
        if self.ended:
            _cut(process)
            return process
        self._processes[process] = None
        process.callbacks.append(lambda _: self._processes.pop(process, None))
        return process

    def at_end(self, function: Callable[[], object]) -> None:
        """Have ``function`` called when this life ends, in the order of the calls."""
        self._at_end.append(function)

    def end(self) -> None:
        """Stop everything now. May be called from inside: then the caller ends at its next yield.

        A second call does nothing. Costs O(processes).
        """
        if self.ended:
            return
        self.ended = True
        for process in list(self._processes):
            self.kill(process)
        for function in self._at_end:
            function()

    def kill(self, process: Process) -> None:
        """Stop one process; its ``finally`` clauses run, because Python has them run."""
        self._processes.pop(process, None)
        if process is not self._sim.env.active_process:
            _cut(process)
            return
        later = Event(self._sim.env)
        later._ok, later._value = True, None
        later.callbacks.append(lambda _: _cut(process))
        self._sim.env.schedule(later, URGENT)


class _Inside(Simulation):
    """A view of a simulation, with all its state, whose processes belong to one life."""

    __slots__ = ("_life",)

    def __init__(self, sim: Simulation, life: Lifetime) -> None:
        self.__dict__ = sim.__dict__
        self._life = life

    def process(self, generator: Generator[Event, Any, Any]) -> Process:
        """As `Lifetime.process`."""
        return self._life.process(generator)


def _cut(process: Process) -> None:
    """Take the process off the event that it waits for, and close its generator."""
    waits_for: Any = process.target
    if process.is_alive and waits_for is not None and waits_for.callbacks is not None:
        if process._resume in waits_for.callbacks:
            waits_for.callbacks.remove(process._resume)
            waits_for.callbacks.append(heard)
        process._generator.close()


def heard(event: Event) -> None:
    """Should the event fail, the run goes on: whoever it was for is dead, or looks for himself."""
    event.defused = True
