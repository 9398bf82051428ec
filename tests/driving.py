"""What the tests of the queues drive them with: one queue, and workers that ask when told to."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

from simpy.events import Event

from kubequeue import FIFOQueue, PriorityQueue, Result, Simulation
from kubequeue.observe.instruments import QueueMetrics
from kubequeue.workqueue.queue import Got, Queue

NAME = "tested"
MILLISECOND = 1_000_000
Q = TypeVar("Q", bound=Queue)


class Rig(Generic[Q]):
    """A queue in a simulation; after each settling the invariants of the queue are checked."""

    def __init__(self, sim: Simulation, queue: Q) -> None:
        self.sim = sim
        self.queue = queue

    @property
    def metrics(self) -> QueueMetrics:
        """The numbers of the queue."""
        return self.sim.metrics.queues[NAME]

    @property
    def depth(self) -> dict[str, int]:
        """The depth at each priority, zeros included."""
        return dict(self.metrics.depth)

    def settle(self) -> None:
        """Let everything happen that needs no time."""
        self.sim.settle()
        self.queue._check()

    def advance(self, seconds: float) -> None:
        """Let time go on."""
        self.sim.run(until=(self.sim.now_ns + round(seconds * 1e9)) / 1e9)
        self.queue._check()

    def ask(self, worker: str = "a worker") -> list[Got]:
        """A worker asks for a key; the answer will be in the list, which is empty until then."""
        answers: list[Got] = []

        def get() -> Generator[Event, Any, None]:
            answers.append((yield from self.queue.get_with_priority(worker)))

        self.sim.process(get())
        return answers

    def got(self, worker: str = "a worker") -> Got:
        """A worker asks and is served without waiting: key, priority, shutdown."""
        answers = self.ask(worker)
        self.settle()
        assert answers, "the worker is still waiting"
        return answers[0]

    def take(self) -> Any:
        """The key that the next worker is given, at once."""
        return self.got()[0]

    def take_all(self) -> list[Any]:
        """What workers are given, one after another, until one would have to wait."""
        taken = []
        while len(self.queue):
            answers = self.ask()
            self.settle()
            if not answers:
                break
            taken.append(answers[0][0])
        return taken


def priority_rig(sim: Simulation | None = None, **options: Any) -> Rig[PriorityQueue]:
    """A priority queue, built with these options."""
    sim = sim or Simulation()
    return Rig(sim, PriorityQueue(sim, NAME, **options))


def fifo_rig(sim: Simulation | None = None, **options: Any) -> Rig[FIFOQueue]:
    """The older queue, built with these options."""
    sim = sim or Simulation()
    return Rig(sim, FIFOQueue(sim, NAME, **options))


Answer = Result | Exception | None
"""How a round ends: it returns a result or None, or raises."""


def answering(
    sim: Simulation, *answers: Answer, seconds: float = 0.0
) -> Callable[[Any], Generator[Event, Any, Result | None]]:
    """A reconciler whose rounds take so many seconds and end as told; after that, in success."""
    left = list(answers)

    def reconcile(_: Any) -> Generator[Event, Any, Result | None]:
        yield sim.sleep(seconds)
        answer = left.pop(0) if left else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    return reconcile
