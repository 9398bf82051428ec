"""The pages beside the lessons: their links, their terms, and minutes that add up."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from lesson_pages import NOTEBOOKS, about, lesson_paths

PAGES = sorted(NOTEBOOKS.glob("*.md"))
TERM = re.compile(r"\*\*([A-Za-z][a-z ]*?)s?\*\* \(([^)a-zA-Z]+)\)")
"""A term as a lesson shows it: **queue** (队列)."""


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def rows(text: str) -> list[list[str]]:
    """The cells of every table row that is no heading."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [
        row for row in split if set(row[0]) != {"-"} and row[0] not in ("term", "minutes", "ask")
    ]


GLOSSARY = {row[0]: row[1:] for row in rows(read(NOTEBOOKS / "glossary.md"))}


def lesson_text(path: Path) -> str:
    notebook = nbformat.read(path, as_version=4)
    return "\n".join(cell.source for cell in notebook.cells)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_of_a_page_exist(path: Path) -> None:
    """No link of a page is dead, and each leads back to the contents."""
    links = re.findall(r"\]\(([^)#]+)\)", read(path))
    assert "index.ipynb" in links
    for link in links:
        assert link.startswith("https://") or (NOTEBOOKS / link).exists(), link


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_contents_lead_to_every_page(path: Path) -> None:
    """A page that nothing links to is not read."""
    assert f"({path.name})" in lesson_text(NOTEBOOKS / "index.ipynb")


def test_the_glossary_is_sorted() -> None:
    """A term is found where the alphabet has it."""
    assert len(GLOSSARY) > 20
    assert list(GLOSSARY) == sorted(GLOSSARY, key=str.lower)


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_stands_in_its_lesson(term: str) -> None:
    """The lesson that the glossary names has the term."""
    first = re.search(r"\((.+?)\)", GLOSSARY[term][2])
    assert first
    assert term.lower() in lesson_text(NOTEBOOKS / first[1]).lower()


@pytest.mark.parametrize("path", lesson_paths(), ids=lambda path: path.stem)
def test_lessons_and_glossary_use_the_same_chinese(path: Path) -> None:
    """A Chinese term beside an English one is the glossary's, in every lesson."""
    shown = TERM.findall(lesson_text(path))
    assert shown
    for term, chinese in shown:
        assert GLOSSARY[term][0] == chinese, term


def test_the_plans_add_up() -> None:
    """The minutes of each plan are those of its heading, and a lesson takes what it says."""
    text = read(NOTEBOOKS / "for-teachers.md")
    _, short, long, second, *_ = re.split(r"^## ", text, flags=re.M)
    assert short.startswith("In 90 minutes")
    assert sum(int(row[0]) for row in rows(short)) == 90
    assert long.startswith("In half a day")
    assert sum(int(row[0]) for row in rows(long)) == 210
    assert second.startswith("In a second half-day")
    assert sum(int(row[0]) for row in rows(second)) == 150
    for path in lesson_paths():
        planned = [int(row[0]) for row in rows(long) + rows(second) if path.name in row[1]]
        assert planned == [about(path)["minutes"]]
