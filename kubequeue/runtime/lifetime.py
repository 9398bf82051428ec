"""How one operating-system process lives and dies: everything that runs in it ends with it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from typing import Any

from simpy.core import Environment
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
        kill(self._sim.env, process)


class _Inside(Simulation):
    """A view of a simulation, with all its state, whose processes belong to one life."""

    __slots__ = ("_life",)

    def __init__(self, sim: Simulation, life: Lifetime) -> None:
        self.__dict__ = sim.__dict__
        self._life = life

    def process(self, generator: Generator[Event, Any, Any]) -> Process:
        """As `Lifetime.process`."""
        return self._life.process(generator)


def kill(env: Environment, process: Process) -> None:
    """Stop a process, now or, when it is at work, at its next yield."""
    if _waits(process):
        _cut(process)
    else:
        soon(env, lambda: _cut(process))


def throw(env: Environment, process: Process, error: Exception) -> None:
    """Raise ``error`` in a process, instead of what it waits for."""
    if not _take_off(process):
        return
    failed = Event(env)
    failed._ok, failed._value = False, error
    failed.defused = True
    process._resume(failed)


def soon(env: Environment, function: Callable[[], object]) -> None:
    """Call ``function`` before anything else happens in this instant, but nobody is at work."""
    later = Event(env)
    later._ok, later._value = True, None
    later.callbacks.append(lambda _: _call(function))
    env.schedule(later, URGENT)


def _call(function: Callable[[], object]) -> None:
    function()


def _waits(process: Process) -> bool:
    """Whether it waits for an event that is not just being told of."""
    waits_for: Any = process.target
    return process.is_alive and waits_for is not None and waits_for.callbacks is not None


def _take_off(process: Process) -> bool:
    """Take the process off the event that it waits for; False when it waits for none."""
    if not _waits(process):
        return False
    callbacks: Any = process.target.callbacks
    if process._resume in callbacks:
        callbacks.remove(process._resume)
    return True


def _cut(process: Process) -> None:
    """Take the process off the event that it waits for, and close its generator."""
    if _take_off(process):
        with suppress(Exception):  # a reconciler may refuse to be closed
            process._generator.close()
