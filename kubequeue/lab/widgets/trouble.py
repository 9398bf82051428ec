"""The trouble buttons: everything that can be done to a queue from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from kubequeue.lab.style import short
from kubequeue.lab.widgets.parts import button, named


class Trouble(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """Buttons that call ``act`` with a verb of the bench and what it needs."""

    def __init__(self, act: Callable[..., None], keys: list[Any]) -> None:
        self._act = act
        self._key = _choice("kq-key", keys)
        self._running = _choice("kq-running", [])
        self._seconds = _number(w.BoundedFloatText, 5.0, "kq-seconds", min=0, max=86400)
        self._priority = _number(w.BoundedIntText, 10, "kq-priority-value", min=-1000, max=1000)
        self._finish = button("finish its round", "kq-finish", self._do_finish)
        wrap = w.Layout(flex_flow="row wrap", align_items="center")
        super().__init__(children=[
            w.HBox([w.Label("key"), self._key, *self._adding()], layout=wrap),
            w.HBox([w.Label("running"), self._running, *self._others()], layout=wrap),
        ])  # fmt: skip

    def offer(self, running: list[Any]) -> None:
        """Let the learner finish the rounds of these keys."""
        chosen = self._running.value
        self._running.options = [(short(key), key) for key in running]
        self._running.value = chosen if chosen in running else next(iter(running), None)
        self._finish.disabled = not running

    def _adding(self) -> list[Any]:
        add = self._with_key
        return [
            button("add", "kq-add", lambda: add("add"), "ask for one check"),
            button("add 3 times", "kq-burst", self._do_burst, "three requests at one moment"),
            button("add rate-limited", "kq-rate-limited", lambda: add("add_rate_limited"),
                   "ask for one check after its back-off"),
            button("add with priority", "kq-priority",
                   lambda: add("add_with_priority", self._priority.value)),
            self._priority,
        ]  # fmt: skip

    def _others(self) -> list[Any]:
        seconds = self._seconds
        return [
            self._finish,
            button("let time pass", "kq-pass-time", lambda: self._act("pass_time", seconds.value),
                   "let so many seconds go by"),
            button("add key in so many seconds", "kq-delay",
                   lambda: self._with_key("add_after", seconds.value)),
            seconds,
            w.Label("s"),
            button("shut down", "kq-shut-down", lambda: self._act("shut_down")),
        ]  # fmt: skip

    def _with_key(self, verb: str, *given: Any) -> None:
        self._act(verb, self._key.value, *given)

    def _do_burst(self) -> None:
        self._act("burst", *[self._key.value] * 3)

    def _do_finish(self) -> None:
        self._act("finish", self._running.value)


def _choice(name: str, keys: list[Any]) -> Any:
    chosen = named(w.Dropdown(options=[(short(key), key) for key in keys]), name)
    chosen.layout.width = "90px"
    return chosen


def _number(kind: Any, value: float, name: str, **bounds: float) -> Any:
    made = named(kind(value=value, **bounds), name)
    made.layout.width = "80px"
    return made
