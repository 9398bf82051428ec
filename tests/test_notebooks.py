"""What every notebook promises: its shape, its claims, its pictures, and that all of it ran."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from store_notebooks import COVER, cover

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
INDEX = NOTEBOOKS / "index.ipynb"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
LESSONS = [path for path in PATHS if path.name[0].isdigit()]
CLAIMS = {"01": 6, "02": 7}
"""How many claims each lesson has to show; the first of lesson 01 is tagged ``claim-1.1``."""

MAX_CODE_LINES = 15
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
        assert re.match(r"(Two panels\. )?(Gantt chart|Time line of one key|Line chart): ", alt)
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
def test_ways_back_and_on(path: Path) -> None:
    """A lesson links to the contents and to its neighbours, and the neighbours agree."""
    about = meta(path)
    neighbours = {name for name in (about["previous"], about["next"]) if name}
    assert {"index.ipynb", *neighbours, *about["builds_on"]} <= links(path)
    if about["next"]:
        assert meta(NOTEBOOKS / about["next"])["previous"] == path.name
    if about["previous"]:
        assert meta(NOTEBOOKS / about["previous"])["next"] == path.name


@each_lesson
def test_opening(path: Path) -> None:
    """A lesson opens with what one can do after it, how long it takes and what it builds on."""
    about, opening = meta(path), cells(path, "markdown")[0].source
    flat = " ".join(opening.split())
    assert set(about) == {"number", "title", "goal", "minutes", "builds_on", "previous", "next"}
    assert f"**After this you can** {about['goal']}." in flat
    assert f"*{about['minutes']} minutes" in flat
    assert path.name.startswith(about["number"])


@each_lesson
def test_parts(path: Path) -> None:
    """A lesson asks for predictions, breaks something, leaves work for the reader, and sums up."""
    text = "\n".join(cell.source for cell in cells(path, "markdown"))
    assert text.count("**Predict.**") >= 5
    for heading in ("Break it", "Your turn", "Under the hood", "In the Go source", "Recap"):
        assert re.search(rf"^## {heading}", text, re.M), heading
    recap = text.split("## Recap", 1)[1]
    assert len(re.findall(r"^\d\. ", recap, re.M)) == 5


@each_lesson
def test_every_claim_is_shown_and_checked(path: Path) -> None:
    """Each claim of the lesson has a cell with its tag that checks a computed value."""
    number = path.name[:2]
    tagged: dict[str, list[Any]] = {}
    for cell in cells(path, "code"):
        for tag in cell.metadata.get("tags", []):
            tagged.setdefault(tag, []).append(cell)
    wanted = [f"claim-{int(number)}.{n}" for n in range(1, CLAIMS[number] + 1)]
    assert sorted(tagged) == wanted
    for claim, shown in tagged.items():
        for cell in shown:
            assert "compare(" in cell.source, claim
            assert "✓" in cell.outputs[0].text, claim


@each_lesson
def test_contents_and_readme_list_the_lesson(path: Path) -> None:
    """A lesson that nobody can find is not taught."""
    about = meta(path)
    contents = next(
        c.source for c in cells(NOTEBOOKS / "index.ipynb", "markdown") if c.id == "lessons"
    )
    readme = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
    row = f"{about['number']} {about['title']}"
    assert f"[{row}]({path.name})" in contents
    assert f"| {about['minutes']} |" in contents
    assert f"[{row}](notebooks/{path.name})" in readme


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
