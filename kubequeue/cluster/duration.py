"""How long something takes: always the same, or drawn from a random stream of its own."""

from __future__ import annotations

from collections.abc import Callable

from simpy.events import Timeout

from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import Simulation, to_ns

Seconds = float | tuple[float, float]
"""A number of seconds, or the ends of a range to draw from."""


def drawn_ns(sim: Simulation, seconds: Seconds, what: str) -> Callable[[], int]:
    """A function that gives so many nanoseconds at each call; ``what`` names the stream.

    Raises `InvalidArgumentError` for what is neither a number nor a range, or below zero.

    >>> drawn_ns(Simulation(), 0.5, "a walk")()
    500000000
    """
    low, high = seconds if isinstance(seconds, tuple) and len(seconds) == 2 else (seconds, seconds)
    low_ns, high_ns = to_ns(low, what), to_ns(high, what)
    if not 0 <= low_ns <= high_ns:
        raise InvalidArgumentError(what, seconds, "zero or more seconds, or (low, high) of them")
    if low_ns == high_ns:
        return lambda: low_ns
    draw = sim.stream(what).randint
    return lambda: draw(low_ns, high_ns)


def after_ns(sim: Simulation, ns: int, function: Callable[[], object]) -> None:
    """Call ``function`` in so many nanoseconds, at this instant's end when none are left."""
    Timeout(sim.env, ns).callbacks.append(lambda _: _call(function))


def _call(function: Callable[[], object]) -> None:
    function()
