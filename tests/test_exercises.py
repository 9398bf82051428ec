"""Exercises answer everybody: the right, the wrong, and the ones who pass something impossible."""

from __future__ import annotations

import gc
import random
import signal
import sys
import time
from contextlib import suppress
from typing import Any

import nbformat
import pytest
from exercises import SOLUTIONS, exercise_form, parts, solution_form

from kubequeue import InvalidArgumentError
from kubequeue.lab.checks import check, exercise, quiz
from kubequeue.lab.checks.exercise import LESSONS, exercises
from kubequeue.lab.checks.quiz import quizzes

NOTEBOOKS = SOLUTIONS.parent
NAMES = [name for lesson in LESSONS for name in exercises(lesson)]
EXERCISE_CELLS = [
    (lesson, cell) for lesson in LESSONS for cell in parts(lesson) if cell.startswith("exercise-")
]


@pytest.fixture(autouse=True)
def _no_wrong_answers() -> None:
    exercise._wrong_answers.clear()


def answered(name: str, answer: Any, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a check prints."""
    check(name, answer)
    said = capsys.readouterr()
    assert said.err == ""
    (line,) = said.out.splitlines()
    return line


def run(lesson: str, source: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a cell prints that is run after the imports of its lesson."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(parts(lesson)[""], "<imports>", "exec"), names)
    exec(compile(source, "<cell>", "exec"), names)
    return capsys.readouterr().out


def name_of(lesson: str, cell: str) -> str:
    return f"{lesson}/{cell.removeprefix('exercise-')}"


each_cell = pytest.mark.parametrize(("lesson", "cell"), EXERCISE_CELLS)
each_name = pytest.mark.parametrize("name", NAMES)


def test_every_exercise_has_its_solution() -> None:
    """Each lesson has three exercises at least, and each of them a part in the solutions."""
    assert sorted(NAMES) == sorted(name_of(*each) for each in EXERCISE_CELLS)
    assert all(len(exercises(lesson)) >= 3 for lesson in LESSONS)


@each_cell
def test_the_solution_is_right(lesson: str, cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands in the solutions passes its own check."""
    assert run(lesson, solution_form(parts(lesson)[cell]), capsys).startswith("✓ ")


@each_cell
def test_an_exercise_nobody_has_touched_waits(
    lesson: str, cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exercise form runs without an error and says what is to be done."""
    asks = exercises(lesson)[name_of(lesson, cell)].asks
    assert run(lesson, exercise_form(parts(lesson)[cell]), capsys) == f"… {asks}\n"


@each_cell
def test_the_lesson_has_the_exercise(lesson: str, cell: str) -> None:
    """The notebook has the form that is made from the solution, and says so in its output."""
    (path,) = NOTEBOOKS.glob(f"{lesson}-*.ipynb")
    cells = {each.id: each for each in nbformat.read(path, as_version=4).cells}
    assert cells[cell].source == exercise_form(parts(lesson)[cell])
    assert cells[cell].outputs[0].text.startswith("… ")


@each_cell
def test_the_form_gives_nothing_away(lesson: str, cell: str) -> None:
    """What a learner writes is not in the form, and the marks are in neither."""
    part = parts(lesson)[cell]
    form, solution = exercise_form(part), solution_form(part)
    assert "..." in form
    assert "..." not in solution
    assert not any(mark in form + solution for mark in (">>>", "<<<"))


WRONG: dict[str, list[Any]] = {
    "01/third-worker": [("default/d", 2.2), ("default/c", 1.8), ("C", 3)],
    "01/first-look": [
        lambda place, workers: place // workers,
        lambda place, workers: place - 1,
        lambda place, workers: 0,
    ],
    "01/give-it-back": [
        lambda sim: lambda request: iter([sim.sleep(1)]),
        lambda sim: lambda request: (yield sim.sleep(5.4)),
        lambda sim: lambda request: (yield sim.sleep(0.2)),
    ],
    "02/burst": [2, 7, "three"],
    "02/count-rounds": [
        lambda events, seconds: len(events),
        lambda events, seconds: 2,
        lambda events, seconds: len({round(event / seconds) for event in events}),
    ],
    "02/pick": [
        lambda ready, locked: ready[0] if ready else None,
        lambda ready, locked: next((k for k in reversed(ready) if k not in locked), None),
        lambda ready, locked: ready.pop() if ready else None,
    ],
    "03/order": ["ABC", "B, C, A", ["A", "B", "C"]],
    "03/merge": [
        lambda one, other: (min(one[0] or 0, other[0] or 0), max(one[1], other[1])),
        lambda one, other: (None, max(one[1], other[1])),
        lambda one, other: other,
    ],
    "03/fair": [
        lambda ready, now: max(ready, key=lambda entry: entry.priority).key,
        lambda ready, now: min(ready, key=lambda entry: (entry.since, -entry.priority)).key,
        lambda ready, now: "somebody",
    ],
    "05/how-many": [4, 36, "twelve"],
    "05/comes-back": [
        lambda outcome, requeue_after, failures: requeue_after,
        lambda outcome, requeue_after, failures: 0.005 if outcome == "error" else None,
        lambda outcome, requeue_after, failures: (
            requeue_after or None if outcome == "success" else 0.005 * 2**failures
        ),
    ],
    "05/save": [
        lambda read, write: write(read().version, {**read().labels, "checked": "yes"}),
        lambda read, write: write(read().version, {"checked": "yes"}),
        lambda read, write: any(
            write(read().version + n, {**read().labels, "checked": "yes"}) for n in range(5)
        ),
    ],
    "04/surplus": [(1, 1), (5, 1), [4, 2]],
    "04/met": [
        lambda action, found, age: found == "nothing" if action == "delete" else found != "nothing",
        lambda action, found, age: (found == "nothing") == (action == "delete") or age > 30,
        lambda action, found, age: found == "a Pod" or age >= 30,
    ],
    "04/resume": [
        lambda recorded, rounds: recorded + 30.001,
        lambda recorded, rounds: next((at for at in rounds if at >= recorded + 30), None),
        lambda recorded, rounds: rounds[-1],
    ],
    "04/memory": [
        lambda wanted, cached, records, now: (max(wanted - len(cached), 0), []),
        lambda wanted, cached, records, now: (
            (0, set(records) - cached)
            if set(records) - cached
            else (max(wanted - len(cached), 0), [])
        ),
        lambda wanted, cached, records, now: (
            max(wanted - len(cached | set(records)), 0),
            records,
        ),
    ],
}


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name in NAMES for number in range(3)]
)
def test_a_wrong_answer_is_told_what_is_missing(
    name: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """No wrong answer passes, and each gets a sentence and a hint."""
    said = answered(name, WRONG[name][number], capsys)
    assert said.startswith("✗ Not yet: ")
    assert ". Hint: " in said
    assert number or exercises(name[:2])[name].hints[0] in said


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("01/third-worker", "default/c"),
        ("01/third-worker", ("default/c", "2.2")),
        ("03/order", 5),
        ("03/order", ""),
        ("03/order", ["A", "B"]),
        ("04/surplus", 4),
        ("04/surplus", ("4", 1)),
        ("04/met", lambda action, found, age: 1),
        ("04/memory", lambda wanted, cached, records, now: wanted - len(cached)),
        ("04/memory", lambda wanted, cached, records, now: (1, 2)),
    ],
)
def test_an_answer_of_the_wrong_form_costs_no_hint(
    name: str, answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be judged is told what is expected; the first hint is still to come."""
    said = answered(name, answer, capsys)
    assert "was expected" in said
    assert "Hint" not in said
    assert exercises(name[:2])[name].hints[0] in answered(name, WRONG[name][0], capsys)


@pytest.mark.parametrize("answer", ["b a c", "B, A, C", ["b", "a", "c"], "ZBAC", ("B", "A", "C")])
def test_a_right_order_is_right_however_it_is_written(
    answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spaces, commas, lists and the key that went before take nothing away."""
    assert answered("03/order", answer, capsys).startswith("✓ BAC")


def test_priority_alone_starves_somebody_and_the_schedule_is_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The dispatcher that looks at priority alone is shown the arrivals that break it."""
    said = answered("03/fair", WRONG["03/fair"][0], capsys)
    assert "a key of priority 10 comes every second, the key of priority 0 that came at 0" in said


@pytest.mark.parametrize(
    ("answer", "why"),
    [(4, "one controller's share"), (36, "the two that stand by"), (24, "the most was not 24. ")],
)
def test_a_likely_miscount_is_told_what_it_counts(
    answer: int, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One controller's workers, or those of all replicas."""
    assert why in answered("05/how-many", answer, capsys)


def test_no_sentence_has_the_address_of_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    """Functions that were given are told by name, and values and errors without where they are."""
    said = answered("05/save", lambda read, write: write(read), capsys)
    assert "given (read, write) it raised TypeError" in said
    assert "when nobody else writes" in answered("05/save", lambda read, write: True, capsys)
    for answer in (object(), lambda read, write: read.nothing, lambda read, write: write):
        assert "0x" not in answered("05/save", answer, capsys)


def forgets_after(seconds: float, *, met: bool = True) -> Any:
    """A memory that counts, and that gives a note up when it is older than so many seconds."""

    def plan(wanted: int, cached: Any, records: dict[str, float], now: float) -> Any:
        kept = {n for n, at in records.items() if now - at <= seconds and not (met and n in cached)}
        return max(wanted - len(cached | kept), 0), kept

    return plan


@pytest.mark.parametrize("seconds", [0, 9, 25, 26, 29, 29.5, 30.5, 31, 33, 1e9])
def test_a_memory_with_another_time_out_is_found_out(
    seconds: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too short makes a Pod too many while the cache is late; too long leaves one out."""
    said = answered("04/memory", forgets_after(seconds), capsys)
    words = "almost 30 s late" if 25 <= seconds < 30 else "vanishes unseen" if seconds > 30 else ""
    assert said.startswith("✗")
    assert words in said


def test_a_memory_of_30_s_survives(capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a cache that is almost so late nor a Pod that vanished unseen breaks it."""
    assert answered("04/memory", forgets_after(30), capsys).startswith("✓")


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("04/memory", forgets_after(9), "counts as there"),
        ("04/memory", forgets_after(31), "must not count for a Pod that is gone"),
        ("04/memory", forgets_after(30, met=False), "must not count for a Pod that is gone"),
        ("04/memory", WRONG["04/memory"][1], "also while other notes are open"),
        (
            "04/met",
            lambda action, found, age: action == "delete" or found != "nothing" or age > 30,
            "only when nothing is found",
        ),
        ("04/met", lambda action, found, age: found != "a Pod", "by any Pod that is found"),
        ("04/resume", lambda recorded, rounds: recorded + 5, "nobody wakes up"),
        ("04/resume", lambda recorded, rounds: rounds[-1], "more than 30 s after the note"),
    ],
)
def test_a_hint_is_for_the_mistake_that_was_found(
    name: str, answer: Any, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too many Pods, too few, a create, a delete: each has hints of its own."""
    assert hint in answered(name, answer, capsys).partition("Hint: ")[2]


def test_a_group_that_never_goes_on_is_said_to(capsys: pytest.CaptureFixture[str]) -> None:
    """When no round is late enough, the sentence says it in plain words."""

    def always_after(recorded: float, rounds: list[float]) -> float:
        return next((at for at in rounds if at > recorded + 30), recorded + 300)

    assert "the group never goes on, and" in answered("04/resume", always_after, capsys)


@each_name
def test_each_wrong_answer_gets_the_next_hint(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Hints come in order, the last one stays, and a right answer starts over."""
    hints = exercises(name[:2])[name].hints
    for expected in [*hints, hints[-1]]:
        assert answered(name, WRONG[name][0], capsys).endswith(f"Hint: {expected}")
    lesson, cell = name[:2], f"exercise-{name[3:]}"
    assert run(lesson, solution_form(parts(lesson)[cell]), capsys).startswith("✓")
    assert answered(name, WRONG[name][0], capsys).endswith(f"Hint: {hints[0]}")


def chooses(*_: Any) -> Any:
    return random.choice([])


IN_CHOOSES = f"in line {chooses.__code__.co_firstlineno + 1} of the cell"


def raises(*_: Any) -> Any:
    raise KeyError("no such thing")


def leaves(*_: Any) -> Any:
    sys.exit(3)


def loops(*_: Any) -> Any:
    while True:
        pass


def swallows(*_: Any) -> Any:
    while True:
        try:  # noqa: SIM105 - the shorter form would leave the loop
            pass
        except BaseException:
            pass


def recurses(*_: Any) -> Any:
    return recurses()


def changes(first: Any, *_: Any) -> Any:
    first.clear()


def yields_for_ever(*_: Any) -> Any:
    while True:
        yield None


class Closed:
    """Raises whatever is asked of it, its class too."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("no")


class Endless(tuple[int, ...]):
    """A pair that goes on for ever."""

    __slots__ = ()

    def __iter__(self) -> Any:
        while True:
            yield 1


class MuteError(Exception):
    """Breaks whoever prints it."""

    def __str__(self) -> str:
        raise ValueError("no words")

    __repr__ = __str__


def mute(*_: Any) -> Any:
    raise MuteError


class Unkind:
    """Breaks whoever compares or prints it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("do not compare me")

    def __repr__(self) -> str:
        raise RuntimeError("do not print me")

    __hash__ = None  # type: ignore[assignment]


IMPOSSIBLE: list[Any] = [
    None, "text", 5, float("nan"), [], {}, object(), lambda: 5, len, raises, leaves, loops,
    recurses, changes, yields_for_ever, Unkind(), lambda *_: None, lambda *_: Unkind(),
    Closed(), Endless((1, 2)), mute, 10**5000, "x" * 10**6, lambda *_: list(range(10**6)),
]  # fmt: skip


@each_name
@pytest.mark.parametrize("number", range(len(IMPOSSIBLE)))
def test_the_impossible_gets_a_sentence(
    name: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever is passed: one line, no traceback, and the interpreter is as it was."""
    before = sys.gettrace(), signal.getsignal(signal.SIGALRM), sys.getrecursionlimit()
    assert answered(name, IMPOSSIBLE[number], capsys).startswith("✗ Not yet: ")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert before == (
        sys.gettrace(), signal.getsignal(signal.SIGALRM), sys.getrecursionlimit()
    )  # fmt: skip


def test_a_loop_that_swallows_every_error_is_stopped_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where counting lines is not enough, the time net catches it."""
    monkeypatch.setattr("kubequeue.lab.checks.guard._NET_SECONDS", 0.5)
    said = answered("02/pick", swallows, capsys)
    assert "it never came to an end" in said


def waits(*_: Any) -> Any:
    while True:
        time.sleep(0.01)


def test_an_answer_that_waits_is_stopped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sleeping runs no lines and uses no processor; the net counts real time."""
    monkeypatch.setattr("kubequeue.lab.checks.guard._NET_SECONDS", 0.3)
    assert "it never came to an end" in answered("02/pick", waits, capsys)


def hangs_when_it_is_closed(sim: Any) -> Any:
    def reconcile(_: Any) -> Any:
        try:
            yield sim.sleep(100)
        finally:
            while True:
                pass

    return reconcile


def refuses_to_be_closed(sim: Any) -> Any:
    def reconcile(_: Any) -> Any:
        while True:
            with suppress(BaseException):
                yield sim.sleep(100)

    return reconcile


@pytest.mark.parametrize("answer", [hangs_when_it_is_closed, refuses_to_be_closed])
def test_nothing_of_an_answer_is_left_to_run_later(
    answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A suspended round ends inside of the check, with its noise; a later collection is quiet."""
    assert answered("01/give-it-back", answer, capsys).startswith("✗ Not yet: ")
    gc.collect()
    assert capsys.readouterr().err == ""


def test_a_flood_of_prints_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """What an answer prints is shown up to a bound, for those who look for a mistake with print."""

    def prints(*_: Any) -> Any:
        while True:
            print("hello")

    check("02/pick", prints)
    said = capsys.readouterr().out
    assert said.startswith("hello\n")
    assert "more was printed than fits here" in said
    assert len(said) < 3_000


def test_a_timer_of_somebody_else_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    """A check gives back the timer that it borrows."""
    signal.setitimer(signal.ITIMER_REAL, 1000, 5)
    try:
        answered("02/burst", 2, capsys)
        assert signal.getitimer(signal.ITIMER_REAL)[1] == 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raises, "it raised KeyError: 'no such thing' in line"),
        (changes, "it changed what it was given"),
        (loops, "it never came to an end"),
        (5, "5 was given, and a function was expected"),
        (lambda ready: None, "takes 1 positional argument"),
        (chooses, IN_CHOOSES),
    ],
)
def test_the_sentence_says_what_went_wrong(
    answer: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """An error is named, with what was given and the line it came from."""
    assert said in answered("02/pick", answer, capsys)


def test_an_unknown_exercise_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    """A slip in the name finds the name that was meant."""
    assert answered("01/third-wroker", 1, capsys) == (
        "There is no exercise '01/third-wroker'; perhaps you mean '01/third-worker'."
    )
    for name in (None, 5, "99/x", ""):
        assert answered(name, 1, capsys).startswith("There is no exercise ")  # type: ignore[arg-type]


# --- Quizzes ----------------------------------------------------------------------------------


def test_each_lesson_has_two_quizzes() -> None:
    """Two questions at least, each with one right choice among several."""
    for lesson in LESSONS:
        mine = [found for name, found in quizzes().items() if name.startswith(lesson)]
        assert len(mine) >= 2
        assert all(sum(choice.right for choice in found.choices) == 1 for found in mine)
        assert all(len(found.choices) >= 3 for found in mine)


@pytest.mark.parametrize("name", sorted(quizzes()))
def test_each_choice_is_explained(name: str) -> None:
    """Right or wrong, a choice gets its own explanation, the same each time."""
    card = quiz(name)
    said = [card.choose(letter) for letter in "ABCD"[: len(card.choices)]]
    assert said == [card.choose(letter.lower()) for letter in "ABCD"[: len(card.choices)]]
    assert len(set(said)) == len(said)
    for choice, words in zip(card.choices, said, strict=True):
        assert words.startswith("✓ Yes: " if choice.right else "✗ No: ")
        assert words.endswith(".")


def test_a_quiz_can_be_read_where_no_widget_shows() -> None:
    """Its text has the question and every choice."""
    card = quiz("01/what-two-limits")
    assert card.question in repr(card)
    assert "  B  rounds that run at one time" in repr(card)


def test_a_choice_or_a_quiz_that_is_not_there() -> None:
    """A slip is a sentence that says what there is."""
    assert quiz("02/hot-key").choose(None) == (  # type: ignore[arg-type]
        "There is no choice None; choose one of A, B, C."
    )
    with pytest.raises(InvalidArgumentError, match="expected one of 01/what-two-limits"):
        quiz("01/nothing")
