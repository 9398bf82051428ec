"""Bad input is answered in a sentence, loses nothing and hangs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from driving import fifo_rig, priority_rig
from simpy.events import Event

import kubequeue.sim
from kubequeue import (
    Controller,
    FIFOQueue,
    InstantNeverEndsError,
    InvalidArgumentError,
    NeverIdleError,
    PriorityQueue,
    ReconcilerContractError,
    Result,
    Simulation,
)

NAN, INFINITY = float("nan"), float("inf")
both_queues = pytest.mark.parametrize("make", [priority_rig, fifo_rig])


@both_queues
@pytest.mark.parametrize("delay", [NAN, INFINITY, "soon", None])
def test_a_delay_that_is_no_number_adds_nothing(make: Any, delay: Any) -> None:
    """The error names the delay, and none of the keys got in."""
    rig = make()
    rig.queue.add("kept")
    with pytest.raises(InvalidArgumentError, match=r"after was .*; expected a finite number"):
        rig.queue.add_with_opts("a", "b", after=delay)
    with pytest.raises(InvalidArgumentError, match="after was"):
        rig.queue.add_after("a", delay)
    assert rig.take_all() == ["kept"]


@both_queues
def test_a_negative_delay_means_now(make: Any) -> None:
    """As in Go: less than nothing to wait is nothing to wait."""
    rig = make()
    rig.queue.add_after("a", -5)
    rig.queue.add_with_opts("b", after=-0.001)
    assert rig.take_all() == ["a", "b"]


@both_queues
@pytest.mark.parametrize("priority", [1.5, "high", NAN])
def test_a_priority_that_is_no_integer_adds_nothing(make: Any, priority: Any) -> None:
    """The error says what a priority is, and the queue is as it was."""
    rig = make()
    rig.queue.add("kept")
    with pytest.raises(InvalidArgumentError, match=r"priority was .*; expected a whole number"):
        rig.queue.add_with_opts("a", priority=priority)
    rig.queue.add("after")
    assert rig.take_all() == ["kept", "after"]


@both_queues
def test_an_unhashable_key_adds_nothing(make: Any) -> None:
    """One bad key keeps its companions out, too: all or nothing."""
    rig = make()
    rig.queue.add("kept")
    with pytest.raises(InvalidArgumentError, match=r"the key was \['b'\]; expected something"):
        rig.queue.add_with_opts("a", ["b"])
    for call in (rig.queue.done, rig.queue.forget, rig.queue.num_requeues):
        with pytest.raises(InvalidArgumentError, match="the key was"):
            call({})
    rig.queue.add("after")
    assert rig.take_all() == ["kept", "after"]


@both_queues
def test_done_of_a_key_that_is_not_out_is_harmless(make: Any) -> None:
    """Nobody's lock is opened, and what is in line stays."""
    rig = make()
    rig.queue.add("a")
    assert rig.take() == "a"
    rig.queue.add("a")
    rig.queue.done("stranger")
    second = rig.ask()
    rig.settle()
    assert second == [], "a is still out"
    rig.queue.done("a")
    rig.settle()
    assert second == [("a", 0, False)]


@both_queues
def test_adding_after_shutdown_does_nothing(make: Any) -> None:
    """As in Go, and silently."""
    rig = make()
    rig.queue.shut_down()
    rig.queue.add("a")
    rig.queue.add_after("b", 1)
    rig.queue.add_rate_limited("c")
    rig.advance(10)
    assert len(rig.queue) == 0
    assert rig.got() == (None, 0, True)


@both_queues
@pytest.mark.parametrize("key", [None, ("kind", "a"), 0, "", frozenset({"a"})])
def test_any_hashable_key_goes_through(make: Any, key: Any) -> None:
    """Nothing that can be compared is taken for "no key": it is handed out, locked and unlocked."""
    rig = make()
    rig.queue.add_with_opts(key, key)
    assert rig.got() == (key, 0, False)
    rig.queue.add(key)
    second = rig.ask()
    rig.settle()
    assert second == [], "the key is still out"
    rig.queue.done(key)
    rig.settle()
    assert second == [(key, 0, False)]


@both_queues
def test_an_error_in_a_callback_comes_out_of_the_run_and_loses_nothing(make: Any) -> None:
    """The run raises it at its time; what was added before it, and what follows, is kept."""
    rig = make()

    def fails() -> None:
        rig.queue.add("a")
        raise ValueError("in the callback")

    rig.sim.call_at(1, fails)
    rig.sim.call_at(2, lambda: rig.queue.add("b"))
    with pytest.raises(ValueError, match="in the callback"):
        rig.sim.run(until=5)
    assert rig.sim.now == 1
    rig.sim.run(until=5)
    assert rig.take_all() == ["a", "b"]


@pytest.mark.parametrize("workers", [0, -3])
def test_no_workers_become_one(workers: int) -> None:
    """As in Go, whose default is one: the second key waits until the first is done."""
    assert rounds_with(works, max_concurrent_reconciles=workers) == ["a", "b"]
    assert [span.start for span in SIMS[-1].trace.rounds()] == [0.0, 1.0]


def test_a_time_in_the_past_changes_nothing() -> None:
    """The clock stays, and the run can go on."""
    sim = Simulation()
    sim.run(until=5)
    with pytest.raises(InvalidArgumentError, match=r"until was 3; expected a time not before now"):
        sim.run(until=3)
    sim.run(until=6)
    assert sim.now == 6


def works(request: str) -> Generator[Event, Any, None]:
    """A reconciler that does its work."""
    yield SIMS[-1].sleep(1)


def plain_function(request: str) -> Result:
    """Forgot the yield."""
    return Result()


def yields_a_number(request: str) -> Generator[Any, Any, None]:
    """Forgot sim.sleep."""
    yield 1.5


def yields_a_strangers_event(request: str) -> Generator[Event, Any, None]:
    """Uses another simulation's clock."""
    yield Simulation().sleep(1)


def returns_a_text(request: str) -> Generator[Event, Any, str]:
    """Returns what is no Result."""
    yield SIMS[-1].sleep(1)
    return "done"


@pytest.mark.parametrize("inner", ["run", "settle", "step"])
def test_a_run_inside_a_run_is_refused(inner: str) -> None:
    """It would let time go on behind the back of the outer one; both can go on afterwards."""
    sim = Simulation()
    sim.call_at(1, lambda: getattr(sim, inner)())
    sim.call_at(1, lambda: None)
    with pytest.raises(InvalidArgumentError, match="a call from inside a run"):
        sim.run(until=3)
    sim.run(until=3)
    assert sim.now == 3


@both_queues
def test_what_counts_as_an_integer_is_one(make: Any) -> None:
    """A priority that came out of a table of numbers is as good as one typed in."""
    rig = make()
    rig.queue.add_with_opts("a", priority=True)
    assert type(rig.got()[1]) is int


@pytest.mark.parametrize("observed", [True, False])
def test_two_queues_of_one_name_are_refused(observed: bool) -> None:
    """Whoever observes, or nobody: a name says which queue is meant."""
    sim = Simulation(trace=observed, metrics=observed)
    PriorityQueue(sim, "twin")
    with pytest.raises(InvalidArgumentError, match="name was 'twin'"):
        FIFOQueue(sim, "twin")
    PriorityQueue(sim)
    PriorityQueue(sim)


SIMS: list[Simulation] = []


def rounds_with(reconcile: Any, **options: Any) -> list[str]:
    """The keys of the rounds that end in success, among two keys that are added."""
    sim = Simulation()
    SIMS.append(sim)
    queue = PriorityQueue(sim, "bad")
    Controller(sim, queue, reconcile, **options).start()
    queue.add_with_opts("a", "b")
    sim.run(until=60)
    return [span.key for span in sim.trace.rounds() if span.outcome == "success"]


@pytest.mark.parametrize(
    ("reconcile", "did"),
    [
        (plain_function, "returned Result"),
        (yields_a_number, "yielded 1.5"),
        (yields_a_strangers_event, "yielded <Timeout"),
        (returns_a_text, "returned 'done'"),
    ],
)
def test_what_is_no_reconciler_is_told_and_costs_no_worker(reconcile: Any, did: str) -> None:
    """The run raises a sentence; the key comes back, and a mended reconciler can go on."""
    mended = False

    def sometimes(request: str) -> Any:
        return works(request) if mended else reconcile(request)

    sim = Simulation()
    SIMS.append(sim)
    queue = PriorityQueue(sim, "bad")
    Controller(sim, queue, sometimes).start()
    queue.add("default/a")
    with pytest.raises(ReconcilerContractError, match=f"{did}.* for default/a; expected"):
        sim.run(until=60)
    mended = True
    sim.run(until=60)
    assert [span.outcome for span in sim.trace.rounds()] == ["error", "success"]
    assert len(queue.snapshot().waiters) == 1


def test_a_reconciler_that_raises_is_tried_again() -> None:
    """As a recovered panic in Go: counted, with back-off, and the worker lives."""
    tries: list[str] = []

    def raises_twice(request: str) -> Generator[Event, Any, None]:
        tries.append(request)
        yield SIMS[-1].sleep(0)
        if tries.count(request) < 3:
            raise KeyError("missing")

    assert sorted(rounds_with(raises_twice)) == ["a", "b"]
    assert len(tries) == 6


def test_a_reconciler_that_never_returns_holds_one_worker_alone() -> None:
    """The run ends at its time, and the other worker serves the rest."""

    def a_never_returns(request: str) -> Generator[Event, Any, None]:
        yield SIMS[-1].event() if request == "a" else SIMS[-1].sleep(1)

    assert rounds_with(a_never_returns, max_concurrent_reconciles=2) == ["b"]


def test_a_reconciler_that_spins_is_stopped() -> None:
    """Events that never let time move on end in a sentence, and everything is still there."""
    sim = Simulation(max_events_per_instant=1000)
    queue = PriorityQueue(sim, "bad")
    spinning = True

    def spins(_: str) -> Generator[Event, Any, None]:
        while spinning:
            yield sim.sleep(0)

    Controller(sim, queue, spins).start()
    queue.add_with_opts("a", "b")
    with pytest.raises(InstantNeverEndsError, match=r"1,000 events .* at t = 0.0 s"):
        sim.run(until=10)
    assert [lock.key for lock in queue.snapshot().locked] == ["a"]
    assert len(queue) == 1
    spinning = False
    sim.run(until=10)
    assert [span.key for span in sim.trace.rounds()] == ["a", "b"]


def test_a_run_that_never_ends_by_itself_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who forgets ``until`` is told so, instead of waiting."""
    monkeypatch.setattr(kubequeue.sim, "_MAX_EVENTS_UNTIL_IDLE", 5000)
    sim = Simulation(max_events_per_instant=1000)
    queue = PriorityQueue(sim, "bad")

    def again(_: str) -> Generator[Event, Any, Result]:
        yield sim.sleep(1)
        return Result(requeue_after=10)

    Controller(sim, queue, again).start()
    queue.add("a")
    with pytest.raises(NeverIdleError, match=r"give run\(until=...\) a time to stop at"):
        sim.run()
    rounds = len(sim.trace.rounds())
    sim.run(until=sim.now + 11)
    assert len(sim.trace.rounds()) == rounds + 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty or not JSON"),
        ('[{"name": "half', "is empty or not JSON"),
        ("[]", "holds no list of scenarios"),
        ('{"name": 1}', "holds no list of scenarios"),
        ('[{"ops": [{"op": "add"}], "steps": []}]', "has not one step for each of its ops"),
        ('[{"name": "x", "ops": [{"op": "fly"}], "steps": [{}]}]', "'fly' is none of the ops"),
        ('[{"name": "x", "ops": [{"op": "add"}], "steps": [{}]}]', "step 0 is not in the format"),
        ('[{"name": "x", "ops": [7], "steps": [{}]}]', "step 0 is not in the format"),
        ('[{"name": "x", "ops": [{"op": "done", "key": []}], "steps": [{}]}]', "step 0"),
        ('[{"name": "x", "ops": [{"op": "advance", "ms": "1"}], "steps": [7]}]', "step 0"),
        (None, "cannot be read"),
    ],
)
def test_a_broken_recording_is_told_in_one_sentence(
    text: str | None, told: str, tmp_path: Path
) -> None:
    """No traceback and no silence: the file, the place and what is wrong; exit status 2."""
    path = tmp_path / "broken.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    replay = Path(__file__).parent / "replay.py"
    done = subprocess.run(
        [sys.executable, str(replay), str(path)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith(str(path))
    assert told in sentence
    assert sentence.endswith(".")


def test_a_file_that_is_no_text_is_told_in_one_sentence(tmp_path: Path) -> None:
    """A picture given by mistake is not taken for a recording."""
    path = tmp_path / "picture.json"
    path.write_bytes(bytes(range(256)))
    replay = Path(__file__).parent / "replay.py"
    done = subprocess.run(
        [sys.executable, str(replay), str(path)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert json.dumps(str(path))[1:-1] in done.stderr
