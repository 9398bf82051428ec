"""Play a recorded run of a real controller on the model; ``golden/README.md`` has the format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Any

from simpy.events import Event

from kubequeue import (
    Controller,
    FIFOQueue,
    PriorityQueue,
    ReconcileError,
    Request,
    Result,
    Simulation,
    TerminalError,
)
from kubequeue.observe.instruments import Histogram
from kubequeue.workqueue.queue import Key, Queue

NAME = "raycluster"
MILLISECOND = 1_000_000
Step = dict[str, Any]


class Noted:
    """What happened since the last look."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._noted: dict[str, list[Step]] = {}

    def note(self, field: str, **values: Any) -> None:
        """Write one thing down, with the time; what is empty, 0 or unset stays out."""
        kept = {name: value for name, value in values.items() if value or name == "priority"}
        if kept.get("priority", 0) is None:
            del kept["priority"]
        at_ms = self._sim.now_ns // MILLISECOND
        self._noted.setdefault(field, []).append({**kept, "at_ms": at_ms})

    def take(self) -> dict[str, list[Step]]:
        """Everything since the last call."""
        taken, self._noted = self._noted, {}
        return taken


def recording(queue: Queue, noted: Noted) -> Queue:
    """Note each call that the recorder of the Go run noted, then let the queue see it."""
    fifo = isinstance(queue, FIFOQueue)
    really = queue.add_with_opts, queue.forget, queue.done

    def add_with_opts(
        *keys: Key, after: float = 0.0, rate_limited: bool = False, priority: int | None = None
    ) -> None:
        after_ms = round(after * 1000)
        for key in keys:
            if not fifo:
                opts = {"after_ms": after_ms, "rate_limited": rate_limited, "priority": priority}
                noted.note("calls", call="add_with_opts", key=key, **opts)
            elif rate_limited:
                noted.note("calls", call="add_rate_limited", key=key)
            elif after_ms > 0:
                noted.note("calls", call="add_after", key=key, after_ms=after_ms)
            else:
                noted.note("calls", call="add", key=key)
        really[0](*keys, after=after, rate_limited=rate_limited, priority=priority)

    def forget(key: Key) -> None:
        noted.note("calls", call="forget", key=key)
        really[1](key)

    def done(key: Key) -> None:
        noted.note("calls", call="done", key=key)
        really[2](key)

    for call in (add_with_opts, forget, done):
        setattr(queue, call.__name__, call)
    return queue


class ControllerReplay:
    """A controller with a scripted reconciler, and the ops of a scenario done to it."""

    def __init__(self, scenario: Step, sim: Simulation | None = None) -> None:
        self.sim = sim or Simulation()
        self.noted = Noted(self.sim)
        kind = FIFOQueue if scenario.get("queue") == "fifo" else PriorityQueue
        self.queue = recording(kind(self.sim, NAME), self.noted)
        self.script: dict[str, list[Step]] = scenario.get("script", {})
        self.rounds: Counter[str] = Counter()
        self._seen = 0
        self.controller = Controller(
            self.sim, self.queue, self.reconcile, max_concurrent_reconciles=scenario["workers"]
        )
        self.controller.start()
        self.sim.settle()

    def reconcile(self, request: Request) -> Generator[Event, Any, Result]:
        """The next round of the key's script."""
        script = self.script.get(request, [])
        number = self.rounds[request]
        self.rounds[request] += 1
        scripted = script[number] if number < len(script) else {}
        if scripted.get("takes_ms", 0) > 0:
            yield self.sim.sleep(scripted["takes_ms"] / 1000)
        self.noted.note("ended", key=str(request))
        return result_of(scripted)

    def step(self, op: Step) -> Step:
        """Do one op, let everything settle, and say what there is to see."""
        self.do(op)
        self.sim.settle()
        length = len(self.queue)
        self.sim.settle()
        self.queue._check()
        started = self.started()
        seen = {**self.noted.take(), "len": length, "metrics": self.metrics()}
        return {**seen, "started": started} if started else seen

    def do(self, op: Step) -> None:
        """One op."""
        match op["op"]:
            case "add":
                self.queue.add_with_opts(
                    *op["keys"],
                    after=op.get("after_ms", 0) / 1000,
                    rate_limited=op.get("rate_limited", False),
                    priority=op.get("priority"),
                )
            case "advance":
                self.sim.run(until=(self.sim.now_ns + op["ms"] * MILLISECOND) / 1e9)
            case "stop":
                self.controller.stop()
            case other:
                raise ValueError(f"the op {other!r} is none of the ops of the format")

    def started(self) -> list[Step]:
        """The rounds that began since the last call, from the trace."""
        instants = self.sim.trace.instants
        new, self._seen = instants[self._seen :], len(instants)
        return [
            {"key": i.key, "priority": i.values[0], "at_ms": round(i.at * 1000)}
            for i in new
            if i.kind == "round_started"
        ]

    def metrics(self) -> Step:
        """The metrics in the recording's shape: milliseconds, and zeros left out."""
        self.sim.metrics.exposition()  # a scrape brings the gauges up to date
        queue, controller = self.sim.metrics.queues[NAME], self.sim.metrics.controllers[NAME]
        seen: Step = {
            "reconcile_total": _without_zeros(controller.total),
            "errors": controller.errors,
            "terminal_errors": controller.terminal_errors,
            "panics": controller.panics,
            "active_workers": controller.active_workers,
            "depth": _without_zeros(queue.depth),
            "adds": queue.adds,
            "retries": queue.retries,
            "reconcile_time": _durations(controller.reconcile_time),
            "queue_duration": _durations(queue.queue_duration),
            "work_duration": _durations(queue.work_duration),
            "unfinished_work_ms": queue.unfinished_work // MILLISECOND,
            "longest_running_ms": queue.longest_running_processor // MILLISECOND,
        }
        workers = {"max_concurrent_reconciles": controller.max_concurrent_reconciles}
        return {name: value for name, value in seen.items() if value} | workers


def result_of(scripted: Step) -> Result:
    """What a scripted round returns; raises for a panic, as no result comes back from one."""
    error = scripted.get("error")
    if error == "panic":
        raise RuntimeError("a scripted panic")
    errors = {"plain": ReconcileError("scripted"), "terminal": TerminalError("scripted")}
    return Result(
        requeue=scripted.get("requeue", False),
        requeue_after=scripted.get("requeue_after_ms", 0) / 1000,
        priority=scripted.get("priority"),
        error=errors[error] if error else None,
    )


def _without_zeros(counts: dict[str, int]) -> dict[str, int]:
    return {label: count for label, count in counts.items() if count}


def _durations(histogram: Histogram) -> Step:
    if not histogram.count:
        return {}
    return {"count": histogram.count, "sum_ms": round(histogram.sum * 1000)}
