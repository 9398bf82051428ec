"""The exercises and quizzes of lesson 01: many clusters, few workers."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from kubequeue.lab.checks.exercise import Exercise, expect, well_formed
from kubequeue.lab.checks.guard import Complaint, NotAnsweredError, call, shown
from kubequeue.lab.checks.quiz import Choice, Quiz
from kubequeue.lab.reconcilers import takes
from kubequeue.lab.style import short
from kubequeue.lab.workload import WAITS, create_clusters
from kubequeue.observe.trace import Span
from kubequeue.runtime.controller import Controller
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue

SECONDS = {"default/a": 2.2, "default/b": 3.4, "default/c": 2.4, "default/d": 1.8}
"""How long a round of each cluster takes, in seconds, as in the lesson."""


def rounds_of(seconds: Any, keys: list[str], workers: int) -> list[Span]:
    """The rounds of a run in which all keys stand in line from the start."""
    sim = Simulation()
    queue = PriorityQueue(sim, name="raycluster")
    Controller(sim, queue, takes(sim, seconds), max_concurrent_reconciles=workers).start()
    queue.add_with_opts(*keys)
    sim.run()
    return sim.trace.rounds()


_PAIRS = ([str, float], [str, int])


def _third_worker(answer: Any) -> str:
    rounds = rounds_of(SECONDS, list(SECONDS), workers=3)
    key = next(each.key for each in rounds if each.worker == "worker-3")
    start = next(each.start for each in rounds if each.key == "default/d")
    told = shown(answer)
    well_formed(
        type(answer) in (tuple, list) and [type(part) for part in answer] in _PAIRS,
        f"{told} was given, and a pair was expected: a key and a number of seconds",
    )
    named, seconds = answer
    expect(short(named) == short(key), f"worker-3 does not take {named!r} first")
    expect(seconds == start, f"D does not start at {seconds!r} s")
    return f"worker-3 takes {key} at once, and D starts at {start:g} s, when the first round ends."


def _first_look(answer: Any) -> str:
    keys = [f"default/cluster-{n:02}" for n in range(20)]
    for workers in (1, 2, 3, 4, 7):
        for place, each in enumerate(rounds_of(1, keys, workers), start=1):
            told = call(answer, place, workers)
            expect(
                told == each.start,
                f"with {workers} workers the cluster in place {place} is first looked at at "
                f"{each.start:g} s, and your function says {shown(told)}",
            )
    return "it agrees with the model for 20 places and 1 to 7 workers."


def _give_it_back(answer: Any) -> str:
    sim, troubles = Simulation(max_events_per_instant=10_000), list[BaseException]()
    expect(callable(answer), f"{shown(answer)} was given, and make_reconciler was expected")
    reconcile = answer(sim)
    if reconcile is ...:
        raise NotAnsweredError
    expect(
        callable(reconcile), f"make_reconciler returned {shown(reconcile)}, which is no reconciler"
    )

    def watched(request: Any) -> Generator[Any, Any, Any]:
        try:
            steps = reconcile(request)
            if not isinstance(steps, Generator):
                raise Complaint(_NO_GENERATOR.format(shown(steps)))
            result = yield from steps
        except Exception as error:
            troubles.append(error)
            return None
        if result is ...:
            troubles.append(NotAnsweredError())
        return None if result is ... else result

    queue = PriorityQueue(sim, name="raycluster")
    Controller(sim, queue, watched).start()
    queue.add_with_opts("default/a", "default/b", "default/c")
    sim.run(until=60)
    for trouble in troubles:
        raise trouble
    _judge_looks(sim.trace.rounds())
    return "both looks take place, 5 s apart, and the worker is held for the looks alone."


_NO_GENERATOR = (
    "reconcile returned {} at once, and a generator was expected: it yields what costs time, as in "
    "yield sim.sleep(0.2)"
)


def _judge_looks(rounds: list[Span]) -> None:
    """Two short rounds for each cluster, and 5 seconds at least between them."""
    for key in ("default/a", "default/b", "default/c"):
        mine = [(each.start, each.end or 60.0) for each in rounds if each.key == key]
        longest = max((end - start for start, end in mine), default=0.0)
        expect(longest < 1, f"a round of {key} holds the worker for {longest:g} s")
        expect(len(mine) == 2, f"{key} has {len(mine)} rounds in a minute instead of 2")
        between = mine[1][0] - mine[0][1]
        expect(between >= 5, f"the two looks at {key} are only {between:.3g} s apart")


EXERCISES = {
    "01/third-worker": Exercise(
        "say which key worker-3 takes first, and at which second D starts.",
        _third_worker,
        (
            "with three workers, three keys start at once.",
            "D is fourth in line: it starts when the first of A, B and C ends.",
        ),
    ),
    "01/first-look": Exercise(
        "return the second at which the cluster in that place is first looked at.",
        _first_look,
        (
            "with 2 workers, places 1 and 2 are looked at at 0 s, 3 and 4 at 1 s.",
            "how many clusters are ahead of it, and how many of them fit side by side?",
            "place - 1 are ahead of it; // divides and drops the rest.",
        ),
    ),
    "01/give-it-back": Exercise(
        "let the first look return requeue_after=5 instead of waiting.",
        _give_it_back,
        (
            "the worker is held for as long as the round has not returned.",
            "remember in looked_at which clusters have had their first look.",
            "if request not in looked_at: append it, and return Result(requeue_after=5).",
        ),
    ),
}


def _hundred() -> tuple[int, int]:
    """How many clusters two workers looked after in a run, and how many rounds ran at once."""
    rounds = create_clusters(100, 2, 1.0, WAITS[0]).trace.rounds()
    at_once = max(
        sum(one.start <= other.start < (one.end or 0.0) for one in rounds) for other in rounds
    )
    return len({each.key for each in rounds}), at_once


def _held(waits: str) -> str:
    rounds = create_clusters(1, 1, 0.2, waits).trace.rounds()
    return f"{sum((each.end or 0.0) - each.start for each in rounds):.3g} s"


QUIZZES = {
    "01/what-two-limits": Quiz(
        "An operator with a concurrency of 2 looks after 100 RayClusters. What is never more than "
        "two?",
        (
            Choice(
                "RayClusters that it looks after",
                lambda: f"in a run with two workers, {_hundred()[0]} clusters were looked after.",
            ),
            Choice(
                "rounds that run at one time",
                lambda: f"in a run of 100 clusters there were never more than {_hundred()[1]}.",
                right=True,
            ),
            Choice(
                "Ray programs that run at one time",
                lambda: "a Ray program runs in its cluster and needs no worker of the operator.",
            ),
        ),
    ),
    "01/who-is-held": Quiz(
        "A round of A waits 5 seconds for an HTTP answer. Who is held up by that?",
        (
            Choice(
                "nobody: the waiting is the queue's business",
                lambda: (
                    "that would be requeue_after. A round that waits inside has not returned: in a "
                    f"run it held its worker for {_held(WAITS[1])}, against {_held(WAITS[2])}."
                ),
            ),
            Choice(
                "the worker that runs the round, and whoever it would have served",
                lambda: f"in a run the worker was held for {_held(WAITS[1])} by one such round.",
                right=True,
            ),
            Choice(
                "every worker",
                lambda: "another worker takes the next key; but with few workers few are left.",
            ),
        ),
    ),
}
