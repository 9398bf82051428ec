"""Schedules that try a memory of the learner's own, for lesson 04."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from kubequeue.lab.checks.exercise import expect, well_formed
from kubequeue.lab.checks.guard import call, shown

FORGET = 30.0
"""Seconds after which a create that was never seen is given up."""

TOO_MANY = (
    "a Pod that was written and is not shown yet counts as there.",
    "keep the note until the cache shows its Pod; give it up when it is more than 30 s old.",
    "create wanted - len(cached) - the notes that are still open.",
)
TOO_FEW = (
    "create what is missing at once, also while other notes are open.",
    "create wanted - len(cached) - the notes that are still open.",
)
NOT_REPLACED = (
    "a note must not count for a Pod that is gone. When is it to be dropped?",
    "drop a note when the cache shows its Pod, and when it is more than 30 s old.",
)


@dataclass
class Schedule:
    """What happens in one story, in seconds; the cache is ``lag`` late.

    Attributes:
        wanted: how many Pods are asked for from which second on.
        vanish: when the newest Pod goes without the cache ever having shown it.
        killed: when the oldest Pod goes; the cache has shown it.
    """

    words: str
    lag: float
    rounds: list[float]
    wanted: dict[float, int]
    vanish: float = -1.0
    killed: float = -1.0

    def wanted_at(self, at: float) -> int:
        """How many Pods are asked for."""
        return [count for since, count in self.wanted.items() if since <= at][-1]


@dataclass
class _Pods:
    """What the server has and what the cache shows, without a cluster around it."""

    lag: float
    born: dict[str, float] = field(default_factory=dict)
    gone: dict[str, float] = field(default_factory=dict)
    unseen: set[str] = field(default_factory=set)

    def there(self, at: float) -> list[str]:
        return [name for name in self.born if self.gone.get(name, at + 1) > at]

    def shown(self, at: float) -> frozenset[str]:
        return frozenset(
            name
            for name, since in self.born.items()
            if name not in self.unseen
            and since + self.lag <= at
            and self.gone.get(name, at) + self.lag >= at
        )


def survives(plan: Any) -> str:
    """Why a plan is right; raises `Complaint` with the schedule that breaks it."""
    tried = list(_schedules())
    for each in tried:
        _try(plan, each)
    return f"never one Pod too many, and never one too few for long, in {len(tried)} schedules."


def _schedules() -> Iterator[Schedule]:
    often = [float(second) for second in range(0, 120, 2)]
    yield Schedule("a second round comes before the cache shows the Pod", 5.0, [0, 2, 4, 9], {0: 1})
    yield Schedule("the cache is 25 s late", 25.0, often, {0: 2})
    close = [round(0.3 * number, 1) for number in range(120)]
    yield Schedule("the cache is almost 30 s late", 29.8, close, {0: 2})
    yield Schedule("3 more are asked for while one is not seen yet", 9.0, often, {0: 1, 4: 4})
    yield Schedule("a Pod vanishes unseen", 3.0, often, {0: 2}, vanish=1.0)
    late = [0, 2, 4, 30, 30.1, 31]
    yield Schedule("a Pod vanishes unseen", 3.0, late, {0: 2}, vanish=1.0)
    yield Schedule("a Pod is killed soon after it was seen", 3.0, often, {0: 2}, killed=11.0)
    chance = Random(8)
    for _ in range(12):
        start = chance.randint(1, 20)
        yield Schedule(
            "rounds and wishes come as they come", chance.uniform(0, 25),
            sorted(chance.uniform(0, 90) for _ in range(40)),
            {0: 1, start: chance.randint(1, 4), start + 20: 5},
        )  # fmt: skip


def _try(plan: Any, story: Schedule) -> None:
    pods, records = _Pods(story.lag), dict[str, float]()
    for at in story.rounds:
        _trouble(pods, story, at)
        wanted, cached = story.wanted_at(at), pods.shown(at)
        more, kept = _planned(call(plan, wanted, cached, records, at))
        records = {name: since for name, since in records.items() if name in kept}
        for _ in range(min(more, 50)):
            name = f"pod-{len(pods.born) + 1}"
            pods.born[name] = records[name] = at
        there = len(pods.there(at))
        where = f"when {story.words} (lag {story.lag:.3g} s)"
        many = f"{where}, {wanted} are asked for, and {there} exist at {at:.3g} s"
        expect(there <= wanted, many, TOO_MANY)
        expect(
            there >= wanted or _may_lack(pods, story, at),
            f"{where}, {wanted} are asked for, and {there} exist after your round at {at:.3g} s",
            NOT_REPLACED if pods.gone else TOO_FEW,
        )


def _trouble(pods: _Pods, story: Schedule, at: float) -> None:
    """What somebody else did before this round."""
    if 0 <= story.vanish < at and not pods.gone:
        pods.gone[list(pods.born)[-1]] = story.vanish
        pods.unseen.add(list(pods.born)[-1])
    if 0 <= story.killed < at and not pods.gone:
        pods.gone[next(iter(pods.born))] = story.killed


def _may_lack(pods: _Pods, story: Schedule, at: float) -> bool:
    """Whether nobody could know yet that a Pod is gone."""
    return any(
        at <= pods.born[name] + FORGET if name in pods.unseen else at <= since + story.lag
        for name, since in pods.gone.items()
    )


def _planned(told: Any) -> tuple[int, set[str]]:
    fits = type(told) in (tuple, list) and len(told) == 2 and type(told[0]) is int
    well_formed(
        fits and told[0] >= 0, f"it returned {shown(told)}, and (how many, names) was expected"
    )
    try:
        return told[0], {name for name in told[1] if type(name) is str}
    except TypeError:
        well_formed(
            False, f"the names to keep were {shown(told[1])}, and a list of names was expected"
        )
        raise
