"""The layer of client-go's older queue that holds keys back until their time has come."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy.events import Event

from kubequeue.signals import Signal, Timer
from kubequeue.sim import Simulation
from kubequeue.workqueue.goheap import Entry, WaitForPriorityQueue
from kubequeue.workqueue.observer import QueueObserver
from kubequeue.workqueue.queue import Key


class DelayingLayer:
    """Keys that wait, at most one entry for each; ``add`` is called with a key whose time has come.

    Mirrors ``delaying_queue.go: delayingType`` (client-go v0.36). Go looks again every 10 s too, in
    case a clock misbehaved; a virtual clock does not.
    """

    def __init__(
        self, sim: Simulation, add: Callable[[Key], None], observer: QueueObserver
    ) -> None:
        self._env = sim.env
        self._add = add
        self._observer = observer
        self.waiting_for_add: list[Entry] = []
        self.waiting_for_queue = WaitForPriorityQueue()
        self._waiting_entry_by_data: dict[Key, Entry] = {}
        self._wake = Signal(sim)
        self._next_ready = Timer(sim, self._wake.notify)
        sim.process(self.waiting_loop())

    def add_after(self, key: Key, after_ns: int) -> None:
        """Hold ``key`` back for so many nanoseconds; zero or less adds it at once.

        Counts one retry in either case. Mirrors ``AddAfter``.
        """
        self._observer.retried()
        if after_ns <= 0:
            self._add(key)
            return
        self.waiting_for_add.append(Entry(key, int(self._env.now) + after_ns))
        self._wake.notify()

    def shut_down(self) -> None:
        """Stop the loop; what waits is never added."""
        self._wake.close()

    def waiting_loop(self) -> Generator[Event, Any, None]:
        """Add what is due, sort in what is new, sleep until the next deadline.

        Mirrors ``delaying_queue.go: waitingLoop``.
        """
        while (yield self._wake.wait()):
            self._observer.woke("waiting_loop")
            self._add_ready_entries()
            arrived, self.waiting_for_add = self.waiting_for_add, []
            for entry in arrived:
                self._insert(entry)
            if self.waiting_for_queue.entries:
                self._next_ready.arm(self.waiting_for_queue.entries[0].ready_at)

    def _add_ready_entries(self) -> None:
        waiting = self.waiting_for_queue
        while waiting.entries and waiting.entries[0].ready_at <= self._env.now:
            entry = waiting.pop()
            del self._waiting_entry_by_data[entry.key]
            self._add(entry.key)

    def _insert(self, entry: Entry) -> None:
        """The earlier of two deadlines wins. Mirrors ``delaying_queue.go: insert``."""
        existing = self._waiting_entry_by_data.get(entry.key)
        if existing is None:
            self.waiting_for_queue.push(entry)
            self._waiting_entry_by_data[entry.key] = entry
            self._observer.delayed(entry.key, entry.ready_at)
            return
        if existing.ready_at > entry.ready_at:
            existing.ready_at = entry.ready_at
            self.waiting_for_queue.fix(existing.index)
        self._observer.merged(entry.key, None, existing.ready_at)
