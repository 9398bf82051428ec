"""Every notebook, opened as a learner opens it: it runs, shows its pictures and disturbs nobody."""

from __future__ import annotations

import pytest
from labserver import NOTEBOOKS
from lesson import Open

PICTURES = """async () => {
  const pictures = [...document.querySelectorAll('.jp-Notebook .jp-OutputArea img')];
  await Promise.all(pictures.map((picture) => picture.decode()));
  const below = (picture) => picture.closest('.jp-OutputArea-child').nextElementSibling;
  return pictures.map((picture) => [
    picture.naturalWidth, below(picture)?.querySelector('details')?.textContent ?? '']);
}"""
"""How wide each picture is, once it is painted, and the words below it."""


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_notebook_runs_in_jupyterlab(open_lesson: Open, name: str) -> None:
    """Every cell runs, every picture is painted and has its words, and nothing goes wrong."""
    lesson = open_lesson(name)
    cells = lesson.run_all()
    assert [cell["count"] for cell in cells] == list(range(1, len(cells) + 1))
    pictures = lesson.page.evaluate(PICTURES)
    assert pictures
    assert [each for each in pictures if each[0] < 300 or "Across: " not in each[1]] == []
    lesson.screenshot(name.removesuffix(".ipynb"))
    lesson.assert_clean()
