"""One worker more is asked for while the cache is late: a run, its time lines and its counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kubequeue.cluster.objects import Pod
from kubequeue.lab.seen import seen
from kubequeue.lab.story import Seen
from kubequeue.lab.world import RULES, World, ready_world

READY, SCALED, END = 5.0, 6.0, 55.0
"""When A is ready with its one worker, when it is to have two, and when the story ends."""

EVENTS = tuple(SCALED + 5 * number for number in range(1, 10))
"""Something about A changes every five seconds, so that rounds come."""


@dataclass(frozen=True, slots=True)
class Story:
    """What became of it; ``facts`` by their names, as text."""

    seen: Seen
    sentence: str
    facts: dict[str, str]


def run(
    *,
    lag: float,
    memory: bool,
    vanish: bool = False,
    lose_answer: bool = False,
    crash: bool = False,
) -> World:
    """The world at the end of it. Costs O(steps of the run)."""
    world = ready_world(
        pod_lag=lag, at=READY, latency=0.1, expectations=RULES if memory else None, metrics=False
    )
    if lose_answer:
        world.server.lose_answer("create", Pod, times=1)
    world.sim.call_at(SCALED, lambda: world.scale("a", 2))
    world.touch_at("a", *EVENTS)
    if vanish:
        world.sim.call_at(SCALED + 1, lambda: world.vanish("a"))
    if crash:
        world.sim.call_at(SCALED + 2, world.restart)
    world.run(until=END)
    return world


@lru_cache(maxsize=256)
def tell(
    *,
    lag: float,
    memory: bool,
    vanish: bool = False,
    lose_answer: bool = False,
    crash: bool = False,
) -> Story:
    """The same, as a story; what was told before is told again at once."""
    world = run(lag=lag, memory=memory, vanish=vanish, lose_answer=lose_answer, crash=crash)
    story = seen(world, "a", since=READY, until=END)
    first, *_, last = [set(each.state or ()) for each in (story.truth[0], *story.truth)]
    made = len({pod for each in story.truth for pod in each.state or ()} - first)
    skipped = sum("skip" in each.words for each in story.rounds)
    surplus = max(made - 1 - vanish, 0)
    words = [
        f"1 worker more was asked for, and {made} Pod{'s were' if made != 1 else ' was'} created"
        + (f": {surplus} too many." if surplus else ".")
    ]
    if skipped:
        words.append(f"{skipped} round{'s' * (skipped != 1)} left the group alone.")
    if len(last) < 2:
        words.append(f"At {END:g} s the group still lacks a Pod.")
    longest = max((end - start for start, end in story.gaps), default=0.0)
    facts = {
        "Pods created": str(made),
        "too many": str(surplus),
        "rounds that left the group alone": str(skipped),
        "Pods at the end": str(len(last)),
        "longest gap (s)": f"{longest:.3g}",
    }
    return Story(story, " ".join(words), facts)
