"""What a learner takes in hand: stepping, trouble, playing, and the pictures that follow."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from widget_parts import find, press

from kubequeue import InvalidArgumentError
from kubequeue.lab.history import History
from kubequeue.lab.live_gantt import gantt_svg
from kubequeue.lab.queue_picture import queue_picture
from kubequeue.lab.scene import FROM_OUTSIDE, chips, described, left_over, moves
from kubequeue.lab.style import ACCENT, key_colours
from kubequeue.lab.timelines import Timelines, lives
from kubequeue.lab.widgets import ConcurrencyPanel, EventCounter, QueueStepper
from kubequeue.lab.widgets.player import Player
from kubequeue.lab.workload import WAITS, create_clusters

A, B, C, D = (f"default/{letter}" for letter in "abcd")
SCRIPT = (("add", A), ("burst", A, B, A), ("add_after", C, 10), ("add_with_priority", D, 5))


def sentence(stepper: QueueStepper) -> str:
    """What stands under the picture."""
    return unescape(re.sub(r"<[^>]+>", "", find(stepper, "kq-sentence").value))


def parsed(svg: str) -> ElementTree.Element:
    """The picture as a tree; fails when it is not well formed."""
    return ElementTree.fromstring(svg)


# --- Stepper ----------------------------------------------------------------------------------


def test_stepping_shows_one_state_after_another() -> None:
    """Forward, back, and by the slider: picture, sentence and slider are of one state."""
    stepper = QueueStepper(*SCRIPT, at=4)
    assert sentence(stepper) == stepper.history.states[4].sentence
    press(stepper, "kq-step")
    assert (stepper.at, find(stepper, "kq-slider").value) == (5, 5)
    press(stepper, "kq-back")
    press(stepper, "kq-back")
    assert stepper.at == 3
    find(stepper, "kq-slider").value = 8
    assert (stepper.at, sentence(stepper)) == (8, stepper.history.states[8].sentence)
    assert described(stepper.history.states[8]) in find(stepper, "kq-picture").value


def test_stepping_past_either_end_says_so_and_stays() -> None:
    """Neither end is an error."""
    stepper = QueueStepper(("add", A))
    last = stepper.at
    press(stepper, "kq-step")
    assert (stepper.at, sentence(stepper)[:22]) == (last, "This is the last state")
    stepper.show(-7)
    assert stepper.at == 0
    press(stepper, "kq-back")
    assert (stepper.at, sentence(stepper)[:23]) == (0, "This is the first state")
    stepper.show(10_000)
    assert stepper.at == last


def test_on_to_the_next_change_of_a_key() -> None:
    """The jump goes to the chosen key's next change, and says so when there is none."""
    stepper = QueueStepper(*SCRIPT, at=0)
    find(stepper, "kq-changing").value = C
    press(stepper, "kq-next-change")
    assert sentence(stepper).startswith("You add C")
    stepper.show(len(stepper.history.states) - 1)
    press(stepper, "kq-next-change")
    assert sentence(stepper) == "Nothing happens to C from here on."


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kq-add", "You add B: a request"),
        ("kq-burst", "You add B 3 times: 3 requests"),
        ("kq-delay", "You add B for 5 s from now"),
        ("kq-priority", "You add B at priority 10"),
        ("kq-rate-limited", "You add B, rate-limited"),
        ("kq-finish", "You end the round of A."),
        ("kq-pass-time", "You let 5 s go by."),
        ("kq-shut-down", "You shut the queue down"),
    ],
)
def test_each_trouble_button_does_what_it_says(name: str, said: str) -> None:
    """A button acts after the state that is shown, and the state that follows is shown."""
    stepper = QueueStepper(("add", A))
    find(stepper, "kq-key").value = B
    press(stepper, name)
    assert sentence(stepper).startswith(said)
    assert stepper.at < len(stepper.history.states)


def test_trouble_at_an_earlier_state_drops_the_future() -> None:
    """The slider's end follows the new future."""
    stepper = QueueStepper(*SCRIPT, at=5)
    press(stepper, "kq-shut-down")
    assert stepper.at == 6
    assert find(stepper, "kq-slider").max == len(stepper.history.states) - 1
    assert "shut down" in find(stepper, "kq-picture").value


def test_only_rounds_under_way_can_be_finished() -> None:
    """The choice follows the state; without a round the button cannot be pressed."""
    stepper = QueueStepper(("add", A), ("add", B))
    assert [key for _, key in find(stepper, "kq-running").options] == [A, B]
    find(stepper, "kq-running").value = B
    press(stepper, "kq-back")
    stepper.step()
    assert find(stepper, "kq-running").value in (A, B)
    stepper.show(0)
    assert find(stepper, "kq-finish").disabled
    assert find(stepper, "kq-running").value is None


def test_what_cannot_be_done_is_a_sentence() -> None:
    """An act that the queue refuses leaves the stepper where it was."""
    stepper = QueueStepper(("add", A))
    before = repr(stepper)
    stepper.act("finish", D)
    assert sentence(stepper).startswith("That cannot be done: finish was 'default/d'")
    stepper.act("pass_time", -1)
    assert "time cannot go back" in sentence(stepper)
    assert repr(stepper) == before


def test_two_steppers_know_nothing_of_each_other() -> None:
    """Acting on one moves only that one."""
    one, other = QueueStepper(*SCRIPT), QueueStepper(*SCRIPT)
    before = repr(other), find(other, "kq-picture").value
    one.act("shut_down")
    one.show(0)
    assert (repr(other), find(other, "kq-picture").value) == before


def test_a_stepper_without_trouble_has_no_such_buttons() -> None:
    """The smaller form only walks."""
    stepper = QueueStepper(*SCRIPT, trouble=False)
    with pytest.raises(ValueError, match="not enough values"):
        find(stepper, "kq-add")
    press(stepper, "kq-back")


def test_playing_goes_to_the_end_and_can_be_paused() -> None:
    """Play walks by itself; pressing again pauses; at the end it is over."""

    async def played() -> None:
        stepper = QueueStepper(*SCRIPT, at=0)
        find(stepper, "kq-speed").value = 0.2
        stepper._player._pause = lambda: 0.0
        press(stepper, "kq-play")
        assert find(stepper, "kq-play").description == "⏸ pause"
        while stepper.at < 4:
            await asyncio.sleep(0)
        press(stepper, "kq-play")
        paused = stepper.at
        await asyncio.sleep(0.01)
        assert (stepper.at, find(stepper, "kq-play").description) == (paused, "▶ play")
        press(stepper, "kq-play")
        press(stepper, "kq-step")  # stepping while it plays is one step more
        while stepper._player.playing:
            await asyncio.sleep(0)
        assert stepper.at == len(stepper.history.states) - 1
        press(stepper, "kq-play")  # at the end: from the start again
        await asyncio.sleep(0)
        assert stepper.at <= 1
        stepper._player.stop()

    asyncio.run(played())


@pytest.mark.parametrize("act", ["close", "trouble"])
def test_playing_ends_when_the_widget_is_closed_or_somebody_acts(act: str) -> None:
    """No task goes on behind a widget that is gone or that has another future."""

    async def played() -> None:
        stepper = QueueStepper(*SCRIPT, at=0)
        press(stepper, "kq-play")
        await asyncio.sleep(0)
        stepper.close() if act == "close" else press(stepper, "kq-add")
        assert not stepper._player.playing
        before = stepper.at
        await asyncio.sleep(0.01)
        assert stepper.at == before

    asyncio.run(played())


def test_a_step_that_fails_ends_the_playing_and_is_told() -> None:
    """An error in a task would be silent; the player hands it on."""
    told: list[BaseException | None] = []

    def broken() -> bool:
        raise RuntimeError("broken")

    async def played() -> None:
        player = Player(broken, lambda: 0.0, told.append)
        player.start()
        player.start()
        await asyncio.sleep(0.01)
        assert not player.playing

    asyncio.run(played())
    assert [repr(each) for each in told] == ["None", "RuntimeError('broken')"]


# --- The picture ------------------------------------------------------------------------------


def test_the_picture_shows_every_place() -> None:
    """Each place has its chips, in the queue's order, with a lock where a key is locked."""
    history = History(*SCRIPT)
    standing = [
        (c.place, c.key, c.label, c.locked) for c in chips(history.states[-1], history.workers)
    ]
    assert standing == [
        ("waiting", C, "in 10 s", False),
        ("ready", D, "priority 5", False),
        ("ready", A, "priority 0", True),
        ("worker", A, "", True),
        ("worker", B, "", True),
        ("locked", A, "", False),
        ("locked", B, "", False),
    ]


def test_the_loop_that_acts_stands_out() -> None:
    """Exactly one loop is filled with the accent, and none when a worker acted."""
    history = History(*SCRIPT)
    for state in history.states:
        svg = queue_picture(state, history.workers, key_colours(history.keys))
        filled = svg.count(f'r="19" fill="{ACCENT}"')
        assert filled == state.actor.startswith("handle_")


def test_the_picture_is_well_formed_and_says_itself() -> None:
    """Keys with signs that mean something in SVG do no harm, and the words are in the label."""
    history = History(("burst", '<b>&"/x', "default/a-very-long-name"), ("pass_time", 2))
    for state in history.states:
        root = parsed(queue_picture(state, history.workers, key_colours(history.keys)))
        assert root.attrib["aria-label"] == described(state)
        assert root.attrib["role"] == "img"


def test_a_chip_comes_from_where_its_key_was() -> None:
    """From the buffer to ready, from ready to the worker, and new ones from outside."""
    history = History(workers=1)
    start = history.do("add", A)
    states, workers = history.states, history.workers
    placed = [chips(state, workers) for state in states[start - 1 :]]
    nothing, asked, ready, given, _ = placed
    assert moves(nothing, asked) == [FROM_OUTSIDE]
    for before, now in ((asked, ready), (ready, given)):
        (way, *_), (old, *_), (new, *_) = moves(before, now), before, now
        assert way == (old.x - new.x, old.y - new.y) != (0, 0)
    assert set(moves(given, given)) == {(0, 0)}


def test_more_keys_than_there_is_room_for_are_counted() -> None:
    """With fifty keys the picture shows the first ones and how many more there are."""
    keys = [f"default/cluster-{n:02}" for n in range(50)]
    history = History(("burst", *keys))
    assert left_over(history.states[-1]) == {"ready": 38}
    last = history.states[-1]
    svg = queue_picture(last, history.workers, key_colours(history.keys))
    assert "and 38 more" in svg
    assert len(chips(last, history.workers)) == 10 + 2 + 2


def test_equal_histories_draw_equal_bytes() -> None:
    """A picture depends on its state and on nothing else."""
    one, other = (QueueStepper(*SCRIPT) for _ in range(2))
    for name in ("kq-picture", "kq-timelines", "kq-table", "kq-sentence"):
        assert find(one, name).value == find(other, name).value


def test_the_time_line_of_a_key() -> None:
    """When it was asked for, pending and out, in numbers of states, and the cursor at one."""
    history = History(("add", A), ("add", A), ("finish", A), workers=1)
    life = lives(history.states, [A])[A]
    assert (life.asked, life.pending, life.out) == ([3, 7], [(4, 5), (8, 12)], [(5, 11), (12, 14)])
    lanes = Timelines(history.states, [A], key_colours([A]))
    drawn = [lanes.at(number) for number in range(len(history.states))]
    assert len(set(drawn)) == len(drawn)
    for svg in drawn:
        parsed(svg)


# --- The smaller ones -------------------------------------------------------------------------


def test_the_counter_counts_events_and_rounds() -> None:
    """However many events there are during a round, one more round follows it."""
    counter = EventCounter()
    for _ in range(4):
        press(counter, "kq-event")
    assert counter.counts == {"events": 4, "merged": 2, "rounds": 1}
    press(counter, "kq-end-round")
    press(counter, "kq-end-round")
    assert counter.counts["rounds"] == 2
    assert find(counter, "kq-end-round").disabled
    counter.end_round()
    press(counter, "kq-start-over")
    assert repr(counter) == "EventCounter: events 0, merged 0, rounds 0"


@pytest.mark.parametrize(
    ("waits", "done", "held"), [(WAITS[0], 2, 4), (WAITS[1], 14, 28), (WAITS[2], 8, 8)]
)
def test_the_panel_follows_its_controls(waits: str, done: float, held: float) -> None:
    """Four clusters, two workers, rounds of a second: what waiting inside a round costs."""
    panel = ConcurrencyPanel(clusters=4)
    before = find(panel, "kq-gantt").value
    find(panel, "kq-waits").value = waits
    assert panel.facts["all clusters done (s)"] == done
    assert panel.facts["seconds of work that held a worker"] == held
    assert (find(panel, "kq-gantt").value == before) == (waits == WAITS[0])


def test_the_panel_draws_a_hundred_clusters() -> None:
    """At its largest the picture is whole, with a bar for each round."""
    sim = create_clusters(100, 8, 1.0, WAITS[2])
    root = parsed(gantt_svg(sim.trace, sim.now))
    bars = [each for each in root if each.tag.endswith("rect")]
    assert len(bars) == len(sim.trace.rounds()) == 200


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"workers": "2"}, "workers was '2'"),
        ({"workers": 1.5}, "workers was 1.5"),
        ({"at": 1.5}, "at was 1.5"),
        ({"keys": []}, "one key or more"),
        ({"keys": "default/a"}, "a list of keys"),
        ({"keys": [[1]]}, "each of them hashable"),
        ({"round_seconds": -1}, "round_seconds was -1"),
        ({"round_seconds": float("nan")}, "round_seconds was nan"),
    ],
)
def test_a_stepper_of_the_wrong_things_is_refused(given: dict[str, Any], said: str) -> None:
    """Before anything runs, in a sentence that names what was wrong."""
    with pytest.raises(InvalidArgumentError, match=re.escape(said)):
        QueueStepper(("add", A), **given)


@pytest.mark.parametrize(
    "given", [{"seconds": float("nan")}, {"workers": "2"}, {"clusters": 0}, {"workers": 9}]
)
def test_a_panel_of_the_wrong_things_is_refused(given: dict[str, Any]) -> None:
    """A slider has its bounds."""
    with pytest.raises(InvalidArgumentError, match="a number from"):
        ConcurrencyPanel(**given)


def test_playing_where_no_page_is_open_is_a_sentence() -> None:
    """Nothing is raised without an event loop, and nothing plays once it is closed."""
    stepper = QueueStepper(*SCRIPT)
    stepper.play()
    assert "Playing needs a notebook" in find(stepper, "kq-sentence").value
    stepper.close()

    async def play() -> bool:
        stepper.play()
        return stepper._player.playing

    assert asyncio.run(play()) is False
