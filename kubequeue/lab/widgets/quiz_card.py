"""A quiz as buttons that can be clicked or reached with the tabulator key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

import ipywidgets as w

from kubequeue.lab.widgets.parts import button, named, own_keys


def quiz_card(question: str, choices: Mapping[str, str], answer: Callable[[str], str]) -> Any:
    """The question, a button for each choice, and below what ``answer`` says of the choice."""
    feedback = named(w.HTML(), "kq-feedback")

    def choose(letter: str) -> None:
        feedback.value = f'<div role="status">{escape(letter)}: {escape(answer(letter))}</div>'

    buttons = []
    for letter, words in choices.items():
        made = button(f"{letter}  {words}", "kq-choice", partial(choose, letter))
        made.style.text_align = "left"
        buttons.append(made)
    asked = w.HTML(f"<b>{escape(question)}</b>")
    return named(w.VBox([own_keys("kq-quiz"), asked, *buttons, feedback]), "kq-quiz")
