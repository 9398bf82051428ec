"""The life of each key over the states of a history, as SVG: asked for, pending, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kubequeue.lab import style
from kubequeue.lab.svg import Box, rectangle, text

if TYPE_CHECKING:
    from kubequeue.lab.history import State

WIDTH = 1100
_LEFT, _TOP, _LANE = 110, 26, 34
_LANES = 8
Stretch = tuple[int, int]
"""The first state and the one after the last."""


@dataclass
class Life:
    """What became of one key, in numbers of states."""

    asked: list[int] = field(default_factory=list)
    pending: list[Stretch] = field(default_factory=list)
    out: list[Stretch] = field(default_factory=list)


def lives(states: list[State], keys: Iterable[Any]) -> dict[Any, Life]:
    """The life of each key. Costs O(states x n)."""
    pending = [{item.key for item in state.snapshot.items} for state in states]
    out = [{lock.key for lock in state.snapshot.locked} for state in states]
    return {
        key: Life(
            [
                number
                for number, state in enumerate(states)
                if any(i.kind == "buffered" and i.key == key for i in state.instants)
            ],
            list(_stretches(key in held for held in pending)),
            list(_stretches(key in held for held in out)),
        )
        for key in keys
    }


class Timelines:
    """The lanes of a history, drawn once; `at` adds the cursor. Costs O(states x n)."""

    def __init__(self, states: list[State], keys: list[Any], colours: Mapping[Any, str]) -> None:
        self._count = len(states)
        shown = keys[:_LANES]
        self._height = _TOP + _LANE * max(len(shown), 1) + 28
        more = f" (of {len(keys)})" if len(keys) > _LANES else ""
        lanes = [
            part
            for lane, (key, life) in enumerate(lives(states, shown).items())
            for part in self._lane(lane, key, life, colours.get(key, style.OTHER))
        ]
        words = (
            f"{', '.join(map(style.short, shown)) or 'No key'}{more} over {len(states)} states: "
        )
        words += "▼ asked for; dashed, pending; solid, out with a worker"
        self._drawn = "".join([text(_LEFT, 14, words, 12, style.SOFT_INK), *lanes])
        self._times = [f"{state.at:g} s" for state in states]

    def at(self, number: int) -> str:
        """The picture with its cursor at a state. Costs O(size of the picture)."""
        x, bottom = self._x(number + 0.5), self._height - 22
        words = f"state {number}, t = {self._times[number]}"
        anchor = "end" if number > self._count / 2 else "start"
        return (
            f'<svg class="kq-svg" viewBox="0 0 {WIDTH} {self._height}" width="100%" role="img" '
            f'xmlns="http://www.w3.org/2000/svg" aria-label="Time lines; cursor at {words}">'
            f"{self._drawn}"
            f'<path d="M{x:.1f} {_TOP - 4} V{bottom}" stroke="{style.ACCENT}" stroke-width="2.5"/>'
            f"{text(x, bottom + 16, words, 13, style.ACCENT, anchor, bold=True)}</svg>"
        )

    def _x(self, number: float) -> float:
        return _LEFT + (WIDTH - _LEFT - 20) * number / self._count

    def _lane(self, lane: int, key: Any, life: Life, colour: str) -> Iterator[str]:
        y = _TOP + lane * _LANE
        yield text(_LEFT - 10, y + 20, style.short(key)[-14:], 13, style.INK, "end", bold=True)
        yield f'<path d="M{_LEFT} {y + 33} H{WIDTH - 20}" stroke="{style.LINES}"/>'
        for first, last in life.out:
            x = self._x(first)
            yield rectangle(Box(x, y + 8, self._x(last) - x, 16), colour, "white")
        for first, last in life.pending:
            x = self._x(first)
            frame = Box(x, y + 4, self._x(last) - x, 24)
            yield rectangle(frame, "none", colour, 2, dash="5 3")
        for number in life.asked:
            x = self._x(number + 0.5)
            yield f'<path d="M{x - 7:.1f} {y - 1} h14 l-7 10 z" fill="{colour}" stroke="white"/>'


def _stretches(held: Iterable[bool]) -> Iterator[Stretch]:
    """From where to where it holds without a break."""
    first = 0
    for holds, run in groupby(held):
        last = first + sum(1 for _ in run)
        if holds:
            yield first, last
        first = last
