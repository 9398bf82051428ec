"""The queue stepper: walk through the states of a queue, walk back, and cause trouble."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from html import escape
from typing import Any

import ipywidgets as w

from kubequeue.errors import InvalidArgumentError, KubeQueueError
from kubequeue.lab.history import Act, History, row
from kubequeue.lab.queue_picture import queue_picture
from kubequeue.lab.style import key_colours, short
from kubequeue.lab.timelines import Timelines
from kubequeue.lab.widgets.parts import KEY_BAR, button, fold, named, own_keys, say, table
from kubequeue.lab.widgets.player import Player
from kubequeue.lab.widgets.trouble import Trouble

KEYS = ("default/a", "default/b", "default/c", "default/d")
_SPEEDS = [("slow", 1.5), ("medium", 0.7), ("fast", 0.2)]


class QueueStepper(w.VBox):  # type: ignore[misc]  # ipywidgets ships no types
    """A queue and its workers, one state at a time.

    Args:
        acts: what is done before it is shown: ``("add", "default/a")``, ``("pass_time", 2)``, ...
        at: the state to show first, by default the last; a negative one counts from the end.
        keys: what the trouble buttons offer.
        trouble: False leaves those buttons out.
        options: for `Bench`: ``workers``, ``round_seconds``, switches of the queue.

    Raises `InvalidArgumentError` for an act that cannot be. A redraw costs O(n), an act at an
    earlier state O(states).

    >>> stepper = QueueStepper(("add", "default/a"), workers=1)
    >>> stepper
    QueueStepper: state 6 of 6: worker-1 begins a round of A.
    >>> stepper.back()
    >>> stepper.act("add", "default/b")
    >>> stepper
    QueueStepper: state 6 of 9: You add B: a request is in the add buffer.
    """

    def __init__(
        self,
        *acts: Act,
        at: int | None = None,
        keys: Iterable[Any] = KEYS,
        trouble: bool = True,
        **options: Any,
    ) -> None:
        self.history = History(*acts, **options)
        self._at = -1
        self._keys = _offered(keys)
        if not (at is None or isinstance(at, int)):
            raise InvalidArgumentError("at", at, "the number of a state, or None for the last")
        self._player = Player(self._advance, lambda: float(self._speed.value), self._played)
        self._make_controls()
        self._trouble = Trouble(self.act, self._keys) if trouble else None
        super().__init__(children=self._rows())
        self.add_class("kq-stepper")
        self.observe(lambda _: self._player.stop(), names="comm")  # closed while it plays
        self._redraw_lanes()
        last = len(self.history.states) - 1
        self.show(last if at is None else at if at >= 0 else last + 1 + at)

    def __repr__(self) -> str:
        state = self.history.states[self._at]
        last = len(self.history.states) - 1
        return f"QueueStepper: state {self._at} of {last}: {state.sentence}"

    @property
    def at(self) -> int:
        """The number of the state that is shown."""
        return self._at

    def show(self, number: int) -> None:
        """Show a state; past either end it is the first or the last. Costs O(n)."""
        states = self.history.states
        before, self._at = self._at, min(max(number, 0), len(states) - 1)
        state = states[self._at]
        came_from = states[before] if 0 <= before < len(states) else None
        self._picture.value = queue_picture(state, self.history.workers, self._colours, came_from)
        self._lanes.value = self._drawn_lanes.at(self._at)
        self._table.value = table({name: str(held) for name, held in row(state).items()})
        self._slider.value = self._at
        if self._trouble:
            self._trouble.offer(list(dict.fromkeys(each.key for each in state.rounds)))
        # Last, so that whoever reads or hears it finds everything else in place.
        self._say(state.sentence, state.actor)

    def step(self) -> None:
        """One state forward."""
        if not self._advance():
            self._say("This is the last state. Cause something, or step back.")

    def back(self) -> None:
        """One state back."""
        if self._at == 0:
            self._say("This is the first state. Step forward.")
        self.show(self._at - 1) if self._at else None

    def next_change(self, key: Any) -> None:
        """On to the next state in which something happens to ``key``."""
        number = self.history.next_change(key, self._at)
        if number is None:
            self._say(f"Nothing happens to {short(key)} from here on.")
        else:
            self.show(number)

    def act(self, verb: str, *given: Any) -> None:
        """Do something after the state that is shown; what followed it before is forgotten.

        What cannot be done is said in a sentence, and changes nothing.
        """
        self._player.stop()
        try:
            number = self.history.do(verb, *given, after=self._at)
        except KubeQueueError as error:
            self._say(f"That cannot be done: {error}")
            return
        self._redraw_lanes()
        self.show(number)

    def play(self) -> None:
        """Play from here, or from the start when this is the last state; or stop playing.

        Once it is closed it plays no more; without a page to play on it says so.
        """
        if self.comm is None:
            return
        if self._player.playing:
            self._player.stop()
            return
        if self._at == len(self.history.states) - 1:
            self.show(0)
        try:
            self._player.start()
        except RuntimeError:  # no event loop runs
            self._say("Playing needs a notebook that is open; here you can step.")

    def _advance(self) -> bool:
        if self._at >= len(self.history.states) - 1:
            return False
        self.show(self._at + 1)
        return True

    def _played(self, problem: BaseException | None) -> None:
        self._play.description = "⏸ pause" if self._player.playing else "▶ play"
        if problem is not None:
            self._say(f"Playing stopped: {problem!r}")

    def _say(self, sentence: str, actor: str = "") -> None:
        told = f"<b>{escape(actor)}</b>{escape(sentence[len(actor) :])}"
        self._sentence.value = say(told)

    def _redraw_lanes(self) -> None:
        keys = self.history.keys
        self._colours = key_colours([*keys, *self._keys])
        self._drawn_lanes = Timelines(self.history.states, keys, self._colours)
        self._slider.max = len(self.history.states) - 1

    def _make_controls(self) -> None:
        self._picture, self._sentence, self._table, self._lanes = (
            named(w.HTML(), name)
            for name in ("kq-picture", "kq-sentence", "kq-table", "kq-timelines")
        )
        self._slider = named(w.IntSlider(description="state", min=0, max=0), "kq-slider")
        self._slider.layout.width = "340px"
        self._slider.observe(lambda change: self._slid(change.new), names="value")
        self._play = button("▶ play", "kq-play", self.play, "play, or pause")
        self._speed = named(w.Dropdown(options=_SPEEDS, value=0.7, description="speed"), "kq-speed")
        self._speed.layout.width = "170px"
        offered = [(short(key), key) for key in self._keys]
        self._changing = named(w.Dropdown(options=offered), "kq-changing")
        self._changing.layout.width = "70px"

    def _slid(self, number: int) -> None:
        if number != self._at:
            self.show(number)

    def _rows(self) -> list[Any]:
        walk = [
            button("|◀", "kq-first", lambda: self.show(0), "to the first state"),
            button("◀ back", "kq-back", self.back, "one state back"),
            button("step ▶", "kq-step", self.step, "one state forward"),
            button(
                "▶|",
                "kq-last",
                lambda: self.show(len(self.history.states) - 1),
                "to the last state",
            ),
            self._play,
            button(
                "next change of",
                "kq-next-change",
                lambda: self.next_change(self._changing.value),
                "on to the next state in which something happens to this key",
            ),
            self._changing,
            self._speed,
            self._slider,
        ]
        wrap = w.Layout(flex_flow="row wrap")
        return [
            own_keys("kq-stepper"),
            w.HTML(KEY_BAR),
            self._picture,
            self._sentence,
            w.HBox(walk, layout=wrap),
            *([self._trouble] if self._trouble else []),
            self._lanes,
            fold("the same as a table", "kq-fold", self._table),
        ]


def _offered(keys: Iterable[Any]) -> list[Any]:
    """The keys as a list that drop-downs can offer."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise InvalidArgumentError("keys", keys, 'a list of keys: ["default/a"]')
    offered = list(keys)
    if not offered or not all(isinstance(key, Hashable) for key in offered):
        raise InvalidArgumentError("keys", offered, "one key or more, each of them hashable")
    return offered
