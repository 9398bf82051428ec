"""Who runs a round of which key when."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab import style
from kubequeue.lab.picture import Picture, figure_of, new_figure
from kubequeue.observe.trace import Span, Trace

Alive = Mapping[Any, tuple[float, float]]
"""From when to when each object lives, in seconds."""

Marks = Mapping[float, str]
"""A few words for each second that something happens at."""

LaneOf = Callable[[Span], str]

_BAR = 0.62
_FRAME = 0.7  # a little higher than a bar, so that both show where they meet
_SPOKEN_ROUNDS = 12


def gantt(
    trace: Trace,
    *,
    by: str = "worker",
    keys: Iterable[Any] | None = None,
    alive: Alive | None = None,
    pending: bool = False,
    marks: Marks | None = None,
    until: float | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Picture:
    """Every round as a solid bar, in the colour of its key.

    Args:
        trace: what a simulation recorded.
        by: a lane for each ``"worker"`` or for each ``"key"``.
        keys: the keys that the story is about; the others are grey. By default all.
        alive: when each object lives: pale bars behind the rounds, for ``by="key"``.
        pending: also show when a key is pending: a dashed frame, thin while it waits for its time
            and thick while it is ready, for ``by="key"``.
        marks: what happens at which second: a line across all lanes, with its words above.
        until: the right end in seconds; by default the time that the run has reached.
        title: a sentence that says what to see; by default the counts.
        ax: where to draw; by default a figure of its own.

    Raises `InvalidArgumentError` for another ``by``. Costs O(n log n).
    """
    if by not in ("worker", "key"):
        raise InvalidArgumentError("by", by, 'a lane for each "worker" or for each "key"')
    end = trace.now if until is None else until
    rounds = [span for span in trace.rounds() if span.start <= end]
    lane_of = _worker_lanes(trace) if by == "worker" else _key_lane
    in_line = _in_line(trace, end) if pending and by == "key" else []
    names = _lane_names(trace, rounds + in_line, lane_of, alive)
    ax = ax or new_figure(10, 1.0 + 0.52 * max(len(names), 1)).add_subplot()
    shown = [span.key for span in rounds + in_line]
    colours = style.key_colours(shown if keys is None else keys)
    sentence = title or _counts(rounds, end)
    _draw_alive(ax, alive or {}, names, colours)
    for span in in_line:
        _draw_pending(ax, names.index(str(span.key)), span, colours, end)
    for lane, name in enumerate(names):
        in_lane = [span for span in rounds if lane_of(span) == name]
        _draw_rounds(ax, lane, in_lane, colours, end)
        if by == "worker":
            _draw_idle(ax, lane, in_lane, end)
    style.lanes(ax, names)
    style.quiet(ax)
    style.time_axis(ax, 0, end)
    _draw_marks(ax, marks or {})
    style.title(ax, sentence, above_marks=bool(marks))
    told = _alt(sentence, rounds, names, lane_of, alive, end)
    return Picture(figure_of(ax), " ".join([told, *_spoken_extras(in_line, marks or {}, end)]))


def workers_and_objects(
    trace: Trace, alive: Alive, *, titles: tuple[str, str], until: float | None = None
) -> Picture:
    """The same seconds twice: above by worker, below by object with the time that it lives.

    ``alive`` says from when to when, in seconds, for each key; ``titles`` are the two sentences.
    """
    figure = new_figure(10, 3.2 + 0.5 * len(alive))
    heights = [max(sum(trace.workers.values()), 1), max(len(alive), 1)]
    above, below = figure.subplots(2, sharex=True, height_ratios=heights)
    first = gantt(trace, by="worker", until=until, title=titles[0], ax=above)
    second = gantt(trace, by="key", alive=alive, until=until, title=titles[1], ax=below)
    above.set_xlabel("")
    return Picture(figure, f"Two panels. {first.alt} {second.alt}")


def _in_line(trace: Trace, end: float) -> list[Span]:
    """The stretches in which a key is pending; those of no length are left out."""
    stretches = [span for span in trace.spans if span.kind in ("waiting", "ready")]
    return [s for s in stretches if s.start < end and s.end != s.start]


def _key_lane(span: Span) -> str:
    return str(span.key)


def _worker_lanes(trace: Trace) -> LaneOf:
    """The worker's name, with its controller's before it when there are several."""
    several = len(trace.workers) > 1
    return lambda span: f"{span.source} {span.worker}" if several else span.worker


def _lane_names(
    trace: Trace, rounds: list[Span], lane_of: LaneOf, alive: Alive | None
) -> list[str]:
    """Every worker, in the order they were started; every key with a round or a life."""
    if lane_of is not _key_lane:
        several = len(trace.workers) > 1
        return [
            f"{controller} worker-{number}" if several else f"worker-{number}"
            for controller, workers in trace.workers.items()
            for number in range(1, workers + 1)
        ]
    names = {lane_of(span) for span in rounds} | {str(key) for key in alive or {}}
    return sorted(names, key=lambda name: (len(name), name))


def _draw_rounds(
    ax: Axes, lane: int, rounds: list[Span], colours: dict[Any, str], end: float
) -> None:
    bars = [(span.start, _end(span, end) - span.start) for span in rounds]
    fill = [colours.get(span.key, style.OTHER) for span in rounds]
    ax.broken_barh(
        bars, (lane - _BAR / 2, _BAR), facecolors=fill, edgecolor="white", linewidth=1.5, zorder=3
    )
    for span, (start, length), colour in zip(rounds, bars, fill, strict=True):
        text = style.short(span.key) + _mark(span, end)
        if length / max(end, 1e-9) * 100 > 1.2 * len(text):
            ax.text(
                start + length / 2, lane, text, ha="center", va="center", fontsize=11, zorder=4,
                color=style.text_colour(colour), fontweight="bold", clip_on=True,
            )  # fmt: skip


def _mark(span: Span, end: float) -> str:
    if span.end is None or span.end > end:
        return " …"
    return " ✗" if span.outcome == "error" else ""


def _draw_idle(ax: Axes, lane: int, rounds: list[Span], end: float) -> None:
    """The word "idle" where a worker waits for long enough to have room for it."""
    edges = [(0.0, 0.0), *((span.start, _end(span, end)) for span in rounds), (end, end)]
    for (_, ended), (started, _) in pairwise(edges):
        if started - ended > 0.06 * end:
            middle = (ended + started) / 2
            ax.text(
                middle, lane, "idle", ha="center", va="center", fontsize=10,
                style="italic", color=style.SOFT_INK, zorder=4,
            )  # fmt: skip


def _draw_alive(ax: Axes, alive: Alive, names: list[str], colours: dict[Any, str]) -> None:
    for key, (start, end) in alive.items():
        lane = names.index(str(key))
        colour = colours.get(key, style.OTHER)
        ax.broken_barh([(start, end - start)], (lane - 0.43, 0.86), facecolor=colour, alpha=0.25)


def _draw_pending(ax: Axes, lane: int, span: Span, colours: dict[Any, str], end: float) -> None:
    ax.add_patch(
        Rectangle(
            (span.start, lane - _FRAME / 2), _end(span, end) - span.start, _FRAME, fill=False,
            edgecolor=colours.get(span.key, style.OTHER), linestyle="--", zorder=4,
            linewidth=2.2 if span.kind == "ready" else 1,
        )
    )  # fmt: skip


def _draw_marks(ax: Axes, marks: Marks) -> None:
    for at, words in marks.items():
        ax.axvline(at, color=style.INK, linestyle=":", linewidth=1.5, zorder=3.5)
        ax.annotate(
            words, (at, 1), (0, 3), xycoords=("data", "axes fraction"),
            textcoords="offset points", ha="center", va="bottom", fontsize=10, color=style.SOFT_INK,
        )  # fmt: skip


def _end(span: Span, now: float) -> float:
    return now if span.end is None else min(span.end, now)


def _counts(rounds: list[Span], end: float) -> str:
    workers = len({(span.source, span.worker) for span in rounds})
    keys = len({span.key for span in rounds})
    counts = [(workers, "worker"), (keys, "key"), (len(rounds), "round")]
    return ", ".join(f"{n} {word}{'s' * (n != 1)}" for n, word in counts) + f" in {end:g} s"


def _alt(
    sentence: str,
    rounds: list[Span],
    names: list[str],
    lane_of: LaneOf,
    alive: Alive | None,
    end: float,
) -> str:
    told = [f"Gantt chart: {sentence}."]
    lanes = ", ".join(names[:8]) or "nothing"
    told.append(f"Across: virtual time from 0 to {end:g} s. Down: {lanes}")
    told[-1] += "." if len(names) <= 8 else f" and {len(names) - 8} more."
    if alive:
        told.append(f"Pale bars: {', '.join(map(str, alive))} live on between their rounds.")
    told += _spoken(rounds[:_SPOKEN_ROUNDS], lane_of, end)
    if len(rounds) > _SPOKEN_ROUNDS:
        told.append(f"And {len(rounds) - _SPOKEN_ROUNDS} more rounds.")
    return " ".join(told)


def _spoken_extras(in_line: list[Span], marks: Marks, end: float) -> Iterator[str]:
    if in_line:
        frames = [f"{style.short(s.key)} {s.start:g} to {_end(s, end):g} s" for s in in_line]
        yield f"Dashed frames, in line: {', '.join(frames)}."
    if marks:
        yield f"Marks: {', '.join(f'{words} at {at:g} s' for at, words in marks.items())}."


def _spoken(rounds: list[Span], lane_of: LaneOf, end: float) -> Iterator[str]:
    for name, spans in groupby(sorted(rounds, key=lane_of), key=lane_of):
        bars = [
            f"{'' if lane_of is _key_lane else style.short(span.key) + ' '}"
            f"{span.start:g} to {_end(span, end):g} s{_mark(span, end)}"
            for span in spans
        ]
        yield f"{name}: {', '.join(bars)}."
