"""The exercises and quizzes of lesson 05: how far each limit reaches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from kubequeue.cluster.objects import ObjectMeta
from kubequeue.cluster.store import Store
from kubequeue.errors import ConflictError, ReconcileError, TerminalError
from kubequeue.kuberay import api
from kubequeue.kuberay.api import RayCluster
from kubequeue.kuberay.operator import start_operator
from kubequeue.lab.checks.exercise import Exercise, expect
from kubequeue.lab.checks.guard import call, shown
from kubequeue.lab.checks.quiz import Choice, Quiz
from kubequeue.lab.reach import Reach
from kubequeue.lab.world import World, annotated, scaled
from kubequeue.runtime.controller import Controller
from kubequeue.runtime.reconcile import Result
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue

TRIES = 5
"""How often the saver of the exercise may write."""


class Copy(NamedTuple):
    """What the saver of the exercise is given when it reads: the object's version and labels."""

    version: int
    labels: dict[str, str]


def _how_many(answer: Any) -> str:
    concurrency, replicas = 4, 3
    right = _at_once(concurrency, replicas)
    why = {
        concurrency: ": that is one controller's share",
        right * replicas: ": that counts the two that stand by",
    }
    whole = type(answer) is int
    expect(
        whole and answer == right,
        f"in a run of three replicas with a concurrency of {concurrency}, the most was not "
        f"{shown(answer)}{why.get(answer, '') if whole else ''}",
    )
    return f"{right}: the leader's three controllers have 4 workers each; the others stand by."


def _at_once(concurrency: int, replicas: int, *, lock: bool = True) -> int:
    """The most rounds that ran at one time while every controller had much to do."""
    world = World(name="one", reconcile_concurrency=concurrency, leader_election=lock)
    managers = [world.operator]
    for number in range(2, replicas + 1):
        managers.append(
            start_operator(
                world.sim, world.server, name=f"replica-{number}",
                reconcile_concurrency=concurrency, leader_election=lock,
            )
        )  # fmt: skip
    for number in range(2 * concurrency):
        world.create(f"cluster-{number}")
        world.create_job(f"job-{number}")
        world.create_service(f"service-{number}")
    world.run(until=2)
    reach = Reach(world.sim.trace, *managers)
    return len(reach.scene(reach.busiest).rounds)


def _comes_back(answer: Any) -> str:
    for outcome, requeue_after, failures in _outcomes():
        told = call(answer, outcome, requeue_after, failures)
        right = _next_round(outcome, requeue_after, failures)
        fits = told is None if right is None else _near(told, right)
        expect(
            fits,
            f"after {failures} failures, a round that ends in {outcome!r} with requeue_after "
            f"{requeue_after} comes back {_when(right)}, and your function says {shown(told)}",
        )
    return "it says of each outcome what the controller makes of it, in 40 cases."


def _outcomes() -> Iterator[tuple[str, float, int]]:
    """The plain ones first, so that what is told first is easy to see."""
    yield from [("success", 300, 0), ("error", 2, 0), ("terminal", 2, 0), ("success", 0, 0)]
    yield from [("error", 2, 3), ("error", 0, 1)]
    chance = Random(5)
    for _ in range(34):
        outcome = chance.choice(["success", "error", "terminal"])
        yield outcome, chance.choice([0, 2, 10, 300]), chance.randint(0, 8)


def _next_round(outcome: str, requeue_after: float, failures: int) -> float | None:
    """In how many seconds the queue has the key due; None when it has no record of it."""
    sim = Simulation(trace=False, metrics=False)
    queue = PriorityQueue(sim)
    errors = {"success": None, "error": ReconcileError("no"), "terminal": TerminalError("no")}
    answers = [Result(error=ReconcileError("no"))] * failures
    answers.append(Result(requeue_after=requeue_after, error=errors[outcome]))
    ended = []

    def reconcile(_: Any) -> Any:
        yield sim.sleep(0)
        ended.append(sim.now)
        return answers[len(ended) - 1]

    Controller(sim, queue, reconcile).start()
    queue.add("default/a")
    while len(ended) < len(answers):
        sim.step()
    sim.settle()
    items = queue.snapshot().items
    return (items[0].ready_at or sim.now) - ended[-1] if items else None


def _near(told: Any, right: float) -> bool:
    return type(told) in (int, float) and abs(told - right) < 1e-6


def _when(seconds: float | None) -> str:
    return "only with an event" if seconds is None else f"in {seconds:g} s"


def _save(answer: Any) -> str:
    for interrupted in _schedules():
        _saved(answer, interrupted)
    return "your label is there, and nobody else's is lost, in every schedule that was tried."


def _schedules() -> Iterator[frozenset[int]]:
    """Before which writes of the saver somebody else writes; few interruptions first."""
    for count in range(TRIES + 1):
        yield from map(frozenset, combinations(range(TRIES), count))
    yield frozenset(range(100))


def _saved(answer: Any, interrupted: frozenset[int]) -> None:
    """Run a saver while others write; raises `Complaint` when something is lost."""
    store = Store(Simulation(trace=False, metrics=False), api.KINDS)
    store.create(RayCluster(ObjectMeta("a", "default", labels={"team": "blue"})))
    writes = 0

    def read() -> Copy:
        meta = store.get(RayCluster, "default/a").metadata
        return Copy(int(meta.resource_version), dict(meta.labels))

    def write(version: Any, labels: Any) -> bool:
        nonlocal writes
        now = store.get(RayCluster, "default/a")
        if writes in interrupted:
            name = f"other-{writes}"
            labelled = replace(now.metadata, labels={**now.metadata.labels, name: "theirs"})
            now = store.update(replace(now, metadata=labelled))
        writes += 1
        mine = replace(now.metadata, resource_version=str(version), labels=dict(labels))
        try:
            store.update(replace(now, metadata=mine))
        except ConflictError:
            return False
        return True

    told = call(answer, read, write)
    labels = store.get(RayCluster, "default/a").metadata.labels
    when = f"when {_before(interrupted)}"
    others = [f"other-{number}" for number in sorted(interrupted) if number < writes]
    lost = [name for name in ("team", *others) if name not in labels]
    expect(not lost, f"{when}, the label {', '.join(lost)} is lost")
    expect(writes <= TRIES, f"{when}, it writes {writes} times, and {TRIES} are allowed")
    possible = len(interrupted) < TRIES
    expect(
        (labels.get("checked") == "yes") is possible,
        f"{when}, the object has the labels {dict(labels)} after {writes} writes, and "
        "checked is to be yes",
    )
    expect(told is possible, f"{when}, it returns {shown(told)}, and {possible} is the truth")


def _before(interrupted: frozenset[int]) -> str:
    if not interrupted:
        return "nobody else writes"
    if len(interrupted) >= TRIES:
        return "somebody else writes before each of its writes"
    numbers = ", ".join(str(each + 1) for each in sorted(interrupted))
    return f"somebody else writes before its write number {numbers}"


EXERCISES = {
    "05/how-many": Exercise(
        "say how many rounds can run at one time.",
        _how_many,
        (
            "of replicas that share a lock, how many have workers that run?",
            "one leads, and it has three controllers, each with that many workers.",
        ),
    ),
    "05/comes-back": Exercise(
        "return in how many seconds the next round is due, or None.",
        _comes_back,
        (
            "look at the error first: with one, requeue_after counts for nothing.",
            "a terminal error does not come back; any other after 0.005 * 2 ** failures seconds.",
            "without an error: requeue_after when it is more than 0, else None.",
        ),
    ),
    "05/save": Exercise(
        "read, add your label, write, and do what is to be done when the answer is Conflict.",
        _save,
        (
            "after False, the version that you have is old: read again before you write again.",
            "keep every label that you have read, and send the version back as you got it.",
            "in a loop of five: copy = read(); if write(copy.version, {**copy.labels, ...}): ...",
        ),
    ),
}


def _two_replicas(lock: bool) -> str:
    return f"{_at_once(2, 2, lock=lock)} at most"


def _after_a_conflict() -> tuple[int, int, int]:
    """Pods of a cluster before its status write was refused, just after, and in the end."""
    world = World(lag=0.05)
    world.create("a")
    world.run(until=60)
    before = len(world.pods("a"))
    world.change("a", scaled(2))
    world.sim.call_at(60.055, lambda: world.change("a", annotated(note="mine")))
    world.run(until=60.07)
    refused = len(world.pods("a"))
    world.run(until=70)
    return before, refused, len(world.pods("a"))


def _pods() -> str:
    before, refused, end = _after_a_conflict()
    return f"in a run there were {before} Pods before, {refused} at the refusal, {end} in the end"


QUIZZES = {
    "05/two-replicas": Quiz(
        "An operator with --reconcile-concurrency 2 gets a second replica, with the same leader "
        "lock. What does that add?",
        (
            Choice(
                "as many rounds at one time again",
                lambda: (
                    f"{_two_replicas(True)} in a run with the lock, and "
                    f"{_two_replicas(False)} without it, where they do not exclude each other."
                ),
            ),
            Choice(
                "somebody who takes over when the leader is gone",
                lambda: f"until then its workers do not run: {_two_replicas(True)} in a run.",
                right=True,
            ),
            Choice(
                "half of the namespaces for each",
                lambda: "nothing divides them: the leader does it all, the other stands by.",
            ),
        ),
    ),
    "05/after-a-conflict": Quiz(
        "A round creates a Pod, and then its status write is refused with Conflict. What becomes "
        "of the Pod?",
        (
            Choice("it is taken back", lambda: f"no write takes back another: {_pods()}."),
            Choice(
                "it stays, and the next round goes on from there",
                lambda: f"each write is for itself: {_pods()}.",
                right=True,
            ),
            Choice(
                "it stays, and the next round creates it again",
                lambda: f"the operator remembers what it created: {_pods()}.",
            ),
        ),
    ),
}
