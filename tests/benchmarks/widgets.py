"""What widgets cost: a redraw of the stepper with fifty keys, a step back, two thousand states; and
one redraw each of the cache panel, the live topology and the conflict stepper.

    python tests/benchmarks/widgets.py [--repeats 3]

Processor time and memory of the kernel alone; what a browser takes to paint is measured there
(`make browser` notes it in build/screenshots/paint.txt).
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from collections.abc import Callable

from kubequeue.lab.history import Act
from kubequeue.lab.late_cache import tell
from kubequeue.lab.widgets import CachePanel, ConflictStepper, LiveTopology, QueueStepper
from kubequeue.lab.world import World

KEYS = [f"default/cluster-{number:02}" for number in range(50)]
STATES = 2_000


def acts() -> list[Act]:
    """Fifty keys at once, every round ended in turn, and time that goes by."""
    return [("burst", *KEYS), ("pass_time", 1.0)]


def grow(states: int) -> QueueStepper:
    """A stepper with at least so many states; fifty keys are pending all the time."""
    stepper = QueueStepper(*acts(), workers=2, trouble=False)
    while len(stepper.history.states) < states:
        running = stepper.history.states[-1].rounds[0].key
        stepper.history.do("add", running)
        stepper.history.do("finish", running)
    stepper._redraw_lanes()
    return stepper


def milliseconds(stepper: QueueStepper, move: Callable[[], None], times: int) -> float:
    """Processor time of one of so many moves."""
    started = time.process_time()
    for _ in range(times):
        move()
    return (time.process_time() - started) / times * 1e3


def redraws(states: int, repeats: int) -> None:
    """Forward and back, over the same states in turn."""
    stepper = grow(states)
    steps = 100
    best = {"forward": float("inf"), "back": float("inf")}
    for _ in range(repeats):
        stepper.show(states - 2 * steps)
        for name, move in (("forward", stepper.step), ("back", stepper.back)):
            best[name] = min(best[name], milliseconds(stepper, move, steps))
    print(f"One redraw of the stepper, {len(KEYS)} keys, {states:,} states, least of {repeats}")
    for name, taken in best.items():
        print(f"  {name:30} {taken:7.2f} ms  {taken / best['forward']:5.2f} times forward")


def memory() -> None:
    """What the states of a history keep in memory."""
    gc.collect()
    tracemalloc.start()
    stepper = grow(STATES)
    gc.collect()
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"Memory of {len(stepper.history.states):,} states with {len(KEYS)} keys")
    print(f"  kept {kept / 1e6:7.2f} MB   peak {peak / 1e6:7.2f} MB")


def others(repeats: int) -> None:
    """A redraw of each of the other widgets, with something new in it each time."""
    world = World(reconcile_concurrency=4)
    for number in range(100):
        world.create(f"cluster-{number}")
    world.run(until=20)
    topology, conflict = LiveTopology(world.sim.trace, world.operator), ConflictStepper()
    panel = CachePanel(lag=6)

    def turn(number: int) -> None:
        tell.cache_clear()
        panel.lag.value = 7 + number

    moves: dict[str, Callable[[int], object]] = {
        "cache panel, a new run": turn,
        "live topology, 100 clusters": topology.show,
        "conflict stepper": conflict.show,
    }
    print(f"One redraw of other widgets, least of {10 * repeats}")
    for name, move in moves.items():
        taken = []
        for number in range(10 * repeats):
            started = time.process_time()
            move(number % 10)
            taken.append(time.process_time() - started)
        middle = sorted(taken)[len(taken) // 2] * 1e3
        print(f"  {name:30} {min(taken) * 1e3:7.2f} ms  median {middle:7.2f} ms")


def main() -> None:
    """Everything, in about a minute."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    for states in (300, STATES):
        redraws(states, chosen.repeats)
    memory()
    others(chosen.repeats)


if __name__ == "__main__":
    main()
