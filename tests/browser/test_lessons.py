"""Every notebook, opened as a learner opens it: it runs, shows its pictures and disturbs nobody."""

from __future__ import annotations

import pytest
from labserver import NOTEBOOKS
from lesson import Lesson, Open
from playwright.sync_api import expect

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
    keep_a_picture_of_each_widget(lesson, name[:2])
    answer_every_quiz(lesson)
    lesson.assert_clean()


def keep_a_picture_of_each_widget(lesson: Lesson, number: str) -> None:
    """A screenshot of every widget, as the lesson shows it first."""
    for kind in ("stepper", "panel", "cache-panel", "counter", "quiz"):
        for which, widget in enumerate(lesson.find(f"kq-{kind}").all(), start=1):
            lesson.screenshot(f"{number}-{kind}-{which}", widget)


def answer_every_quiz(lesson: Lesson) -> None:
    """Each choice, the first by mouse and the others by keyboard, is answered below it."""
    for quiz in lesson.find("kq-quiz").all():
        first, *others = quiz.locator(".kq-choice").all()
        first.click()
        for letter, choice in zip("ABCDEFGH", [first, *others], strict=False):
            if choice != first:
                choice.press("Enter")
            expect(quiz.locator(".kq-feedback")).to_contain_text(f"{letter}: ")
