"""A story of what was written and what was seen: its parts, and how they are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from kubequeue.cluster.objects import Pod

State = Mapping[str, str]
"""Name and condition of each object: for Pods "" or "going", for others the version."""


class Stretch(NamedTuple):
    """From when to when something looked how; ``state`` is None where nobody looks."""

    start: float
    end: float
    state: State | None


class Memo(NamedTuple):
    """A write that is remembered; ``end`` is None, and ``why`` empty, while it is."""

    start: float
    end: float | None
    action: str
    pod: str
    why: str = ""


class Decision(NamedTuple):
    """A round and what it did for the group, such as ``create 1`` or ``skip``."""

    start: float
    end: float
    words: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One story on one time axis, from ``start`` to ``end`` seconds."""

    start: float
    end: float
    truth: list[Stretch]
    cache: list[Stretch]
    memos: list[Memo]
    rounds: list[Decision]

    @property
    def gaps(self) -> list[tuple[float, float]]:
        """When the cache did not show what the server had."""
        cuts = sorted({edge for s in (*self.truth, *self.cache) for edge in (s.start, s.end)})
        return _joined(
            (left, right)
            for left, right in pairwise(cuts)
            if (seen := state_at(self.cache, left)) is not None
            and seen != state_at(self.truth, left)
        )


def state_at(stretches: list[Stretch], at: float) -> State | None:
    """How it looked at a second."""
    found = [each.state for each in stretches if each.start <= at < each.end]
    return found[0] if found else None


def _joined(stretches: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for start, end in stretches:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def look(state: State | None, kind: type[Any] = Pod) -> str:
    """A state in a few words.

    >>> look({"x": "", "y": "going"}), look({}), look(None)
    ('2 Pods, 1 going', 'no Pod', 'no process')
    """
    if state is None:
        return "no process"
    if kind is not Pod:
        return ", ".join(f"version {version}" for version in state.values()) or "none"
    going = sum(condition == "going" for condition in state.values())
    words = f"{len(state) or 'no'} Pod{'s' * (len(state) > 1)}"
    return f"{words}, {going} going" if going else words


def together(memos: list[Memo], within: float) -> list[tuple[Memo, int]]:
    """Records alike that come, and go, within so many seconds, as one, and how many."""
    found: list[tuple[Memo, int]] = []
    for memo in memos:
        if found and _alike(found[-1][0], memo, within):
            last, count = found[-1]
            found[-1] = last._replace(end=memo.end), count + 1
        else:
            found.append((memo, 1))
    return found


def _alike(one: Memo, other: Memo, within: float) -> bool:
    if (one.action, one.why) != (other.action, other.why) or other.start - one.start > within:
        return False
    if one.end is None or other.end is None:
        return one.end is other.end
    return abs(other.end - one.end) <= within


def runs(rounds: list[Decision], within: float) -> list[tuple[Decision, int]]:
    """Rounds in a row that did the same, each soon after the other, as one, and how many."""
    found: list[tuple[Decision, int]] = []
    for each in rounds:
        if found:
            last, count = found[-1]
            if last.words == each.words and each.start - last.end <= within:
                found[-1] = last._replace(end=each.end), count + 1
                continue
        found.append((each, 1))
    return found


def remembered(memo: Memo, count: int) -> str:
    """A record in a few words, and how it ended if not by being seen."""
    what = f"{count} Pods" if count > 1 else memo.pod[-5:]
    ended = f", {memo.why}" if memo.why not in ("", "met") else ""
    return f"{memo.action} of {what}{ended}"
