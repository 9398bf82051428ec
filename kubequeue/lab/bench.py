"""A queue on a workbench: rounds last until you end them, and there are verbs for your hands."""

from __future__ import annotations

from collections.abc import Callable, Generator
from inspect import signature
from typing import Any, NamedTuple

from simpy.events import Event

from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.controller import Controller
from kubequeue.runtime.reconcile import Result
from kubequeue.sim import Simulation, to_ns
from kubequeue.workqueue.priorityqueue import PriorityQueue


class Round(NamedTuple):
    """A round under way; ``since`` in seconds."""

    worker: str
    key: Any
    since: float


class Bench:
    """A priority queue and ``workers`` workers, moved one step at a time by whoever holds it.

    A round lasts until `finish`, or ``round_seconds`` when that is given. ``switches`` go to
    `PriorityQueue`. Each verb of `VERBS` does its part at once; what follows from it happens in
    `step`. Raises `InvalidArgumentError` for what the queue or the controller would refuse.
    """

    def __init__(
        self, workers: int = 2, round_seconds: float | None = None, **switches: Any
    ) -> None:
        if not isinstance(workers, int):
            raise InvalidArgumentError("workers", workers, "a whole number of workers")
        if round_seconds is not None and to_ns(round_seconds, "round_seconds") < 0:
            raise InvalidArgumentError("round_seconds", round_seconds, "zero or more seconds")
        self.sim = Simulation(metrics=False)
        self.queue = PriorityQueue(self.sim, name="queue", **switches)
        self.workers = [f"worker-{n}" for n in range(1, max(workers, 1) + 1)]
        self._round_seconds = round_seconds
        self._rounds: dict[str, tuple[Round, Event]] = {}
        self._until = 0
        Controller(self.sim, self.queue, self._reconcile, max_concurrent_reconciles=workers).start()

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds under way, in the order they started."""
        return tuple(started for started, _ in self._rounds.values())

    def add(self, key: Any) -> None:
        """Ask for one check of ``key``, now."""
        self.queue.add(key)

    def burst(self, *keys: Any) -> None:
        """Ask for one check of each of ``keys``, by a call for each, before anybody looks."""
        if not keys:
            raise InvalidArgumentError("burst", keys, "one key or more")
        for key in keys:
            self.queue.add(key)

    def add_after(self, key: Any, seconds: float) -> None:
        """Ask for one check of ``key`` in so many seconds."""
        self.queue.add_after(key, seconds)

    def add_with_priority(self, key: Any, priority: int) -> None:
        """Ask for one check of ``key`` at a priority."""
        self.queue.add_with_opts(key, priority=priority)

    def add_rate_limited(self, key: Any) -> None:
        """Ask for one check of ``key`` after its back-off."""
        self.queue.add_rate_limited(key)

    def finish(self, key: Any, requeue_after: float = 0.0) -> None:
        """End the oldest round of ``key``; it may ask to come back in so many seconds.

        Raises `InvalidArgumentError` when no round of ``key`` is under way.
        """
        for started, ended in self._rounds.values():
            if started.key == key and not ended.triggered:
                ended.succeed(Result(requeue_after=requeue_after))
                return
        running = ", ".join(str(each.key) for each in self.rounds) or "none"
        raise InvalidArgumentError("finish", key, f"a key with a round under way ({running})")

    def pass_time(self, seconds: float) -> None:
        """Let so many seconds go by.

        Raises `InvalidArgumentError` when ``seconds`` is negative or no finite number.
        """
        ahead = to_ns(seconds, "seconds")
        if ahead < 0:
            raise InvalidArgumentError("seconds", seconds, "zero or more: time cannot go back")
        self._until = self.sim.now_ns + ahead

    def shut_down(self) -> None:
        """Shut the queue down."""
        self.queue.shut_down()

    def step(self) -> bool:
        """Let one thing happen that somebody can see; False when nothing is left to happen.

        When only time is left to go by, it goes by. Costs O(events in between).
        """
        seen, now = len(self.sim.trace), self.sim.now_ns
        while self.sim.env.peek() <= self._until:
            self.sim.step()
            if len(self.sim.trace) > seen:
                return True
        self.sim.run_to_ns(self._until)
        return self.sim.now_ns > now

    def stop_the_clock(self) -> None:
        """Let no more time go by than has gone by."""
        self._until = self.sim.now_ns

    def _reconcile(self, key: Any) -> Generator[Event, Any, Result]:
        (begun,) = self.sim.trace.since(len(self.sim.trace) - 1)
        ended = self.sim.event() if self._round_seconds is None else self._timed()
        self._rounds[begun.actor] = Round(begun.actor, key, begun.at), ended
        result: Result = yield ended
        del self._rounds[begun.actor]
        return result

    def _timed(self) -> Event:
        """A round that ends by itself, if nobody ends it before."""
        ended = self.sim.event()
        self.sim.call_at(
            self.sim.now + (self._round_seconds or 0.0),
            lambda: ended.triggered or ended.succeed(Result()),
        )
        return ended


def _given(verb: Callable[..., None]) -> str:
    parameters = list(signature(verb).parameters.values())[1:]
    return f"({', '.join(str(each.replace(annotation=each.empty)) for each in parameters)})"


VERBS: dict[str, Callable[..., None]] = {
    verb.__name__: verb
    for verb in (
        Bench.add,
        Bench.burst,
        Bench.add_after,
        Bench.add_with_priority,
        Bench.add_rate_limited,
        Bench.finish,
        Bench.pass_time,
        Bench.shut_down,
    )
}
"""What can be done at a bench, by name."""

SIGNATURES = {name: f"{name}{_given(verb)}" for name, verb in VERBS.items()}
"""How each verb is written, for messages."""
