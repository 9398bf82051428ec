"""Every control of every widget, by mouse and by keyboard, in the page of a learner."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from conftest import Served
from hands import Hand, Keyboard, Mouse, last
from lesson import Lesson, Open
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from kubequeue.lab.workload import WAITS, create_clusters

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


@pytest.fixture(params=[Mouse(), Keyboard()], ids=["mouse", "keyboard"])
def hand(request: pytest.FixtureRequest) -> Hand:
    """How a learner touches the page."""
    touched: Hand = request.param
    return touched


def test_walking(show: Shown, hand: Hand) -> None:
    """Step, back, the jump to a key's next change, the slider, the speed, and play with pause."""
    lesson = show(STEPPER)
    says(lesson, "You add A: a request")
    hand.press(lesson.find("kq-step"))
    says(lesson, "handle_add_buffer makes A ready.")
    hand.press(lesson.find("kq-back"))
    says(lesson, "You add A: a request")
    hand.choose(lesson.find("kq-changing"), "C")
    hand.press(lesson.find("kq-next-change"))
    says(lesson, "You add C for 10 s from now")
    hand.slide(lesson.find("kq-slider"), 0)
    says(lesson, "The queue is empty")
    hand.press(lesson.find("kq-last"))
    says(lesson, "handle_ready_items wakes, finds no worker waiting")
    hand.press(lesson.find("kq-first"))
    says(lesson, "The queue is empty")
    hand.press(lesson.find("kq-next-change"))
    says(lesson, "You add C for 10 s from now")
    hand.choose(lesson.find("kq-speed"), "fast")
    hand.press(lesson.find("kq-play"))
    expect(lesson.find("kq-play")).to_have_text("⏸ pause")
    says(lesson, "handle_add_buffer puts C among the waiting")
    hand.press(lesson.find("kq-play"))
    expect(lesson.find("kq-play")).to_have_text("▶ play")
    hand.press(lesson.find("kq-first"))
    for words in ("You add C", "handle_add_buffer puts C among the waiting, due at 10 s."):
        hand.press(lesson.find("kq-next-change"))
        says(lesson, words)
    lesson.screenshot(f"stepper-{name(hand)}", lesson.find("kq-stepper"))
    expect(lesson.find("kq-table")).to_be_hidden()
    hand.press(lesson.find("kq-fold"))
    expect(lesson.find("kq-table")).to_contain_text("locked (by)")
    hand.press(lesson.find("kq-fold"))
    expect(lesson.find("kq-table")).to_be_hidden()
    lesson.assert_clean()


def test_keys_of_the_stepper(show: Shown) -> None:
    """Arrows step, space plays; Home and End on the slider go to the first state and the last."""
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
    handle = lesson.find("kq-slider").get_by_role("slider")
    handle.press("Home")
    says(lesson, "The queue is empty")
    handle.press("End")
    says(lesson, "handle_ready_items wakes, finds no worker waiting and sleeps again.")
    lesson.find("kq-finish").press("Enter")
    says(lesson, "You end the round of A.")
    handle.press("End")  # also when the end has moved
    says(lesson, "worker-1 begins a round of D.")
    lesson.assert_clean()


def test_letters_stay_in_the_widget(show: Shown) -> None:
    """In a drop-down, a letter chooses; JupyterLab would insert, copy or delete a cell."""
    lesson = show(STEPPER)
    for letter in "bcddab":
        lesson.find("kq-changing").locator("select").press(letter)
        lesson.page.wait_for_timeout(1000)  # letters in a row would be one word
    assert lesson.page.locator(".jp-Notebook .jp-Cell").count() == 1
    lesson.find("kq-next-change").press("Enter")
    says(lesson, "You add A 2 times and B")
    lesson.assert_clean()


def test_trouble(show: Shown, hand: Hand) -> None:
    """Each trouble button acts, from the state that is shown, and the page says what it did."""
    lesson = show(STEPPER)
    hand.choose(lesson.find("kq-key"), "B")
    lesson.find("kq-seconds").locator("input").fill("7")
    lesson.find("kq-priority-value").locator("input").fill("3")
    lesson.find("kq-priority-value").locator("input").press("Tab")
    for control, words in (
        ("kq-add", "You add B: a request"),
        ("kq-burst", "You add B 3 times: 3 requests"),
        ("kq-rate-limited", "You add B, rate-limited"),
        ("kq-priority", "You add B at priority 3"),
        ("kq-delay", "You add B for 7 s from now"),
        ("kq-finish", "You end the round of A."),
        ("kq-pass-time", "You let 7 s go by."),
        ("kq-shut-down", "You shut the queue down"),
    ):
        to_the_end(lesson, hand)
        hand.press(lesson.find(control))
        says(lesson, words)
    expect(lesson.find("kq-picture")).to_contain_text("shut down")
    lesson.screenshot(f"trouble-{name(hand)}")
    lesson.assert_clean()


def to_the_end(lesson: Lesson, hand: Hand) -> None:
    """On to the last state, and wait until it is shown."""
    hand.press(lesson.find("kq-last"))
    end = last(lesson.find("kq-slider"))
    expect(lesson.find("kq-timelines")).to_contain_text(f"state {end:.0f}, t = ")


def name(hand: Hand) -> str:
    """The name of a way to touch."""
    return type(hand).__name__.lower()


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
    to_the_end(lesson, Keyboard())
    buttons = ["kq-back", "kq-back", "kq-step", "kq-step"] * 3
    seconds = [lesson.seconds_to_paint(lesson.find(name), ".kq-picture") for name in buttons]
    told = ", ".join(f"{each * 1000:.0f}" for each in seconds)
    lesson.note("paint", f"milliseconds from a click to the painted picture, 50 keys: {told}\n")
    lesson.assert_clean()


def test_the_panel(show: Shown, hand: Hand) -> None:
    """Workers, clusters, round time and the way of waiting: the picture follows each."""
    lesson = show("from kubequeue.lab.widgets import ConcurrencyPanel\nConcurrencyPanel()")
    done = lesson.find("kq-sentence")
    _says_when_done(lesson, 6, 2, 1)
    hand.slide(lesson.find("kq-workers"), 8)
    _says_when_done(lesson, 6, 8, 1)
    hand.slide(lesson.find("kq-clusters"), 100)
    _says_when_done(lesson, 100, 8, 1)
    hand.slide(lesson.find("kq-round"), 5)
    _says_when_done(lesson, 100, 8, 5)
    hand.slide(lesson.find("kq-clusters"), 1)
    hand.choose(lesson.find("kq-waits"), WAITS[1])
    _says_when_done(lesson, 1, 8, 5, WAITS[1])
    assert done.get_by_role("table").count() == 1
    lesson.screenshot(f"panel-{name(hand)}", lesson.find("kq-panel"))
    lesson.assert_clean()


def _says_when_done(
    lesson: Lesson, clusters: int, workers: int, seconds: float, waits: str = WAITS[0]
) -> None:
    """The panel soon tells what a run of its own with these numbers tells."""
    done = create_clusters(clusters, workers, seconds, waits).now
    expect(lesson.find("kq-sentence")).to_contain_text(f"all clusters done (s){done:.4g}")


def test_the_counter(show: Shown, hand: Hand) -> None:
    """Events, the end of a round, and starting over."""
    lesson = show("from kubequeue.lab.widgets import EventCounter\nEventCounter()")
    counts = lesson.find("kq-counts")
    for number in range(1, 5):
        hand.press(lesson.find("kq-event"))
        expect(counts).to_contain_text(f"events{number}")
    expect(counts).to_contain_text("rounds1")
    hand.press(lesson.find("kq-end-round"))
    expect(counts).to_contain_text("rounds2")
    lesson.screenshot(f"counter-{name(hand)}", lesson.find("kq-counter"))
    hand.press(lesson.find("kq-start-over"))
    expect(counts).to_contain_text("rounds0")
    lesson.assert_clean()


TOPOLOGY = """
from kubequeue.kuberay.operator import start_operator
from kubequeue.lab.widgets import LiveTopology
from kubequeue.lab.world import World
flags = {"reconcile_concurrency": 2, "lag": 0.05, "leader_election": False}
world = World(name="one", **flags)
other = start_operator(world.sim, world.server, name="two", **flags)
world.run(until=5)
for name in "abcd":
    world.create(name)
world.run(until=8)
LiveTopology(world.sim.trace, world.operator, other, at=0)
"""


def test_the_live_topology(show: Shown, hand: Hand) -> None:
    """Step, back, the ends, the slider and the table: the rounds that are told change with each."""
    lesson = show(TOPOLOGY)
    says(lesson, "At 0.000 s 0 rounds run.")
    hand.press(lesson.find("kq-step"))
    says(lesson, "At 5.050 s 4 rounds run")
    says(lesson, "Two rounds of default/a run at one time.")
    expect(lesson.find("kq-picture")).to_contain_text("two: works (no lease)")
    lesson.screenshot(f"topology-{name(hand)}", lesson.find("kq-topology"))
    hand.press(lesson.find("kq-back"))
    says(lesson, "At 0.000 s")
    hand.press(lesson.find("kq-last"))
    says(lesson, "0 rounds run.")
    hand.press(lesson.find("kq-first"))
    says(lesson, "At 0.000 s")
    hand.slide(lesson.find("kq-slider"), 1)
    says(lesson, "At 5.050 s")
    hand.press(lesson.find("kq-fold"))
    expect(lesson.find("kq-table")).to_contain_text("one, rayclusterrunning 2, in line 2")
    lesson.assert_clean()


def test_the_conflict_stepper(show: Shown, hand: Hand) -> None:
    """Stepping, both ends, who writes first, and whether the second one reads again."""
    lesson = show("from kubequeue.lab.widgets import ConflictStepper\nConflictStepper(at=4)")
    says(lesson, "version 1 becomes 2")
    hand.press(lesson.find("kq-step"))
    says(lesson, "The server refuses the operator's status: Conflict.")
    expect(lesson.find("kq-picture")).to_contain_text("✗ Conflict")
    expect(lesson.find("kq-table")).to_contain_text("operator12Conflict")
    lesson.screenshot(f"conflict-{name(hand)}", lesson.find("kq-conflict"))
    hand.press(lesson.find("kq-back"))
    says(lesson, "version 1 becomes 2")
    hand.press(lesson.find("kq-last"))
    says(lesson, "version 2 becomes 3")
    hand.press(lesson.find("kq-first"))
    says(lesson, "Nobody has read it yet.")
    tick = lesson.find("kq-rereads").locator("input")
    tick.press("Space") if isinstance(hand, Keyboard) else tick.click()
    says(lesson, "Nobody has read it yet.")
    hand.press(lesson.find("kq-last"))
    says(lesson, "That makes four; it gives up.")
    hand.choose(lesson.find("kq-first-writer"), "the operator")
    says(lesson, "Nobody has read it yet.")
    hand.slide(lesson.find("kq-slider"), 4)
    says(lesson, "the operator's status: version 1 becomes 2")
    lesson.assert_clean()


def test_the_cache_panel(show: Shown, hand: Hand) -> None:
    """The lag and each switch: sentence, table and time lines follow."""
    lesson = show("from kubequeue.lab.widgets import CachePanel\nCachePanel(lag=6)")
    facts, lines = lesson.find("kq-facts"), lesson.find("kq-seen")
    says(lesson, "1 Pod was created. 2 rounds left the group alone.")
    expect(lines.locator("svg")).to_have_attribute("aria-label", re.compile("^Time lines: "))
    hand.slide(lesson.find("kq-lag"), 36)
    says(lesson, "2 Pods were created: 1 too many.")
    expect(facts).to_contain_text("longest gap (s)")
    hand.slide(lesson.find("kq-lag"), 0)
    expect(facts).to_contain_text("longest gap (s)0")
    hand.slide(lesson.find("kq-lag"), 6)
    hand.press(lesson.find("kq-memory"))
    says(lesson, "3 Pods were created: 2 too many.")
    expect(lines).to_contain_text("nothing is remembered")
    lesson.screenshot(f"cache-panel-{name(hand)}", lesson.find("kq-cache-panel"))
    hand.press(lesson.find("kq-memory"))
    for control, words in (
        ("kq-vanish", "timed out"),
        ("kq-lose-answer", "answer lost"),
        ("kq-crash", "lost"),
    ):
        hand.press(lesson.find(control))
        expect(lines).to_contain_text(words)
        hand.press(lesson.find(control))
        says(lesson, "1 Pod was created. 2 rounds left the group alone.")
    lesson.assert_clean()
