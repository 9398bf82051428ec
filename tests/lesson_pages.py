"""What every lesson has in common, made from the lessons' own metadata.

The links between lessons, the title with what one can do after it, and the tables of lessons in
the contents and in the README: each is written here and nowhere else.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
README = NOTEBOOKS.parent / "README.md"
CONTENTS = "index.ipynb"
_NOTHING = "nothing but a little Python"
_TABLE = re.compile(r"^\| lesson \|.*\n(?:\|.*\n?)+", re.M)


def lesson_paths() -> list[Path]:
    """Every lesson, in order."""
    return sorted(NOTEBOOKS.glob("[0-9][0-9]-*.ipynb"))


def about(path: Path) -> dict[str, Any]:
    """A lesson's metadata: number, title, goal, minutes, builds_on."""
    found: dict[str, Any] = nbformat.read(path, as_version=4).metadata["kubequeue"]
    return found


def name(path: Path) -> str:
    """A lesson as links and tables call it."""
    told = about(path)
    return f"{told['number']} {told['title']}"


def ways(path: Path) -> str:
    """The line with the links back, to the contents, and on."""
    lessons = lesson_paths()
    here = lessons.index(path)
    links = [f"[Contents]({CONTENTS})"]
    if here > 0:
        links.insert(0, f"[Previous: {name(lessons[here - 1])}]({lessons[here - 1].name})")
    if here + 1 < len(lessons):
        links.append(f"[Next: {name(lessons[here + 1])}]({lessons[here + 1].name})")
    return " · ".join(links)


def opening(path: Path) -> str:
    """The first cell of a lesson."""
    told = about(path)
    base = [f"[{each[:2]}]({each})" for each in told["builds_on"]]
    return (
        f"{ways(path)}\n\n# {told['number']} · {told['title']}\n\n"
        f"**After this you can** {told['goal']}.\n\n"
        f"*{told['minutes']} minutes · builds on {', '.join(base) or _NOTHING}*"
    )


def write_pages(notebook: NotebookNode, path: Path) -> None:
    """Write into a notebook what follows from the metadata of all lessons."""
    if path.name == CONTENTS:
        for cell in notebook.cells:
            cell.source = with_table(cell.source, minutes=True)
    elif path in lesson_paths():
        notebook.cells[0].source = opening(path)
        text, _, _ = notebook.cells[-1].source.rpartition("\n\n")
        notebook.cells[-1].source = f"{text}\n\n{ways(path)}"


def with_table(text: str, *, minutes: bool = False, folder: str = "") -> str:
    """The text with its table of lessons, if it has one, made anew."""
    return _TABLE.sub(lambda _: lesson_table(minutes, folder), text)


def lesson_table(minutes: bool, folder: str) -> str:
    """A row for each lesson."""
    rows = [["lesson", "after it you can", "minutes"], ["---"] * 3]
    for path in lesson_paths():
        told = about(path)
        rows.append([f"[{name(path)}]({folder}{path.name})", told["goal"], str(told["minutes"])])
    return "".join(f"| {' | '.join(row if minutes else row[:2])} |\n" for row in rows)


def readme() -> str:
    """The README with its table of lessons made anew."""
    return with_table(README.read_text(encoding="utf-8"), folder="notebooks/")
