"""The rules of the priority queue, one behaviour a test."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Generator, Hashable
from typing import Any

import pytest
from driving import MILLISECOND, NAME, Rig, priority_rig
from simpy.events import Event

from kubequeue import (
    Controller,
    InvalidArgumentError,
    ItemExponentialFailureRateLimiter,
    PriorityQueue,
    QueueStalledError,
    Simulation,
)
from kubequeue.workqueue.queue import Getting, QueueSnapshot


@pytest.fixture(name="rig")
def _rig() -> Rig[PriorityQueue]:
    return priority_rig()


# --- Adding -----------------------------------------------------------------------------------


def test_a_key_that_was_added_is_handed_out(rig: Rig[PriorityQueue]) -> None:
    """One add is one hand-over: depth is back at zero, one add counted, no retry."""
    rig.queue.add("a")
    assert rig.got() == ("a", 0, False)
    assert (rig.depth, rig.metrics.adds, rig.metrics.retries) == ({"0": 0}, 1, 0)


def test_one_call_makes_one_record_in_the_add_buffer(rig: Rig[PriorityQueue]) -> None:
    """Adding only appends: whatever the number of keys, nothing is merged before a loop runs."""
    rig.queue.add_with_opts("a", "b", after=1.5, priority=3)
    rig.queue.add("a")
    seen = rig.queue.snapshot()
    assert [record.keys for record in seen.buffer] == [("a", "b"), ("a",)]
    assert seen.items == ()
    first = seen.buffer[0].opts
    assert (first.after_ns, first.rate_limited, first.priority) == (1_500_000_000, False, 3)


def test_a_call_without_keys_leaves_no_record(rig: Rig[PriorityQueue]) -> None:
    """An add of no keys must not even wake the loop."""
    rig.queue.add_with_opts(priority=5)
    rig.settle()
    assert rig.queue.snapshot().buffer == ()
    assert len(rig.sim.trace) == 0


def test_an_add_after_shutdown_does_nothing(rig: Rig[PriorityQueue]) -> None:
    """Once shut down, the queue takes nothing in, not even into its buffer."""
    rig.queue.shut_down()
    rig.queue.add_with_opts("a", after=1.0)
    rig.queue.add("a")
    rig.settle()
    assert rig.queue.snapshot().buffer == ()
    assert rig.metrics.adds == 0


def test_what_was_added_just_before_shutdown_is_never_merged(rig: Rig[PriorityQueue]) -> None:
    """The merging looks at shutdown too: a buffer that nobody merged yet is dropped."""
    rig.queue.add("a")
    rig.queue.shut_down()
    rig.settle()
    assert len(rig.queue) == 0
    assert rig.metrics.adds == 0


def test_the_add_buffer_loop_merges(rig: Rig[PriorityQueue]) -> None:
    """With no worker about, it is the add-buffer loop that makes a key ready."""
    rig.queue.add("a")
    rig.settle()
    (added,) = [i for i in rig.sim.trace.instants if i.kind == "added"]
    assert added.actor == "handle_add_buffer"


def test_the_ready_loop_merges_before_it_looks(rig: Rig[PriorityQueue]) -> None:
    """A ready loop that wakes first finds what was added in the same instant."""
    rig.settle()
    rig.queue.done("anything")  # wakes the ready loop ahead of the add-buffer loop
    rig.queue.add("a")
    rig.settle()
    (added,) = [i for i in rig.sim.trace.instants if i.kind == "added"]
    assert added.actor == "handle_ready_items"


def test_asking_for_the_length_merges_first(rig: Rig[PriorityQueue]) -> None:
    """Who asks for the length right after adding counts what was added."""
    rig.queue.add("a")
    assert len(rig.queue) == 1
    assert rig.queue.snapshot().buffer == ()


@pytest.mark.parametrize(
    "call",
    [
        {"after": float("nan")},
        {"after": float("inf")},
        {"after": "soon"},
        {"priority": 1.5},
        {"priority": "high"},
    ],
)
def test_options_that_mean_nothing_are_refused(
    rig: Rig[PriorityQueue], call: dict[str, Any]
) -> None:
    """A delay that is no time or a priority that is no whole number is an error at the call."""
    with pytest.raises(InvalidArgumentError):
        rig.queue.add_with_opts("a", **call)
    assert rig.queue.snapshot().buffer == ()


def test_one_bad_key_refuses_the_whole_call(rig: Rig[PriorityQueue]) -> None:
    """A key that cannot be compared by value is an error, and its neighbours are not added."""
    with pytest.raises(InvalidArgumentError, match="the key"):
        rig.queue.add_with_opts("a", ["not", "hashable"])  # type: ignore[arg-type]
    rig.settle()
    assert len(rig.queue) == 0


# --- Merging ----------------------------------------------------------------------------------


def test_two_adds_of_a_key_are_one_entry(rig: Rig[PriorityQueue]) -> None:
    """Asking twice before a worker came costs one check, and locks nothing."""
    rig.queue.add("a")
    rig.queue.add("a")
    assert len(rig.queue) == 1
    assert rig.queue.snapshot().locked == ()
    assert (rig.depth, rig.metrics.adds) == ({"0": 1}, 1)


def test_a_key_twice_in_one_call_is_one_entry(rig: Rig[PriorityQueue]) -> None:
    """Merging is by key, not by call."""
    rig.queue.add_with_opts("a", "a")
    assert len(rig.queue) == 1


def test_the_higher_of_two_priorities_stays(rig: Rig[PriorityQueue]) -> None:
    """A raise moves the depth from the old label to the new one and adds nothing."""
    rig.queue.add_with_opts("a", priority=1)
    rig.queue.add_with_opts("a", priority=2)
    assert rig.got() == ("a", 2, False)
    assert (rig.depth, rig.metrics.adds) == ({"1": 0, "2": 0}, 1)


def test_a_lower_priority_changes_nothing(rig: Rig[PriorityQueue]) -> None:
    """A priority is never lowered, and the lower one gets no label."""
    rig.queue.add_with_opts("a", priority=2)
    rig.queue.add_with_opts("a", priority=1)
    assert rig.got() == ("a", 2, False)
    assert (rig.depth, rig.metrics.adds) == ({"2": 0}, 1)


def test_an_unset_priority_counts_as_zero(rig: Rig[PriorityQueue]) -> None:
    """An add without a priority raises one at -100 to 0."""
    rig.queue.add_with_opts("a", priority=-100)
    rig.queue.add("a")
    assert rig.got() == ("a", 0, False)


def test_a_raised_key_overtakes_those_below(rig: Rig[PriorityQueue]) -> None:
    """The last in line goes first once it has the highest priority."""
    rig.queue.add_with_opts("a", "b", "c")
    rig.queue.add_with_opts("c", priority=1)
    assert rig.got() == ("c", 1, False)
    assert (rig.depth, rig.metrics.adds) == ({"0": 2, "1": 0}, 3)


def test_a_raised_key_goes_behind_its_new_peers(rig: Rig[PriorityQueue]) -> None:
    """A raise takes a new place in line: who had the priority before goes first."""
    rig.queue.add_with_opts("a", priority=0)
    rig.queue.add_with_opts("b", priority=1)
    rig.queue.add_with_opts("a", priority=1)
    assert [rig.got(), rig.got()] == [("b", 1, False), ("a", 1, False)]


def test_an_add_at_the_same_priority_keeps_the_place(rig: Rig[PriorityQueue]) -> None:
    """Who asks again does not lose its place in line."""
    rig.queue.add_with_opts("a", "b", priority=1)
    rig.queue.add_with_opts("a", priority=1)
    assert rig.take_all() == ["a", "b"]


def test_a_ready_key_stays_ready(rig: Rig[PriorityQueue]) -> None:
    """A later add with a delay does not hold a ready key back."""
    rig.queue.add("a")
    rig.queue.add_after("a", 3600)
    assert rig.got() == ("a", 0, False)
    assert (len(rig.queue), rig.depth, rig.metrics.adds) == (0, {"0": 0}, 1)
    assert rig.queue.snapshot().waiting == ()


@pytest.mark.parametrize(("first", "second"), [(1.0, 3.0), (3.0, 1.0)])
def test_the_earlier_of_two_deadlines_stays(
    rig: Rig[PriorityQueue], first: float, second: float
) -> None:
    """Whichever came first, the key goes at the earlier of its deadlines, and once."""
    rig.queue.add_after("a", first)
    rig.settle()
    rig.queue.add_after("a", second)
    rig.settle()
    (entry,) = rig.queue.snapshot().waiting
    assert entry.ready_at == 1.0
    rig.advance(10)
    assert rig.metrics.adds == 1


def test_an_add_without_a_delay_ends_the_waiting(rig: Rig[PriorityQueue]) -> None:
    """No deadline means now: a waiting key becomes ready, and its depth counts from then on."""
    rig.queue.add_after("a", 3600)
    assert (len(rig.queue), rig.depth, rig.metrics.adds) == (0, {}, 0)
    rig.queue.add("a")
    assert (len(rig.queue), rig.depth, rig.metrics.adds) == (1, {"0": 1}, 1)
    assert rig.take() == "a"
    assert (len(rig.queue), rig.depth, rig.metrics.adds) == (0, {"0": 0}, 1)


def test_a_waiting_key_that_is_raised_and_due_counts_at_its_new_priority(
    rig: Rig[PriorityQueue],
) -> None:
    """Depth never shows the priority that the key had while it was waiting."""
    rig.queue.add_with_opts("a", after=3600, priority=0)
    assert (len(rig.queue), rig.depth) == (0, {})
    rig.queue.add_with_opts("a", priority=1)
    assert (len(rig.queue), rig.depth) == (1, {"1": 1})
    assert rig.got() == ("a", 1, False)
    assert (len(rig.queue), rig.depth) == (0, {"1": 0})


def test_a_raise_among_the_waiting_leaves_depth_alone(rig: Rig[PriorityQueue]) -> None:
    """What is not ready has no depth to move."""
    rig.queue.add_with_opts("a", after=10, priority=1)
    rig.queue.add_with_opts("a", after=20, priority=2)
    rig.settle()
    assert rig.depth == {}
    (entry,) = rig.queue.snapshot().waiting
    assert (entry.priority, entry.ready_at) == (2, 10.0)


def test_a_key_that_became_ready_by_itself_is_not_added_again(rig: Rig[PriorityQueue]) -> None:
    """An add after the deadline merges into the ready entry; depth and adds count once."""
    rig.queue.add_after("a", 0.05)
    rig.advance(0.05)
    assert (len(rig.queue), rig.depth) == (1, {"0": 1})
    rig.queue.add("a")
    assert (len(rig.queue), rig.depth) == (1, {"0": 1})
    assert rig.take() == "a"
    assert (len(rig.queue), rig.depth, rig.metrics.adds) == (0, {"0": 0}, 1)


# --- Order ------------------------------------------------------------------------------------


def test_equal_priorities_go_first_come_first_served(rig: Rig[PriorityQueue]) -> None:
    """Among equals the place in line decides."""
    rig.queue.add("a")
    rig.queue.add("b")
    assert rig.take_all() == ["a", "b"]
    assert (rig.depth, rig.metrics.adds) == ({"0": 0}, 2)


@pytest.mark.parametrize("after", [-1.0, 0.0, 1.0])
def test_many_priorities_go_high_to_low_and_each_in_order(
    rig: Rig[PriorityQueue], after: float
) -> None:
    """With a hundred keys at each of five priorities, delayed or not, nobody jumps the queue."""
    priorities, places = (-10, -5, 0, 5, 10), range(100)
    for place in places:
        for priority in reversed(priorities):
            rig.queue.add_with_opts(f"{priority}/{place}", priority=priority, after=after)
    rig.advance(max(after, 0))
    wanted = [f"{priority}/{place}" for priority in reversed(priorities) for place in places]
    assert rig.take_all() == wanted
    assert rig.depth == dict.fromkeys(map(str, priorities), 0)
    assert (rig.metrics.adds, rig.metrics.retries) == (500, 500 if after > 0 else 0)


def test_equal_deadlines_become_ready_by_priority_then_place(rig: Rig[PriorityQueue]) -> None:
    """The waiting are in the order of deadline, then priority, then place in line."""
    for key, after, priority in (
        ("late", 2.0, 9),
        ("low", 1.0, 0),
        ("high 1", 1.0, 5),
        ("high 2", 1.0, 5),
        ("soon", 0.5, -9),
    ):
        rig.queue.add_with_opts(key, after=after, priority=priority)
    rig.settle()
    waiting = [entry.key for entry in rig.queue.snapshot().waiting]
    assert waiting == ["soon", "high 1", "high 2", "low", "late"]


def test_a_key_takes_its_place_when_it_becomes_ready(rig: Rig[PriorityQueue]) -> None:
    """Delayed first, ready second: the place in line is that of becoming ready."""
    rig.queue.add_after("delayed", 1.0)
    rig.settle()
    rig.queue.add("at once")
    rig.advance(1.0)
    assert rig.take_all() == ["at once", "delayed"]


def test_a_high_priority_that_became_ready_goes_first(rig: Rig[PriorityQueue]) -> None:
    """A key at 0 whose delay ended overtakes one at -100 that was ready all the time."""
    rig.queue.add_with_opts("old", priority=-100)
    rig.queue.add_with_opts("prompt", after=1.0, priority=0)
    rig.advance(1.0)
    assert rig.got() == ("prompt", 0, False)
    assert rig.depth == {"-100": 1, "0": 0}
    assert (rig.metrics.adds, rig.metrics.retries) == (2, 1)


# --- Waiting ----------------------------------------------------------------------------------


def test_a_key_is_not_handed_out_before_its_time(rig: Rig[PriorityQueue]) -> None:
    """A worker that waits is served at the deadline, and not a nanosecond before."""
    answers = rig.ask()
    rig.queue.add_after("a", 1.0)
    rig.advance(0.999_999_999)
    assert answers == []
    rig.advance(1e-9)
    assert answers == [("a", 0, False)]
    assert (rig.depth, rig.metrics.adds, rig.metrics.retries) == ({"0": 0}, 1, 1)


def test_a_worker_that_waits_gets_a_key_at_once(rig: Rig[PriorityQueue]) -> None:
    """Adding wakes who waits, without time moving on."""
    answers = rig.ask()
    rig.settle()
    rig.queue.add("a")
    rig.settle()
    assert answers == [("a", 0, False)]
    assert (rig.depth, rig.metrics.adds) == ({"0": 0}, 1)


def test_ending_a_delay_serves_the_worker_that_waits(rig: Rig[PriorityQueue]) -> None:
    """A waiting key that is added without a delay goes straight to the worker."""
    answers = rig.ask()
    rig.queue.add_after("a", 60)
    rig.settle()
    assert answers == []
    rig.queue.add("a")
    rig.settle()
    assert answers == [("a", 0, False)]
    assert (rig.depth, rig.metrics.adds) == ({"0": 0}, 1)


@pytest.mark.parametrize("settled_between", [False, True])
def test_delayed_keys_come_in_the_order_of_their_deadlines(
    rig: Rig[PriorityQueue], settled_between: bool
) -> None:
    """An earlier deadline that is added later moves the alarm forward, and the later is kept."""
    first, second = rig.ask(), rig.ask()
    rig.queue.add_after("later", 1.0)
    if settled_between:
        rig.settle()
    rig.queue.add_after("sooner", 0.2)
    rig.advance(0.2)
    assert (first, second) == ([("sooner", 0, False)], [])
    rig.advance(0.8)
    assert second == [("later", 0, False)]
    assert (rig.depth, rig.metrics.adds) == ({"0": 0}, 2)


def test_length_and_depth_count_the_delayed_once_they_are_due(rig: Rig[PriorityQueue]) -> None:
    """Ready keys count, delayed ones do not yet; a second time round it is just the same."""
    for _ in range(2):
        rig.queue.add_after("a", 0.5)
        rig.queue.add("b")
        rig.queue.add_after("c", 0.5)
        rig.queue.add("d")
        assert (len(rig.queue), rig.depth) == (2, {"0": 2})
        rig.advance(1.0)
        assert (len(rig.queue), rig.depth) == (4, {"0": 4})
        for key in rig.take_all():
            rig.queue.done(key)
        assert (len(rig.queue), rig.depth) == (0, {"0": 0})


def test_the_waiting_loop_arms_the_next_deadline(rig: Rig[PriorityQueue]) -> None:
    """After what is due has been moved, the loop still wakes for what is due next."""
    for place in (3, 1, 2):
        rig.queue.add_after(place, place)
    rig.settle()
    woken = len([i for i in rig.sim.trace.instants if i.kind == "woke"])
    rig.advance(10)
    added = [(i.key, i.at) for i in rig.sim.trace.instants if i.kind == "added"]
    assert added == [(1, 1.0), (2, 2.0), (3, 3.0)]
    loops = [i.actor for i in rig.sim.trace.instants if i.kind == "woke"][woken:]
    assert loops == ["handle_waiting_items", "handle_ready_items"] * 3


# --- Rate limits ------------------------------------------------------------------------------


def test_back_off_is_kept_for_each_key_alone(rig: Rig[PriorityQueue]) -> None:
    """Two rate-limited keys of one call wait for their own failures, not for each other's."""
    limiter = ItemExponentialFailureRateLimiter(0.005, 1000)
    for _ in range(7):
        limiter.when("often")
    rig = priority_rig(rate_limiter=limiter)
    first, second = rig.ask(), rig.ask()
    rig.queue.add_with_opts("once", "often", rate_limited=True)
    rig.advance(0.005)
    assert (first, second) == ([("once", 0, False)], [])
    rig.advance(0.634)
    assert second == []
    rig.advance(0.001)
    assert second == [("often", 0, False)]
    assert (rig.depth, rig.metrics.adds, rig.metrics.retries) == ({"0": 0}, 2, 2)


def test_every_rate_limited_add_counts_a_failure(rig: Rig[PriorityQueue]) -> None:
    """Merged or not, the limiter is asked each time, and each delay is a retry."""
    for _ in range(3):
        rig.queue.add_rate_limited("a")
    rig.settle()
    assert (rig.queue.num_requeues("a"), rig.metrics.retries) == (3, 3)
    (entry,) = rig.queue.snapshot().waiting
    assert entry.ready_at == 0.005


def test_a_rate_limited_add_of_a_ready_key_counts_too(rig: Rig[PriorityQueue]) -> None:
    """It changes no deadline, but the failure and the retry are counted."""
    rig.queue.add("a")
    rig.queue.add_rate_limited("a")
    assert len(rig.queue) == 1
    assert (rig.queue.num_requeues("a"), rig.metrics.retries) == (1, 1)


@pytest.mark.parametrize(
    ("after", "deadline"), [(0.0, 0.005), (0.001, 0.001), (0.005, 0.005), (7.0, 0.005)]
)
def test_of_a_delay_and_a_back_off_the_shorter_counts(
    rig: Rig[PriorityQueue], after: float, deadline: float
) -> None:
    """A rate-limited add with a delay waits for the shorter; a delay of zero is none at all."""
    rig.queue.add_with_opts("a", after=after, rate_limited=True)
    rig.settle()
    (entry,) = rig.queue.snapshot().waiting
    assert entry.ready_at == deadline
    assert (rig.queue.num_requeues("a"), rig.metrics.retries) == (1, 1)


def test_a_negative_delay_beats_the_back_off(rig: Rig[PriorityQueue]) -> None:
    """Less than zero is set, and shorter than any back-off: now, and no retry."""
    rig.queue.add_with_opts("a", after=-1.0, rate_limited=True)
    assert len(rig.queue) == 1
    assert (rig.queue.num_requeues("a"), rig.metrics.retries) == (1, 0)


def test_a_delay_counts_as_a_retry_even_without_a_failure(rig: Rig[PriorityQueue]) -> None:
    """A key that only comes back later is a retry to the metrics and no failure to the limiter."""
    rig.queue.add_after("a", 5)
    rig.queue.add_after("a", 9)
    rig.settle()
    assert (rig.queue.num_requeues("a"), rig.metrics.retries) == (0, 2)


def test_the_default_back_off_doubles_from_5_ms_to_1000_s(rig: Rig[PriorityQueue]) -> None:
    """5 ms times two to the power of the failures so far, and never more than 1000 s."""
    waits = []
    for _ in range(20):
        before = rig.sim.now_ns
        rig.queue.add_rate_limited("a")
        rig.settle()
        (entry,) = rig.queue.snapshot().waiting
        assert entry.ready_at is not None
        waits.append(round(entry.ready_at * 1e9) - before)
        rig.advance(1000)
        rig.queue.done(rig.take())
    assert waits == [min(5 * MILLISECOND * 2**n, 1_000_000 * MILLISECOND) for n in range(20)]


def test_forgetting_starts_the_back_off_anew(rig: Rig[PriorityQueue]) -> None:
    """`forget` and `num_requeues` go to the limiter and leave what is pending alone."""
    rig.queue.add_rate_limited("a")
    rig.settle()
    rig.queue.forget("a")
    assert rig.queue.num_requeues("a") == 0
    assert [entry.key for entry in rig.queue.snapshot().waiting] == ["a"]


# --- Handing over -----------------------------------------------------------------------------


def test_a_locked_key_is_passed_over(rig: Rig[PriorityQueue]) -> None:
    """While a worker has the key, a second entry of it waits and the next key goes ahead."""
    rig.queue.add("a")
    assert rig.take() == "a"
    rig.queue.add("a")
    rig.queue.add("b")
    assert rig.take() == "b"
    assert (rig.depth, rig.metrics.adds) == ({"0": 1}, 3)


def test_a_locked_key_goes_first_once_it_is_unlocked(rig: Rig[PriorityQueue]) -> None:
    """Having been passed over costs no place in line."""
    rig.queue.add("a")
    rig.take()
    rig.queue.add("a")
    rig.queue.add("b")
    assert rig.take() == "b"
    rig.queue.add("c")
    rig.queue.done("a")
    assert rig.take() == "a"
    assert (rig.depth, rig.metrics.adds) == ({"0": 1}, 4)


def test_a_key_that_is_out_can_be_added_again(rig: Rig[PriorityQueue]) -> None:
    """A change during a round is not lost: the key is ready at once and goes after `done`."""
    rig.queue.add("a")
    assert rig.got() == ("a", 0, False)
    rig.queue.add("a")
    assert len(rig.queue) == 1
    rig.queue.done("a")
    assert rig.got() == ("a", 0, False)
    assert (rig.depth, rig.metrics.adds) == ({"0": 0}, 2)


def test_done_serves_the_worker_that_waits_for_the_key(rig: Rig[PriorityQueue]) -> None:
    """Unlocking wakes the ready loop: nobody has to add or to ask again."""
    rig.queue.add("a")
    rig.take()
    rig.queue.add("a")
    answers = rig.ask()
    rig.settle()
    assert answers == []
    rig.queue.done("a")
    rig.settle()
    assert answers == [("a", 0, False)]


def test_workers_are_served_in_the_order_they_asked(rig: Rig[PriorityQueue]) -> None:
    """The first to ask is the first to be given a key."""
    asked = {worker: rig.ask(worker) for worker in ("first", "second", "third")}
    rig.settle()
    assert rig.queue.snapshot().waiters == ("first", "second", "third")
    rig.queue.add_with_opts("a", "b")
    rig.settle()
    assert [got and got[0][0] for got in asked.values()] == ["a", "b", []]
    assert rig.queue.snapshot().waiters == ("third",)


def test_without_a_worker_nothing_is_handed_over(rig: Rig[PriorityQueue]) -> None:
    """Ready keys stay where they are until somebody asks, and one asking takes one key."""
    rig.queue.add_with_opts("a", "b")
    rig.advance(5)
    assert rig.queue.snapshot().locked == ()
    assert rig.got("the worker")[0] == "a"
    assert rig.queue.snapshot().locked == (("a", "the worker"),)
    assert [entry.key for entry in rig.queue.snapshot().items] == ["b"]


def test_one_pass_serves_all_who_wait(rig: Rig[PriorityQueue]) -> None:
    """The walk goes on past locked keys until the waiters run out."""
    rig.queue.add_with_opts("a", "b", "c", "d")
    assert rig.take() == "a"
    rig.queue.add_with_opts("a", priority=9)
    first, second = rig.ask(), rig.ask()
    rig.settle()
    assert [first[0][0], second[0][0]] == ["b", "c"]
    assert [entry.key for entry in rig.queue.snapshot().ready] == ["a", "d"]


def test_queue_time_runs_from_becoming_ready_to_being_taken(rig: Rig[PriorityQueue]) -> None:
    """The delay before is no queue time, and a merged add does not start the clock anew."""
    rig.queue.add_after("a", 10)
    rig.advance(12)
    rig.queue.add("a")
    rig.advance(1)
    rig.take()
    assert (rig.metrics.queue_duration.count, rig.metrics.queue_duration.sum) == (1, 3.0)


def test_work_time_runs_from_being_taken_to_done(rig: Rig[PriorityQueue]) -> None:
    """`done` counts one work time, from the hand-over on."""
    rig.queue.add("a")
    rig.advance(2)
    rig.take()
    rig.advance(5)
    rig.queue.done("a")
    assert (rig.metrics.work_duration.count, rig.metrics.work_duration.sum) == (1, 5.0)
    assert rig.queue.snapshot().locked == ()


def test_done_of_a_key_that_is_not_out_is_harmless(rig: Rig[PriorityQueue]) -> None:
    """It unlocks nothing, counts nothing and drops nothing that is pending."""
    rig.queue.add_with_opts("a", "b")
    assert rig.take() == "a"
    rig.queue.done("b")
    rig.queue.done("never seen")
    rig.settle()
    assert rig.queue.snapshot().locked == (("a", "a worker"),)
    assert rig.metrics.work_duration.count == 0
    assert rig.take() == "b"


def test_length_counts_ready_keys_locked_ones_included(rig: Rig[PriorityQueue]) -> None:
    """Depth and length are about what is ready: not the delayed, not what is out."""
    rig.queue.add_with_opts("a", "b")
    rig.queue.add_after("c", 60)
    rig.take()
    assert (len(rig.queue), rig.depth) == (1, {"0": 1})
    rig.queue.add("a")
    assert (len(rig.queue), rig.depth) == (2, {"0": 2})


def test_a_key_may_be_anything_hashable(rig: Rig[PriorityQueue]) -> None:
    """Keys are compared by value, None and unlike types included."""
    keys: list[Hashable] = [None, 7, ("default", "a"), "default/a", frozenset()]
    rig.queue.add_with_opts(*keys, priority=1)
    rig.queue.add_with_opts(*keys, after=1.0)
    assert rig.take_all() == keys


def test_a_large_queue_is_drained_by_many_workers(rig: Rig[PriorityQueue]) -> None:
    """Entries leave while the loop walks over them: nothing is lost, doubled or skipped."""
    chance = random.Random(1)
    for _ in range(3):
        for number in range(1000):
            if (drawn := chance.randrange(100)) < 10:
                rig.queue.add_after(number, drawn / 1000)
            else:
                rig.queue.add_with_opts(number, priority=drawn)
        answers = [rig.ask() for _ in range(1000)]
        rig.advance(0.01)
        assert sorted(got[0][0] for got in answers) == list(range(1000))
        for number in range(1000):
            rig.queue.done(number)
    assert (len(rig.queue), rig.queue.snapshot().locked) == (0, ())


@pytest.mark.parametrize("seed", range(5))
def test_whatever_the_order_no_key_is_out_twice(seed: int) -> None:
    """Many adders and takers at once: one worker on a key, the highest priority asked for."""
    sim = Simulation(seed, shuffle_ties=True)
    rig = priority_rig(sim)
    chance = sim.stream("test")

    def add() -> Generator[Event, Any, None]:
        for _ in range(100):
            after, priority = max(0, chance.randrange(-5, 5)) / 10, chance.randrange(-9, 9)
            rig.queue.add_with_opts(chance.randrange(20), after=after, priority=priority)
            yield sim.sleep(chance.randrange(3) / 10)

    def take() -> Generator[Event, Any, None]:
        while True:
            key, _, _ = yield from rig.queue.get_with_priority()
            assert min(rig.depth.values()) >= 0
            yield sim.sleep(chance.randrange(3) / 10)
            rig.queue.done(key)

    for work in [add] * 5 + [take] * 7:
        sim.process(work())
    sim.run()
    rig.queue._check()
    asked: dict[int, int] = {}
    out: set[int] = set()
    for instant in sim.trace.instants:  # the ready loop merges first, so nothing is in the buffer
        key = instant.key
        if instant.kind == "buffered":
            priority = instant.values[2]
            asked[key] = max(asked.get(key, priority), priority)
        elif instant.kind == "got":
            assert instant.values[0] == asked.pop(key)
            assert key not in out
            out.add(key)
        elif instant.kind == "done":
            out.remove(key)
    assert (asked, out, len(rig.queue), set(rig.depth.values())) == ({}, set(), 0, {0})
    assert rig.metrics.adds == rig.metrics.work_duration.count > 100


# --- Shutting down ----------------------------------------------------------------------------


def test_shutdown_releases_a_worker_that_waits(rig: Rig[PriorityQueue]) -> None:
    """A blocked worker returns without a key and is told why."""
    answers = rig.ask()
    rig.settle()
    assert answers == []
    rig.queue.shut_down()
    rig.settle()
    assert answers == [(None, 0, True)]


def test_after_shutdown_nobody_waits(rig: Rig[PriorityQueue]) -> None:
    """Who asks after the shutdown is answered at once, every time, though keys are pending."""
    rig.queue.add("a")
    rig.settle()
    rig.queue.shut_down()
    rig.queue.add_after("b", 1)
    assert rig.queue.shutting_down
    assert [rig.got(), rig.got()] == [(None, 0, True)] * 2
    assert [entry.key for entry in rig.queue.snapshot().ready] == ["a"]


def test_shutdown_stops_the_waiting_too(rig: Rig[PriorityQueue]) -> None:
    """What is not yet due at the shutdown never becomes ready."""
    rig.queue.add_after("a", 1)
    rig.settle()
    rig.queue.shut_down()
    rig.advance(10)
    assert [entry.key for entry in rig.queue.snapshot().waiting] == ["a"]
    assert rig.metrics.adds == 0


def test_a_second_shutdown_does_nothing(rig: Rig[PriorityQueue]) -> None:
    """Shutting down twice is no error and wakes nobody twice."""
    answers = rig.ask()
    rig.settle()
    rig.queue.shut_down()
    rig.queue.shut_down()
    rig.settle()
    assert answers == [(None, 0, True)]
    assert [i.kind for i in rig.sim.trace.instants].count("shut_down") == 1


def test_a_round_that_outlives_the_shutdown_can_be_finished(rig: Rig[PriorityQueue]) -> None:
    """`done` and the length still work: the worker that was busy ends its round."""
    rig.queue.add("a")
    rig.take()
    rig.queue.shut_down()
    rig.advance(1)
    rig.queue.done("a")
    rig.settle()
    assert rig.queue.snapshot().locked == ()
    assert len(rig.queue) == 0


def test_a_key_on_its_way_at_shutdown_arrives_with_the_news(rig: Rig[PriorityQueue]) -> None:
    """Handed over, then shut down before the worker ran: it gets the key and shutdown = true."""
    answers = rig.ask()
    rig.settle()
    rig.queue.add("a")
    while not rig.queue.snapshot().locked:
        assert rig.sim.step()
    rig.queue.shut_down()
    rig.settle()
    assert answers == [("a", 0, True)]


def _shut_down_during_a_hand_over(rig: Rig[PriorityQueue]) -> list[Any]:
    """A worker waits, a key is ready, and the shutdown comes before the ready loop runs."""
    answers = rig.ask("left")
    rig.settle()
    rig.queue.add("a")
    assert len(rig.queue) == 1  # merged; the ready loop has yet to run
    rig.queue.shut_down()
    rig.settle()
    return answers


def test_a_hand_over_to_a_worker_that_left_is_given_up(rig: Rig[PriorityQueue]) -> None:
    """With the later fix the ready loop ends, and whoever is still at work can go on."""
    assert _shut_down_during_a_hand_over(rig) == [(None, 0, True)]
    assert "abandoned" in [i.kind for i in rig.sim.trace.instants]
    rig.queue.done("a")
    rig.settle()
    assert (len(rig.queue), rig.queue.snapshot().locked) == (0, ())


def test_without_the_fix_the_queue_stalls() -> None:
    """As released, the loop keeps its locks for ever: `done` and the length would never return."""
    rig = priority_rig(fixed_shutdown=False)
    assert _shut_down_during_a_hand_over(rig) == [(None, 0, True)]
    with pytest.raises(QueueStalledError, match="done\\('a'\\) would block for ever"):
        rig.queue.done("a")
    with pytest.raises(QueueStalledError, match="len"):
        len(rig.queue)
    assert rig.got() == (None, 0, True)


def test_without_the_fix_a_shutdown_of_an_idle_queue_is_fine() -> None:
    """Only a hand-over that is under way stalls, not every shutdown."""
    rig = priority_rig(fixed_shutdown=False)
    answers = rig.ask()
    rig.settle()
    rig.queue.shut_down()
    rig.settle()
    rig.queue.done("a")
    assert (len(rig.queue), answers) == (0, [(None, 0, True)])


@pytest.mark.parametrize("fixed", [True, False])
def test_a_stalled_worker_hangs_and_the_run_ends(
    fixed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The busy worker never comes back from `done` without the fix; the run itself still ends."""
    sim = Simulation()
    rig = priority_rig(sim, fixed_shutdown=fixed)
    asked: list[str] = []
    get = rig.queue.get_with_priority

    def noted(worker: str) -> Getting:
        asked.append(worker)
        return get(worker)

    monkeypatch.setattr(rig.queue, "get_with_priority", noted)

    def reconcile(_: Any) -> Generator[Event, Any, None]:
        yield sim.sleep(1)

    controller = Controller(sim, rig.queue, reconcile, max_concurrent_reconciles=2)
    controller.start()
    rig.queue.add("busy")
    sim.run(until=0.5)
    rig.queue.add("late")
    assert len(rig.queue) == 1
    controller.stop()
    sim.run()
    assert sim.now == 1.0
    assert [span.outcome for span in sim.trace.rounds()] == ["success"]
    assert ("busy" in [lock.key for lock in rig.queue.snapshot().locked]) is not fixed
    assert asked == ["worker-1", "worker-2", *["worker-1"] * fixed]


# --- Switches ---------------------------------------------------------------------------------


def test_without_merging_each_add_is_an_entry_of_its_own() -> None:
    """What merging saves: three askings are three checks."""
    rig = priority_rig(merge=False)
    rig.queue.add("a")
    rig.queue.add("a")
    rig.queue.add_with_opts("a", priority=4)
    assert (len(rig.queue), rig.metrics.adds) == (3, 3)
    taken = []
    for _ in range(3):
        taken.append(rig.got()[:2])
        rig.queue.done("a")
    assert taken == [("a", 4), ("a", 0), ("a", 0)]


def test_without_merging_queue_time_counts_from_the_first_add() -> None:
    """The metrics know keys, not entries: of two entries of a key one queue time is counted."""
    rig = priority_rig(merge=False)
    rig.queue.add("a")
    rig.advance(1)
    rig.queue.add("a")
    rig.advance(2)
    for _ in range(2):
        rig.queue.done(rig.take())
    assert (rig.metrics.queue_duration.count, rig.metrics.queue_duration.sum) == (1, 3.0)


def test_without_merging_keys_are_still_locked() -> None:
    """The second entry of a key waits for the first to be done."""
    rig = priority_rig(merge=False)
    rig.queue.add_with_opts("a", "a")
    assert rig.take() == "a"
    answers = rig.ask()
    rig.settle()
    assert answers == []
    rig.queue.done("a")
    rig.settle()
    assert answers == [("a", 0, False)]


def test_without_locks_two_workers_hold_one_key() -> None:
    """What the lock prevents: a second round of a key beside the first."""
    rig = priority_rig(lock_keys=False)
    rig.queue.add("a")
    assert rig.take() == "a"
    rig.queue.add("a")
    assert rig.take() == "a"
    assert rig.queue.snapshot().locked == ()


def test_without_priorities_the_place_alone_decides() -> None:
    """First come, first served; the priority is still handed over, and still the highest."""
    rig = priority_rig(order_by_priority=False)
    rig.queue.add_with_opts("a", priority=-100)
    rig.queue.add_with_opts("b", priority=100)
    rig.queue.add_with_opts("c", after=1.0, priority=1)
    rig.queue.add_with_opts("d", after=1.0, priority=2)
    rig.advance(1.0)
    assert [rig.got()[:2] for _ in range(4)] == [("a", -100), ("b", 100), ("c", 1), ("d", 2)]


def test_without_the_signal_a_ready_key_lies_beside_an_idle_worker() -> None:
    """What the signal prevents: nobody looks until another worker happens to ask."""
    rig = priority_rig(signal_ready=False)
    answers = rig.ask()
    rig.settle()
    rig.queue.add("a")
    rig.advance(60.0)
    assert (answers, len(rig.queue)) == ([], 1)
    rig.ask()
    rig.settle()
    assert answers == [("a", 0, False)]


@pytest.mark.parametrize(("reorder", "order"), [(True, "bca"), (False, "abc")])
def test_without_a_new_place_an_expired_key_overtakes(reorder: bool, order: str) -> None:
    """What the new place prevents: a key asked for later goes before those asked for now."""
    rig = priority_rig(reorder_at_expiry=reorder)
    rig.queue.add_after("a", 1.0)
    rig.queue.add_with_opts("b", "c")
    rig.advance(1.0)
    assert "".join(rig.take_all()) == order


@pytest.mark.parametrize(("flush", "first"), [(True, "urgent"), (False, "ordinary")])
def test_without_the_flush_the_dispatcher_misses_what_just_came(flush: bool, first: str) -> None:
    """What the flush prevents: a key in the buffer is not chosen, whatever its priority."""
    rig = priority_rig(flush_before_dispatch=flush)
    rig.queue.add("ordinary")
    rig.settle()
    answers = rig.ask()
    rig.sim.step()  # the worker has asked, so the dispatcher wakes next
    rig.queue.add_with_opts("urgent", priority=100)
    rig.settle()
    assert [key for key, _, _ in answers] == [first]


# --- Snapshot ---------------------------------------------------------------------------------


def _one_of_everything() -> Rig[PriorityQueue]:
    rig = priority_rig()
    blocked = rig.ask("worker-1"), rig.ask("worker-2")
    rig.queue.add("out")
    rig.settle()
    assert [len(answers) for answers in blocked] == [1, 0]
    rig.queue.add("out")
    rig.queue.add_with_opts("later", after=2.5, priority=3)
    rig.advance(0.5)
    rig.queue.add_with_opts("new", "newer", rate_limited=True, priority=7)
    return rig


def test_a_snapshot_shows_everything() -> None:
    """Buffer, index, both orders, locks with their holders, waiters, the time and shutdown."""
    rig = _one_of_everything()
    seen = rig.queue.snapshot()
    assert seen.now == 0.5
    assert [(r.keys, tuple(r.opts)) for r in seen.buffer] == [(("new", "newer"), (0, True, 7))]
    assert [tuple(entry) for entry in seen.ready] == [("out", 0, 1, None)]
    assert [tuple(entry) for entry in seen.waiting] == [("later", 3, 2, 2.5)]
    assert set(seen.items) == {*seen.ready, *seen.waiting}
    assert [tuple(lock) for lock in seen.locked] == [("out", "worker-1")]
    assert seen.waiters == ("worker-2",)
    assert seen.shutting_down is False
    rig.queue.shut_down()
    assert rig.queue.snapshot().shutting_down is True


def test_a_snapshot_shows_its_orders_in_the_queues_order() -> None:
    """`items` is in the order of arrival, `ready` and `waiting` in that in which they will go."""
    rig = priority_rig()
    rig.queue.add_with_opts("low", priority=1)
    rig.queue.add_with_opts("high", priority=2)
    rig.queue.add_after("late", 9)
    rig.queue.add_after("soon", 3)
    rig.settle()
    seen = rig.queue.snapshot()
    assert [entry.key for entry in seen.items] == ["low", "high", "late", "soon"]
    assert [entry.key for entry in seen.ready] == ["high", "low"]
    assert [entry.key for entry in seen.waiting] == ["soon", "late"]


def test_a_snapshot_is_frozen() -> None:
    """What was seen stays as it was, and nobody can write into it."""
    rig = _one_of_everything()
    seen = rig.queue.snapshot()
    before = repr(seen)
    rig.advance(10)
    assert repr(seen) == before
    for field in dataclasses.fields(QueueSnapshot):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(seen, field.name, ())
    assert hash(seen) == hash(seen)


def test_a_snapshot_changes_nothing() -> None:
    """A run that is looked at after each event is the same run, step by step."""

    def run(look: bool) -> str:
        rig = _one_of_everything()
        while rig.sim.step():
            if look:
                rig.queue.snapshot()
        rig.queue.done("out")
        rig.settle()
        return rig.sim.trace.story() + rig.sim.metrics.exposition() + repr(rig.queue.snapshot())

    assert run(look=True) == run(look=False)


def test_two_snapshots_of_one_moment_are_equal() -> None:
    """Snapshots compare by what they show."""
    rig = _one_of_everything()
    assert rig.queue.snapshot() == rig.queue.snapshot()
    seen = rig.queue.snapshot()
    rig.settle()
    assert rig.queue.snapshot() != seen


def test_a_queue_without_a_name_works() -> None:
    """No name, no metrics; the queue is a queue all the same."""
    sim = Simulation()
    rig = Rig(sim, PriorityQueue(sim))
    rig.queue.add("a")
    assert rig.take() == "a"
    assert NAME not in sim.metrics.queues
    assert sim.metrics.queues == {}


def test_a_snapshot_lists_no_waiter_that_has_left() -> None:
    """After shutdown nobody waits any more."""
    rig = priority_rig()
    rig.ask("worker-1")
    rig.settle()
    assert rig.queue.snapshot().waiters == ("worker-1",)
    rig.queue.shut_down()
    assert rig.queue.snapshot().waiters == ()
