"""The rules of client-go's older queue, one behaviour a test."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator
from typing import Any

import pytest
from driving import MILLISECOND, NAME, Rig, fifo_rig
from simpy.events import Event

from kubequeue import FIFOQueue, InvalidArgumentError, ItemExponentialFailureRateLimiter, Simulation
from kubequeue.workqueue.queue import QueueSnapshot


@pytest.fixture(name="rig")
def _rig() -> Rig[FIFOQueue]:
    return fifo_rig()


def _deadlines(rig: Rig[FIFOQueue]) -> dict[Any, float | None]:
    return {entry.key: entry.ready_at for entry in rig.queue.snapshot().waiting}


# --- The line ---------------------------------------------------------------------------------


def test_keys_go_in_the_order_they_came(rig: Rig[FIFOQueue]) -> None:
    """First come, first served, and always at priority 0, whatever was asked for."""
    rig.queue.add_with_opts("a", priority=-5)
    rig.queue.add_with_opts("b", priority=5)
    assert [rig.got(), rig.got()] == [("a", 0, False), ("b", 0, False)]


def test_adding_needs_no_loop(rig: Rig[FIFOQueue]) -> None:
    """An add is in line at once: there is no add buffer, and several keys come one by one."""
    rig.queue.add_with_opts("a", "b")
    assert [entry.key for entry in rig.queue.snapshot().ready] == ["a", "b"]
    assert (len(rig.queue), rig.depth, rig.metrics.adds) == (2, {"": 2}, 2)


def test_two_adds_before_a_get_are_one(rig: Rig[FIFOQueue]) -> None:
    """A key is in line once."""
    rig.queue.add("a")
    rig.queue.add("a")
    assert rig.take() == "a"
    rig.queue.done("a")
    assert (len(rig.queue), rig.metrics.adds) == (0, 1)


def test_the_length_counts_who_is_in_line(rig: Rig[FIFOQueue]) -> None:
    """Not the delayed, not what is out, and not what is dirty while it is out."""
    for count, key in enumerate("aab", start=1):
        rig.queue.add(key)
        assert len(rig.queue) == (1 if count < 3 else 2)
    rig.queue.add_after("c", 9)
    rig.settle()
    rig.take()
    rig.queue.add("a")
    assert len(rig.queue) == 1


def test_a_key_added_during_its_round_comes_back_after_it(rig: Rig[FIFOQueue]) -> None:
    """However often it is added while it is out, it is in line once, and only after `done`."""
    rig.queue.add("a")
    rig.take()
    rig.queue.add("a")
    rig.queue.add("a")
    answers = rig.ask()
    rig.settle()
    assert answers == []
    rig.queue.done("a")
    rig.settle()
    assert answers == [("a", 0, False)]
    rig.queue.done("a")
    assert (len(rig.queue), rig.metrics.adds) == (0, 2)


def test_a_dirty_key_goes_to_the_end_of_the_line(rig: Rig[FIFOQueue]) -> None:
    """Unlike in the priority queue, its place counts from `done`, not from the add."""
    rig.queue.add("a")
    rig.take()
    rig.queue.add("a")
    rig.queue.add("b")
    rig.queue.done("a")
    assert rig.take_all() == ["b", "a"]


def test_done_of_a_key_in_line_doubles_its_place(rig: Rig[FIFOQueue]) -> None:
    """A quirk of the original: a dirty key that is not out is put in line a second time."""
    rig.queue.add("a")
    rig.queue.done("a")
    rig.settle()
    assert len(rig.queue) == 2


def test_done_of_a_key_never_seen_is_harmless(rig: Rig[FIFOQueue]) -> None:
    """It changes neither the line nor the metrics."""
    rig.queue.done("a")
    rig.settle()
    assert (len(rig.queue), rig.metrics.work_duration.count) == (0, 0)


def test_workers_are_woken_in_the_order_they_asked(rig: Rig[FIFOQueue]) -> None:
    """The worker that has waited longest takes the first key."""
    asked = {worker: rig.ask(worker) for worker in ("first", "second", "third")}
    rig.settle()
    assert rig.queue.snapshot().waiters == ("first", "second", "third")
    rig.queue.add("a")
    rig.settle()
    rig.queue.add("b")
    rig.settle()
    assert [got and got[0][0] for got in asked.values()] == ["a", "b", []]


def test_of_several_woken_at_once_the_last_runs_first(rig: Rig[FIFOQueue]) -> None:
    """As Go's scheduler does it: who was woken last runs next, the others in order."""
    asked = {worker: rig.ask(worker) for worker in ("first", "second", "third")}
    rig.settle()
    rig.queue.add_with_opts("a", "b", "c")
    rig.settle()
    assert [got[0][0] for got in asked.values()] == ["b", "c", "a"]


@pytest.mark.parametrize("seed", range(5))
def test_many_adders_and_workers_never_share_a_key(seed: int) -> None:
    """Whatever the order of events, a key is with one worker, and every key is done in the end."""
    sim = Simulation(seed, shuffle_ties=True)
    rig = fifo_rig(sim)
    out: list[int] = []
    done: set[int] = set()

    def add() -> Generator[Event, Any, None]:
        for key in range(50):
            rig.queue.add(key)
            yield sim.sleep(sim.stream("test").randrange(3) / 10)

    def work() -> Generator[Event, Any, None]:
        while True:
            key, _, _ = yield from rig.queue.get_with_priority()
            assert key not in out
            out.append(key)
            yield sim.sleep(sim.stream("test").randrange(5) / 10)
            out.remove(key)
            done.add(key)
            rig.queue.done(key)

    for job in [add] * 5 + [work] * 3:
        sim.process(job())
    sim.run()
    rig.queue._check()
    assert (done, out, rig.depth) == (set(range(50)), [], {"": 0})
    assert rig.metrics.adds == rig.metrics.work_duration.count


# --- Delays -----------------------------------------------------------------------------------


def test_a_delayed_key_is_added_when_it_is_due_and_once(rig: Rig[FIFOQueue]) -> None:
    """Not a nanosecond before its time, and never again after it."""
    rig.queue.add_after("a", 0.05)
    rig.advance(0.049_999_999)
    assert len(rig.queue) == 0
    rig.advance(1e-9)
    assert len(rig.queue) == 1
    rig.queue.done(rig.take())
    rig.advance(10)
    assert len(rig.queue) == 0


@pytest.mark.parametrize("settled_between", [False, True])
@pytest.mark.parametrize(("first", "second"), [(0.05, 0.07), (0.05, 0.03)])
def test_the_earlier_of_two_delays_wins(
    rig: Rig[FIFOQueue], first: float, second: float, settled_between: bool
) -> None:
    """Two delayed adds of a key are one, at the earlier time."""
    rig.queue.add_after("a", first)
    if settled_between:
        rig.settle()
    rig.queue.add_after("a", second)
    rig.settle()
    assert _deadlines(rig) == {"a": min(first, second)}
    rig.advance(1)
    assert (len(rig.queue), rig.metrics.adds) == (1, 1)


def test_a_shorter_delay_moves_the_alarm(rig: Rig[FIFOQueue]) -> None:
    """A later add that is due earlier is served in its time, and the first one in its own."""
    rig.queue.add_after("first", 1.0)
    rig.settle()
    rig.queue.add_after("second", 0.05)
    rig.advance(0.05)
    assert rig.take() == "second"
    rig.queue.add_after("third", 2.0)
    rig.advance(0.95)
    assert rig.take() == "first"
    rig.advance(1.05)
    assert rig.take() == "third"


def test_delayed_keys_come_by_deadline_whatever_the_order_of_adding(rig: Rig[FIFOQueue]) -> None:
    """Several that fell due in one stretch are added in the order of their deadlines."""
    for key, after in (("last", 1.0), ("middle", 0.5), ("first", 0.25)):
        rig.queue.add_after(key, after)
    rig.advance(2.0)
    assert rig.take_all() == ["first", "middle", "last"]


def test_an_entry_that_is_moved_forward_overtakes(rig: Rig[FIFOQueue]) -> None:
    """A second, shorter delay moves the entry ahead of those that were due before it."""
    rig.queue.add_after("a", 2.0)
    rig.queue.add_after("b", 5.0)
    rig.settle()
    rig.queue.add_after("b", 1.0)
    rig.advance(1.0)
    assert rig.take_all() == ["b"]
    rig.advance(1.0)
    assert rig.take_all() == ["a"]


def test_many_delayed_keys_are_all_in_time(rig: Rig[FIFOQueue]) -> None:
    """Each of a hundred is added at its own deadline, whatever came before and after it."""
    chance = rig.sim.stream("test")
    deadlines = {key: chance.randrange(1, 10**9) / 1e9 for key in range(100)}
    for key, after in deadlines.items():
        rig.queue.add_after(key, after)
    rig.sim.run()
    assert {i.key: i.at for i in rig.sim.trace.instants if i.kind == "added"} == deadlines


def test_an_add_does_not_cancel_a_delay(rig: Rig[FIFOQueue]) -> None:
    """Unlike in the priority queue, the delayed entry stays and makes a second round."""
    rig.queue.add_after("a", 1.0)
    rig.settle()
    rig.queue.add("a")
    rig.queue.done(rig.take())
    rig.advance(1.0)
    assert rig.take() == "a"
    assert rig.metrics.adds == 2


@pytest.mark.parametrize("after", [0.0, -1.0])
def test_a_delay_of_nothing_is_an_add_that_counts_a_retry(
    rig: Rig[FIFOQueue], after: float
) -> None:
    """`add_after` counts a retry whatever the delay; the same through options counts none."""
    rig.queue.add_after("a", after)
    assert (len(rig.queue), rig.metrics.retries) == (1, 1)
    rig.queue.add_with_opts("b", after=after)
    assert (len(rig.queue), rig.metrics.retries) == (2, 1)


def test_a_delayed_add_is_told_to_the_trace(rig: Rig[FIFOQueue]) -> None:
    """`add_after` and the same through options leave the same steps behind."""
    rig.queue.add_after("a", 1.5)
    rig.queue.add_with_opts("b", after=1.5)
    asked = [str(i) for i in rig.sim.trace.instants if i.kind == "buffered"]
    assert asked == [f"{key} enters the add buffer after 1.5 s." for key in "ab"]


@pytest.mark.parametrize("after", [float("nan"), float("-inf"), None])
def test_a_delay_that_is_no_time_is_refused(rig: Rig[FIFOQueue], after: Any) -> None:
    """It is an error at the call, and nothing is added."""
    with pytest.raises(InvalidArgumentError, match="after"):
        rig.queue.add_after("a", after)
    assert (len(rig.queue), rig.metrics.retries) == (0, 0)


@pytest.mark.parametrize("call", ["add", "done", "forget", "num_requeues", "add_rate_limited"])
def test_a_key_that_cannot_be_compared_is_refused(rig: Rig[FIFOQueue], call: str) -> None:
    """A list as a key is an error at the call, whichever call it is."""
    with pytest.raises(InvalidArgumentError, match="the key"):
        getattr(rig.queue, call)(["a"])


# --- Rate limits ------------------------------------------------------------------------------


def test_back_off_doubles_for_each_key_until_it_is_forgotten() -> None:
    """Each key has its own count of failures, and `forget` sets it back."""
    rig = fifo_rig(rate_limiter=ItemExponentialFailureRateLimiter(0.001, 1))

    def wait(key: str) -> int:
        rig.queue.add_rate_limited(key)
        (record,) = rig.queue.snapshot().buffer
        rig.advance(1)
        return record.opts.after_ns

    assert [wait("one"), wait("one")] == [1 * MILLISECOND, 2 * MILLISECOND]
    assert rig.queue.num_requeues("one") == 2
    assert [wait("two"), wait("two")] == [1 * MILLISECOND, 2 * MILLISECOND]
    rig.queue.forget("one")
    assert rig.queue.num_requeues("one") == 0
    assert wait("one") == 1 * MILLISECOND


def test_a_rate_limited_add_ignores_a_delay(rig: Rig[FIFOQueue]) -> None:
    """With both given, the limiter alone decides: the older queue knows no shorter of the two."""
    rig.queue.add_with_opts("a", after=0.001, rate_limited=True)
    rig.settle()
    assert _deadlines(rig) == {"a": 0.005}


def test_the_default_limiter_lets_a_hundred_keys_go_and_then_ten_a_second(
    rig: Rig[FIFOQueue],
) -> None:
    """A bucket over all keys beside the back-off of each: the 110th new key waits one second."""
    rig.queue.add_with_opts(*range(110), rate_limited=True)
    rig.settle()
    deadlines = _deadlines(rig)
    assert {deadlines[key] for key in range(100)} == {0.005}
    assert [deadlines[key] for key in (100, 104, 109)] == [0.1, 0.5, 1.0]
    assert rig.metrics.retries == 110


# --- Metrics ----------------------------------------------------------------------------------


def test_metrics_follow_a_key_through_two_rounds(rig: Rig[FIFOQueue]) -> None:
    """Queue time from the add, work time from the get; adds of a dirty key count once."""
    metrics = rig.metrics
    rig.queue.add("a")
    assert (metrics.adds, rig.depth) == (1, {"": 1})
    rig.advance(50e-6)
    rig.take()
    assert (metrics.queue_duration.count, metrics.queue_duration.sum) == (1, 5e-05)
    for _ in range(5):
        rig.queue.add("a")
    assert (metrics.adds, rig.depth) == (2, {"": 1})
    rig.advance(25e-6)
    rig.queue.done("a")
    assert (metrics.work_duration.count, metrics.work_duration.sum) == (1, 2.5e-05)
    assert rig.depth == {"": 1}
    assert rig.take() == "a"
    assert metrics.queue_duration.count == 2
    assert metrics.queue_duration.sum == pytest.approx(7.5e-05)


# --- Shutting down ----------------------------------------------------------------------------


def test_shutdown_gives_out_what_is_in_line(rig: Rig[FIFOQueue]) -> None:
    """Unlike the priority queue it drains its line first; after that nobody waits."""
    rig.queue.add_with_opts("a", "b")
    rig.queue.shut_down()
    assert rig.queue.shutting_down
    assert [rig.got() for _ in range(3)] == [("a", 0, False), ("b", 0, False), (None, 0, True)]


def test_shutdown_releases_all_who_wait(rig: Rig[FIFOQueue]) -> None:
    """Every blocked worker returns without a key."""
    asked = [rig.ask(), rig.ask(), rig.ask()]
    rig.settle()
    rig.queue.shut_down()
    rig.settle()
    assert asked == [[(None, 0, True)]] * 3


def test_after_shutdown_adds_are_ignored(rig: Rig[FIFOQueue]) -> None:
    """At once, delayed or rate-limited: nothing comes in, nothing is counted."""
    rig.queue.shut_down()
    rig.queue.add("a")
    rig.queue.add_after("b", 1)
    rig.queue.add_rate_limited("c")
    rig.advance(5)
    assert (len(rig.queue), rig.metrics.adds, rig.metrics.retries) == (0, 0, 0)
    assert rig.queue.num_requeues("c") == 0


def test_what_is_delayed_at_shutdown_is_never_added(rig: Rig[FIFOQueue]) -> None:
    """Its time comes and nothing happens."""
    rig.queue.add_after("a", 1)
    rig.settle()
    rig.queue.shut_down()
    rig.advance(5)
    assert rig.got() == (None, 0, True)
    assert "woke" not in [i.kind for i in rig.sim.trace.instants if i.at > 0]


def test_a_key_due_at_the_instant_of_the_shutdown_is_not_added(rig: Rig[FIFOQueue]) -> None:
    """The alarm rings, then the queue shuts down: the loop that runs after both adds nothing."""
    rig.queue.add_after("a", 1)
    rig.settle()
    rig.sim.call_at(1.0, rig.queue.shut_down)
    rig.sim.run()
    assert [i.kind for i in rig.sim.trace.instants][-2:] == ["shut_down", "woke"]
    assert rig.got() == (None, 0, True)


def test_a_key_dirty_at_shutdown_has_its_second_round(rig: Rig[FIFOQueue]) -> None:
    """What was added before the shutdown, during a round, still comes back after it."""
    rig.queue.add("a")
    rig.take()
    rig.queue.add("a")
    rig.queue.shut_down()
    assert rig.got() == (None, 0, True)
    rig.queue.done("a")
    assert rig.got() == ("a", 0, False)
    rig.queue.done("a")
    assert rig.got() == (None, 0, True)


def test_a_second_shutdown_does_nothing(rig: Rig[FIFOQueue]) -> None:
    """Shutting down twice is no error."""
    rig.queue.shut_down()
    rig.queue.shut_down()
    rig.settle()
    assert [i.kind for i in rig.sim.trace.instants].count("shut_down") == 1


# --- Snapshot ---------------------------------------------------------------------------------


def _one_of_everything() -> Rig[FIFOQueue]:
    rig = fifo_rig()
    rig.queue.add_with_opts("out", "in line")
    rig.queue.add_after("sorted", 2.5)
    rig.got("worker-1")
    rig.queue.add("out")
    rig.advance(0.5)
    rig.queue.add_after("arrived", 1.0)
    return rig


def test_a_snapshot_shows_everything() -> None:
    """What arrived, what is delayed, dirty, in line and out; who waits; the time and shutdown."""
    rig = _one_of_everything()
    seen = rig.queue.snapshot()
    assert seen.now == 0.5
    assert [(r.keys, r.opts.after_ns) for r in seen.buffer] == [(("arrived",), 1_000_000_000)]
    assert [(entry.key, entry.ready_at) for entry in seen.waiting] == [("sorted", 2.5)]
    assert [entry.key for entry in seen.items] == ["in line", "out"]
    assert [entry.key for entry in seen.ready] == ["in line"]
    assert [tuple(lock) for lock in seen.locked] == [("out", "worker-1")]
    assert (seen.waiters, seen.shutting_down) == ((), False)
    rig.take()
    rig.ask("worker-2")
    rig.settle()
    assert rig.queue.snapshot().waiters == ("worker-2",)
    rig.queue.shut_down()
    assert rig.queue.snapshot().shutting_down


def test_a_snapshot_is_frozen() -> None:
    """It stays as it was while the run goes on, and cannot be written to."""
    rig = _one_of_everything()
    seen = rig.queue.snapshot()
    before = repr(seen)
    rig.advance(10)
    assert repr(seen) == before
    for field in dataclasses.fields(QueueSnapshot):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(seen, field.name, ())


def test_a_snapshot_changes_nothing() -> None:
    """A run that is looked at after each event is the same run."""

    def run(look: bool) -> str:
        rig = _one_of_everything()
        while rig.sim.step():
            if look:
                rig.queue.snapshot()
        return rig.sim.trace.story() + repr(rig.queue.snapshot())

    assert run(look=True) == run(look=False)


def test_a_queue_without_a_name_works() -> None:
    """No name, no metrics; the queue is a queue all the same."""
    sim = Simulation()
    rig = Rig(sim, FIFOQueue(sim))
    rig.queue.add("a")
    assert rig.take() == "a"
    assert NAME not in sim.metrics.queues


def test_the_trace_tells_of_an_add_that_merged() -> None:
    """An add that meets a dirty key is told, by the caller who did it."""
    rig = fifo_rig()
    rig.queue.add("a")
    rig.queue.add("a")
    told = [str(instant) for instant in rig.sim.trace.instants if instant.kind != "buffered"]
    assert told == [
        "the caller makes a ready.",
        "the caller merges a request into the record of a: due now.",
    ]
