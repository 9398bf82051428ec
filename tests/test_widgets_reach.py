"""The live topology and the conflict stepper: what they show, and that they follow the hand."""

from __future__ import annotations

from typing import Any

import pytest
from test_topology import pair
from test_widgets import parsed
from widget_parts import find, press

from kubequeue import InvalidArgumentError
from kubequeue.lab.conflict import CACHE, OPERATOR, SERVER, TRIES, USER, WRITERS, ConflictRun
from kubequeue.lab.conflict_svg import conflict_svg, described
from kubequeue.lab.style import ACCENT, key_colours
from kubequeue.lab.topology_svg import topology_svg
from kubequeue.lab.widgets import ConflictStepper, LiveTopology
from kubequeue.lab.world import World


def live(*, lock: bool = False, **given: Any) -> LiveTopology:
    """Two operators of four RayClusters."""
    world, other = pair(lock=lock)
    return LiveTopology(world.sim.trace, world.operator, other, **given)


# --- The live topology --------------------------------------------------------------------------


def test_the_topology_follows_its_controls() -> None:
    """Buttons and slider lead to the same moment; picture, sentence and table are of it."""
    widget = live(at=0)
    seen = set()
    for number in range(len(widget.moments)):
        assert (widget.at, find(widget, "kq-slider").value) == (number, number)
        picture = find(widget, "kq-picture").value
        parsed(picture)
        seen.add((picture, find(widget, "kq-sentence").value))
        press(widget, "kq-step")
    assert len(seen) == len(widget.moments)
    press(widget, "kq-first")
    assert widget.at == 0
    press(widget, "kq-last")
    press(widget, "kq-back")
    assert widget.at == len(widget.moments) - 2
    find(widget, "kq-slider").value = 3
    assert widget.at == 3


def test_the_topology_stops_at_its_ends() -> None:
    """Neither end is an error."""
    widget = live(at=0)
    press(widget, "kq-back")
    assert widget.at == 0
    widget.show(10_000)
    press(widget, "kq-step")
    assert widget.at == len(widget.moments) - 1


def test_the_topology_begins_where_it_is_asked_to() -> None:
    """At the busiest moment, or at the last one up to a second."""
    assert len(live().scene.rounds) == 4
    assert live(at=5.055).scene.at == 5.05


def test_two_rounds_of_one_key_are_told_and_stand_out() -> None:
    """In the sentence, and by the accent in the picture."""
    widget = live()
    assert "Two rounds of default/a run at one time." in find(widget, "kq-sentence").value
    assert find(widget, "kq-picture").value.count(f'stroke="{ACCENT}"') == 4
    alone = live(lock=True)
    assert ACCENT not in find(alone, "kq-picture").value
    assert "Two rounds" not in find(alone, "kq-sentence").value


def test_the_table_counts_what_the_picture_shows() -> None:
    """A row for each controller of each process."""
    widget = live()
    cells = find(widget, "kq-table").value
    assert cells.count("<tr>") == 6
    assert cells.count("running 2, in line 2") == 2


def test_names_that_mean_something_in_svg_do_no_harm() -> None:
    """The words are escaped, also in the label."""
    world = World()
    world.create("a")
    world.run(until=1)
    widget = LiveTopology(world.sim.trace, world.operator)
    root = parsed(topology_svg(widget.scene, key_colours([]), 'a "<b>" & c'))
    assert root.attrib["aria-label"] == 'a "<b>" & c'


def test_a_live_topology_of_nobody_is_refused() -> None:
    """It says what is needed."""
    with pytest.raises(InvalidArgumentError, match="one manager or more"):
        LiveTopology(World().sim.trace)


# --- Two writers --------------------------------------------------------------------------------


@pytest.mark.parametrize("first", WRITERS)
def test_the_second_writer_succeeds_after_reading_again(first: str) -> None:
    """Refused at first, because it had read before; written at last; neither change is lost."""
    run = ConflictRun(first)
    assert (run.attempts[0].writer, run.attempts[0].answer) == (first, "written")
    assert (run.attempts[1].writer, run.attempts[1].answer) == (run.second, "Conflict")
    assert (run.attempts[-1].writer, run.attempts[-1].answer) == (run.second, "written")
    assert run.moments[-1].versions[SERVER] == 3


@pytest.mark.parametrize("first", WRITERS)
def test_the_same_old_object_is_refused_for_ever(first: str) -> None:
    """So often as it is tried, with the version that it was read with."""
    run = ConflictRun(first, rereads=False)
    assert [each.answer for each in run.attempts] == ["written", *["Conflict"] * TRIES]
    assert {each.sent for each in run.attempts} == {1}


@pytest.mark.parametrize("first", WRITERS)
@pytest.mark.parametrize("rereads", [True, False])
@pytest.mark.parametrize("lag", [0.0, 0.01, 0.067, 0.3])
def test_a_write_is_taken_when_and_only_when_its_version_is_the_newest(
    first: str, rereads: bool, lag: float
) -> None:
    """Whatever the order and the lag; versions never go back, and the cache never knows more."""
    run = ConflictRun(first, rereads=rereads, lag=lag)
    for each in run.attempts:
        assert (each.answer == "written") == (each.sent == each.server_had)
    for before, after in zip(run.moments, run.moments[1:], strict=False):
        assert before.at <= after.at
        assert all(before.versions[who] <= after.versions[who] for who in after.versions)
    assert all(moment.versions[CACHE] <= moment.versions[SERVER] for moment in run.moments)


def test_the_operator_succeeds_once_its_cache_has_caught_up() -> None:
    """The longer the lag, the more refusals, and none after the cache has the new version."""
    counts = []
    for lag in (0.0, 0.067, 0.1):
        moments = ConflictRun(USER, lag=lag).moments
        caught_up = next(m.at for m in moments if m.versions[CACHE] == 2)
        reads = [m.at for m in moments if m.way == (CACHE, OPERATOR)]
        assert [at >= caught_up for at in reads] == [False] * (len(reads) - 1) + [True]
        counts.append(sum(m.outcome == "Conflict" for m in moments))
    assert counts == sorted(counts)
    assert counts[0] == 1


def test_the_picture_of_each_moment() -> None:
    """Well formed, with its words as label, and the way that is used in the accent."""
    for first in WRITERS:
        for moment in ConflictRun(first).moments:
            svg = conflict_svg(moment)
            assert parsed(svg).attrib["aria-label"] == described(moment)
            assert svg.count("<polygon") == 5
            assert ('<polygon points="' in svg and f'fill="{ACCENT}"' in svg) == bool(moment.way)


def test_stepping_through_a_conflict() -> None:
    """Buttons and slider, both ends, and the table of writes so far."""
    stepper = ConflictStepper()
    press(stepper, "kq-back")
    for number, moment in enumerate(stepper.run.moments):
        assert find(stepper, "kq-slider").value == number
        assert moment.sentence in find(stepper, "kq-sentence").value.replace("&#x27;", "'")
        writes = sum(bool(each.outcome) for each in stepper.run.moments[: number + 1])
        assert find(stepper, "kq-table").value.count("<tr>") == 1 + writes
        press(stepper, "kq-step")
    press(stepper, "kq-first")
    assert stepper.moment is stepper.run.moments[0]
    press(stepper, "kq-last")
    assert stepper.moment.outcome == "written"
    find(stepper, "kq-slider").value = 2
    assert stepper.moment is stepper.run.moments[2]


def test_choosing_makes_another_run() -> None:
    """Who writes first and whether the other reads again: each choice begins at the start."""
    stepper = ConflictStepper(at=6)
    find(stepper, "kq-rereads").value = False
    assert stepper.moment is stepper.run.moments[0]
    press(stepper, "kq-last")
    assert stepper.moment.outcome == "Conflict"
    assert find(stepper, "kq-table").value.count("Conflict") == TRIES
    find(stepper, "kq-first-writer").value = OPERATOR
    assert (stepper.run.first, stepper.run.rereads) == (OPERATOR, False)
    find(stepper, "kq-rereads").value = True
    press(stepper, "kq-last")
    assert stepper.moment.outcome == "written"
    assert find(stepper, "kq-slider").max == len(stepper.run.moments) - 1


def test_a_run_of_nobody_is_refused() -> None:
    """A writer is one of two."""
    for make in (ConflictRun, ConflictStepper):
        with pytest.raises(InvalidArgumentError, match='"user" or "operator"'):
            make("nobody")
