"""Every control of every widget, by mouse and by keyboard, in the page of a learner."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from conftest import Served
from lesson import Lesson, Open
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, expect

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
STEPPER = """
from kubequeue.lab.widgets import QueueStepper
script = [("add", "default/a"), ("burst", "default/a", "default/b", "default/a")]
QueueStepper(*script, ("add_after", "default/c", 10), ("add_with_priority", "default/d", 5), at=4)
"""


@pytest.fixture
def show(open_lesson: Open, served: Served, request: pytest.FixtureRequest) -> Shown:
    """A notebook of the given cells, run and open."""
    _, folder = served
    return Shown(open_lesson, folder, request.node.name)


class Shown:
    """Opens a notebook made of cells."""

    def __init__(self, open_lesson: Open, folder: Path, name: str) -> None:
        self._open, self._folder, self._name = open_lesson, folder, f"{name}.ipynb"

    def __call__(self, *cells: str) -> Lesson:
        notebook = new_notebook(
            cells=[new_code_cell(cell) for cell in cells], metadata={"kernelspec": KERNEL}
        )
        nbformat.write(notebook, self._folder / self._name)
        lesson = self._open(self._name)
        lesson.run_all()
        return lesson


def says(lesson: Lesson, words: str) -> None:
    """The sentence under the picture begins so, soon."""
    expect(lesson.find("kq-sentence")).to_contain_text(words)


def test_walking_by_mouse(show: Shown) -> None:
    """Step, back, the jump to a key's next change, the speed, and play with pause."""
    lesson = show(STEPPER)
    says(lesson, "You add A: a request")
    lesson.find("kq-step").click()
    says(lesson, "handle_add_buffer makes A ready.")
    lesson.find("kq-back").click()
    says(lesson, "You add A: a request")
    lesson.find("kq-changing").locator("select").select_option("C")
    lesson.find("kq-next-change").click()
    says(lesson, "You add C for 10 s from now")
    lesson.find("kq-speed").locator("select").select_option("fast")
    lesson.find("kq-play").click()
    expect(lesson.find("kq-play")).to_have_text("⏸ pause")
    says(lesson, "handle_add_buffer puts C among the waiting")
    lesson.find("kq-play").click()
    expect(lesson.find("kq-play")).to_have_text("▶ play")
    lesson.screenshot("stepper", lesson.find("kq-stepper"))
    lesson.find("kq-stepper").get_by_text("The same as a table").click()
    expect(lesson.find("kq-table")).to_contain_text("locked (by)")
    lesson.assert_clean()


def test_walking_by_keyboard(show: Shown) -> None:
    """Arrows step, space plays, and arrows on the slider go through the states too."""
    lesson = show(STEPPER)
    keyboard = lesson.page.keyboard
    lesson.find("kq-keys").focus()
    keyboard.press("ArrowRight")
    says(lesson, "handle_add_buffer makes A ready.")
    keyboard.press("ArrowLeft")
    says(lesson, "You add A: a request")
    keyboard.press("Space")
    expect(lesson.find("kq-play")).to_have_text("⏸ pause")
    keyboard.press("Space")
    expect(lesson.find("kq-play")).to_have_text("▶ play")
    lesson.find("kq-slider").get_by_role("slider").press("Home")
    says(lesson, "The queue is empty")
    lesson.find("kq-slider").get_by_role("slider").press("ArrowRight")
    says(lesson, "worker-1 asks for a key.")
    lesson.find("kq-step").press("Enter")
    says(lesson, "worker-2 asks for a key.")
    lesson.assert_clean()


@pytest.mark.parametrize("by_keyboard", [False, True], ids=["mouse", "keyboard"])
def test_trouble(show: Shown, by_keyboard: bool) -> None:
    """Each trouble button acts, from the state that is shown, and the page says what it did."""
    lesson = show(STEPPER)
    before = "You add A: a request"
    lesson.find("kq-key").locator("select").select_option("B")
    lesson.find("kq-seconds").locator("input").fill("7")
    lesson.find("kq-priority-value").locator("input").fill("3")
    lesson.find("kq-priority-value").locator("input").press("Tab")
    for name, words in (
        ("kq-add", "You add B: a request"),
        ("kq-burst", "You add B 3 times: 3 requests"),
        ("kq-rate-limited", "You add B, rate-limited"),
        ("kq-priority", "You add B at priority 3"),
        ("kq-delay", "You add B for 7 s from now"),
        ("kq-finish", "You end the round of A."),
        ("kq-pass-time", "You let 7 s go by."),
        ("kq-shut-down", "You shut the queue down"),
    ):
        _to_the_end(lesson, before)
        _press(lesson.find(name), by_keyboard)
        says(lesson, words)
        before = words
    expect(lesson.find("kq-picture")).to_contain_text("shut down")
    lesson.screenshot(f"trouble-{'keyboard' if by_keyboard else 'mouse'}")
    lesson.assert_clean()


def _to_the_end(lesson: Lesson, words: str) -> None:
    """On to the last state, and wait until the page no longer says these words."""
    lesson.find("kq-slider").get_by_role("slider").press("End")
    expect(lesson.find("kq-sentence")).not_to_contain_text(words)


def _press(button: Locator, by_keyboard: bool) -> None:
    if by_keyboard:
        button.press("Enter")
    else:
        button.click()


def test_two_steppers_in_one_notebook(show: Shown) -> None:
    """Keys and buttons of one move that one alone."""
    lesson = show(STEPPER, STEPPER)
    lesson.find("kq-keys").nth(1).focus()
    lesson.page.keyboard.press("ArrowRight")
    expect(lesson.find("kq-sentence").nth(1)).to_contain_text("handle_add_buffer makes A ready.")
    expect(lesson.find("kq-sentence").nth(0)).to_contain_text("You add A: a request")
    lesson.assert_clean()


def test_a_restarted_kernel_leaves_a_picture_that_does_no_harm(show: Shown) -> None:
    """After a restart the old picture stands, its buttons do nothing, and a new run works."""
    lesson = show(STEPPER)
    lesson.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    lesson.find("kq-step").click()
    lesson.page.wait_for_timeout(500)
    lesson.run_all()
    lesson.find("kq-step").click()
    says(lesson, "handle_add_buffer makes A ready.")
    assert set(lesson.errors) <= {"Cannot send"}  # JupyterLab's word for a kernel that is gone


def test_a_step_is_painted(show: Shown) -> None:
    """How long fifty keys take to paint is kept with the screenshots, for whoever compares."""
    keys = [f"default/cluster-{n:02}" for n in range(50)]
    lesson = show(STEPPER.replace("at=4", f"('burst', *{keys}), at=4"))
    _to_the_end(lesson, "You add A: a request")
    buttons = ["kq-back", "kq-back", "kq-step", "kq-step"] * 3
    seconds = [lesson.seconds_to_paint(lesson.find(name), ".kq-picture") for name in buttons]
    told = ", ".join(f"{each * 1000:.0f}" for each in seconds)
    lesson.note("paint", f"milliseconds from a click to the painted picture, 50 keys: {told}\n")
    lesson.assert_clean()


def test_the_panel(show: Shown) -> None:
    """Workers, clusters, round time and the way of waiting: the picture follows each."""
    lesson = show("from kubequeue.lab.widgets import ConcurrencyPanel\nConcurrencyPanel()")
    done = lesson.find("kq-sentence")
    expect(done).to_contain_text("all clusters done (s)3")
    lesson.find("kq-workers").get_by_role("slider").press("ArrowRight")
    expect(done).to_contain_text("all clusters done (s)2")
    lesson.find("kq-clusters").get_by_role("slider").press("ArrowRight")
    expect(done).to_contain_text("all clusters done (s)3")
    lesson.find("kq-round").get_by_role("slider").press("ArrowRight")
    expect(done).to_contain_text("all clusters done (s)4.5")
    lesson.find("kq-waits").locator("select").select_option("waits inside")
    expect(done).to_contain_text("all clusters done (s)24")
    lesson.screenshot("panel", lesson.find("kq-panel"))
    lesson.assert_clean()


def test_the_counter(show: Shown) -> None:
    """Events, the end of a round, and starting over."""
    lesson = show("from kubequeue.lab.widgets import EventCounter\nEventCounter()")
    counts = lesson.find("kq-counts")
    for number in range(1, 5):
        lesson.find("kq-event").click()
        expect(counts).to_contain_text(f"events{number}")
    expect(counts).to_contain_text("rounds1")
    lesson.find("kq-end-round").press("Enter")
    expect(counts).to_contain_text("rounds2")
    lesson.screenshot("counter", lesson.find("kq-counter"))
    lesson.find("kq-start-over").click()
    expect(counts).to_contain_text("rounds0")
    lesson.assert_clean()
