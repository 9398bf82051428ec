"""Who runs a round of which key when, as SVG that can be drawn anew at every touch."""

from __future__ import annotations

from collections.abc import Iterator

from kubequeue.lab import style
from kubequeue.lab.svg import Box, rectangle, text
from kubequeue.observe.trace import Span, Trace

WIDTH = 1100
_LEFT, _LANE = 90, 34
_TICKS = 6


def gantt_svg(trace: Trace, end: float) -> str:
    """Every round in the lane of its worker, from 0 to ``end`` seconds. Costs O(rounds)."""
    (workers,) = trace.workers.values()
    height = workers * _LANE + 44
    rounds = trace.rounds()
    colours = style.key_colours([each.key for each in rounds])
    told = f"Gantt chart: {len(rounds)} rounds, {workers} workers, 0 to {end:g} s"
    parts = [
        f'<svg class="kq-svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" aria-label="{told}">',
        *_axis(end, workers * _LANE + 6),
        *(_lane_name(number) for number in range(workers)),
        *(_bar(each, colours[each.key], end) for each in rounds),
        "</svg>",
    ]
    return "".join(parts)


def _x(seconds: float, end: float) -> float:
    return _LEFT + (WIDTH - _LEFT - 30) * seconds / max(end, 1e-9)


def _axis(end: float, bottom: float) -> Iterator[str]:
    for tick in range(_TICKS + 1):
        at = end * tick / _TICKS
        x = _x(at, end)
        yield f'<path d="M{x:.1f} 0 V{bottom}" stroke="{style.LINES}"/>'
        yield text(x, bottom + 16, f"{at:.3g}", 12, style.SOFT_INK, "middle")
    yield text((WIDTH + _LEFT) / 2, bottom + 34, "virtual time (s)", 12, style.SOFT_INK, "middle")


def _lane_name(number: int) -> str:
    return text(_LEFT - 8, number * _LANE + 22, f"worker-{number + 1}", 13, style.INK, "end")


def _bar(span: Span, colour: str, end: float) -> str:
    lane = int(span.worker.removeprefix("worker-")) - 1
    left, right = _x(span.start, end), _x(end if span.end is None else span.end, end)
    bar = Box(left, lane * _LANE + 5, right - left, 24)
    word = style.short(span.key)
    fits = right - left > 9 * len(word)
    ink = style.text_colour(colour)
    middle = text((left + right) / 2, lane * _LANE + 22, word, 12, ink, "middle", bold=True)
    return rectangle(bar, colour, "white") + (middle if fits else "")
