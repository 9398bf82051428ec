"""Where each key stands in the picture of a queue: chips with a place, before they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from kubequeue.lab.style import short
from kubequeue.lab.svg import Box
from kubequeue.sim import NANOSECONDS
from kubequeue.workqueue.queue import AddOpts

if TYPE_CHECKING:
    from kubequeue.lab.history import State


class Chip(NamedTuple):
    """A key at one place; ``x`` and ``y`` are its middle, ``label`` the words beside it."""

    place: str
    key: Any
    x: float
    y: float
    label: str
    locked: bool


class Shelf(NamedTuple):
    """How a place lays out its chips: ``columns`` to a row, and no more rows than ``rows``."""

    x: float
    y: float
    columns: int
    rows: int
    dx: float
    dy: float

    @property
    def room(self) -> int:
        """How many chips there is room for."""
        return self.columns * self.rows


BOXES = {
    "add buffer": Box(20, 62, 176, 326),
    "items": Box(296, 56, 452, 338),
    "waiting": Box(312, 88, 420, 140),
    "ready": Box(312, 242, 420, 140),
    "workers": Box(864, 62, 216, 326),
}
SHELVES = {
    "add buffer": Shelf(64, 140, 1, 6, 0, 40),
    "waiting": Shelf(358, 140, 5, 2, 78, 50),
    "ready": Shelf(358, 294, 5, 2, 78, 50),
    "worker": Shelf(1028, 125, 1, 3, 0, 54),
    "locked": Shelf(906, 304, 3, 1, 66, 0),
}
FROM_OUTSIDE = (-60.0, 0.0)
"""Whence a chip comes that stood nowhere before."""


def chips(state: State, workers: list[str]) -> list[Chip]:
    """Every key that there is room for, at its place. Costs O(n)."""
    seen = state.snapshot
    locked = {lock.key for lock in seen.locked}
    adds = [(key, _asked(opts)) for opts, keys in seen.buffer for key in keys]
    waits = [(item.key, f"in {(item.ready_at or 0) - seen.now:.4g} s") for item in seen.waiting]
    ready = [(item.key, f"priority {item.priority}") for item in seen.ready]
    held = holders(state)
    busy = [(held.get(name), "") for name in workers]
    return [
        *_on_shelf("add buffer", adds),
        *_on_shelf("waiting", waits, locked),
        *_on_shelf("ready", ready, locked),
        *(chip for chip in _on_shelf("worker", busy, locked) if chip.key is not None),
        *_on_shelf("locked", [(lock.key, "") for lock in seen.locked]),
    ]


def holders(state: State) -> dict[str, Any]:
    """Which worker has which key, from the moment that it is handed over."""
    locked = {lock.holder: lock.key for lock in state.snapshot.locked}
    return locked | {each.worker: each.key for each in state.rounds}


def left_over(state: State) -> dict[str, int]:
    """How many keys of each place there is no room for."""
    seen = state.snapshot
    held = {
        "add buffer": sum(len(keys) for _, keys in seen.buffer),
        "waiting": len(seen.waiting),
        "ready": len(seen.ready),
        "locked": len(seen.locked),
    }
    return {place: n - SHELVES[place].room for place, n in held.items() if n > SHELVES[place].room}


def moves(before: Iterable[Chip], now: list[Chip]) -> list[tuple[float, float]]:
    """From where, relative to its place now, each chip has come; (0, 0) when it has not moved.

    A chip that stands where none of its key stood comes from a place that its key has left.
    """
    left = dict(_numbered(before))
    here = [(identity, chip, left.pop(identity, None)) for identity, chip in _numbered(now)]
    from_where = {chip.key: chip for chip in left.values()}
    origins = [was or from_where.get(chip.key) for _, chip, was in here]
    return [
        (was.x - chip.x, was.y - chip.y) if was else FROM_OUTSIDE
        for (_, chip, _), was in zip(here, origins, strict=True)
    ]


def _numbered(standing: Iterable[Chip]) -> Iterator[tuple[tuple[str, Any, int], Chip]]:
    """Each chip with what it is known by: its place, its key and the how-many-th of these it is."""
    counts: dict[tuple[str, Any], int] = {}
    for chip in standing:
        number = counts[chip.place, chip.key] = counts.get((chip.place, chip.key), -1) + 1
        yield (chip.place, chip.key, number), chip


def _on_shelf(
    place: str, held: list[tuple[Any, str]], locked: Iterable[Any] = ()
) -> Iterator[Chip]:
    shelf = SHELVES[place]
    for number, (key, label) in enumerate(held[: shelf.room]):
        row, column = divmod(number, shelf.columns)
        x, y = shelf.x + column * shelf.dx, shelf.y + row * shelf.dy
        yield Chip(place, key, x, y, label, key in locked)


def _asked(opts: AddOpts) -> str:
    if opts.rate_limited:
        return "back-off"
    if opts.after_ns > 0:
        return f"in {opts.after_ns / NANOSECONDS:.4g} s"
    return f"priority {opts.priority}" if opts.priority else "now"


def described(state: State) -> str:
    """The picture in words, place by place, for those who cannot see it."""
    seen = state.snapshot
    places = {
        "In the add buffer": [short(key) for _, keys in seen.buffer for key in keys],
        "Waiting": [f"{short(item.key)} until {item.ready_at:.4g} s" for item in seen.waiting],
        "Ready": [f"{short(item.key)} at priority {item.priority}" for item in seen.ready],
        "Locked": [f"{short(lock.key)} by {lock.holder}" for lock in seen.locked],
        "Waiting for a key": list(seen.waiters),
    }
    return " ".join(f"{place}: {', '.join(held) or 'nothing'}." for place, held in places.items())
