"""What happened between two states of a bench, in one sentence that begins with who did it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from kubequeue.lab.style import short
from kubequeue.observe.trace import NANOSECONDS, Instant
from kubequeue.workqueue.queue import QueueSnapshot


def narrate(instants: Sequence[Instant], after: QueueSnapshot) -> tuple[str, str]:
    """Who acted, and the sentence; ``after`` is what the queue held then. Costs O(instants + n)."""
    if not instants:
        return "", f"Time goes by: it is {after.now:g} s now."
    actor = next((instant.actor for instant in instants if instant.actor), "")
    phrases = [phrase for phrase in (_phrase(instant, after) for instant in instants) if phrase]
    told = [_times(phrase, len(list(same))) for phrase, same in groupby(phrases)]
    if not told:
        told = [_IN_VAIN[actor](after)]
    if actor == "handle_waiting_items" and after.waiting:
        told.append(f"sets its alarm for {after.waiting[0].ready_at:g} s")
    return actor, f"{actor} {'; '.join(told)}."


def say_act(verb: str, given: tuple[Any, ...], taken: bool) -> str:
    """What you did; ``taken`` is False when a queue that has shut down took nothing."""
    if verb == "finish":
        again = len(given) > 1 and given[1] > 0
        back = f", and it asks to come back in {given[1]:g} s" if again else ""
        return f"You end the round of {short(given[0])}{back}."
    if verb == "pass_time":
        return f"You let {given[0]:g} s go by."
    if verb == "shut_down":
        return "You shut the queue down: its loops end, and workers that wait are let go."
    if not taken:
        return f"You add {short(given[0])}: the queue has shut down, so nothing comes in."
    if verb == "burst":
        counts = Counter(map(short, given))
        keys = enumerated([_times(key, times) for key, times in counts.items()])
        return f"You add {keys}: {len(given)} requests are in the add buffer before anybody looks."
    return f"You add {short(given[0])}{_HOW[verb](*given[1:])}: a request is in the add buffer."


def enumerated(words: Sequence[str]) -> str:
    """The words as a sentence lists them.

    >>> enumerated(["A", "B", "C"])
    'A, B and C'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _times(words: str, times: int) -> str:
    return words if times == 1 else f"{words} {times} times"


_HOW: dict[str, Callable[..., str]] = {
    "add": lambda: "",
    "add_after": lambda seconds: f" for {seconds:g} s from now" if seconds > 0 else "",
    "add_with_priority": lambda priority: f" at priority {priority}",
    "add_rate_limited": lambda: ", rate-limited",
}

_IN_VAIN: dict[str, Callable[[QueueSnapshot], str]] = {
    "handle_add_buffer": lambda _: "wakes, finds the buffer empty and sleeps again",
    "handle_waiting_items": lambda after: (
        "wakes and finds nothing due" if after.waiting else "wakes, finds nothing and sleeps again"
    ),
    "handle_ready_items": lambda after: (
        "wakes, finds nothing ready and sleeps again"
        if after.waiters
        else "wakes, finds no worker waiting and sleeps again"
    ),
}


def _phrase(instant: Instant, after: QueueSnapshot) -> str:
    told = _PHRASES.get(instant.kind)
    return told(short(instant.key), after, instant, *instant.values) if told else ""


def _merged(key: str, _: QueueSnapshot, __: Instant, priority: int, ready_at_ns: int | None) -> str:
    due = "ready" if ready_at_ns is None else f"due at {ready_at_ns / NANOSECONDS:g} s"
    return f"merges a request into the record of {key} ({due}{_at(priority)})"


def _passed_over(key: str, after: QueueSnapshot, instant: Instant) -> str:
    holders = [lock.holder for lock in after.locked if lock.key == instant.key]
    return f"passes over {key}, which {' and '.join(holders)} has locked"


def _got(key: str, _: QueueSnapshot, instant: Instant, priority: int, locked: bool) -> str:
    return f"hands {key}{_at(priority)} to {instant.actor}{' and locks it' if locked else ''}"


def _round_ended(key: str, _: QueueSnapshot, __: Instant, *outcome: Any) -> str:
    seconds = outcome[-1] / NANOSECONDS
    again = f", adds it again for {seconds:g} s from now" if seconds else ""
    return f"ends its round of {key}{again}"


def _at(priority: int) -> str:
    return f" at priority {priority}" if priority else ""


_PHRASES: dict[str, Callable[..., str]] = {
    "delayed": lambda key, _, __, at: (
        f"puts {key} among the waiting, due at {at / NANOSECONDS:g} s"
    ),
    "merged": _merged,
    "added": lambda key, _, __, priority: f"makes {key} ready{_at(priority)}",
    "passed_over": _passed_over,
    "got": _got,
    "abandoned": lambda _, __, ___, worker: f"finds that {worker} has left",
    "waited": lambda *_: "asks for a key",
    "round_started": lambda key, *_: f"begins a round of {key}",
    "round_ended": _round_ended,
    "done": lambda key, _, instant: (
        f"calls done, so {key} is unlocked" if instant.actor else "calls done"
    ),
}
