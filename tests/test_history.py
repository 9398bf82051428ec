"""A queue that can be taken in hand: walking back, branching, and saying what happened."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubequeue import InvalidArgumentError
from kubequeue.lab.bench import VERBS
from kubequeue.lab.history import History, State

A, B, C, D = (f"default/{letter}" for letter in "abcd")


def seen(states: list[State]) -> list[Any]:
    """All that can be compared of states."""
    return [(state.at, state.sentence, state.snapshot, state.rounds) for state in states]


def sentences(history: History, since: int) -> list[str]:
    return [state.sentence for state in history.states[since:]]


def test_each_state_is_one_thing_that_happened() -> None:
    """From an add to the round it causes, every loop and worker has its sentence, in order."""
    history = History(workers=1)
    start = history.do("add", A)
    assert sentences(history, start) == [
        "You add A: a request is in the add buffer.",
        "handle_add_buffer makes A ready.",
        "handle_ready_items hands A to worker-1 and locks it.",
        "worker-1 begins a round of A.",
    ]


def test_a_burst_is_in_the_buffer_before_anybody_looks() -> None:
    """Several requests stand in the buffer at once, and one pass of the loop merges them."""
    history = History(("add", A), workers=1)
    start = history.do("burst", A, B, A)
    assert [keys for _, keys in history.states[start].snapshot.buffer] == [(A,), (B,), (A,)]
    assert history.states[start + 1].sentence == (
        "handle_add_buffer makes A ready; makes B ready; merges a request into the record of A "
        "(ready)."
    )


def test_a_locked_key_is_passed_over_and_somebody_else_goes() -> None:
    """The dispatcher's pass says whom it left out, why, and who went instead."""
    history = History(("add", A), workers=2)
    start = history.do("burst", A, B)
    assert history.states[start + 2].sentence == (
        "handle_ready_items passes over A, which worker-1 has locked; hands B to worker-2 and "
        "locks it."
    )


def test_a_round_ends_and_what_was_pending_goes_out() -> None:
    """Done unlocks, the worker asks again, and the new record of A is handed over."""
    history = History(("add", A), ("add", A), workers=1)
    start = history.do("finish", A)
    assert sentences(history, start) == [
        "You end the round of A.",
        "worker-1 ends its round of A; calls done, so A is unlocked; asks for a key.",
        "handle_ready_items hands A to worker-1 and locks it.",
        "worker-1 begins a round of A.",
    ]


def test_time_passes_as_far_as_it_was_told_to() -> None:
    """A deadline on the way is met at its own time, and the clock ends where it was sent."""
    history = History(("add_after", A, 3), ("pass_time", 5), workers=1)
    met = next(s for s in history.states if s.sentence.startswith("handle_waiting_items makes A"))
    assert met.at == 3
    assert (history.states[-1].at, history.states[-1].sentence) == (
        5,
        "Time goes by: it is 5 s now.",
    )


def test_a_round_may_end_by_itself() -> None:
    """With round_seconds a round needs nobody to end it, and ends early when somebody does."""
    history = History(("add", A), ("pass_time", 5), workers=1, round_seconds=2)
    (ended,) = [s.at for s in history.states if "ends its round" in s.sentence]
    assert ended == 2
    history = History(("add", A), ("pass_time", 1), ("finish", A), ("pass_time", 5), workers=1,
                      round_seconds=2)  # fmt: skip
    (ended,) = [s.at for s in history.states if "ends its round" in s.sentence]
    assert ended == 1


def test_a_round_can_ask_to_come_back() -> None:
    """A finished round may come back later: its key is among the waiting."""
    history = History(("add", A), ("finish", A, 30), workers=1)
    assert [(item.key, item.ready_at) for item in history.states[-1].snapshot.waiting] == [(A, 30)]


def test_after_shutdown_nothing_comes_in() -> None:
    """An add to a queue that has shut down is said to have done nothing."""
    history = History(("shut_down",), ("add", A))
    assert history.states[-1].sentence == (
        "You add A: the queue has shut down, so nothing comes in."
    )


def test_an_act_at_an_earlier_state_starts_another_future() -> None:
    """What followed is dropped; what led there stays as it was, state by state."""
    history = History(("add", A), ("add", B), ("pass_time", 9), ("finish", A), workers=2)
    past = seen(history.states[:8])
    assert history.do("add_with_priority", C, 7, after=7) == 8
    assert seen(history.states[:8]) == past
    assert history.states[8].sentence.startswith("You add C at priority 7")
    assert history.states[-1].at == 0


def test_an_act_in_the_middle_of_passing_time_stops_the_clock_there() -> None:
    """Who acts at 3 s, on the way to 9 s, goes on from 3 s."""
    history = History(("add_after", A, 3), ("pass_time", 9), workers=1)
    middle = next(n for n, s in enumerate(history.states) if s.at == 3)
    history.do("add", B, after=middle)
    assert history.states[-1].at == 3


acts = st.one_of(
    st.tuples(st.just("add"), st.sampled_from([A, B, C])),
    st.tuples(st.just("burst"), st.sampled_from([A, B]), st.sampled_from([A, B, C])),
    st.tuples(st.just("add_after"), st.sampled_from([A, B]), st.integers(0, 4)),
    st.tuples(st.just("add_with_priority"), st.sampled_from([A, C]), st.integers(-2, 2)),
    st.tuples(st.just("add_rate_limited"), st.sampled_from([B, C])),
    st.tuples(st.just("pass_time"), st.integers(0, 5)),
    st.tuples(st.just("finish"), st.sampled_from([A, B, C])),
    st.tuples(st.just("shut_down")),
)


def done(history: History, verb: str, *given: Any, after: int | None = None) -> None:
    """Do it, unless it is the end of a round that is not under way."""
    try:
        history.do(verb, *given, after=after)
    except InvalidArgumentError:
        assert verb == "finish"


@given(st.lists(acts, max_size=12), st.data())
@settings(max_examples=150, deadline=None)
def test_walking_back_changes_nothing(script: list[Any], data: st.DataObject) -> None:
    """A branch that does again what was done leads through the very same states."""
    history = History(workers=2)
    for act in script:
        done(history, *act)
    states = seen(history.states)
    log = list(history.acts)
    if not log:
        return
    first = data.draw(st.integers(0, len(log) - 1))
    for after, verb, given_to_it in log[first:]:
        done(history, verb, *given_to_it, after=after)
    assert seen(history.states) == states
    assert history.acts == log


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (("jump",), "verb was 'jump'; expected one of add, burst"),
        (("add",), "add was (); expected add(key)."),
        (("add_after", A), "expected add_after(key, seconds)."),
        (("add", []), "the key was []; expected something hashable"),
        (("finish", B), "expected a key with a round under way (default/a)."),
        (("pass_time", -1), "seconds was -1; expected zero or more"),
        (("pass_time", "long"), "seconds was 'long'; expected a finite number of seconds."),
        (("add_after", A, float("nan")), "expected a finite number of seconds."),
        (("add_with_priority", A, 0.5), "expected a whole number"),
    ],
)
@pytest.mark.parametrize("after", [None, 8])
def test_what_cannot_be_done_is_said_and_changes_nothing(
    act: tuple[Any, ...], sentence: str, after: int | None
) -> None:
    """A mistake, now or at an earlier state, costs neither the past nor the future."""
    history = History(("add", A), ("add", B), workers=1)
    before, log = seen(history.states), list(history.acts)
    with pytest.raises(InvalidArgumentError) as error:
        history.do(*act, after=after)
    assert sentence in str(error.value)
    assert (seen(history.states), history.acts) == (before, log)
    history.do("finish", A)
    assert history.states[-1].rounds[0].key == B


def test_a_round_is_ended_once() -> None:
    """A second end of the same round, before the first was seen, is refused."""
    history = History(("add", A), workers=1)
    end = history.do("finish", A)
    with pytest.raises(InvalidArgumentError, match="under way"):
        history.do("finish", A, after=end)


def test_the_next_change_of_a_key() -> None:
    """From any state on, the next one that was about the key; None when there is none."""
    history = History(("add", A), ("add", B), workers=1)
    added = history.next_change(B, 0)
    assert added is not None
    assert history.states[added].sentence.startswith("You add B")
    assert history.next_change(B, len(history.states) - 1) is None
    assert history.next_change("nobody", -5) is None


def test_the_table_says_what_each_place_holds() -> None:
    """One row for each state, each place in its own order, so that no picture is needed."""
    history = History(("add", A), ("add_after", B, 10), ("add_with_priority", C, 5), workers=1)
    last = history.table().iloc[-1]
    assert (last["waiting (due at, s)"], last["ready (priority)"]) == ("B 10", "C 5")
    assert (last["locked (by)"], last["waiters"], last["add buffer"]) == ("A worker-1", "-", "-")
    assert len(history.table()) == len(history.states)


def test_without_locks_both_rounds_of_a_key_can_be_ended() -> None:
    """Two rounds of one key are two rounds, and end one after the other."""
    history = History(("add", A), ("add", A), workers=2, lock_keys=False)
    assert [each.worker for each in history.states[-1].rounds] == ["worker-1", "worker-2"]
    history.do("finish", A)
    history.do("finish", A)
    assert history.states[-1].rounds == ()


def test_every_verb_has_its_words() -> None:
    """No act is left without a sentence of its own."""
    given_to = {"add_after": (A, 1), "add_with_priority": (A, 1), "pass_time": (1,),
                "shut_down": ()}  # fmt: skip
    for verb in VERBS:
        history = History(("add", A), workers=1)
        number = history.do(verb, *given_to.get(verb, (A,)))
        assert history.states[number].sentence.startswith("You ")


@pytest.mark.parametrize(
    "act",
    [
        ("burst",), ("burst", "default/b", []), ("add_after", "default/b", 10**400),
        ("add_after", "default/b", 1e300), ("add_after", "default/b", Fraction(1, 3)),
        ("add_with_priority", "default/b", 2**70), ("finish", "default/a", 10**400),
        ("pass_time", Fraction(1, 3)), ([],),
    ],
)  # fmt: skip
def test_a_refused_act_leaves_no_trace(act: tuple[Any, ...]) -> None:
    """Neither half of it nor its name stays; what comes next goes on as if it had not been."""
    history, same = (History(("add", "default/a"), workers=1) for _ in range(2))
    with pytest.raises(InvalidArgumentError):
        history.do(*act)
    for each in (history, same):
        each.do("add", "default/c")
        each.do("finish", "default/a")
    assert history.acts == same.acts
    assert history.story() == same.story()


@pytest.mark.parametrize("act", [5, (), None, "add"])
def test_what_is_no_act_is_refused(act: Any) -> None:
    """A forgotten bracket is named."""
    with pytest.raises(InvalidArgumentError, match="a verb and more"):
        History(act)


def test_time_can_go_on_for_years() -> None:
    """Nanoseconds stay exact where seconds as a float no longer are."""
    for seconds in (35_115_621.858_363_4, 1e8 + 1 / 3, 9e9):
        history = History(("pass_time", seconds), ("add_after", "default/a", 0.1))
        history.do("pass_time", 0.1)
        assert [each.key for each in history.states[-1].rounds] == ["default/a"]


def test_a_negative_delay_is_said_as_what_it_does() -> None:
    """Go takes it as unset, so nobody is told that A comes back in less than no time."""
    history = History(("add_after", "default/a", -3), workers=1)
    assert history.story(since=3).count("-3") == 0
    history.do("finish", "default/a", -1)
    assert "-1 s" not in history.story()
