"""The pictures of the course, looked at through what is drawn: bars, lanes, colours and words."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from driving import NAME, answering, priority_rig
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.image import imread
from matplotlib.patches import Rectangle

from kubequeue import (
    Controller,
    InvalidArgumentError,
    PriorityQueue,
    ReconcileError,
    Simulation,
    TerminalError,
    plots,
)
from kubequeue.lab import style
from kubequeue.lab.picture import PIXELS_PER_INCH, Picture
from kubequeue.observe.trace import Trace


def _run(keys: Iterable[Any], workers: int = 2, until: float = 10.0, *answers: Any) -> Trace:
    """One round of a second for each key, all added at once."""
    rig = priority_rig()
    rounds = answering(rig.sim, *answers, seconds=1)
    Controller(rig.sim, rig.queue, rounds, max_concurrent_reconciles=workers).start()
    rig.queue.add_with_opts(*keys)
    rig.sim.run(until=until)
    return rig.sim.trace


def _axes(picture: Picture) -> Axes:
    (ax,) = picture.figure.axes
    return ax


def _bars(ax: Axes) -> list[tuple[float, float, float, str]]:
    """Every bar: its lane, its two ends and its colour, in the order of lanes."""
    bars = []
    for collection in ax.collections:
        colours: Any = collection.get_facecolor()
        for path, colour in zip(collection.get_paths(), colours, strict=True):
            box = path.get_extents()
            lane = (box.y0 + box.y1) / 2
            bars.append((round(lane, 6), round(box.x0, 6), round(box.x1, 6), to_hex(colour)))
    return bars


def _words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


def _lanes(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours as WCAG defines it, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
            for part in to_rgb(colour)
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


# --- Gantt ------------------------------------------------------------------------------------


def test_a_bar_for_each_round_in_the_lane_of_its_worker() -> None:
    """Three rounds, two workers: where each bar begins and ends, and what stands in it."""
    ax = _axes(plots.gantt(_run("abc")))
    assert _lanes(ax) == ["worker-1", "worker-2"]
    bars = [(lane, start, end) for lane, start, end, _ in _bars(ax)]
    assert bars == [(0, 0, 1), (0, 1, 2), (1, 0, 1)]
    assert [word for word in _words(ax) if word != "idle"] == ["A", "C", "B"]


def test_a_dashed_frame_for_each_stretch_in_line() -> None:
    """Who waits while both workers are busy is seen and told, in the lane of its key."""
    picture = plots.gantt(_run("abc"), by="key", pending=True)
    (frame,) = [patch for patch in _axes(picture).patches if isinstance(patch, Rectangle)]
    assert (frame.get_x(), frame.get_width(), frame.get_linestyle()) == (0, 1, "--")
    assert frame.get_y() + frame.get_height() / 2 == _lanes(_axes(picture)).index("c")
    assert picture.alt.endswith("Dashed frames, in line: C 0 to 1 s.")


def test_a_key_that_only_stands_in_line_has_a_lane() -> None:
    """A key that no worker ever took is not left out of the picture."""
    trace = _run("abc", until=0.5)
    assert _lanes(_axes(plots.gantt(trace, by="key"))) == ["a", "b"]
    assert _lanes(_axes(plots.gantt(trace, by="key", pending=True))) == ["a", "b", "c"]


def test_marks_say_what_happened_when() -> None:
    """A line through all lanes at its second, its words above it and in the alternative text."""
    picture = plots.gantt(_run("ab"), marks={0.5: "B changes"})
    assert "B changes" in _words(_axes(picture))
    (line,) = _axes(picture).lines
    assert np.array_equal(line.get_xdata(), [0.5, 0.5])
    assert picture.alt.endswith("Marks: B changes at 0.5 s.")


def test_by_key_each_key_has_a_lane() -> None:
    """The same rounds, a lane for each key, its name without a capital."""
    ax = _axes(plots.gantt(_run(["default/b", "default/a", "default/c"]), by="key"))
    assert _lanes(ax) == ["default/a", "default/b", "default/c"]
    assert [(lane, start) for lane, start, *_ in _bars(ax)] == [(0, 0), (1, 0), (2, 1)]


def test_the_first_lane_is_on_top() -> None:
    """The axis of lanes runs downwards, and every lane is inside."""
    ax = _axes(plots.gantt(_run("abc"), by="key"))
    bottom, top = ax.get_ylim()
    assert bottom > 2 > 0 > top


def test_ten_workers_come_in_the_order_of_their_numbers() -> None:
    """worker-10 after worker-9, not after worker-1."""
    assert _lanes(_axes(plots.gantt(_run("a", workers=10)))) == [
        f"worker-{number}" for number in range(1, 11)
    ]


def test_a_worker_without_a_round_has_a_lane() -> None:
    """Idleness is what a lesson may be about: the lane is there, and says so."""
    ax = _axes(plots.gantt(_run("a", workers=3)))
    assert _lanes(ax) == ["worker-1", "worker-2", "worker-3"]
    assert len(_bars(ax)) == 1
    idle = [text.get_position()[1] for text in ax.texts if text.get_text() == "idle"]
    assert sorted(idle) == [0, 1, 2]


def test_a_busy_worker_is_not_called_idle() -> None:
    """The word stands only where there is a gap."""
    assert "idle" not in _words(_axes(plots.gantt(_run("abcd", workers=2, until=2.0))))


@pytest.mark.parametrize("names", [("one", "two"), ("first controller", "second controller")])
@pytest.mark.parametrize("busy", [1, 2])
def test_two_controllers_do_not_share_lanes(names: tuple[str, str], busy: int) -> None:
    """worker-1 of one is not worker-1 of the other, though one of them may have no round yet."""
    sim = Simulation()
    for number, name in enumerate(names):
        queue = PriorityQueue(sim, f"queue of {name}")
        rounds = answering(sim, seconds=1)
        Controller(sim, queue, rounds, name=name, max_concurrent_reconciles=2).start()
        if number < busy:
            queue.add("a")
    sim.run(until=4)
    ax = _axes(plots.gantt(sim.trace))
    assert _lanes(ax) == [f"{name} worker-{number}" for name in names for number in (1, 2)]
    assert [lane for lane, *_ in _bars(ax)] == [0, 2][:busy]


def test_a_round_that_still_runs_ends_with_the_picture() -> None:
    """Its bar reaches the right end, and three dots say that it goes on."""
    ax = _axes(plots.gantt(_run("a", workers=1, until=0.5)))
    assert [(start, end) for _, start, end, _ in _bars(ax)] == [(0, 0.5)]
    assert _words(ax) == ["A …"]


@pytest.mark.parametrize("answer", [ReconcileError("no"), TerminalError("no")])
def test_a_round_that_failed_is_marked(answer: Exception) -> None:
    """A cross behind the key, for those who see no colour too."""
    picture = plots.gantt(_run("a", 1, 1.001, answer))
    assert "A ✗" in _words(_axes(picture))
    assert "✗" in picture.alt


def test_until_cuts_the_picture() -> None:
    """Rounds after the end are not drawn, one across it is cut, and the axis ends there."""
    picture = plots.gantt(_run("abcd", workers=1), until=1.5)
    ax = _axes(picture)
    assert [(start, end) for _, start, end, _ in _bars(ax)] == [(0, 1), (1, 1.5)]
    assert ax.get_xlim() == (0, 1.5)
    assert "2 rounds in 1.5 s" in picture.alt


def test_the_time_axis_says_its_unit() -> None:
    """Virtual seconds, from zero to where the run has got."""
    ax = _axes(plots.gantt(_run("a")))
    assert ax.get_xlabel() == "virtual time (s)"
    assert ax.get_xlim() == (0, 10)


def test_a_title_is_a_sentence_or_the_counts() -> None:
    """Above the picture and in its words; without one, what can be counted."""
    trace = _run("abc")
    for title, expected in (
        ("Two at a time", "Two at a time"),
        (None, "2 workers, 3 keys, 3 rounds in 10 s"),
    ):
        picture = plots.gantt(trace, title=title)
        assert _axes(picture).get_title(loc="left") == expected
        assert expected in picture.alt


@pytest.mark.parametrize("by", ["workers", "", "queue", None])
def test_a_wrong_by_is_an_error(by: Any) -> None:
    """It says what can be chosen."""
    with pytest.raises(InvalidArgumentError, match=r'by was .*"worker" or .*"key"'):
        plots.gantt(_run("a"), by=by)


def test_the_life_of_an_object_is_behind_its_rounds() -> None:
    """A pale bar for each, in the colour of its key, also for an object without a round."""
    alive = {"a": (0.0, 9.0), "z": (2.0, 4.0)}
    ax = _axes(plots.gantt(_run("a"), by="key", alive=alive, keys=["a"]))
    assert _lanes(ax) == ["a", "z"]
    pale = [c for c in ax.collections if c.get_alpha()]
    ends = [(p.get_extents().x0, p.get_extents().x1) for c in pale for p in c.get_paths()]
    assert ends == [(0, 9), (2, 4)]


def test_a_picture_can_be_drawn_into_given_axes() -> None:
    """So that two pictures fit into one figure."""
    figure = plots.new_figure(8, 4)
    above, below = figure.subplots(2)
    picture = plots.gantt(_run("abc"), ax=below)
    assert picture.figure is figure
    assert (len(_bars(above)), len(_bars(below))) == (0, 3)


def test_two_panels_share_their_seconds() -> None:
    """Above the workers, below the objects, and the words of both."""
    alive = {"a": (0.0, 9.0), "b": (1.0, 8.0)}
    picture = plots.workers_and_objects(_run("ab"), alive, titles=("Above", "Below"))
    above, below = picture.figure.axes
    assert (_lanes(above), _lanes(below)) == (["worker-1", "worker-2"], ["a", "b"])
    assert above.get_xlim() == below.get_xlim() == (0, 10)
    assert picture.alt.startswith("Two panels. Gantt chart: Above.")
    assert "Gantt chart: Below." in picture.alt


# --- Colours ----------------------------------------------------------------------------------


def test_a_key_has_its_colour_in_every_picture() -> None:
    """By worker or by key, alone or among others, with a namespace or without."""
    seen = set()
    for keys in ("c", "abc", "hgfedcba", ["default/c", "default/h"]):
        for by in ("worker", "key"):
            trace = _run(keys)
            (place,) = [
                number
                for number, span in enumerate(
                    sorted(trace.rounds(), key=lambda s: s.worker if by == "worker" else s.key)
                )
                if span.key.endswith("c")
            ]
            seen.add(_bars(_axes(plots.gantt(trace, by=by)))[place][-1])
    assert seen == {style.KEY_COLOURS[2].lower()}


def test_eight_keys_are_told_apart() -> None:
    """Eight colours, no two alike."""
    colours = [bar[-1] for bar in _bars(_axes(plots.gantt(_run("abcdefgh"), by="key")))]
    assert len(set(colours)) == 8
    assert to_hex(style.OTHER) not in colours


def test_from_the_ninth_key_on_bars_are_grey() -> None:
    """No colour is used twice: a key without one is grey, and can be read all the same."""
    ax = _axes(plots.gantt(_run([f"cluster-{n:02}" for n in range(12)]), by="key"))
    colours = [bar[-1] for bar in _bars(ax)]
    assert len(set(colours[:8])) == 8
    assert colours[8:] == [to_hex(style.OTHER)] * 4
    assert len(_lanes(ax)) == 12


def test_keys_that_the_story_is_not_about_are_grey() -> None:
    """With `keys`, the others step back."""
    ax = _axes(plots.gantt(_run("abc"), by="key", keys=["b"]))
    grey = to_hex(style.OTHER)
    assert [bar[-1] == grey for bar in _bars(ax)] == [True, False, True]


def test_two_keys_of_one_letter_have_two_colours() -> None:
    """default/a and team/a are two keys."""
    colours = style.key_colours(["default/a", "team/a"])
    assert len(set(colours.values())) == 2


@pytest.mark.parametrize("colour", [*style.KEY_COLOURS, style.OTHER])
def test_text_on_a_bar_can_be_read(colour: str) -> None:
    """A contrast of 4.5 or more, on every colour that a bar can have."""
    assert _contrast(colour, style.text_colour(colour)) >= 4.5


@pytest.mark.parametrize("colour", [style.INK, style.SOFT_INK, style.ACCENT])
def test_text_on_the_paper_can_be_read(colour: str) -> None:
    """The same for what stands beside the bars."""
    assert _contrast(colour, "white") >= 4.5


def test_the_text_of_a_bar_fits_its_colour() -> None:
    """What is drawn is what the rule says, bar by bar."""
    ax = _axes(plots.gantt(_run("abcdefgh"), by="key"))
    fills = [bar[-1].upper() for bar in _bars(ax)]
    inks = [str(text.get_color()) for text in ax.texts]
    assert inks == [style.text_colour(fill) for fill in fills]


# --- The life of one key ----------------------------------------------------------------------


def _two_rounds() -> Trace:
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim, seconds=2)).start()
    for at in (1.0, 2.0, 2.5):
        rig.sim.call_at(at, lambda: rig.queue.add("a"))
    rig.sim.run(until=6)
    return rig.sim.trace


def test_the_life_of_a_key_has_three_lanes() -> None:
    """Asked for, pending, out: the bars are the rounds, the outline is the record between."""
    ax = _axes(plots.key_timeline(_two_rounds(), "a"))
    assert _lanes(ax) == ["asked for", "pending", "being processed"]
    assert [(lane, start, end) for lane, start, end, _ in _bars(ax)] == [(2, 1, 3), (2, 3, 5)]
    assert _words(ax).count("A with worker-1") == 2
    assert "one record" in _words(ax)


def test_each_asking_is_marked_by_what_became_of_it() -> None:
    """Hollow when it merged into a record that was there, filled when it made one."""
    ax = _axes(plots.key_timeline(_two_rounds(), "a"))
    marks = {
        float(np.asarray(line.get_xdata())[0]): line.get_markerfacecolor()
        for line in ax.lines
        if line.get_marker() == "v"
    }
    filled = style.KEY_COLOURS[0]
    assert marks == {1.0: filled, 2.0: filled, 2.5: "white"}
    names = ["enqueued", "again", "merged"]
    assert [word for word in _words(ax) if word in names] == names


def test_of_two_askings_at_once_the_first_is_filled() -> None:
    """One makes the record and the other merges into it, though both have the same time."""
    rig = priority_rig()
    rig.sim.run(until=1)
    rig.queue.add("a")
    rig.queue.add("a")
    rig.sim.run(until=2)
    ax = _axes(plots.key_timeline(rig.sim.trace, "a"))
    marks = [line.get_markerfacecolor() for line in ax.lines if line.get_marker() == "v"]
    assert marks == [style.KEY_COLOURS[0], "white"]
    assert [word for word in _words(ax) if word in ("enqueued", "merged")] == ["enqueued", "merged"]


def test_the_words_of_a_key_timeline() -> None:
    """Chart, axis, range, and all that is drawn."""
    assert plots.key_timeline(_two_rounds(), "a").alt == (
        "Time line of one key: a: asked for 3 times, taken 2 times. "
        "Across: virtual time from 0 to 6 s. Asked for at 1, 2, 2.5 s. "
        "Pending from 1 to 1 s, from 2 to 3 s. Being processed from 1 to 3 s, from 3 to 5 s."
    )


def test_a_key_that_nobody_asked_for_has_an_empty_time_line() -> None:
    """And words that say so."""
    picture = plots.key_timeline(_two_rounds(), "never seen")
    assert _bars(_axes(picture)) == []
    assert "Asked for never. Pending never. Being processed never." in picture.alt


# --- Curves -----------------------------------------------------------------------------------


def test_a_curve_goes_through_its_points() -> None:
    """One line for each name, told apart in grey by mark and dash, named at its end."""
    lines = {"sum": {1.0: 2.0, 2.0: 4.0}, "mean": {1.0: 3.0, 2.0: 3.0}}
    picture = plots.curves(lines, x="workers", y="rounds per second", title="More is more")
    ax = _axes(picture)
    drawn = [dict(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in ax.lines]  # type: ignore[arg-type]
    assert drawn == list(lines.values())
    assert _words(ax) == ["sum", "mean"]
    assert len({(line.get_marker(), line.get_linestyle()) for line in ax.lines}) == 2
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("workers", "rounds per second")
    assert ax.get_ylim()[0] == 0
    assert picture.alt == (
        "Line chart: More is more. Across: workers. Up: rounds per second. "
        "sum: 2 at 1, 4 at 2 (changing). mean: 3 at 1, 3 at 2 (flat)."
    )


# --- Words and files --------------------------------------------------------------------------


def test_the_words_of_a_gantt_chart() -> None:
    """The chart, both axes with their range, and each round."""
    assert plots.gantt(_run("abc", workers=2, until=4)).alt == (
        "Gantt chart: 2 workers, 3 keys, 3 rounds in 4 s. Across: virtual time from 0 to 4 s. "
        "Down: worker-1, worker-2. worker-1: A 0 to 1 s, C 1 to 2 s. worker-2: B 0 to 1 s."
    )


def test_the_words_of_a_large_chart_stay_short() -> None:
    """Twelve rounds and eight lanes are told; of the rest, how many there are."""
    alt = plots.gantt(_run([f"cluster-{n:02}" for n in range(20)]), by="key").alt
    assert "and 12 more." in alt
    assert alt.endswith("And 8 more rounds.")
    assert alt.count(" s.") <= 16


EVERY_CHART: dict[str, Callable[[Trace], Picture]] = {
    "by worker": plots.gantt,
    "by key": lambda trace: plots.gantt(trace, by="key"),
    "one key": lambda trace: plots.key_timeline(trace, "a"),
    "two panels": lambda trace: plots.workers_and_objects(
        trace, {"a": (0.0, 2.0)}, titles=("Above", "Below")
    ),
    "curves": lambda trace: plots.curves(
        {"rounds": {0: 0, 1: len(trace)}}, x="time (s)", y="rounds", title="Up"
    ),
}
every_chart = pytest.mark.parametrize("draw", EVERY_CHART.values(), ids=EVERY_CHART.keys())


@every_chart
def test_a_picture_is_not_blank(draw: Callable[[Trace], Picture]) -> None:
    """The PNG has the size of the figure, white paper and something on it."""
    picture = draw(_run("abc"))
    pixels = imread(BytesIO(picture.png()))[..., :3]
    width, height = picture.figure.get_size_inches()
    assert pixels.shape[0] == pytest.approx(height * PIXELS_PER_INCH, abs=1)
    assert pixels.shape[1] == pytest.approx(width * PIXELS_PER_INCH, abs=1)
    assert 0.01 < float((pixels.min(axis=2) < 0.99).mean()) < 0.9


@every_chart
def test_equal_runs_give_equal_pictures(draw: Callable[[Trace], Picture]) -> None:
    """The very same bytes, so that a notebook does not change when it is run again."""
    assert draw(_run("abc")).png() == draw(_run("abc")).png()


@every_chart
def test_a_chart_of_an_empty_trace_is_a_chart(draw: Callable[[Trace], Picture]) -> None:
    """A run in which nothing happened draws axes, and words without holes in them."""
    picture = draw(Simulation().trace)
    assert picture.png().startswith(b"\x89PNG")
    for hole in ("  ", ": .", " ,", "at  s"):
        assert hole not in picture.alt


@every_chart
def test_no_figure_is_left_open(draw: Callable[[Trace], Picture]) -> None:
    """Pictures do not pass through pyplot, which would keep each of them."""
    draw(_run("abc")).png()
    assert plt.get_fignums() == []


@every_chart
def test_a_notebook_is_given_the_words_with_the_picture(draw: Callable[[Trace], Picture]) -> None:
    """PNG with alt text, the text alone where no picture can be shown, and below it for all."""
    picture = draw(_run("abc"))
    (data, metadata), (words, _) = picture.bundles()
    assert b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert data["text/plain"] == repr(picture) == picture.alt
    assert metadata == {"image/png": {"alt": picture.alt}}
    assert escape(picture.alt) in words["text/html"]
    assert len(picture.alt) > 30


def test_a_picture_can_be_saved(tmp_path: Path) -> None:
    """The file is the PNG."""
    picture = plots.gantt(_run("a"))
    picture.save(tmp_path / "gantt.png")
    assert (tmp_path / "gantt.png").read_bytes() == picture.png()


def test_a_run_without_a_trace_has_nothing_to_draw() -> None:
    """An unobserved run gives an empty chart, not an error."""
    sim = Simulation(trace=False)
    queue = PriorityQueue(sim, NAME)
    Controller(sim, queue, answering(sim, seconds=1)).start()
    queue.add("a")
    sim.run(until=2)
    assert _bars(_axes(plots.gantt(sim.trace))) == []


def test_letters_keep_their_colours_among_other_names() -> None:
    """B is orange in every picture, whoever else is in it."""
    mixed = style.key_colours(["default/x", "default/b", "other/b", "default/c"])
    assert mixed["default/b"] == style.KEY_COLOURS[1]
    assert mixed["default/c"] == style.KEY_COLOURS[2]
    assert len(set(mixed.values())) == 4
