"""The exercises and quizzes of lesson 04: remembering what was written."""

from __future__ import annotations

from random import Random
from typing import Any

from kubequeue.cluster.objects import NamespacedName
from kubequeue.kuberay.expectations import RayClusterScaleExpectation, ScaleAction
from kubequeue.lab.checks.exercise import Exercise, expect, well_formed
from kubequeue.lab.checks.guard import call, shown
from kubequeue.lab.checks.lesson04_memory import TOO_MANY, survives
from kubequeue.lab.checks.quiz import Choice, Quiz
from kubequeue.lab.hand_cache import HandCache
from kubequeue.lab.seen import pods_made, seen
from kubequeue.lab.world import RULES, World, ready_world
from kubequeue.sim import Simulation


def scaled(*, lag: float, memory: bool, events: tuple[float, ...] = (), until: float = 60) -> World:
    """A has one worker and is asked for a second at 10 s; rounds come with the events."""
    world = ready_world(pod_lag=lag, expectations=RULES if memory else None)
    world.touch_at("a", *events)
    world.scale("a", 2)
    world.run(until=until)
    return world


def _surplus(answer: Any) -> str:
    made = tuple(
        len(pods_made(scaled(lag=6, memory=memory, events=(11, 13, 15, 17, 19)), "a")) - 1
        for memory in (False, True)
    )
    well_formed(
        type(answer) in (tuple, list) and [type(each) for each in answer] == [int, int],
        f"{shown(answer)} was given, and a pair of whole numbers was expected, such as (2, 2)",
    )
    expect(tuple(answer) == made, f"it is not {shown(answer)}")
    return (
        f"{made[0]} without the memory: the first round and those at 11, 13 and 15 s, each before "
        f"the cache shows anything; {made[1]} with it."
    )


_FOUND = (
    "a create is met by any Pod that is found.",
    "it is met also by a Pod that is going: it has been seen.",
)
_TIME_OUT = (
    "a create that is not found is met by its age.",
    "its age must be more than 30 s, not 30 s.",
)
_DELETE = (
    "a delete is met only when nothing is found.",
    "a delete has no time-out, and a Pod that is going is still found.",
)


def _met(answer: Any) -> str:
    chance = Random(6)
    for _ in range(120):
        action = chance.choice(["create", "delete"])
        found = chance.choice(["nothing", "a Pod", "a Pod that is going"])
        age = chance.choice([0.0, 1.0, 29.9, 30.0, 30.1, 600.0])
        told, right = call(answer, action, found, age), _is_met(action, found, age)
        well_formed(
            type(told) is bool, f"it returned {shown(told)}, and True or False was expected"
        )
        created = _TIME_OUT if found == "nothing" else _FOUND
        expect(
            told is right,
            f"a {action} that is {age:g} s old, when the cache shows {found}, is "
            f"{'met' if right else 'not met'}, and your function says {shown(told)}",
            created if action == "create" else _DELETE,
        )
    return "it judges as the memory does, in 120 cases."


def _is_met(action: str, found: str, age: float) -> bool:
    sim, cache = Simulation(), HandCache()
    memory = RayClusterScaleExpectation(sim, cache)
    memory.expect_scale_pod("default", "a", "workers", "x", ScaleAction(action))
    if found != "nothing":
        cache.show("x")
    if found == "a Pod that is going":
        cache.mark("x")
    sim.run(until=age)
    return memory.is_satisfied("default", "a", "workers")


_YOUNG = ("the first round that starts more than 30 s after the note was made.",)


def _resume(answer: Any) -> str:
    chance = Random(7)
    for _ in range(80):
        recorded = float(chance.randint(0, 20))
        rounds = sorted(recorded + age for age in chance.sample([1, 15, 29, 30, 31, 40, 300], 4))
        right = next((at for at in rounds if _is_met("create", "nothing", at - recorded)), None)
        told = call(answer, recorded, list(rounds))
        goes = "never goes on" if right is None else f"goes on at {right:g} s"
        expect(
            told == right,
            f"noted at {recorded:g} s, with rounds at {', '.join(f'{at:g}' for at in rounds)} s, "
            f"the group {goes}, and your function says {shown(told)}",
            _YOUNG if told in rounds else (),
        )
    return "it agrees with the memory for 80 lists of rounds."


EXERCISES = {
    "04/surplus": Exercise(
        "write two numbers: Pods created without the memory, and with it.",
        _surplus,
        (
            "without it, each round that starts before the cache shows the first new Pod creates.",
            "the cache shows it at about 16 s. Which rounds start before that?",
        ),
    ),
    "04/met": Exercise(
        "return True when the note is met, False when it is not.",
        _met,
        _TIME_OUT,
    ),
    "04/resume": Exercise(
        "return the second at which the group goes on, or None.",
        _resume,
        (
            "nobody wakes up by itself: the answer is one of the rounds, or None.",
            *_YOUNG,
        ),
    ),
    "04/memory": Exercise(
        "return how many Pods to create, and the names of the notes in `records` to keep.",
        survives,
        TOO_MANY,
    ),
}


def _rounds_of(name: str, memory: bool = True) -> str:
    """What the rounds of a cluster did while A's create is not seen."""
    world = ready_world(pod_lag=20, expectations=RULES if memory else None)
    world.scale("a", 2)
    world.sim.call_at(11, lambda: world.create("b"))
    world.touch_at("a", 12)
    world.run(until=15)
    told = [f"{each.words} at {each.start:g} s" for each in seen(world, name, since=10).rounds]
    return f"in a run, rounds of {name.upper()} did: {', '.join(told)}"


def _after_vanishing() -> str:
    world = ready_world(pod_lag=2)
    world.scale("a", 2)
    world.sim.call_at(10.5, lambda: world.vanish("a"))
    world.touch_at("a", 20, 55)
    world.run(until=60)
    story = seen(world, "a", since=10)
    told = [f"{each.words} at {each.start:g} s" for each in story.rounds[:5]]
    return f"in a run with events at 20 and 55 s: {', '.join(told)}"


def _going() -> str:
    cache, sim = HandCache(), Simulation()
    memory = RayClusterScaleExpectation(sim, cache)
    memory.expect_scale_pod("default", "a", "workers", "x", ScaleAction.DELETE)
    cache.mark("x")
    sim.run(until=3600)
    met = memory.is_satisfied("default", "a", "workers")
    shows = cache.get(object, NamespacedName("default", "x")).metadata.name
    return f"after an hour, with {shows} still found, the group is {'' if met else 'not '}satisfied"


QUIZZES = {
    "04/who-waits": Quiz(
        "A has a create that the cache does not show yet. Who waits?",
        (
            Choice(
                "the worker: it sleeps until the cache has caught up",
                lambda: f"the round ends at once and the worker is free: {_rounds_of('a')}.",
            ),
            Choice(
                "every RayCluster whose Pods the same cache shows",
                lambda: f"a note is of one group of one RayCluster: {_rounds_of('b')}.",
            ),
            Choice(
                "that group of A, until a later round",
                lambda: f"rounds go on, and leave the group alone: {_rounds_of('a')}.",
                right=True,
            ),
        ),
    ),
    "04/thirty-seconds": Quiz(
        "A Pod was created, it vanished, and the cache never showed it. What happens 30 s later?",
        (
            Choice(
                "a timer rings, and a round creates another Pod",
                lambda: f"there is no timer: {_after_vanishing()}.",
            ),
            Choice(
                "nothing, until the next round of A",
                lambda: f"the age is looked at by a round: {_after_vanishing()}.",
                right=True,
            ),
            Choice(
                "nothing, ever: somebody has to restart the operator",
                lambda: f"a create is given up in the end: {_after_vanishing()}.",
            ),
        ),
    ),
    "04/going": Quiz(
        "A Pod was deleted an hour ago and is still going, held by something. Its group?",
        (
            Choice("goes on after 30 s", lambda: f"a delete has no time-out: {_going()}."),
            Choice("is left alone", lambda: f"only NotFound meets a delete: {_going()}.", True),
            Choice(
                "goes on as soon as the Pod is marked as going",
                lambda: f"that was so before KubeRay 1.4.0; now, {_going()}.",
            ),
        ),
    ),
}
