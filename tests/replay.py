"""Replay recorded runs of the real Go queues on the model, and count where they differ.

    python tests/replay.py FILE... [--queue priority|fifo]

The folder of a file says which queue it was recorded from (``fifoqueue`` or ``priorityqueue``)
unless ``--queue`` does. ``golden/README.md`` describes the format. The last line is
``scenarios N steps M mismatches K``; the exit status is 1 if K > 0, and 2 for a file that is not
in the format.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from simpy.events import Event

from kubequeue import FIFOQueue, KubeQueueError, PriorityQueue, Simulation
from kubequeue.sim import NANOSECONDS
from kubequeue.workqueue.queue import Queue

NAME = "replayed"
MILLISECOND = 1_000_000
QUEUES: dict[str, Callable[[Simulation], Queue]] = {
    "priority": lambda sim: PriorityQueue(sim, NAME),
    "fifo": lambda sim: FIFOQueue(sim, NAME),
}
FIELDS = {
    "priority": ("got", "len", "depth", "adds", "retries", "queue_ms", "work_ms", "requeues"),
    "fifo": ("got", "len", "requeues"),
}
EMPTY: dict[str, Any] = {
    "got": [], "depth": {}, "queue_ms": [], "work_ms": [], "requeues": {},
    "len": 0, "adds": 0, "retries": 0,
}  # fmt: skip
Step = dict[str, Any]


class FormatError(Exception):
    """A file is not in the format; the text says where and what was expected."""


class Durations:
    """Stands in for a histogram and keeps each observation."""

    def __init__(self) -> None:
        self.ms: list[float] = []

    def observe(self, ns: int) -> None:
        # Go's histograms are given seconds as a float, and the recording made milliseconds of them.
        seconds, rest = divmod(ns, NANOSECONDS)
        self.ms.append((seconds + rest / NANOSECONDS) * 1000)

    def take(self) -> list[float]:
        taken, self.ms = sorted(self.ms), []
        return taken


class Replay:
    """One queue, and the ops of a scenario done to it."""

    def __init__(self, queue: str) -> None:
        self.sim = Simulation(trace=False)
        self.one_by_one = queue == "fifo"
        self.queue = QUEUES[queue](self.sim)
        self.metrics = self.sim.metrics.queues[NAME]
        self.queue_ms, self.work_ms = Durations(), Durations()
        self.metrics.queue_duration = self.queue_ms  # type: ignore[assignment]
        self.metrics.work_duration = self.work_ms  # type: ignore[assignment]
        self.got: list[Step] = []

    def step(self, op: Step) -> Step:
        """Do one op, let everything settle, and say what there is to see."""
        self.got = []
        requeues = self.do(op)
        self.sim.settle()
        length = len(self.queue)
        self.sim.settle()
        self.queue._check()
        return {
            "got": sorted(self.got, key=lambda got: str(got["worker"])),
            "len": length,
            "depth": {label: count for label, count in self.metrics.depth.items() if count},
            "adds": self.metrics.adds,
            "retries": self.metrics.retries,
            "queue_ms": self.queue_ms.take(),
            "work_ms": self.work_ms.take(),
            "requeues": requeues,
        }

    def do(self, op: Step) -> dict[str, int]:
        """One op; the failures of its keys when it was a rate-limited add."""
        match op["op"]:
            case "add":
                return self.add(op)
            case "get":
                self.sim.process(self.get(op["worker"]))
            case "done":
                self.queue.done(op["key"])
            case "forget":
                self.queue.forget(op["key"])
            case "advance":
                self.sim.run(until=(self.sim.now_ns + op["ms"] * MILLISECOND) / 1e9)
            case "shutdown":
                self.queue.shut_down()
            case other:
                raise FormatError(f"the op {other!r} is none of the ops of the format")
        return {}

    def add(self, op: Step) -> dict[str, int]:
        rate_limited = op.get("rate_limited", False)
        batches = [[key] for key in op["keys"]] if self.one_by_one else [op["keys"]]
        for keys in batches:
            self.queue.add_with_opts(
                *keys,
                after=op.get("after_ms", 0) / 1000,
                rate_limited=rate_limited,
                priority=op.get("priority"),
            )
            self.sim.settle()
        return {key: self.queue.num_requeues(key) for key in op["keys"]} if rate_limited else {}

    def get(self, worker: Any) -> Generator[Event, Any, None]:
        key, priority, shutdown = yield from self.queue.get_with_priority(str(worker))
        got = {"worker": worker, "key": key or "", "at_ms": self.sim.now_ns / MILLISECOND}
        if not self.one_by_one:
            got["priority"] = priority
        self.got.append({**got, "shutdown": True} if shutdown else got)


def load(path: Path) -> list[Step]:
    """The scenarios of a file; raises `FormatError` for what is not in the format."""
    try:
        scenarios = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FormatError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise FormatError(f"{path}: is empty or not JSON ({error})") from None
    if not isinstance(scenarios, list) or not scenarios:
        raise FormatError(f"{path}: holds no list of scenarios")
    for number, scenario in enumerate(scenarios):
        ops, steps = (
            (scenario.get("ops"), scenario.get("steps")) if isinstance(scenario, dict) else (0, 0)
        )
        if not (isinstance(ops, list) and isinstance(steps, list) and len(ops) == len(steps)):
            raise FormatError(f"{path}: scenario {number} has not one step for each of its ops")
    return scenarios


def differences(queue: str, scenario: Step) -> Iterator[str]:
    """A sentence for each field of each step in which the model and the recording differ."""
    replay = Replay(queue)
    for number, (op, expected) in enumerate(zip(scenario["ops"], scenario["steps"], strict=True)):
        try:
            seen = replay.step(op)
        except (KeyError, TypeError, AttributeError, KubeQueueError) as error:
            raise FormatError(f"step {number} is not in the format ({error!r})") from None
        for field in FIELDS[queue]:
            wanted = expected.get(field) or EMPTY[field]
            if seen[field] != wanted:
                yield (
                    f"{scenario.get('name')}, step {number} {json.dumps(op)}: "
                    f"{field} is {seen[field]}; Go had {wanted}"
                )


def queue_of(path: Path, choice: str | None) -> str:
    """Which queue a file is about: what was chosen, or what its folder is called."""
    return choice or ("fifo" if path.resolve().parent.name == "fifoqueue" else "priority")


def main(arguments: list[str]) -> int:
    """Replay the files that the command line names; the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--queue", choices=sorted(QUEUES))
    chosen = parser.parse_args(arguments)
    scenarios = steps = mismatches = 0
    for path in chosen.files:
        try:
            for scenario in load(path):
                scenarios, steps = scenarios + 1, steps + len(scenario["steps"])
                for difference in differences(queue_of(path, chosen.queue), scenario):
                    mismatches += 1
                    print(f"{path}: {difference}")
        except FormatError as error:
            where = "" if str(error).startswith(str(path)) else f"{path}: "
            print(f"{where}{error}.", file=sys.stderr)
            return 2
    print(f"scenarios {scenarios} steps {steps} mismatches {mismatches}")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
