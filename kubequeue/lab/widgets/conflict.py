"""The conflict stepper: two writers of one object, one step at a time."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as w

from kubequeue.lab.conflict import OPERATOR, USER, ConflictRun, Moment
from kubequeue.lab.conflict_svg import conflict_svg
from kubequeue.lab.widgets.parts import button, named, own_keys, say

_COLUMNS = ("at (ms)", "who writes", "sent as version", "server had", "answer")


class ConflictStepper(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A user writes the spec and the operator the status of one RayCluster; both have read it.

    Args:
        first: who writes first, "user" or "operator".
        rereads: whether the second one reads again before it tries again.
        at: the number of the moment to show first.

    Raises `InvalidArgumentError` for another ``first``. A step costs O(attempts).

    >>> stepper = ConflictStepper(at=4)
    >>> stepper
    ConflictStepper: moment 4 of 10: The server takes the user's spec: version 1 becomes 2.
    >>> stepper.step()
    >>> stepper.moment.outcome
    'Conflict'
    """

    def __init__(self, first: str = USER, *, rereads: bool = True, at: int = 0) -> None:
        self.run = ConflictRun(first, rereads=rereads)
        self._at = -1
        options = [("the user", USER), ("the operator", OPERATOR)]
        self.first = named(
            w.Dropdown(options=options, value=first, description="writes first"), "kq-first-writer"
        )
        self.first.style.description_width = "90px"
        self.rereads = named(
            w.Checkbox(value=rereads, description="the second writer reads again", indent=False),
            "kq-rereads",
        )
        self._picture, self._sentence, self._table = (
            named(w.HTML(), name) for name in ("kq-picture", "kq-sentence", "kq-table")
        )
        self._slider = named(w.IntSlider(description="moment", min=0, max=1), "kq-slider")
        self._slider.layout.width = "340px"
        super().__init__(children=self._rows())
        self.add_class("kq-conflict")
        self._slider.max = len(self.run.moments) - 1
        self._slider.observe(lambda change: self.show(change.new), names="value")
        for control in (self.first, self.rereads):
            control.observe(lambda _: self._start_over(), names="value")
        self.show(at)

    def __repr__(self) -> str:
        last = len(self.run.moments) - 1
        return f"ConflictStepper: moment {self._at} of {last}: {self.moment.sentence}"

    @property
    def moment(self) -> Moment:
        """What is shown."""
        return self.run.moments[self._at]

    def show(self, number: int) -> None:
        """Show a moment; past either end it is the first or the last."""
        number = min(max(number, 0), len(self.run.moments) - 1)
        if number == self._at:
            return
        self._at = number
        moment = self.moment
        self._picture.value = conflict_svg(moment)
        self._table.value = self._tried()
        self._slider.value = number
        self._sentence.value = say(f"<b>{moment.at * 1000:.0f} ms</b> {escape(moment.sentence)}")

    def step(self) -> None:
        """One moment forward."""
        self.show(self._at + 1)

    def back(self) -> None:
        """One moment back."""
        self.show(self._at - 1)

    def _start_over(self) -> None:
        """Another run, from its first moment."""
        self.run = ConflictRun(self.first.value, rereads=self.rereads.value)
        self._at = -1
        self._slider.value = 0
        self._slider.max = len(self.run.moments) - 1
        self.show(0)

    def _tried(self) -> str:
        """The writes so far, as a table."""
        writes = sum(bool(each.outcome) for each in self.run.moments[: self._at + 1])
        rows = [
            (f"{each.at * 1000:.0f}", each.writer, each.sent, each.server_had, each.answer)
            for each in self.run.attempts[:writes]
        ]
        style = 'style="text-align:right; padding:2px 14px"'
        lines = [
            f"<tr>{''.join(f'<{cell} {style}>{escape(str(value))}</{cell}>' for value in row)}</tr>"
            for cell, row in [("th", _COLUMNS), *(("td", row) for row in rows)]
        ]
        return f'<table style="font-size:13px; color:#1F2933">{"".join(lines)}</table>'

    def _rows(self) -> list[Any]:
        walk = [
            button("|◀", "kq-first", lambda: self.show(0), "to the first moment"),
            button("◀ back", "kq-back", self.back, "one moment back"),
            button("step ▶", "kq-step", self.step, "one moment forward"),
            button(
                "▶|", "kq-last", lambda: self.show(len(self.run.moments) - 1), "to the last moment"
            ),
            self._slider,
        ]
        wrap = w.Layout(flex_flow="row wrap")
        return [
            own_keys("kq-conflict"),
            w.HBox([self.first, self.rereads], layout=wrap),
            self._picture,
            self._sentence,
            w.HBox(walk, layout=wrap),
            self._table,
        ]
