"""Written, but not yet seen, as SVG that can be drawn anew at every touch."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kubequeue.cluster.objects import Pod
from kubequeue.lab import style
from kubequeue.lab.story import Memo, Seen, Stretch, remembered, together
from kubequeue.lab.svg import Box, rectangle, text
from kubequeue.lab.written_and_seen import (
    ROWS,
    fitting,
    gap_words,
    is_behind,
    labels,
    shades,
    spoken,
)

WIDTH = 1100
_LEFT, _RIGHT = 108, 20
_TOP, _LANE, _ROW, _BAR = 30, 40, 26, 28
_TICKS = 10
_CHARACTER = 7.4


def seen_svg(story: Seen, sentence: str, colour: str) -> str:
    """The time lines of a story of Pods, as `written_and_seen` has them. Costs O(story)."""
    return "".join(_Lines(story, colour).draw(sentence))


class _Lines:
    """Where everything stands."""

    def __init__(self, story: Seen, colour: str) -> None:
        self._story = story
        self._colour = colour
        self._width = max(story.end - story.start, 1e-9)
        self._memos = together(story.memos, 0.02 * self._width)
        self._memo_y = _TOP + 2 * _LANE
        self._round_y = self._memo_y + _ROW * max(min(len(self._memos), ROWS), 1) + 10
        self._bottom = self._round_y + _BAR + 40

    def draw(self, sentence: str) -> Iterator[str]:
        """The parts of the picture, those behind first."""
        words = escape(spoken(self._story, sentence), quote=True)
        yield (
            f'<svg class="kq-svg" viewBox="0 0 {WIDTH} {self._bottom + 36}" width="100%" '
            f'role="img" xmlns="http://www.w3.org/2000/svg" aria-label="{words}">'
        )
        yield from self._axis()
        yield from self._gaps()
        yield from self._states("API server", 0, self._story.truth)
        yield from self._states("cache", 1, self._story.cache)
        yield from self._expectations()
        yield from self._rounds()
        yield "</svg>"

    def _x(self, seconds: float) -> float:
        return _LEFT + (WIDTH - _LEFT - _RIGHT) * (seconds - self._story.start) / self._width

    def _axis(self) -> Iterator[str]:
        for tick in range(_TICKS + 1):
            at = self._story.start + self._width * tick / _TICKS
            x = self._x(at)
            yield f'<path d="M{x:.1f} {_TOP - 6} V{self._bottom}" stroke="{style.LINES}"/>'
            yield text(x, self._bottom + 15, f"{at:.3g}", 12, style.SOFT_INK, "middle")
        middle = self._x(self._story.start + self._width / 2)
        yield text(middle, self._bottom + 32, "virtual time (s)", 12, style.SOFT_INK, "middle")

    def _gaps(self) -> Iterator[str]:
        gaps = self._story.gaps
        for start, end in gaps:
            x = self._x(start)
            yield (
                f'<rect x="{x:.1f}" y="{_TOP - 6}" width="{self._x(end) - x:.1f}" '
                f'height="{self._bottom - _TOP + 6}" fill="{style.ACCENT}" opacity="0.12"/>'
            )
        if gaps:
            start, end = max(gaps, key=lambda gap: gap[1] - gap[0])
            left, right = self._x(start), self._x(end)
            words = gap_words(start, end, self._story)
            middle = max((left + right) / 2, left + len(words) * _CHARACTER / 2 - 20)
            middle = min(middle, WIDTH - _RIGHT - len(words) * _CHARACTER / 2)
            yield text(middle, 14, words, 13, style.ACCENT, "middle", bold=True)
            span = f"M{left:.1f} 17 v10 M{left:.1f} 22 H{right:.1f} M{right:.1f} 17 v10"
            yield f'<path d="{span}" stroke="{style.ACCENT}" stroke-width="2" fill="none"/>'

    def _name(self, y: float, name: str) -> str:
        return text(_LEFT - 10, y + 19, name, 13, style.INK, "end")

    def _states(self, name: str, lane: int, stretches: list[Stretch]) -> Iterator[str]:
        y = _TOP + lane * _LANE
        yield self._name(y, name)
        for each, strength in shades(stretches, Pod, self._story):
            left, right = self._x(each.start), self._x(each.end)
            box = Box(round(left, 1), y, round(right - left, 1), _BAR)
            yield rectangle(box, style.pale(self._colour, strength), "white")
            still = lane == 1 and is_behind(each, self._story)
            words = fitting(each, Pod, (right - left) / _CHARACTER, still)
            if words:
                yield text((left + right) / 2, y + 19, words, 12, style.INK, "middle")

    def _expectations(self) -> Iterator[str]:
        yield self._name(self._memo_y - 2, "expectation")
        if not self._memos:
            yield text(_LEFT + 8, self._memo_y + 17, "nothing is remembered", 12, style.SOFT_INK)
        for row, (memo, count) in enumerate(self._memos[:ROWS]):
            yield from self._memo(self._memo_y + row * _ROW, memo, count)
        if len(self._memos) > ROWS:
            y = self._memo_y + ROWS * _ROW - 9
            words = f"and {len(self._memos) - ROWS} more"
            yield text(WIDTH - _RIGHT, y, words, 12, style.SOFT_INK, "end")

    def _memo(self, y: float, memo: Memo, count: int) -> Iterator[str]:
        """A frame with slanted lines; a pattern would need an id, which all pictures share."""
        left = self._x(max(memo.start, self._story.start))
        right = self._x(self._story.end if memo.end is None else min(memo.end, self._story.end))
        lines = "".join(
            f"M{x:.1f} {y + 20} L{min(x + 10, right):.1f} {y + 20 - min(10, right - x) * 2:.1f} "
            for x in _steps(left, right, 10)
        )
        yield f'<path d="{lines}" stroke="{style.OTHER}" fill="none"/>'
        box = Box(round(left, 1), y, round(right - left, 1), 20)
        yield rectangle(box, "none", style.SOFT_INK, 1.2)
        words, wide = remembered(memo, count), len(remembered(memo, count)) * _CHARACTER
        inside = right - left > wide + 8
        before = not inside and left - _LEFT > (WIDTH - _LEFT) / 2
        middle = (left + right) / 2 if inside else left - wide / 2 if before else right + wide / 2
        middle += 0 if inside else -8 if before else 8
        if inside:
            yield (
                f'<rect x="{middle - wide / 2:.1f}" y="{y + 2}" width="{wide:.1f}" height="16" '
                'fill="white"/>'
            )
        yield text(middle, y + 15, words, 12, style.INK, "middle")

    def _rounds(self) -> Iterator[str]:
        y = self._round_y
        yield self._name(y, "rounds of A")
        for each in self._story.rounds:
            left, right = self._x(each.start), self._x(each.end)
            told = escape(f"{each.start:g} s: {each.words}")
            yield (
                f'<rect x="{left:.1f}" y="{y}" width="{max(right - left, 3):.1f}" height="{_BAR}" '
                f'fill="{self._colour}"><title>{told}</title></rect>'
            )
        characters = (WIDTH - _LEFT - _RIGHT) / _CHARACTER
        for at, row, words in labels(self._story.rounds, self._width, characters):
            yield text(self._x(at), y + _BAR + 15 + 16 * row, words, 12, style.INK, "middle")


def _steps(start: float, end: float, step: float) -> Iterator[float]:
    while start < end:
        yield start
        start += step
