"""Events against rounds: how many of the one cause how many of the other."""

from __future__ import annotations

from typing import Any

import ipywidgets as w

from kubequeue.lab.history import History
from kubequeue.lab.style import key_colours
from kubequeue.lab.timelines import Timelines
from kubequeue.lab.widgets.parts import button, named, own_keys, table

_KEY = "default/a"


class EventCounter(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """One key, one worker: send events, end rounds, and count.

    >>> counter = EventCounter()
    >>> for _ in range(5):
    ...     counter.event()
    >>> counter.end_round(); counter.end_round()
    >>> counter
    EventCounter: events 5, merged 3, rounds 2
    """

    def __init__(self) -> None:
        self._shown = named(w.HTML(), "kq-counts")
        self._lane = named(w.HTML(), "kq-timelines")
        self._end = button("end the round", "kq-end-round", self.end_round)
        buttons = [
            button("an event for A", "kq-event", self.event, "A is asked for once"),
            self._end,
            button("start over", "kq-start-over", self.start_over),
        ]
        self.start_over()
        rows = [own_keys("kq-counter"), w.HBox(buttons), self._shown, self._lane]
        super().__init__(children=rows)
        self.add_class("kq-counter")

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {number}" for name, number in self.counts.items())
        return f"EventCounter: {counts}"

    @property
    def counts(self) -> dict[str, int]:
        """How many events there were, how many of them merged, and how many rounds began."""
        kinds = [instant.kind for instant in self.history.trace.instants]
        named_kinds = {"events": "buffered", "merged": "merged", "rounds": "round_started"}
        return {name: kinds.count(kind) for name, kind in named_kinds.items()}

    def event(self) -> None:
        """One event for A."""
        self.history.do("add", _KEY)
        self._redraw()

    def end_round(self) -> None:
        """End A's round; nothing when none is under way."""
        if self.history.states[-1].rounds:
            self.history.do("finish", _KEY)
            self._redraw()

    def start_over(self) -> None:
        """Forget everything."""
        self.history = History(workers=1)
        self._redraw()

    def _redraw(self) -> None:
        states = self.history.states
        running = bool(states[-1].rounds)
        self._end.disabled = not running
        facts: dict[str, Any] = {
            **self.counts,
            "a check of A is pending": "yes" if states[-1].snapshot.items else "no",
            "A is being processed": "yes" if running else "no",
        }
        self._shown.value = table({name: str(value) for name, value in facts.items()})
        lanes = Timelines(states, [_KEY], key_colours([_KEY]))
        self._lane.value = lanes.at(len(states) - 1)
