"""The queue as it is now, drawn as SVG: places, loops, and the way that each key has come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from kubequeue.lab import style
from kubequeue.lab.scene import (
    BOXES,
    SHELVES,
    Chip,
    chips,
    described,
    holders,
    left_over,
    moves,
)
from kubequeue.lab.svg import Box, arrow, rectangle, text

if TYPE_CHECKING:
    from kubequeue.lab.history import State

WIDTH, HEIGHT = 1100, 404
_SOFT = style.SOFT_INK
_LOOPS = {
    "handle_add_buffer": (246, 225, "add-buffer"),
    "handle_waiting_items": (776, 158, "delay loop"),
    "handle_ready_items": (806, 312, "dispatcher"),
}
_WAYS = {
    "handle_add_buffer": [
        [(198, 225), (225, 225)],
        [(267, 216), (309, 166)],
        [(267, 234), (309, 304)],
    ],
    "handle_waiting_items": [[(734, 158), (755, 158)], [(776, 202), (776, 262), (736, 282)]],
    "handle_ready_items": [[(734, 312), (785, 312)], [(827, 306), (861, 252)]],
}
_HEADS = {
    "add buffer": ("add buffer", "requests, not yet merged"),
    "waiting": ("waiting", "by deadline"),
    "ready": ("ready", "by priority, then by place in line"),
}
_CSS = """
.kq-svg text { font-family: system-ui, sans-serif; }
.kq-svg .kq-chip { animation: kq-come .35s ease-out; }
@keyframes kq-come { from { transform: translate(var(--dx), var(--dy)); } }
@media (prefers-reduced-motion: reduce) { .kq-svg .kq-chip { animation: none; } }
"""


def queue_picture(
    state: State, workers: list[str], colours: Mapping[Any, str], before: State | None = None
) -> str:
    """The SVG of one state; chips move from where they were in ``before``. Costs O(n)."""
    now = chips(state, workers)
    was = chips(before, workers) if before else now
    parts = [
        f'<svg class="kq-svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" aria-label="{escape(described(state))}">'
        f"<style>{_CSS}</style>",
        *_places(state),
        *_workers(state, workers),
        *(part for name in _LOOPS for part in _loop(name, name == state.actor)),
        *(
            _chip(chip, colours.get(chip.key, style.OTHER), *way)
            for chip, way in zip(now, moves(was, now), strict=True)
        ),
        "</svg>",
    ]
    return "".join(parts)


def _places(state: State) -> Iterator[str]:
    seen = state.snapshot
    yield text(20, 34, "Inside the queue", 18, style.INK, bold=True)
    closed = " · shut down" if seen.shutting_down else ""
    yield text(1080, 34, f"t = {state.at:g} s{closed}", 14, _SOFT, anchor="end")
    yield rectangle(BOXES["items"], "white", "#7B8794", dash="6 4")
    count = f"items: {len(seen.items)}, one record for each pending key, in two orders"
    yield text(312, 76, count, 13, _SOFT)
    more = left_over(state)
    for place, (name, words) in _HEADS.items():
        box = BOXES[place]
        yield rectangle(box, style.PANEL)
        yield text(box.x + 12, box.y + 22, name, 15, style.INK, bold=True)
        if place == "add buffer":
            yield text(box.x + 12, box.y + 40, words, 12, _SOFT)
        else:
            yield text(box.x + 24 + 8.5 * len(name), box.y + 22, words, 12, _SOFT)
        if place in more:
            end, top = box.x + box.width - 10, box.y + (58 if place == "add buffer" else 22)
            yield text(end, top, f"and {more[place]} more", 12, style.INK, "end")


def _workers(state: State, workers: list[str]) -> Iterator[str]:
    box, shelf = BOXES["workers"], SHELVES["worker"]
    yield rectangle(box, style.PANEL)
    yield text(box.x + 12, box.y + 22, "workers", 15, style.INK, bold=True)
    for number, name in enumerate(workers[: shelf.rows]):
        top = shelf.y + number * shelf.dy - 24
        acts = name == state.actor
        frame = Box(box.x + 10, top, 196, 48)
        yield rectangle(frame, "white", *((style.ACCENT, 2.5) if acts else ()))
        yield text(box.x + 20, top + 20, name, 13, style.ACCENT if acts else style.INK, bold=acts)
        yield text(box.x + 20, top + 38, _busy_with(state, name), 12, _SOFT)
    if len(workers) > shelf.rows:
        idle = f"and {len(workers) - shelf.rows} more workers"
        yield text(box.x + 206, 284, idle, 12, _SOFT, "end")
    yield text(box.x + 12, 284, "locked", 15, style.INK, bold=True)
    more = left_over(state).get("locked")
    if more:
        yield text(box.x + 206, 340, f"and {more} more", 12, _SOFT, "end")
    yield text(box.x + 12, 346, "waiters", 15, style.INK, bold=True)
    names = ", ".join(name.removeprefix("worker-") for name in state.snapshot.waiters)
    yield text(box.x + 12, 368, f"worker {names}" if names else "none", 13, _SOFT)


def _busy_with(state: State, worker: str) -> str:
    since = [each.since for each in state.rounds if each.worker == worker]
    if since:
        return f"a round since {since[0]:g} s"
    if worker in holders(state):
        return "has been given"
    return "waits for a key" if worker in state.snapshot.waiters else "is not in line"


def _loop(name: str, acts: bool) -> Iterator[str]:
    x, y, words = _LOOPS[name]
    line, fill = (style.ACCENT, style.ACCENT) if acts else ("#7B8794", "white")
    for way in _WAYS[name]:
        yield arrow(way, line, 2.5 if acts else 1.5)
    ink = "white" if acts else _SOFT
    yield f'<circle cx="{x}" cy="{y}" r="19" fill="{fill}" stroke="{line}" stroke-width="2"/>'
    yield (
        f'<path d="M{x - 8} {y - 3} A8.5 8.5 0 1 1 {x - 5} {y + 7}" fill="none" stroke="{ink}" '
        f'stroke-width="2.5"/><path d="M{x - 13} {y - 5} L{x - 4} {y - 9} L{x - 4} {y + 1} Z" '
        f'fill="{ink}"/>'
    )
    yield text(x, y + 36, words, 13, line if acts else _SOFT, "middle", bold=acts)


def _chip(chip: Chip, colour: str, dx: float, dy: float) -> str:
    word = style.short(chip.key)
    word = word if len(word) <= 7 else f"…{word[-6:]}"
    beside = chip.place == "add buffer"
    label = (
        text(34, 5, chip.label, 12, _SOFT)
        if beside
        else text(0, 29, chip.label, 12, _SOFT, "middle")
    )
    told = f"{chip.key}, {chip.place}{', locked' if chip.locked else ''}"
    return (
        f'<g transform="translate({chip.x:g} {chip.y:g})">'
        f'<g class="kq-chip" style="--dx:{dx:g}px;--dy:{dy:g}px"><title>{escape(told)}</title>'
        f'<rect x="-28" y="-14" width="56" height="28" rx="14" fill="{colour}"/>'
        f"{text(0, 5, word, 13, style.text_colour(colour), 'middle', bold=True)}"
        f"{_PADLOCK if chip.locked else ''}{label}</g></g>"
    )


_PADLOCK = (
    f'<rect x="16" y="-18" width="14" height="11" rx="2" fill="{style.INK}" stroke="white"/>'
    f'<path d="M19 -18 v-3 a4 4 0 0 1 8 0 v3" fill="none" stroke="{style.INK}" stroke-width="2"/>'
)
