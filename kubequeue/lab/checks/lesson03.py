"""The exercises and quizzes of lesson 03: inside the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from kubequeue.lab.checks.exercise import Exercise, expect, well_formed
from kubequeue.lab.checks.guard import call, shown
from kubequeue.lab.checks.quiz import Choice, Quiz
from kubequeue.lab.history import History
from kubequeue.lab.style import short
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue

_A, _B = "default/a", "default/b"


class Ready(NamedTuple):
    """A ready key as a dispatcher of the exercise sees it; ``since`` in seconds."""

    key: str
    priority: int
    since: float


PATIENCE = 60
"""For how many seconds nobody may stand in line while one key comes and one goes each second."""


def _order(answer: Any) -> str:
    history = History(
        ("add", "default/z"), ("add", _A), ("add_with_priority", _B, 5), ("add", "default/c"),
        ("add_with_priority", _A, 5), workers=1,
    )  # fmt: skip
    order = "".join(short(item.key) for item in history.states[-1].snapshot.ready)
    told = _letters(answer).removeprefix("Z")
    well_formed(
        sorted(told) == sorted(order),
        f"{shown(answer)} was given, and each of A, B and C once was expected, such as 'ABC'",
    )
    expect(told == order, f"the queue does not give them out as {told}")
    return f"{order}: B came to priority 5 first, A was raised behind it, and C stays at 0."


def _letters(answer: Any) -> str:
    """The letters of a text or of a list of texts, as capitals; none for anything else."""
    parts = [part for part in answer if type(part) is str] if type(answer) in _TEXTS else []
    return "".join(filter(str.isalpha, "".join(parts).replace("default/", ""))).upper()


_TEXTS = (str, list, tuple)


def _merge(answer: Any) -> str:
    chance = Random(4)
    for _ in range(80):
        one, other = ((chance.choice([None, 1, 2, 3]), chance.randint(-2, 2)) for _ in range(2))
        told, right = call(answer, one, other), _merged(one, other)
        expect(
            told == right,
            f"the queue merges {one} and {other} into {right}, your function into {shown(told)}",
        )
    return "it merges as the queue does, in 80 cases."


def _merged(*asked: tuple[int | None, int]) -> tuple[int | None, int]:
    sim = Simulation()
    queue = PriorityQueue(sim)
    for after, priority in asked:
        queue.add_with_opts(_A, after=after or 0, priority=priority)
    sim.settle()
    (item,) = queue.snapshot().items
    return None if item.ready_at is None else round(item.ready_at), item.priority


def _fair(pick: Any) -> str:
    _urgent_goes_first(pick)
    for words, arrivals in _schedules():
        starved = _starved(pick, arrivals)
        if starved is not None:
            came = f"the key of priority {starved.priority} that came at {starved.since:g} s"
            told = f"when {words}, {came} still stands in line {PATIENCE} s later"
            expect(False, told)
    return "nobody starves in any of the schedules that were tried, and the urgent go first."


def _urgent_goes_first(pick: Any) -> None:
    """Priority must still count among those that came together."""
    chance = Random(5)
    for _ in range(20):
        priorities = chance.sample(range(11), 3)
        ready = [Ready(f"key-{n}", priority, 0.0) for n, priority in enumerate(priorities)]
        told = _picked(pick, ready, 1.0)
        expect(
            told == ready[priorities.index(max(priorities))].key,
            f"of three that came together, with priorities {priorities}, it picks {told}, and "
            "the most urgent is to go first",
        )
    told = _picked(pick, [Ready("modest", 0, 0.0), Ready("urgent", 10, 1.0)], 1.0)
    expect(
        told == "urgent",
        "of a key of priority 0 that came at 0 s and a key of priority 10 that came at 1 s, it "
        "picks the first, and the urgent one is still to pass",
    )


def _picked(pick: Any, ready: list[Ready], now: float) -> str:
    """The key that a learner's dispatcher picks; raises `Complaint` when it is none of ready's."""
    told = call(pick, list(ready), now)
    expect(not isinstance(told, Ready), "it returned a whole entry; return its key: entry.key")
    keys = [each.key for each in ready]
    expect(
        type(told) is str and told in keys, f"it returned {shown(told)}, which is no key in ready"
    )
    return str(told)


def _schedules() -> Iterator[tuple[str, Callable[[int], int]]]:
    """Which priority the key has that comes at each second."""
    yield "a key of priority 10 comes every second", lambda _: 10
    yield "keys of priority 5 and 10 come in turn", lambda second: 5 + second % 2 * 5
    for seed in range(5):
        drawn = [Random(seed * 1000 + second).randint(0, 10) for second in range(3 * PATIENCE)]
        yield "keys of changing priority come", drawn.__getitem__


def _starved(pick: Any, arrivals: Callable[[int], int]) -> Ready | None:
    """The first key that stands in line for longer than anybody should, if there is one."""
    ready = [Ready("key-low", 0, 0.0)]
    for second in range(3 * PATIENCE):
        ready.append(Ready(f"key-{second}", arrivals(second), float(second)))
        told = _picked(pick, ready, float(second))
        ready = [each for each in ready if each.key != told]
        late = [each for each in ready if second - each.since >= PATIENCE]
        if late:
            return late[0]
    return None


EXERCISES = {
    "03/order": Exercise(
        "write the letters in the order in which they go out.",
        _order,
        (
            "ready is ordered by priority first, the higher going earlier.",
            "A is raised to 5 after B was added at 5: a raise takes a new place in line.",
        ),
    ),
    "03/merge": Exercise(
        "return what the record asks for once both are merged.",
        _merge,
        (
            "the earlier time wins, and None means now; the higher priority wins.",
            "if either time is None the result's time is None; otherwise it is the smaller.",
        ),
    ),
    "03/fair": Exercise(
        "return the key to hand out, so that nobody starves and the urgent still pass.",
        _fair,
        (
            "priority alone lets a stream of urgent keys pass over a modest one for ever.",
            "let a key count for more the longer it has been ready: now - since.",
            "take the entry with the largest priority + (now - since).",
        ),
    ),
}


def _pending_while_running() -> str:
    last = History(("add", _A), ("add", _A), workers=1).states[-1].snapshot
    pending, locked = [short(i.key) for i in last.items], [short(i.key) for i in last.locked]
    return f"in a run, items held {', '.join(pending)} and locked held {', '.join(locked)}"


def _passed_over() -> str:
    history = History(("add", _A), ("add", _A), workers=2)
    return history.states[-1].sentence


QUIZZES = {
    "03/pending-and-running": Quiz(
        "Why can a new request for A be pending while a round of A runs?",
        (
            Choice(
                "because a second worker has taken it",
                lambda: f"nobody has taken it: {_pending_while_running()}.",
            ),
            Choice(
                "because handing A out took its record out of items",
                lambda: f"the two facts have two places: {_pending_while_running()}.",
                right=True,
            ),
            Choice(
                "because the add buffer keeps it until the round ends",
                lambda: f"the buffer is emptied at once: {_pending_while_running()}.",
            ),
        ),
    ),
    "03/ready-and-idle": Quiz(
        "A is in ready, a worker is idle, and A is not handed out. Which can it be?",
        (
            Choice("A's Pods are not Ready yet", lambda: "ready is about time, not about Pods."),
            Choice("A is locked by another worker", lambda: f"as in a run: {_passed_over()}", True),
            Choice(
                "the dispatcher looks only every few seconds",
                lambda: "it has no period: it is woken when something changes.",
            ),
        ),
    ),
}
