"""The cache panel: a late cache, a memory that can be switched off, and three kinds of trouble."""

from __future__ import annotations

from html import escape
from typing import Any

import ipywidgets as w

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab.late_cache import END, SCALED, Story, tell
from kubequeue.lab.live_seen import seen_svg
from kubequeue.lab.style import key_colours
from kubequeue.lab.widgets.parts import named, own_keys, table

MOST_LAG = 36


class CachePanel(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """One worker more is asked for; see what the rounds do until the cache shows it.

    The controls are ``lag`` (seconds), and ``memory``, ``vanish``, ``lose_answer`` and ``crash``,
    each on or off. A redraw costs O(steps of a run).

    >>> panel = CachePanel(lag=6)
    >>> panel
    CachePanel: 1 worker more was asked for, and 1 Pod was created. 2 rounds left the group alone.
    >>> panel.memory.value = False
    >>> panel
    CachePanel: 1 worker more was asked for, and 3 Pods were created: 2 too many.
    """

    def __init__(self, lag: int = 6) -> None:
        if type(lag) is not int or not 0 <= lag <= MOST_LAG:
            raise InvalidArgumentError("lag", lag, f"a whole number from 0 to {MOST_LAG}")
        self.lag = w.IntSlider(value=lag, min=0, max=MOST_LAG, description="lag (s)")
        named(self.lag, "kq-lag")
        self.memory = _switch("expectations", "kq-memory", "remember what was written", True)
        self.vanish = _switch(
            "the Pod vanishes unseen", "kq-vanish", f"somebody removes it at {SCALED + 1:g} s"
        )
        self.lose_answer = _switch(
            "lose the answer of a create", "kq-lose-answer", "the Pod is made, the answer is lost"
        )
        self.crash = _switch(
            "crash the operator", "kq-crash", f"another one starts at {SCALED + 2:g} s"
        )
        switches = [self.memory, self.vanish, self.lose_answer, self.crash]
        for control in (self.lag, *switches):
            control.observe(lambda _: self._redraw(), names="value")
        self._lines, self._told, self._facts = (
            named(w.HTML(), name) for name in ("kq-seen", "kq-sentence", "kq-facts")
        )
        wrap = w.Layout(flex_flow="row wrap")
        rows = [
            own_keys("kq-cache-panel"), w.HBox([self.lag, *switches], layout=wrap), self._lines,
            self._told, self._facts,
        ]  # fmt: skip
        super().__init__(children=rows)
        self.add_class("kq-cache-panel")
        self._redraw()

    def __repr__(self) -> str:
        return f"CachePanel: {self.story.sentence}"

    def _redraw(self) -> None:
        self.story: Story = tell(
            lag=self.lag.value,
            memory=self.memory.value,
            vanish=self.vanish.value,
            lose_answer=self.lose_answer.value,
            crash=self.crash.value,
        )
        colour = key_colours(["default/a"])["default/a"]
        self._lines.value = seen_svg(self.story.seen, f"a late cache, up to {END:g} s", colour)
        self._told.value = f'<div role="status">{escape(self.story.sentence)}</div>'
        self._facts.value = table(self.story.facts)


def _switch(words: str, name: str, tip: str, on: bool = False) -> Any:
    """A button that stays down; it is on when it is down, and says so by a mark."""
    made = named(w.ToggleButton(value=on, tooltip=tip), name)
    made.layout.width = "auto"

    def say(_: Any = None) -> None:
        made.description = f"{'☑' if made.value else '☐'} {words}"

    made.observe(say, names="value")
    say()
    return made
