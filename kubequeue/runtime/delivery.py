"""What came over a watch and has not reached the cache yet: the lag, as a line of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from kubequeue.cluster.duration import Seconds, drawn_ns
from kubequeue.signals import Timer
from kubequeue.sim import Simulation


class Delivery:
    """Hands things on in the order they came, each at least ``lag`` after it came.

    One watch is one connection, so nothing overtakes: what draws a short lag behind one that drew
    a long one comes together with it. Even without lag a thing is handed on by an event of its
    own, never inside the call that caused it.
    """

    def __init__(
        self, sim: Simulation, hand_on: Callable[[Any], object], lag: Seconds, stream: str
    ) -> None:
        self._sim = sim
        self._env: Any = sim.env
        self._stream = stream
        self._hand_on = hand_on
        self._line: deque[tuple[int, Any]] = deque()
        self._timer = Timer(sim, self._ring)
        self._paused = False
        self.lag = lag

    def __len__(self) -> int:
        """How many things are under way."""
        return len(self._line)

    @property
    def lag(self) -> Seconds:
        """Seconds, or (lowest, highest); a new value is for what comes from now on."""
        return self._lag

    @lag.setter
    def lag(self, seconds: Seconds) -> None:
        self._draw = drawn_ns(self._sim, seconds, self._stream)
        self._lag = seconds

    def put(self, thing: Any, late: bool = True) -> None:
        """Something came just now, and is held back by the lag unless it is not to be ``late``.

        Costs O(1), and an event for each time of delivery.
        """
        due = self._env.now + (self._draw() if late else 0)
        self._line.append((due, thing))
        if len(self._line) == 1 and not self._paused:
            self._timer.arm(due)

    def pause(self) -> None:
        """Hold everything back, until `resume`."""
        self._paused = True

    def resume(self) -> None:
        """Hand on at once what became due in the meantime, and the rest in its time."""
        self._paused = False
        self._arm()

    def clear(self) -> None:
        """Lose what is under way."""
        self._line.clear()

    def _arm(self) -> None:
        if self._line:
            self._timer.arm(max(self._line[0][0], self._env.now))

    def _ring(self) -> None:
        """Hand on what is due; handlers may pause the line, clear it, or add to it."""
        line, now = self._line, self._env.now
        try:
            while line and not self._paused and line[0][0] <= now:
                self._hand_on(line.popleft()[1])
        finally:  # what a handler raises must not stop the line
            if not self._paused:
                self._arm()
