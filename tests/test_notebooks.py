"""What every notebook promises: its shape, its claims, its pictures, and that all of it ran."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from lesson_pages import README, readme, write_pages
from store_notebooks import COVER, cover

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
INDEX = NOTEBOOKS / "index.ipynb"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
LESSONS = [path for path in PATHS if path.name[0].isdigit()]
CLAIMS = {"01": 6, "02": 7, "03": 18, "04": 11, "05": 10}
"""How many claims each lesson has to show; the first of lesson 01 is tagged ``claim-1.1``."""

MAX_CODE_LINES = 15
WIDGET = re.compile(
    r"(QueueStepper\(|ConcurrencyPanel\(\)$|CachePanel\(|LiveTopology\(|ConflictStepper\(|stepper$|counter$"
    r"|quiz\()"
)
"""What a cell looks like that shows a widget."""
KINDS = r"(Two panels\. )?(Gantt chart|Time lines?( of one key)?|Line chart|Diagram): "
CLAIM = re.compile(r"claim-\d")
pytestmark = pytest.mark.filterwarnings("default")


def cells(path: Path, kind: str) -> list[Any]:
    notebook = nbformat.read(path, as_version=4)
    return [cell for cell in notebook.cells if cell.cell_type == kind]


def meta(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = nbformat.read(path, as_version=4).metadata["kubequeue"]
    return found


def links(path: Path) -> set[str]:
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    return set(re.findall(r"\]\(([^)#:]+)\)", text))


def headings(path: Path) -> list[tuple[str, str]]:
    """The marks and the words of every heading, in order."""
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    return re.findall(r"^(#+) (.*)$", text, re.M)


each_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def test_there_are_lessons() -> None:
    """A glob that finds nothing would make every test below pass."""
    assert [path.name[:2] for path in LESSONS] == sorted(CLAIMS)


@each_notebook
def test_each_notebook_is_valid(path: Path) -> None:
    """A file that JupyterLab would repair or refuse is not shipped."""
    nbformat.validate(nbformat.read(path, as_version=4))


@each_notebook
def test_one_title(path: Path) -> None:
    """The title is the only heading of the first level, and it is the one in the metadata."""
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    titles = re.findall(r"^# (.*)$", text, re.M)
    assert len(titles) == 1
    assert path not in LESSONS or titles[0].endswith(meta(path)["title"])


@each_notebook
def test_every_code_cell_was_run_in_order(path: Path) -> None:
    """nbval does not see a cell that was never executed; a reader of the stored file would."""
    counts = [cell.execution_count for cell in cells(path, "code")]
    assert counts == list(range(1, len(counts) + 1))


@each_notebook
def test_code_cells_are_short(path: Path) -> None:
    """A cell that does not fit on the screen beside its explanation is not read."""
    long = [
        cell.id for cell in cells(path, "code") if len(cell.source.splitlines()) > MAX_CODE_LINES
    ]
    assert long == []


@each_notebook
def test_every_picture_has_words(path: Path) -> None:
    """Who cannot see a chart is told its kind, its axes, its range and what it shows."""
    pictures = [
        output.metadata.get("image/png", {}).get("alt", "")
        for cell in cells(path, "code")
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert pictures
    for alt in pictures:
        assert re.match(KINDS, alt)
        assert "Across: " in alt
        assert re.search(r"\d", alt)


@each_notebook
def test_no_check_failed_and_no_error_is_stored(path: Path) -> None:
    """A stored ✗ or traceback would teach the opposite of the lesson."""
    for cell in cells(path, "code"):
        for output in cell.outputs:
            assert output.output_type != "error"
            assert output.get("name") != "stderr"
            assert "✗" not in output.get("text", "")


@each_notebook
def test_links_lead_somewhere(path: Path) -> None:
    """No link of a lesson is dead: the way back, the way on, and what it points to."""
    assert [link for link in links(path) if not (NOTEBOOKS / link).exists()] == []


@each_lesson
def test_what_lessons_have_in_common_is_generated(path: Path) -> None:
    """Title, links and goal follow from the metadata; storing again would change nothing."""
    notebook = nbformat.read(path, as_version=4)
    before = [cell.source for cell in notebook.cells]
    write_pages(notebook, path)
    assert [cell.source for cell in notebook.cells] == before
    assert set(meta(path)) == {"number", "title", "goal", "minutes", "builds_on"}
    assert path.name.startswith(meta(path)["number"])


def test_the_tables_of_lessons_are_generated() -> None:
    """A lesson that nobody can find is not taught: contents and README list each of them."""
    contents = nbformat.read(INDEX, as_version=4)
    before = [cell.source for cell in contents.cells]
    write_pages(contents, INDEX)
    assert [cell.source for cell in contents.cells] == before
    text = README.read_text(encoding="utf-8")
    assert readme() == text
    for path in LESSONS:
        assert f"({path.name})" in "\n".join(before)
        assert f"(notebooks/{path.name})" in text


@each_lesson
def test_ways_back_and_on(path: Path) -> None:
    """A lesson links, first and last, to the contents, to its neighbours and to what it needs."""
    here = LESSONS.index(path)
    near = [LESSONS[n].name for n in (here - 1, here + 1) if 0 <= n < len(LESSONS)]
    first, *_, last = (cell.source for cell in cells(path, "markdown"))
    for link in ("index.ipynb", *near):
        assert f"({link})" in first
        assert f"({link})" in last
    assert all(f"({needed})" in first for needed in meta(path)["builds_on"])


@each_notebook
def test_headings_are_in_order(path: Path) -> None:
    """No level is skipped on the way down, and no two headings of a notebook are the same."""
    found = headings(path)
    levels = [len(marks) for marks, _ in found]
    assert all(below <= above + 1 for above, below in pairwise(levels))
    assert len({words for _, words in found}) == len(found)


@each_notebook
def test_links_into_a_page_lead_to_a_heading(path: Path) -> None:
    """An anchor is the heading that it names, as JupyterLab writes it."""
    anchors = {words.replace(" ", "-") for _, words in headings(path)}
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= anchors


@each_lesson
def test_a_widget_never_stands_alone(path: Path) -> None:
    """Before a widget, in its section, something is stored that shows without one."""
    shown = False
    for cell in nbformat.read(path, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "markdown":
            shown = shown and not re.search(r"^##", cell.source, re.M)
        elif "widget" in tags:
            text = cell.outputs[0].data["text/plain"]
            assert shown or "\n  A  " in text, cell.id  # a quiz says itself in its text
        else:
            shown = shown or bool(cell.outputs)
        assert ("widget" in tags) == bool(WIDGET.match(cell.source)), cell.id


@each_lesson
def test_exercises_and_predictions(path: Path) -> None:
    """Three exercises and two quizzes at least, each with its own task before it."""
    ids = [cell.id for cell in cells(path, "code")]
    tasks = [cell.id for cell in cells(path, "markdown")]
    mine = [each.removeprefix("exercise-") for each in ids if each.startswith("exercise-")]
    assert len(mine) >= 3
    assert {f"task-{each}" for each in mine} <= set(tasks)
    assert sum(each.startswith("quiz-") for each in ids) >= 2


@each_lesson
def test_parts(path: Path) -> None:
    """A lesson asks for predictions, breaks something, leaves work for the reader, and sums up."""
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    assert text.count("**Predict.**") >= 5
    for heading in ("Break it", "Your turn", "Under the hood", "In the Go source", "Recap"):
        assert re.search(rf"^##+ {heading}", text, re.M), heading
    recap = text.split("## Recap", 1)[1]
    assert len(re.findall(r"^\d\. ", recap, re.M)) == 5


@each_lesson
def test_every_claim_is_shown_and_checked(path: Path) -> None:
    """Each claim of the lesson has a cell with its tag that checks a computed value."""
    number = path.name[:2]
    tagged: dict[str, list[Any]] = {}
    for cell in cells(path, "code"):
        for tag in filter(CLAIM.match, cell.metadata.get("tags", [])):
            tagged.setdefault(tag, []).append(cell)
    wanted = [f"claim-{int(number)}.{n}" for n in range(1, CLAIMS[number] + 1)]
    assert sorted(tagged) == sorted(wanted)
    for claim, shown in tagged.items():
        for cell in shown:
            assert "compare(" in cell.source, claim
            assert "✓" in cell.outputs[0].text, claim


@each_notebook
def test_nothing_of_one_machine_is_stored(path: Path) -> None:
    """No absolute path, no memory address and no widget state gets into a stored notebook."""
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.:/])/(?:home|root|tmp|Users)/", text)
    assert not re.search(r"\bat 0x[0-9a-f]{6,}", text)
    assert "widget-state" not in text


def test_the_picture_of_the_readme_is_figure_1() -> None:
    """The README shows what lesson 01 computes today, not what it computed once."""
    assert COVER.read_bytes() == cover()
