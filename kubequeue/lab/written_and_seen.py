"""Written, but not yet seen: the server, the cache, the memory and the rounds on one time axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kubequeue.cluster.objects import Pod
from kubequeue.lab import style
from kubequeue.lab.picture import Picture, figure_of, new_figure
from kubequeue.lab.seen import seen
from kubequeue.lab.story import Decision, Memo, Seen, Stretch, look, remembered, runs, together
from kubequeue.lab.world import World, key

ROWS = 4
"""As many records are drawn one below the other; the rest is counted."""

_BAR, _STEP = 0.56, 0.5
_INCHES = 8.3  # what is left of ten beside the names of the lanes
_SPOKEN = 14


def written_and_seen(
    world: World,
    name: str,
    *,
    group: str = "workers",
    kind: type[Any] = Pod,
    namespace: str = "default",
    since: float = 0.0,
    until: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Picture:
    """What the API server has, what the cache shows, what is remembered, what each round did.

    A band marks the gap: the cache is behind the server. A record is hatched for as long as it is
    held. For the Pods of one ``group`` of the RayCluster ``name`` (the head's is ``""``); or, given
    another ``kind``, for the versions of the one object of that name, without the memory.

    ``since`` and ``until`` are seconds, by default the whole run. Costs O(steps of the run).
    """
    story = seen(world, name, group=group, kind=kind, namespace=namespace, since=since, until=until)
    width = max(story.end - story.start, 1e-9)
    memos = together(story.memos, 0.02 * width)
    rows = min(max(len(memos), 1), ROWS)
    has_memory = kind is Pod
    bottom = 2 + (rows - 1) * _STEP + 1 if has_memory else 2
    ax = ax or new_figure(10, 1.9 + 0.62 * (bottom + 1)).add_subplot()
    colour = style.key_colours([key(name, namespace)])[key(name, namespace)]
    sentence = title or _counts(story)
    _draw_gaps(ax, story, bottom)
    for lane, stretches in enumerate((story.truth, story.cache)):
        _draw_states(ax, lane, stretches, kind, colour, story)
    if has_memory:
        _draw_memos(ax, memos, story.end, width)
    _draw_rounds(ax, bottom, story.rounds, colour, width)
    short = style.short(key(name, namespace))
    names = ["API server", "cache", f"rounds of {short}"]
    places = [0.0, 1.0, float(bottom)]
    if has_memory:
        names.insert(2, "expectation")
        places.insert(2, 2 + (rows - 1) * _STEP / 2)
    ax.set_yticks(places, names)
    ax.set_ylim(bottom + 0.95, -0.75)
    style.quiet(ax)
    ax.tick_params(axis="y", labelcolor=style.INK)
    style.time_axis(ax, story.start, story.end)
    style.title(ax, sentence)
    return Picture(figure_of(ax), spoken(story, sentence, kind))


def _draw_gaps(ax: Axes, story: Seen, bottom: float) -> None:
    """The bands, behind everything; the widest says how long it is."""
    gaps = story.gaps
    for start, end in gaps:
        ax.axvspan(start, end, color=style.ACCENT, alpha=0.10, linewidth=0, zorder=0.5)
    if gaps:
        start, end = max(gaps, key=lambda gap: gap[1] - gap[0])
        ax.annotate(
            "", (end, -0.42), (start, -0.42),
            arrowprops={"arrowstyle": "<->", "color": style.ACCENT, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
        width = max(story.end - story.start, 1e-9)
        words = gap_words(start, end, story)
        x, side = (start + end) / 2, "center"
        if (end - start) / width * _INCHES <= 0.085 * len(words):  # no room: beside it
            is_left = end - story.start < 0.8 * width
            x, side = (end + 0.01 * width, "left") if is_left else (start - 0.01 * width, "right")
        ax.text(
            x, -0.56, words, ha=side, va="center", fontsize=11, fontweight="bold",
            color=style.ACCENT,
        )  # fmt: skip


def _draw_states(
    ax: Axes, lane: int, stretches: list[Stretch], kind: type[Any], colour: str, story: Seen
) -> None:
    """Pale bars, deeper for more Pods."""
    width = max(story.end - story.start, 1e-9)
    for each, strength in shades(stretches, kind, story):
        fill = style.pale(colour, strength)
        ax.broken_barh(
            [(each.start, each.end - each.start)], (lane - _BAR / 2, _BAR), facecolor=fill,
            edgecolor="white", linewidth=1, zorder=2,
        )  # fmt: skip
        still = lane == 1 and is_behind(each, story)
        words = fitting(each, kind, (each.end - each.start) / width * _INCHES / 0.085, still)
        ax.text(
            (each.start + each.end) / 2, lane, words, ha="center", va="center", fontsize=10.5,
            color=style.INK, zorder=4, clip_on=True,
        )  # fmt: skip


def gap_words(start: float, end: float, story: Seen) -> str:
    """How long a gap is; one that lasts until the end of the story may go on."""
    return f"the gap: {end - start:.3g} s{' so far' if end >= story.end else ''}"


def shades(
    stretches: list[Stretch], kind: type[Any], story: Seen
) -> Iterator[tuple[Stretch, float]]:
    """Each stretch in which somebody looks, and how deep its colour is, from 0 to 1.

    So many Pods have the same colour on the server and in the cache.
    """
    most = max((len(s.state or ()) for s in (*story.truth, *story.cache)), default=1) or 1
    for number, each in enumerate(stretches):
        if each.state is not None:
            share = len(each.state) / most if kind is Pod else number % 2
            yield each, 0.12 + 0.36 * share


def is_behind(each: Stretch, story: Seen) -> bool:
    """Whether the cache still looks so while the server has gone on."""
    return any(each.start < start < each.end <= end for start, end in story.gaps)


def _draw_memos(ax: Axes, memos: list[tuple[Memo, int]], now: float, width: float) -> None:
    for row, (memo, count) in enumerate(memos[:ROWS]):
        y, end = 2 + row * _STEP, now if memo.end is None else min(memo.end, now)
        ax.add_patch(
            Rectangle(
                (memo.start, y - 0.19), end - memo.start, 0.38, facecolor="white", hatch="////",
                edgecolor=style.OTHER, linewidth=1.2, zorder=3,
            )
        )  # fmt: skip
        words = remembered(memo, count)
        room = (end - memo.start) / width * _INCHES > 0.082 * len(words)
        left = now - memo.start > width / 2
        x, side = (end, "left") if left else (memo.start, "right")
        ax.annotate(
            words, ((memo.start + end) / 2 if room else x, y), xytext=(0 if room else 5 if left
            else -5, 0), textcoords="offset points", ha="center" if room else side, va="center",
            fontsize=10, color=style.INK, zorder=4,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.2},
        )  # fmt: skip
    if not memos:
        ax.text(
            now - width / 2, 2, "nothing is remembered", ha="center", va="center", fontsize=10,
            style="italic", color=style.SOFT_INK,
        )  # fmt: skip
    if len(memos) > ROWS:
        words = f"and {len(memos) - ROWS} more"
        ax.text(now, 2 + (ROWS - 1) * _STEP + 0.42, words, ha="right", fontsize=10,
                color=style.SOFT_INK)  # fmt: skip


def _draw_rounds(ax: Axes, lane: float, rounds: list[Decision], colour: str, width: float) -> None:
    """Every round solid, at least as wide as can be seen; what it did stands below."""
    thin = 0.004 * width
    bars = [(each.start, max(each.end - each.start, thin)) for each in rounds]
    edges = [0.8 if length > 4 * thin else 0 for _, length in bars]
    ax.broken_barh(
        bars, (lane - _BAR / 2, _BAR), facecolor=colour, edgecolor="white", linewidth=edges,
        zorder=3,
    )  # fmt: skip
    for x, row, words in labels(rounds, width, _INCHES / 0.078):
        ax.text(
            x, lane + 0.46 + 0.27 * row, words, ha="center", va="center", fontsize=10,
            color=style.INK, zorder=4,
        )  # fmt: skip


def labels(
    rounds: list[Decision], width: float, characters: float, rows: int = 2
) -> Iterator[tuple[float, int, str]]:
    """Where the words of the rounds stand: their middle, their row, and the words.

    Rounds in a row that did the same share their words. What finds no room in any row is left out,
    the rounds that did nothing first. ``characters`` go into the whole width.
    """
    taken: list[list[tuple[float, float]]] = [[] for _ in range(rows)]
    several = runs(rounds, 0.06 * width)
    for each, count in sorted(several, key=lambda run: run[0].words == "ok"):
        words = f"{each.words} ×{count}" if count > 1 else each.words
        middle = (each.start + each.end) / 2
        half = (len(words) + 1.5) / characters * width / 2
        for row, others in enumerate(taken):
            if all(middle + half <= left or right <= middle - half for left, right in others):
                others.append((middle - half, middle + half))
                yield middle, row, words
                break


def fitting(each: Stretch, kind: type[Any], characters: float, still: bool = False) -> str:
    """A state in the longest words that there is room for."""
    words = look(each.state, kind)
    short = words.partition(",")[0].removeprefix("version ").partition(" Pod")[0]
    choices = [f"{'still ' * still}{words}", words, short, ""]
    return next(choice for choice in choices if len(choice) + 0.7 <= characters or not choice)


def _counts(story: Seen) -> str:
    longest = max((end - start for start, end in story.gaps), default=0.0)
    count = len(story.rounds)
    return f"{count} round{'s' * (count != 1)}; the cache is up to {longest:.3g} s behind"


def spoken(story: Seen, sentence: str, kind: type[Any] = Pod) -> str:
    """The whole picture in words."""
    told = [
        f"Time lines: {sentence}.",
        f"Across: virtual time from {story.start:g} to {story.end:g} s.",
        f"API server: {_states(story.truth, kind)}.",
        f"Cache: {_states(story.cache, kind)}.",
    ]
    gaps = [f"{start:g} to {end:g} s" for start, end in story.gaps]
    told.append(f"The gap: {_some(gaps)}." if gaps else "No gap.")
    if kind is Pod:
        memos = [f"{remembered(m, n)} {_span(m)}" for m, n in together(story.memos, 0.5)]
        told.append(f"Expectation: {_some(memos)}." if memos else "No expectation.")
    rounds = [
        f"{each.words}{f' {count} times from' if count > 1 else ' at'} {each.start:g} s"
        for each, count in runs(story.rounds, 0.06 * (story.end - story.start))
    ]
    told.append(f"Rounds: {_some(rounds)}." if rounds else "No round.")
    return " ".join(told)


def _states(stretches: list[Stretch], kind: type[Any]) -> str:
    return _some([f"{look(s.state, kind)} from {s.start:g} s" for s in stretches]) or "nothing"


def _span(memo: Memo) -> str:
    return f"from {memo.start:g}" + (" s on" if memo.end is None else f" to {memo.end:g} s")


def _some(words: Iterable[str]) -> str:
    """The first ones, and how many more."""
    said = list(words)
    more = f" and {len(said) - _SPOKEN} more" if len(said) > _SPOKEN else ""
    return ", ".join(said[:_SPOKEN]) + more
