"""Quizzes: a question and its choices, each with an explanation from a run of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab.checks.exercise import LESSONS

_LETTERS = "ABCDEFGH"


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to choose; ``why`` explains it, from a run of the model where one can be had."""

    words: str
    why: Callable[[], str]
    right: bool = False


@dataclass(frozen=True, slots=True)
class Quiz:
    """A question with lettered choices.

    >>> card = quiz("02/hot-key")
    >>> card.choose("Z")
    'There is no choice Z; choose one of A, B, C.'
    """

    question: str
    choices: tuple[Choice, ...]

    def __repr__(self) -> str:
        lettered = [f"  {letter}  {each.words}" for letter, each in self._lettered().items()]
        return "\n".join(
            [self.question, *lettered, 'Answer with choose("A"), or with the buttons.']
        )

    def choose(self, letter: str) -> str:
        """What is to be said of a choice: whether it is right, and why."""
        choice = self._lettered().get(str(letter).strip().upper())
        if choice is None:
            return f"There is no choice {letter}; choose one of {', '.join(self._lettered())}."
        return f"{'✓ Yes' if choice.right else '✗ No'}: {choice.why()}"

    def _lettered(self) -> dict[str, Choice]:
        return dict(zip(_LETTERS, self.choices, strict=False))

    def _ipython_display_(self) -> None:
        from IPython.display import display

        from kubequeue.lab.widgets.quiz_card import quiz_card

        card = quiz_card(
            self.question, {k: c.words for k, c in self._lettered().items()}, self.choose
        )
        show: Any = display  # IPython types it in part
        show({**card._repr_mimebundle_(), "text/plain": repr(self)}, raw=True)


def quiz(name: str) -> Quiz:
    """The quiz of that name, such as "01/what-two-limits".

    Raises `InvalidArgumentError`, with the names there are, for one that does not exist.
    """
    known = quizzes()
    if not isinstance(name, str) or name not in known:
        raise InvalidArgumentError("quiz", name, f"one of {', '.join(known)}")
    return known[name]


def quizzes() -> dict[str, Quiz]:
    """Every quiz by name."""
    return {
        name: found
        for lesson in LESSONS
        for name, found in import_module(f"kubequeue.lab.checks.lesson{lesson}").QUIZZES.items()
    }
