"""How one loop wakes another: a signal that merges, and an alarm that can be moved."""

from __future__ import annotations

from collections.abc import Callable

from simpy.events import PENDING, Event, Timeout

from kubequeue.sim import Simulation


class Signal:
    """A channel of size one: `notify` never blocks, and notices that come before a look merge.

    It says "look again", nothing more; the data stay where they are. One loop waits on a signal,
    and every notice before it really runs is one notice.
    Mirrors the ``chan struct{}`` of size 1 and the ``done`` channel of ``priorityqueue.go``
    (controller-runtime v0.24.1): after `close` a wait still takes a pending notice first.
    """

    __slots__ = ("_closed", "_env", "_pending", "_wait")

    def __init__(self, sim: Simulation) -> None:
        self._env = sim.env
        self._pending = False
        self._closed = False
        self._wait: Event | None = None

    def notify(self) -> None:
        """Wake the loop that waits, or the next wait. Costs O(1)."""
        wait = self._wait
        if wait is None or wait.callbacks is None:
            self._pending = True  # the loop is at work: it will look again
        elif wait._value is PENDING:
            wait.succeed(True)

    def wait(self) -> Event:
        """An event to yield: True at the next notice, False once the signal is closed."""
        wait = self._wait = Event(self._env)
        if self._pending:
            self._pending = False
            wait.succeed(True)
        elif self._closed:
            wait.succeed(False)
        return wait

    def close(self) -> None:
        """No notice will follow: wake the loop that waits with False, and each later wait."""
        self._closed = True
        wait = self._wait
        if wait is not None and wait._value is PENDING:
            wait.succeed(False)


class Timer:
    """One alarm that can be moved: calls ``function`` at the time last armed, and only then.

    Mirrors ``nextReady = w.tick(...)`` of ``priorityqueue.go: handleWaitingItems``
    (controller-runtime v0.24.1): an alarm that was replaced never rings.
    """

    __slots__ = ("_alarm", "_at", "_env", "_function")

    def __init__(self, sim: Simulation, function: Callable[[], object]) -> None:
        self._env = sim.env
        self._function = function
        self._alarm: Event | None = None
        self._at = -1

    def arm(self, at_ns: int) -> None:
        """Ring at ``at_ns``, instead of at any time armed before. Costs O(log events)."""
        if self._alarm is not None and self._at == at_ns:
            return
        self._at = at_ns
        self._alarm = Timeout(self._env, at_ns - int(self._env.now))
        self._alarm.callbacks.append(self._ring)

    def _ring(self, alarm: Event) -> None:
        if alarm is self._alarm:
            self._alarm = None
            self._function()
