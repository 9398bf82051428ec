"""The life of one key in the queue: asked for, pending, out with a worker."""

from __future__ import annotations

from collections import Counter
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import Arc, Rectangle

from kubequeue.lab import style
from kubequeue.lab.picture import Picture, figure_of, new_figure
from kubequeue.observe.trace import Instant, Span, Trace

_ASKED, _PENDING, _OUT = 0, 1, 2
_LANES = ["asked for", "pending", "being processed"]


def key_timeline(
    trace: Trace, key: Any, *, title: str | None = None, ax: Axes | None = None
) -> Picture:
    """Three lanes: when ``key`` was asked for, when a check of it was pending, when one ran.

    A dashed outline is a pending record, a solid bar with a padlock is a key that is out, and each
    asking is a mark: filled when it made a record, hollow when it merged into one. Costs
    O(n log n).
    """
    asked, merged = _times(trace, key, "buffered"), _times(trace, key, "merged")
    spans = [span for span in trace.spans if span.key == key]
    pending = [span for span in spans if span.kind in ("waiting", "ready")]
    out = [span for span in spans if span.kind == "locked"]
    ax = ax or new_figure(10, 3.1).add_subplot()
    colour = style.key_colours([key])[key]
    sentence = title or f"{key}: asked for {len(asked)} times, taken {len(out)} times"
    _draw_asked(ax, asked, merged, colour)
    for span in pending:
        _draw_pending(ax, span, trace.now, colour)
    for span in out:
        _draw_out(ax, span, trace.now, colour)
    style.lanes(ax, _LANES)
    ax.set_ylim(_OUT + 0.62, _ASKED - 0.6)
    style.quiet(ax)
    style.time_axis(ax, -0.02 * trace.now, trace.now)
    style.title(ax, sentence)
    return Picture(figure_of(ax), _alt(sentence, asked, pending, out, trace.now))


def _times(trace: Trace, key: Any, kind: str) -> list[float]:
    return [instant.at for instant in trace.instants if _is(instant, key, kind)]


def _is(instant: Instant, key: Any, kind: str) -> bool:
    return instant.kind == kind and instant.key == key


def _draw_asked(ax: Axes, asked: list[float], merged: list[float], colour: str) -> None:
    fresh = Counter(asked) - Counter(merged)  # of several at one instant the first makes the record
    for number, at in enumerate(asked, start=1):
        fresh[at] -= 1
        fill = "white" if fresh[at] < 0 else colour
        ax.plot(at, _ASKED, "v", markersize=11, markerfacecolor=fill, markeredgecolor=colour)
        words = "merged" if fresh[at] < 0 else "again" if number > 1 else "enqueued"
        ax.text(at, _ASKED - 0.32, words, ha="center", fontsize=10, color=style.SOFT_INK)


def _draw_pending(ax: Axes, span: Span, now: float, colour: str) -> None:
    end = now if span.end is None else span.end
    if end == span.start:  # taken at once: only its place can be shown
        ax.plot([end, end], [_PENDING - 0.3, _PENDING + 0.3], "--", color=colour, linewidth=2)
        return
    ax.add_patch(
        Rectangle(
            (span.start, _PENDING - 0.3), end - span.start, 0.6, fill=False,
            edgecolor=colour, linestyle="--", linewidth=2, zorder=3,
        )
    )  # fmt: skip
    if end - span.start > 0.12 * now:
        ax.text(
            (span.start + end) / 2, _PENDING, "one record", ha="center", va="center", fontsize=10,
            color=style.INK,
        )  # fmt: skip


def _draw_out(ax: Axes, span: Span, now: float, colour: str) -> None:
    end = now if span.end is None else span.end
    ax.broken_barh(
        [(span.start, end - span.start)], (_OUT - 0.3, 0.6), facecolor=colour, edgecolor="white",
        linewidth=1.5, zorder=3,
    )  # fmt: skip
    ink = style.text_colour(colour)
    ax.text(
        (span.start + end) / 2, _OUT, f"{style.short(span.key)} with {span.worker}", ha="center",
        va="center", fontsize=11, fontweight="bold", color=ink, zorder=4,
    )  # fmt: skip
    _label(ax, span.start, "locked", "left")
    if span.end is not None:
        _label(ax, span.end, "unlocked", "right")
    _draw_padlock(ax, span.start + 0.025 * now, ink, 0.012 * now)
    ax.annotate(
        "", (span.start, _OUT - 0.32), (span.start, _PENDING + 0.32),
        arrowprops={"arrowstyle": "->", "color": style.SOFT_INK}, zorder=5,
    )  # fmt: skip


def _label(ax: Axes, at: float, words: str, side: str) -> None:
    """A small word under the bar, on the given side of an instant."""
    ax.annotate(
        words, (at, _OUT + 0.42), (3 if side == "left" else -3, 0), textcoords="offset points",
        ha=side, va="center", fontsize=10, color=style.SOFT_INK,
    )  # fmt: skip


def _draw_padlock(ax: Axes, x: float, ink: str, width: float) -> None:
    ax.add_patch(Rectangle((x - width / 2, _OUT - 0.02), width, 0.17, color=ink, zorder=5))
    ax.add_patch(
        Arc((x, _OUT - 0.03), width * 0.65, 0.24, theta1=180, theta2=360, color=ink, lw=2, zorder=5)
    )


def _alt(
    sentence: str, asked: list[float], pending: list[Span], out: list[Span], now: float
) -> str:
    return (
        f"Time line of one key: {sentence}. Across: virtual time from 0 to {now:g} s. "
        f"Asked for {_moments(asked)}. "
        f"Pending {_spoken(pending)}. Being processed {_spoken(out)}."
    )


def _moments(times: list[float]) -> str:
    return f"at {', '.join(f'{at:g}' for at in times)} s" if times else "never"


def _spoken(spans: list[Span]) -> str:
    bars = [
        f"from {s.start:g} s on" if s.end is None else f"from {s.start:g} to {s.end:g} s"
        for s in spans
    ]
    return ", ".join(bars) or "never"
