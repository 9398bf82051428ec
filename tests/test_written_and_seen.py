"""Written, but not yet seen: the story of a run as data, as a picture, and as SVG."""

from __future__ import annotations

import re
from functools import partial
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.image import imread
from matplotlib.patches import Rectangle

from kubequeue import plots
from kubequeue.cluster.objects import Pod
from kubequeue.errors import ExpiredError
from kubequeue.kuberay.api import RayCluster
from kubequeue.kuberay.expectations import HEAD_GROUP
from kubequeue.lab import style
from kubequeue.lab.live_seen import seen_svg
from kubequeue.lab.picture import Picture
from kubequeue.lab.seen import pods_made, seen
from kubequeue.lab.story import Decision, Memo, look, runs, together
from kubequeue.lab.world import World, key, ready_world
from kubequeue.lab.written_and_seen import shades


def scaled(until: float = 20.0, **options: Any) -> World:
    """A second worker at 11 s, rounds at 13 and 14 s, a cache that is 4 s late."""
    world = ready_world(pod_lag=4, latency=0.4, **options)
    world.sim.call_at(11, lambda: world.scale("a", 2))
    world.touch_at("a", 13, 14)
    world.run(until)
    return world


def counts(stretches: list[Any]) -> list[tuple[float, int]]:
    """From when on how many Pods."""
    return [(round(each.start, 6), len(each.state)) for each in stretches if each.state is not None]


def axes(picture: Picture) -> Axes:
    (ax,) = picture.figure.axes
    return ax


def words(picture: Picture) -> list[str]:
    return [text.get_text() for text in axes(picture).texts]


# --- Data -------------------------------------------------------------------------------------


def test_the_story_of_figure_3() -> None:
    """The server at 11.2 s, the cache 4 s later, the note from the answer on, and each round."""
    story = seen(scaled(), "a", since=10)
    assert counts(story.truth) == [(10, 1), (11.2, 2)]
    assert counts(story.cache) == [(10, 1), (15.2, 2)]
    assert story.gaps == [(11.2, 15.2)]
    assert [memo[:3] + memo[4:] for memo in story.memos] == [(11.4, 15.2, "create", "met")]
    assert [(each.start, each.words) for each in story.rounds[:4]] == [
        (11, "create 1"), (13, "skip"), (14, "skip"), (15.2, "ok"),
    ]  # fmt: skip


def test_the_truth_is_the_stores_own() -> None:
    """At every moment the last stretch says what the store lists, and the cache what it shows."""
    for until in (10.5, 11.3, 13, 15.1, 15.3, 20):
        world = scaled(until)
        story = seen(world, "a")
        for stretches, pods in (
            (story.truth, world.pods("a")),
            (story.cache, world.cached_pods("a")),
        ):
            workers = {pod.metadata.name for pod in pods if "-worker-" in pod.metadata.name}
            assert set(stretches[-1].state or ()) == workers


def test_without_a_memory_nothing_is_held_and_rounds_create_again() -> None:
    """The gap is as long as the last surplus Pod needs to come and go in the cache."""
    world = scaled(30, expectations=None)
    story = seen(world, "a", since=10)
    assert story.memos == []
    assert [each.words for each in story.rounds[:3]] == ["create 1"] * 3
    assert len(pods_made(world, "a")) == 4
    assert counts(story.truth)[-1][1] == 2
    assert {"going"} <= {c for each in story.truth for c in (each.state or {}).values()}


def test_every_end_of_a_note_has_its_reason() -> None:
    """Met, timed out, lost with the process, dropped with the cluster, or still held."""
    vanished = ready_world(pod_lag=2)
    vanished.scale("a", 2)
    vanished.sim.call_at(10.5, lambda: vanished.vanish("a"))
    vanished.touch_at("a", 45)
    vanished.run(46)
    assert [memo.why for memo in seen(vanished, "a", since=10).memos] == ["timed out", ""]
    restarted, dropped = scaled(12), scaled(12)
    restarted.restart()
    dropped.server.store.delete(RayCluster, key("a"))
    for world, why in ((restarted, "lost"), (dropped, "dropped")):
        world.run(13)
        (memo,) = seen(world, "a", since=10).memos
        assert memo.why == why


def test_a_pod_that_is_removed_early_is_shown_for_as_long_as_it_lived() -> None:
    """The watch holds, so the cache shows it late; only a break of the watch hides it."""
    for breaks_watch, shown, created in ((False, [(12.005, 12.5)], [10, 12.5]), (True, [], [10])):
        world = ready_world(pod_lag=2)
        world.scale("a", 2)
        world.sim.call_at(10.5, partial(world.vanish, "a", breaks_watch=breaks_watch))
        world.run(14)
        story = seen(world, "a", since=10)
        both = [(each.start, each.end) for each in story.cache if len(each.state or ()) == 2]
        assert both == shown
        assert [each.start for each in story.rounds if each.words == "create 1"] == created


def test_a_round_that_deletes_what_is_gone_says_so() -> None:
    """The server answers 404: nothing was deleted, and that is not nothing to do."""
    words = [each.words for each in seen(scaled(30, expectations=None), "a", since=10).rounds]
    assert "already gone" in words
    assert not any("already gone," in each or ", already gone" in each for each in words)


def test_a_restart_leaves_a_hole_in_the_cache() -> None:
    """Between the two processes nobody looks, which is no gap; the round under way is cut off."""
    world = scaled(11.5)
    world.restart()
    world.run(20)
    story = seen(world, "a", since=10)
    blind = [each for each in story.cache if each.state is None]
    assert [(each.start, look(each.state)) for each in blind] == [(11.5, "no process")]
    assert story.gaps == [(11.2, 11.5)]
    assert story.rounds[0].words == "create 1"
    assert len(story.cache[-1].state or ()) == 2


def test_a_lost_answer_is_told_apart_from_a_create_that_failed() -> None:
    """Of one the Pod is there; in both the round ends with an error, and no note is made."""
    for verb, told, made in (("lose_answer", "answer lost", 3), ("fail", "create failed", 2)):
        world = ready_world(pod_lag=4)
        getattr(world.server, verb)("create", Pod, times=1)
        world.scale("a", 2)
        world.run(13)
        assert seen(world, "a", since=10).rounds[0].words == told
        assert len(pods_made(world, "a")) == made


def test_a_group_is_told_without_the_others() -> None:
    """One group skips while another creates; the head is the group of the empty name."""
    world = ready_world(workers={"small": 1, "big": 1}, pod_lag=20)
    world.scale("a", 2, group="small")
    world.sim.call_at(11, lambda: world.scale("a", 3, group="big"))
    world.run(12)
    second = {
        group: seen(world, "a", group=group, since=11).rounds[0].words
        for group in ("small", "big", HEAD_GROUP)
    }
    assert second == {"small": "skip", "big": "create 2", HEAD_GROUP: "ok"}
    assert len(seen(world, "a", group=HEAD_GROUP).truth[-1].state or ()) == 1


def test_one_object_has_versions() -> None:
    """For the RayCluster itself: its versions, and which rounds wrote or met a conflict."""
    world = ready_world(pod_lag=0)
    world.operator.cache.informer(RayCluster).lag = 3
    world.scale("a", 2)
    world.run(20)
    story = seen(world, "a", kind=RayCluster, since=9)
    assert (story.memos, story.gaps[0][0]) == ([], 10)
    assert {"write", "conflict"} <= {each.words for each in story.rounds}
    assert look(story.truth[-1].state, RayCluster).startswith("version ")


def test_a_store_that_has_forgotten_says_so() -> None:
    """Half a truth is not drawn."""
    world = scaled()
    world.server.store.compact()
    with pytest.raises(ExpiredError):
        seen(world, "a")


def test_notes_and_rounds_that_are_alike_are_told_together() -> None:
    """Of three creates in one round one bar is drawn; of five skips in a row one word."""
    notes = [Memo(at, 9.0, "create", f"p{at}", "met") for at in (1.0, 1.1, 5.0)]
    assert [(memo.start, count) for memo, count in together(notes, 0.5)] == [(1.0, 2), (5.0, 1)]
    rounds = [
        Decision(at, at, w) for at, w in ((1.0, "ok"), (2.0, "ok"), (9.0, "ok"), (9.1, "skip"))
    ]
    assert [(each.end, count) for each, count in runs(rounds, 1)] == [(2.0, 2), (9.0, 1), (9.1, 1)]


# --- Picture ----------------------------------------------------------------------------------


def test_the_picture_has_four_lanes_on_one_axis() -> None:
    """Server, cache, expectation, rounds; seconds below; a sentence above."""
    picture = plots.written_and_seen(scaled(), "a", since=10, title="See the gap")
    ax = axes(picture)
    lanes = [label.get_text() for label in ax.get_yticklabels()]
    assert lanes == ["API server", "cache", "expectation", "rounds of A"]
    assert ax.get_xlim() == (10, 20)
    assert ax.get_xlabel() == "virtual time (s)"
    assert ax.get_title(loc="left") == "See the gap"


def test_a_gap_that_the_picture_cuts_off_is_so_long_only_so_far() -> None:
    """It may go on behind the edge, and the words do not hide that."""
    assert "the gap: 3.8 s so far" in words(
        plots.written_and_seen(scaled(), "a", since=10, until=15)
    )


def test_so_many_pods_have_the_same_colour_in_both_lanes() -> None:
    """The cache that shows two of five Pods is as pale as the server was with two."""
    story = seen(scaled(30, expectations=None), "a", since=10)
    colours = {
        (len(each.state or ()), strength)
        for stretches in (story.truth, story.cache)
        for each, strength in shades(stretches[:3], Pod, story)
    }
    assert len(colours) == len({count for count, _ in colours})


def test_the_gap_is_a_band_in_the_accent_colour() -> None:
    """From the write to the moment it is seen; nothing else has that colour."""
    ax = axes(plots.written_and_seen(scaled(), "a", since=10))
    bands = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_hatch() is None]
    accent = [(b.get_x(), round(b.get_x() + b.get_width(), 6)) for b in bands
              if to_hex(b.get_facecolor()) == style.ACCENT.lower()]  # fmt: skip
    assert accent == [(11.2, 15.2)]
    coloured = [text.get_text() for text in ax.texts if text.get_color() == style.ACCENT]
    assert coloured == ["the gap: 4 s"]


def test_a_note_is_hatched_and_says_what_it_is_of() -> None:
    """One frame for each; the words name the Pod."""
    world = scaled()
    picture = plots.written_and_seen(world, "a", since=10)
    (frame,) = [p for p in axes(picture).patches if isinstance(p, Rectangle) and p.get_hatch()]
    assert (frame.get_x(), round(frame.get_width(), 6)) == (11.4, 3.8)
    newest = pods_made(world, "a")[-1][-5:]
    assert f"create of {newest}" in words(picture)


def test_bars_say_how_many_and_rounds_say_what_they_did() -> None:
    """In the gap the cache "still" has one Pod."""
    said = words(plots.written_and_seen(scaled(), "a", since=10))
    for word in ("1 Pod", "2 Pods", "still 1 Pod", "create 1", "skip", "ok"):
        assert word in said


def test_no_memory_is_said_in_its_lane() -> None:
    """An empty lane could be a mistake of the picture."""
    assert "nothing is remembered" in words(
        plots.written_and_seen(scaled(expectations=None), "a", since=10)
    )


def test_more_notes_than_rows_are_counted() -> None:
    """Four rows are drawn, and the others are a number."""
    world = ready_world(pod_lag=1)
    for at in range(12, 24, 2):
        world.sim.call_at(at, lambda at=at: world.scale("a", at // 2))  # type: ignore[misc]
    world.run(30)
    picture = plots.written_and_seen(world, "a", since=10)
    frames = [p for p in axes(picture).patches if isinstance(p, Rectangle) and p.get_hatch()]
    assert len(frames) == 4
    assert "and 2 more" in words(picture)


def test_the_picture_of_one_object_has_no_memory() -> None:
    """Three lanes, and versions on the bars."""
    picture = plots.written_and_seen(scaled(), "a", kind=RayCluster, since=10)
    lanes = [label.get_text() for label in axes(picture).get_yticklabels()]
    assert lanes == ["API server", "cache", "rounds of A"]
    assert any(word.startswith("version ") for word in words(picture))


def test_the_words_of_the_picture() -> None:
    """Axis with its range, each lane, the gap."""
    world = scaled()
    newest = pods_made(world, "a")[-1][-5:]
    alt = plots.written_and_seen(world, "a", since=10, title="See the gap").alt
    assert alt.startswith(
        "Time lines: See the gap. Across: virtual time from 10 to 20 s. "
        "API server: 1 Pod from 10 s, 2 Pods from 11.2 s. "
        "Cache: 1 Pod from 10 s, 2 Pods from 15.2 s. The gap: 11.2 to 15.2 s. "
        f"Expectation: create of {newest} from 11.4 to 15.2 s. "
        "Rounds: create 1 at 11 s, skip at 13 s, skip at 14 s, "
    )


def test_a_world_in_which_nothing_happened_can_be_drawn() -> None:
    """Axes, and words without holes."""
    picture = plots.written_and_seen(World(), "a")
    assert picture.png().startswith(b"\x89PNG")
    assert not re.search(r"  |: \.| ,|at  s", picture.alt)


def test_the_picture_is_whole_and_repeats() -> None:
    """Something is on it, and equal runs give equal bytes."""
    picture = plots.written_and_seen(scaled(), "a", since=10)
    pixels = imread(BytesIO(picture.png()))[..., :3]
    assert 0.01 < float((pixels.min(axis=2) < 0.99).mean()) < 0.9
    assert picture.png() == plots.written_and_seen(scaled(), "a", since=10).png()


# --- SVG --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"expectations": None}])
def test_the_svg_says_what_the_picture_says(options: dict[str, Any]) -> None:
    """Well formed, with the same words in its label, and a bar for each round."""
    story = seen(scaled(**options), "a", since=10)
    root = ElementTree.fromstring(seen_svg(story, "one <story> & more", "#0072B2"))
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"].startswith("Time lines: one <story> & more. Across: ")
    bars = [each for each in root if each.find("{http://www.w3.org/2000/svg}title") is not None]
    assert len(bars) == len(story.rounds)
    said = "".join(root.itertext())
    for word in ("API server", "cache", "expectation", "still 1 Pod", "the gap: ", "create 1"):
        assert word in said
