"""How one loop wakes another."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from simpy.events import Event

from kubequeue import Simulation
from kubequeue.signals import Signal, Timer


class Loop:
    """A loop that waits on a signal and notes when it was woken, and when it was told to end."""

    def __init__(self, busy: float = 0.0) -> None:
        self.sim = Simulation()
        self.signal = Signal(self.sim)
        self.woken: list[float] = []
        self.ended: list[float] = []
        self._busy = busy
        self.sim.process(self._run())
        self.sim.settle()

    def _run(self) -> Generator[Event, Any, None]:
        while (yield self.signal.wait()):
            self.woken.append(self.sim.now)
            if self._busy:
                yield self.sim.sleep(self._busy)
        self.ended.append(self.sim.now)


def test_a_notice_wakes_the_loop_once() -> None:
    """One notice, one pass; then the loop sleeps again."""
    loop = Loop()
    loop.signal.notify()
    loop.sim.run(until=5)
    assert loop.woken == [0.0]


def test_notices_before_the_loop_runs_merge() -> None:
    """However many came before it really ran, the loop looks once."""
    loop = Loop()
    for _ in range(3):
        loop.signal.notify()
    loop.sim.settle()
    assert loop.woken == [0.0]
    loop.signal.notify()
    loop.sim.settle()
    assert loop.woken == [0.0, 0.0]


def test_notices_during_a_pass_are_one_more_pass() -> None:
    """A loop at work cannot know whether it saw what the notice was about: it looks again, once."""
    loop = Loop(busy=1.0)
    loop.signal.notify()
    loop.sim.run(until=0.5)
    loop.signal.notify()
    loop.signal.notify()
    loop.sim.run(until=5)
    assert loop.woken == [0.0, 1.0]


def test_a_notice_before_the_first_wait_is_kept() -> None:
    """A notice that nobody waits for yet is there for whoever comes."""
    sim = Simulation()
    signal = Signal(sim)
    signal.notify()
    assert signal.wait().triggered
    assert not signal.wait().triggered


def test_closing_ends_the_loop() -> None:
    """A waiting loop is woken with "no more", and each later wait says the same."""
    loop = Loop()
    loop.signal.close()
    loop.sim.settle()
    assert (loop.woken, loop.ended) == ([], [0.0])
    assert loop.signal.wait().value is False
    assert loop.signal.wait().value is False


def test_a_notice_pending_at_the_close_is_taken_first() -> None:
    """The loop that was at work looks once more before it ends."""
    loop = Loop(busy=1.0)
    loop.signal.notify()
    loop.sim.run(until=0.5)
    loop.signal.notify()
    loop.signal.close()
    loop.sim.run(until=5)
    assert (loop.woken, loop.ended) == ([0.0, 1.0], [2.0])


def test_a_notice_given_before_the_close_still_wakes() -> None:
    """Notice, close, and only then does the loop run: it makes its pass and then ends."""
    loop = Loop()
    loop.signal.notify()
    loop.signal.close()
    loop.sim.settle()
    assert (loop.woken, loop.ended) == ([0.0], [0.0])


@pytest.mark.parametrize(
    ("armed", "rings"), [((3, 1), [1.0]), ((1, 3), [3.0]), ((2, 2), [2.0]), ((3, 1, 2), [2.0])]
)
def test_a_timer_rings_at_the_time_last_armed(armed: tuple[int, ...], rings: list[float]) -> None:
    """Earlier or later, the last arming counts, and no replaced alarm ever rings."""
    sim = Simulation()
    rang: list[float] = []
    timer = Timer(sim, lambda: rang.append(sim.now))
    for second in armed:
        timer.arm(second * 1_000_000_000)
    sim.run()
    assert rang == rings


def test_a_timer_back_at_an_earlier_time_rings_once() -> None:
    """Armed for 1, then 2, then 1 again: the first alarm is dead and the third rings."""
    sim = Simulation()
    rang: list[float] = []
    timer = Timer(sim, lambda: rang.append(sim.now))
    for second in (1, 2, 1):
        timer.arm(second * 1_000_000_000)
    sim.run()
    assert rang == [1.0]


def test_a_timer_can_be_armed_again_after_it_rang() -> None:
    """Also for the very time at which it just rang."""
    sim = Simulation()
    rang: list[float] = []

    def ring() -> None:
        rang.append(sim.now)
        if len(rang) < 3:
            timer.arm(sim.now_ns + (len(rang) - 1) * 1_000_000_000)

    timer = Timer(sim, ring)
    timer.arm(1_000_000_000)
    sim.run()
    assert rang == [1.0, 1.0, 2.0]


def test_arming_for_the_same_time_again_adds_no_event() -> None:
    """A queue arms its timer after every change: what is armed already must cost nothing."""
    sim = Simulation()
    timer = Timer(sim, lambda: None)
    for _ in range(3):
        timer.arm(1_000_000_000)
    assert [sim.step(), sim.step()] == [True, False]
