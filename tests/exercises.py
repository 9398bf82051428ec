"""The exercises of the lessons, made from their solutions."""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode

SOLUTIONS = Path(__file__).parent.parent / "notebooks" / "solutions"
_YOUR_TURN = re.compile(r"^( *)# >>> (.*)\n(?:.*\n)*?\1# <<<\n", re.M)
_MARKS = re.compile(r"^ *# (>>> .*|<<<)\n", re.M)


def parts(lesson: str) -> dict[str, str]:
    """The parts of a lesson's solutions by the id of the cell that each belongs to."""
    path = SOLUTIONS / f"{lesson}.py"
    if not path.exists():
        return {}
    _, *rest = re.split(r"^# %%", path.read_text(encoding="utf-8"), flags=re.M)
    named = [part.split("\n", 1) for part in rest]
    return {name.strip(): source.strip("\n") + "\n" for name, source in named}


def exercise_form(part: str) -> str:
    """What the learner is given: three dots, or what the mark says, instead of the solution."""
    return _tidy(_YOUR_TURN.sub(r"\1\2\n", part))


def solution_form(part: str) -> str:
    """The solution, without its marks."""
    return _tidy(_MARKS.sub("", part))


def put_into(notebook: NotebookNode, lesson: str) -> None:
    """Give every exercise cell of a notebook its exercise form."""
    given = parts(lesson)
    for cell in notebook.cells:
        if cell.id in given:
            cell.source = exercise_form(given[cell.id])


def _tidy(source: str) -> str:
    """As a cell is written: one empty line where a file has two."""
    return re.sub(r"\n{3,}", "\n\n", source).strip("\n")
