"""The virtual world: its clock, its streams, its order of events."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Generator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from driving import NAME, answering, priority_rig
from simpy.events import Event

from kubequeue import (
    Controller,
    InstantNeverEndsError,
    InvalidArgumentError,
    KubeQueueError,
    NeverIdleError,
    PriorityQueue,
    Simulation,
)
from kubequeue.sim import to_ns


def _times(sim: Simulation, *seconds: float) -> list[float]:
    """The list will have each of these times once the clock has shown it."""
    seen: list[float] = []
    for second in seconds:
        sim.call_at(second, lambda: seen.append(sim.now))
    return seen


# --- The clock --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "ns"),
    [(1.5, 1_500_000_000), (1e-9, 1), (-2, -2_000_000_000), (Fraction(1, 8), 125_000_000)],
)
def test_seconds_become_whole_nanoseconds(seconds: Any, ns: int) -> None:
    """Any kind of number will do, and equal times are equal numbers."""
    assert to_ns(seconds, "x") == ns
    assert type(to_ns(seconds, "x")) is int


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), None, 1j, [], object()])
def test_what_is_no_time_is_refused(seconds: Any) -> None:
    """The error says which value it was about, and is a ValueError too."""
    with pytest.raises(ValueError, match=r"the delay was .*; expected a finite number"):
        to_ns(seconds, "the delay")


def test_a_text_is_refused_before_it_is_multiplied() -> None:
    """A text times a thousand million would be a text of gigabytes, so it must not be made."""

    class Text(str):
        def __mul__(self, times: Any) -> str:
            raise AssertionError(f"multiplied by {times}")

    with pytest.raises(InvalidArgumentError, match="finite number"):
        to_ns(Text("soon"), "after")  # type: ignore[arg-type]


def test_until_is_inclusive() -> None:
    """What happens at that very time happens, with everything it causes at once."""
    sim = Simulation()
    seen = _times(sim, 1.0, 1.000_000_001)
    sim.call_at(1.0, lambda: sim.call_at(1.0, lambda: seen.append(-1.0)))
    sim.run(until=1.0)
    assert (seen, sim.now) == ([1.0, -1.0], 1.0)


def test_a_run_stops_where_it_was_told_though_nothing_happens() -> None:
    """The clock shows `until` after the run, with events before it, after it or without any."""
    sim = Simulation()
    seen = _times(sim, 1.0, 5.0)
    for until in (0.5, 3.0, 3.0, 10.0):
        sim.run(until=until)
        assert sim.now == until
    assert seen == [1.0, 5.0]


def test_a_run_without_an_end_goes_on_until_nothing_is_left() -> None:
    """The clock stays at the last event."""
    sim = Simulation()
    seen = _times(sim, 2.0, 7.5)
    sim.run()
    assert (seen, sim.now, sim.now_ns) == ([2.0, 7.5], 7.5, 7_500_000_000)


def test_settling_moves_no_clock() -> None:
    """All that can happen now happens, at whatever distance of causes; the next time waits."""
    sim = Simulation()
    seen: list[int] = []

    def steps() -> Generator[Event, Any, None]:
        for step in range(50):
            yield sim.sleep(0)
            seen.append(step)
        yield sim.sleep(1e-9)
        seen.append(-1)

    sim.process(steps())
    sim.settle()
    assert (seen, sim.now_ns) == (list(range(50)), 0)
    sim.run()
    assert seen[-1] == -1


def test_a_step_is_one_event() -> None:
    """One thing happens at a time, and after the last one there is none."""
    sim = Simulation()
    seen = _times(sim, 1.0, 2.0)
    assert [sim.step(), list(seen)] == [True, [1.0]]
    assert [sim.step(), list(seen)] == [True, [1.0, 2.0]]
    assert [sim.step(), sim.now] == [False, 2.0]


def test_call_at_calls_once_at_its_time() -> None:
    """Now is a time too; calls for one time come in the order they were asked for."""
    sim = Simulation()
    seen: list[str] = []
    sim.run(until=1)
    sim.call_at(2.0, lambda: seen.append("first"))
    sim.call_at(2.0, lambda: seen.append("second"))
    sim.call_at(1.0, lambda: seen.append("now"))
    sim.run(until=1)
    assert seen == ["now"]
    sim.run()
    assert seen == ["now", "first", "second"]


PAST: list[Callable[[Simulation], object]] = [
    lambda sim: sim.run(until=4.999_999_999),
    lambda sim: sim.call_at(4, lambda: None),
    lambda sim: sim.sleep(-1e-9),
]


@pytest.mark.parametrize("call", PAST, ids=["run", "call_at", "sleep"])
def test_time_does_not_go_back(call: Callable[[Simulation], object]) -> None:
    """A time that has passed, or a sleep of less than nothing, is an error and changes nothing."""
    sim = Simulation()
    sim.run(until=5)
    with pytest.raises(InvalidArgumentError):
        call(sim)
    assert (sim.now, sim.step()) == (5.0, False)


def test_a_bare_event_fires_when_somebody_says_so() -> None:
    """A process waits for it, whenever that is."""
    sim = Simulation()
    event = sim.event()
    seen: list[Any] = []

    def wait() -> Generator[Event, Any, None]:
        seen.append((yield event))

    sim.process(wait())
    sim.run(until=3)
    assert seen == []
    event.succeed("now")
    sim.settle()
    assert seen == ["now"]


# --- Runs that go wrong -----------------------------------------------------------------------


def test_an_exception_in_a_callback_leaves_a_run_that_can_go_on() -> None:
    """It comes out of the run; the next run goes on from there and stops only at its own end."""
    sim = Simulation()
    seen = _times(sim, 0.5, 1.0, 1.5)
    sim.call_at(0.75, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        sim.run(until=1.0)
    assert (seen, sim.now) == ([0.5], 0.75)
    sim.run(until=2.0)
    assert (seen, sim.now) == ([0.5, 1.0, 1.5], 2.0)


def test_an_exception_in_a_process_comes_out_of_the_run() -> None:
    """A process that fails is not passed over in silence, and the queues live on."""
    rig = priority_rig()

    def fails() -> Generator[Event, Any, None]:
        yield rig.sim.sleep(1)
        raise LookupError("lost")

    rig.sim.process(fails())
    with pytest.raises(LookupError, match="lost"):
        rig.sim.run()
    rig.queue.add("a")
    assert rig.take() == "a"


def test_a_loop_that_never_sleeps_is_found() -> None:
    """Virtual time would stand still for ever: an error says when, and the run can go on."""
    sim = Simulation(max_events_per_instant=1000)
    turning = [True]

    def spin() -> Generator[Event, Any, None]:
        yield sim.sleep(1)
        while turning:
            yield sim.sleep(0)

    sim.process(spin())
    for until in (5, None):
        with pytest.raises(InstantNeverEndsError, match=r"1,000 events .* t = 1.0 s"):
            sim.run(until=until)
    turning.clear()
    sim.run(until=5)
    assert sim.now == 5.0


def test_many_events_in_a_row_are_no_error() -> None:
    """A busy run is not a stuck one: the count starts anew when time moves on."""
    sim = Simulation(max_events_per_instant=100)

    def tick() -> Generator[Event, Any, None]:
        for _ in range(50):
            for _ in range(50):
                yield sim.sleep(0)
            yield sim.sleep(1)

    sim.process(tick())
    sim.run(until=60)
    assert sim.now == 60.0


def test_a_run_that_never_ends_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that always comes back: an error asks for `until`, and with it the run goes on."""
    monkeypatch.setattr("kubequeue.sim._MAX_EVENTS_UNTIL_IDLE", 10_000)
    sim = Simulation(max_events_per_instant=1000)

    def tick() -> Generator[Event, Any, None]:
        while True:
            yield sim.sleep(1)

    sim.process(tick())
    with pytest.raises(NeverIdleError, match="until"):
        sim.run()
    sim.run(until=100_000)
    assert sim.now == 100_000.0


def test_every_error_is_one_of_ours() -> None:
    """One `except` catches what the package raises, and a process can send it to another."""
    for error in (
        InstantNeverEndsError(1.0, 2),
        NeverIdleError(1.0, 2),
        InvalidArgumentError("a", 1, "b"),
    ):
        assert isinstance(error, KubeQueueError)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


# --- Chance -----------------------------------------------------------------------------------


def test_streams_do_not_move_each_other() -> None:
    """Drawing from one stream, or making another, changes no number of a third."""
    alone = [Simulation(7).stream("a").random() for _ in range(1)]
    sim = Simulation(7)
    for _ in range(10):
        sim.stream("b").random()
    assert [sim.stream("a").random()] == alone
    assert sim.stream("a") is sim.stream("a")


def test_seed_and_name_make_the_stream() -> None:
    """Equal seeds give equal streams; another seed or another name gives another."""
    drawn = {
        (seed, name): Simulation(seed).stream(name).random() for seed in (1, 2) for name in "ab"
    }
    assert len(set(drawn.values())) == 4
    assert Simulation(1).stream("a").random() == drawn[1, "a"]


def _story(seed: int, shuffle_ties: bool) -> str:
    sim = Simulation(seed, shuffle_ties=shuffle_ties)
    rig = priority_rig(sim)
    Controller(sim, rig.queue, answering(sim, seconds=1), max_concurrent_reconciles=3).start()
    for key in "abcdef":
        sim.call_at(1.0, lambda key=key: rig.queue.add(key))  # type: ignore[misc]
    sim.run()
    rig.queue._check()
    rounds = sim.trace.rounds()
    assert sorted(span.key for span in rounds) == list("abcdef")
    assert [(span.start, span.end) for span in rounds] == [(1, 2)] * 3 + [(2, 3)] * 3
    return sim.trace.story()


@pytest.mark.parametrize("shuffle_ties", [False, True])
def test_equal_seeds_give_equal_runs(shuffle_ties: bool) -> None:
    """Step by step, with shuffled ties and without."""
    assert _story(3, shuffle_ties) == _story(3, shuffle_ties)


def test_other_seeds_give_other_orders_all_of_them_legal() -> None:
    """Ties fall differently, and still every key has one round and no worker is left idle."""
    assert len({_story(seed, True) for seed in range(10)}) == 10


def test_without_shuffling_the_seed_changes_no_order() -> None:
    """Ties are then decided by cause alone."""
    assert len({_story(seed, False) for seed in range(3)}) == 1


def test_equal_runs_are_equal_in_every_process() -> None:
    """No set or hash decides an order: two interpreters with different hash seeds agree."""
    program = """
from driving import NAME, answering, priority_rig
from kubequeue import Controller, ReconcileError, Simulation, to_perfetto
sim = Simulation(5, shuffle_ties=True)
rig = priority_rig(sim)
fails = [ReconcileError("no")] * 5
Controller(sim, rig.queue, answering(sim, *fails, seconds=0.1), max_concurrent_reconciles=3).start()
for key in "abcdef":
    rig.queue.add_with_opts(key, key, priority=ord(key) % 3)
sim.run()
print(sim.trace.story(), sim.metrics.exposition(), to_perfetto(sim.trace), rig.queue.snapshot())
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            cwd=Path(__file__).parent,
            check=True,
            capture_output=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(printed) == 1
    assert len(printed.pop()) > 1000


# --- Observers --------------------------------------------------------------------------------


def test_a_run_can_go_unobserved() -> None:
    """Without trace and metrics the run is the same, and leaves nothing behind."""
    sim = Simulation(trace=False, metrics=False)
    queue = PriorityQueue(sim, NAME)
    Controller(sim, queue, answering(sim, seconds=1)).start()
    queue.add("a")
    sim.run()
    assert (sim.now, len(queue), len(sim.trace), sim.metrics.queues) == (1.0, 0, 0, {})


def test_trace_and_metrics_can_be_had_one_by_one() -> None:
    """Either works without the other."""
    for trace, metrics in ((True, False), (False, True)):
        sim = Simulation(trace=trace, metrics=metrics)
        PriorityQueue(sim, NAME).add("a")
        sim.settle()
        assert (len(sim.trace) > 0, NAME in sim.metrics.queues) == (trace, metrics)
