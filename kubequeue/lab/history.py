"""Every state of a bench, one after another: to walk through, to walk back, and to branch from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab.bench import SIGNATURES, VERBS, Bench, Round
from kubequeue.lab.narration import narrate, say_act
from kubequeue.lab.style import short
from kubequeue.observe.trace import Instant, Trace
from kubequeue.workqueue.queue import QueueSnapshot

if TYPE_CHECKING:
    from pandas import DataFrame

Act = tuple[Any, ...]
"""A verb of the bench and what it is given: ``("add_after", "default/a", 10)``."""


@dataclass(frozen=True, slots=True)
class State:
    """How everything stood once one thing had happened.

    Attributes:
        at: seconds since the start.
        instants: what happened, in order; empty when only time went by.
        snapshot: what is in the queue now.
        rounds: the rounds under way now.
        sentence: what happened, said in one sentence that begins with who did it.
        actor: the loop or worker that did it; empty when it came from outside.
    """

    at: float
    instants: tuple[Instant, ...]
    snapshot: QueueSnapshot
    rounds: tuple[Round, ...]
    sentence: str
    actor: str

    def concerns(self, key: Any) -> bool:
        """Whether what happened was about ``key``."""
        return any(instant.key == key for instant in self.instants)


class History:
    """All states that a list of acts leads through.

    Going back costs nothing, because every state is kept. An act after an earlier state starts
    another future: what followed that state is dropped and computed anew. ``options`` go to
    `Bench`. Raises `InvalidArgumentError` for an act that cannot be; then nothing has changed.

    >>> history = History(("add", "default/a"), ("add", "default/a"), workers=1)
    >>> print(history.states[-1].sentence)
    handle_ready_items wakes, finds no worker waiting and sleeps again.
    >>> history.do("finish", "default/a", after=6)
    7
    """

    _bench: Bench
    states: list[State]
    acts: list[tuple[int, str, tuple[Any, ...]]]
    """After which state, which verb, and what it was given."""

    def __init__(self, *acts: Act, **options: Any) -> None:
        self._options = options
        self._begin()
        self._go_on()
        for act in acts:
            if not isinstance(act, tuple) or not act:
                raise InvalidArgumentError("act", act, 'a verb and more: ("add", "default/a")')
            self.do(*act)

    def do(self, verb: str, *given: Any, after: int | None = None) -> int:
        """Do something after a state, by default the last; the number of the state it leads to.

        Costs O(states) when ``after`` is an earlier one.
        """
        if not isinstance(verb, str) or verb not in VERBS:
            raise InvalidArgumentError("verb", verb, f"one of {', '.join(VERBS)}")
        last = len(self.states) - 1
        if after is None or after >= last:
            self._perform(verb, given)
            done = last + 1
        else:
            branch = self._up_to(max(after, 0))
            branch._perform(verb, given)
            self._bench, self.states, self.acts = branch._bench, branch.states, branch.acts
            done = max(after, 0) + 1
        self._go_on()
        return done

    def next_change(self, key: Any, after: int) -> int | None:
        """The first state after ``after`` in which something happened to ``key``."""
        later = range(max(after + 1, 0), len(self.states))
        return next((number for number in later if self.states[number].concerns(key)), None)

    @property
    def keys(self) -> list[Any]:
        """Every key that was ever asked for, in sorted order. Costs O(steps)."""
        instants = self._bench.sim.trace.instants
        return sorted({i.key for i in instants if i.key is not None}, key=str)

    @property
    def workers(self) -> list[str]:
        """The names of the workers."""
        return self._bench.workers

    @property
    def trace(self) -> Trace:
        """The trace of the whole run, for `plots`."""
        return self._bench.sim.trace

    def story(self, since: int = 0) -> str:
        """One line for each state from ``since`` on: its number, its time and its sentence."""
        numbered = list(enumerate(self.states))[since:]
        return "\n".join(f"{number:3} {s.at:5g} s  {s.sentence}" for number, s in numbered)

    def table(self) -> DataFrame:
        """A row for each state: what happened, and what each place held after it."""
        import pandas as pd

        return pd.DataFrame([row(state) for state in self.states])

    def _begin(self) -> None:
        self._bench = Bench(**self._options)
        self.acts, self.states = [], []
        self._record((), "", "The queue is empty, and no worker has asked for a key yet.")

    def _up_to(self, last: int) -> History:
        """Another history with the same past, which ends with the state ``last``."""
        branch = History.__new__(History)
        branch._options = self._options
        branch._begin()
        for after, verb, given in self.acts:
            if after >= last:
                break
            branch._go_on(after)
            branch._perform(verb, given)
        branch._go_on(last)
        return branch

    def _perform(self, verb: str, given: tuple[Any, ...]) -> None:
        self._bench.stop_the_clock()
        seen = len(self._bench.sim.trace)
        try:
            VERBS[verb](self._bench, *given)
            instants = tuple(self._bench.sim.trace.since(seen))
            said = say_act(verb, given, bool(instants))
        except Exception as error:
            self._bench = self._up_to(len(self.states) - 1)._bench  # it may be half done
            if isinstance(error, InvalidArgumentError):
                raise
            raise InvalidArgumentError(verb, given, SIGNATURES[verb]) from None
        self.acts.append((len(self.states) - 1, verb, given))
        self._record(instants, "", said)

    def _go_on(self, last: float = float("inf")) -> None:
        """Let happen what can happen, or as much of it as leads to the state ``last``."""
        seen = len(self._bench.sim.trace)
        while len(self.states) <= last and self._bench.step():
            instants = tuple(self._bench.sim.trace.since(seen))
            seen += len(instants)
            self._record(instants, *narrate(instants, self._bench.queue.snapshot()))

    def _record(self, instants: tuple[Instant, ...], actor: str, sentence: str) -> None:
        snapshot, rounds = self._bench.queue.snapshot(), self._bench.rounds
        self.states.append(State(snapshot.now, instants, snapshot, rounds, sentence, actor))


def row(state: State) -> dict[str, Any]:
    """What a table says of a state: each place in its own order, "-" when nothing is there."""
    seen = state.snapshot
    places = {
        "add buffer": [short(key) for _, keys in seen.buffer for key in keys],
        "waiting (due at, s)": [f"{short(item.key)} {item.ready_at:g}" for item in seen.waiting],
        "ready (priority)": [f"{short(item.key)} {item.priority}" for item in seen.ready],
        "locked (by)": [f"{short(lock.key)} {lock.holder}" for lock in seen.locked],
        "waiters": list(seen.waiters),
    }
    told = {name: ", ".join(held) or "-" for name, held in places.items()}
    return {"at (s)": state.at, "what happened": state.sentence, **told}
