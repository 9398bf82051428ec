"""The exercises and quizzes of lesson 02: one round at a time for each key."""

from __future__ import annotations

from random import Random
from typing import Any

from kubequeue.lab.checks.exercise import Exercise, expect
from kubequeue.lab.checks.guard import call, shown
from kubequeue.lab.checks.quiz import Choice, Quiz
from kubequeue.lab.reconcilers import takes
from kubequeue.runtime.controller import Controller
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue

_A = "default/a"


def rounds_for(events: list[float], seconds: float, workers: int = 1) -> list[float]:
    """When the rounds of one key start that is asked for at these seconds."""
    sim = Simulation()
    queue = PriorityQueue(sim, name="raycluster")
    Controller(sim, queue, takes(sim, seconds), max_concurrent_reconciles=workers).start()
    for at in events:
        sim.call_at(at, lambda: queue.add(_A))
    sim.run()
    return [each.start for each in sim.trace.rounds()]


def _burst(answer: Any) -> str:
    events = [0.0, 0.0, 0.0, 1.0, 1.5, 2.0, 5.0]
    rounds = len(rounds_for(events, 4))
    expect(answer == rounds, f"it is not {shown(answer)}")
    return f"{rounds} rounds: one for the three, one for those during it, one for the last."


def _count(answer: Any) -> str:
    chance = Random(2)
    for _ in range(60):
        # Events at tenths and rounds of these lengths: none comes just when a round ends.
        seconds = chance.choice([0.53, 1.03, 2.03])
        tenths = chance.sample(range(100), chance.randint(1, 8))
        events = sorted(tenth / 10 for tenth in tenths)
        rounds, told = len(rounds_for(events, seconds)), call(answer, events, seconds)
        expect(
            told == rounds,
            f"events at {events} s and rounds of {seconds:g} s make "
            f"{rounds} rounds, and your function says {shown(told)}",
        )
    return "it agrees with the model for 60 lists of events."


def _pick(answer: Any) -> str:
    chance = Random(3)
    for _ in range(60):
        ready = [f"default/{letter}" for letter in chance.sample("abcdef", chance.randint(0, 6))]
        locked = {key for key in ready if chance.random() < 0.5}
        told, right = call(answer, ready, locked), _picked(ready, locked)
        expect(
            told == right,
            f"of {ready}, with {sorted(locked) or 'none'} locked, the queue gives out {right!r}, "
            f"and your function {shown(told)}",
        )
    return "it chooses what the queue chooses, in 60 cases."


def _picked(ready: list[str], locked: set[str]) -> str | None:
    """What a worker that asks is given when these keys stand in line and those are locked."""
    sim = Simulation()
    queue, given = PriorityQueue(sim), list[str]()

    def get() -> Any:
        key, _, _ = yield from queue.get_with_priority()
        given.append(key)

    for key in sorted(locked):
        queue.add(key)
        sim.process(get())
        sim.settle()
    given.clear()
    queue.add_with_opts(*ready)
    sim.process(get())
    sim.settle()
    return given[0] if given else None


EXERCISES = {
    "02/burst": Exercise(
        "say how many rounds there are.",
        _burst,
        (
            "what comes while A is pending merges; what comes during a round waits for its end.",
            "the first round runs from 0 to 4 s. Which events come during it, and which after it?",
        ),
    ),
    "02/count-rounds": Exercise(
        "return how many rounds these events cause.",
        _count,
        (
            "an event makes a new round only when it comes after the last one has started.",
            "keep the start of the last round; an event before it merges.",
            "a new round starts at max(event, start + seconds).",
        ),
    ),
    "02/pick": Exercise(
        "return the first key that may go, or None.",
        _pick,
        (
            "a locked key stays where it is, and the next in line may go.",
            "go through ready in order and return the first that is not in locked.",
        ),
    ),
}


QUIZZES = {
    "02/during-a-round": Quiz(
        "A's round runs from 0 to 4 s. A changes at 1, 2 and 3 s. What follows at 4 s?",
        (
            Choice(
                "nothing: the round that ran has dealt with it",
                lambda: (
                    "the round may have done its reading before the change. In a run, rounds "
                    f"started at {_starts()} s."
                ),
            ),
            Choice("one round", lambda: f"rounds started at {_starts()} s.", right=True),
            Choice("three rounds", lambda: f"the three merged: rounds started at {_starts()} s."),
        ),
    ),
    "02/hot-key": Quiz(
        "One cluster changes all the time, and its rounds follow one another without a break. What "
        "do more workers change?",
        (
            Choice(
                "its rounds run side by side",
                lambda: f"{_hot(8)} with 8 workers, {_hot(1)} with 1: it is locked while it runs.",
            ),
            Choice(
                "nothing for this cluster",
                lambda: f"{_hot(1)} with 1 worker, {_hot(8)} with 8.",
                right=True,
            ),
            Choice(
                "its events merge faster",
                lambda: "merging is the queue's work and needs no worker.",
            ),
        ),
    ),
}


def _starts() -> str:
    return " and ".join(f"{at:g}" for at in rounds_for([0, 1, 2, 3], 4))


def _hot(workers: int) -> str:
    return f"{len(rounds_for([tick / 2 for tick in range(20)], 1, workers))} rounds"
