"""Exercises: a question, what judges an answer, and hints that come one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from kubequeue.lab.checks.guard import (
    Complaint,
    NotAnsweredError,
    WrongFormError,
    attempt,
    shown,
)

LESSONS = ("01", "02", "03", "04", "05")


@dataclass(frozen=True, slots=True)
class Exercise:
    """One exercise.

    Attributes:
        asks: what to do, in one sentence.
        judge: why an answer is right; raises `Complaint` when it is wrong.
        hints: the first for the first wrong answer, and so on; the last one stays. A complaint
            may bring its own, which come in the same way.
    """

    asks: str
    judge: Callable[[Any], str]
    hints: tuple[str, ...]


_wrong_answers: Counter[tuple[str, tuple[str, ...]]] = Counter()


def check(name: str, answer: Any) -> None:
    """Judge an answer to the exercise ``name``, such as "01/third-worker", in one printed sentence.

    ✓ and why it is right; ✗, what is missing, and a hint, the next one at each wrong answer; … when
    the answer is still three dots. Nothing that an answer does gets out of here.
    """
    found = exercises(name[:2]).get(name) if type(name) is str else None
    if found is None:
        print(f"There is no exercise {shown(name)}{_nearest(name)}.")
        return
    try:
        if any(part is ... for part in (answer if type(answer) is tuple else (answer,))):
            raise NotAnsweredError
        print(f"✓ {attempt(lambda: found.judge(answer))}")
        for told in [told for told in _wrong_answers if told[0] == name]:
            del _wrong_answers[told]
    except NotAnsweredError:
        print(f"… {found.asks}")
    except WrongFormError as wrong:
        print(f"✗ Not yet: {wrong}.")
    except Complaint as wrong:
        hints = wrong.hints or found.hints
        hint = hints[min(_wrong_answers[name, hints], len(hints) - 1)]
        _wrong_answers[name, hints] += 1
        print(f"✗ Not yet: {str(wrong).rstrip('.')}. Hint: {hint}")


def exercises(lesson: str) -> dict[str, Exercise]:
    """The exercises of a lesson by name; none for a lesson that has none."""
    if lesson not in LESSONS:
        return {}
    found: dict[str, Exercise] = import_module(f"kubequeue.lab.checks.lesson{lesson}").EXERCISES
    return found


def expect(holds: object, complaint: str, hints: tuple[str, ...] = ()) -> None:
    """Raise `Complaint` unless it holds, with the hints for just this mistake."""
    if not holds:
        raise Complaint(complaint, hints)


def well_formed(holds: object, complaint: str) -> None:
    """Raise `WrongFormError` unless it holds: the answer cannot be judged as it is."""
    if not holds:
        raise WrongFormError(complaint)


def _nearest(name: Any) -> str:
    names = [known for lesson in LESSONS for known in exercises(lesson)]
    close = get_close_matches(name if type(name) is str else "", names, n=1) or names[:1]
    return f"; perhaps you mean {close[0]!r}"
