"""Facts about the priority queue that hold whatever is done to it, in whatever order."""

from __future__ import annotations

from collections.abc import Generator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from simpy.events import Event

from kubequeue import Controller, FIFOQueue, PriorityQueue, Simulation
from kubequeue.workqueue.queue import Queue

KEYS = st.sampled_from("ABCDEF")
DELAYS = st.sampled_from([-1.0, 0.0, 0.0, 0.001, 0.5, 0.5, 3.0])
PRIORITIES = st.sampled_from([None, -100, 0, 0, 7])


class PriorityQueueMachine(RuleBasedStateMachine):
    """Adds, gets, dones and the passing of time, beside a ledger that is kept by other means."""

    def __init__(self) -> None:
        super().__init__()
        self.sim = Simulation()
        self.queue = PriorityQueue(self.sim, "checked")
        self.owed: set[str] = set()
        self.out: set[str] = set()
        self.waiting = 0
        self.asked: dict[str, int] = {}
        self.due: dict[str, int] = {}
        told = self.queue._observer.got

        def got(key: str, priority: int, *rest: object) -> None:
            self._is_the_first_that_may_go(key)
            told(key, priority, *rest)  # type: ignore[arg-type]

        self.queue._observer.got = got  # type: ignore[method-assign, assignment]

    def _is_the_first_that_may_go(self, key: str) -> None:
        """Of what is ready and not locked, the hand-over takes the highest, then the oldest."""
        seen = self.queue.snapshot()
        locked = {lock.key for lock in seen.locked}
        may_go = [item for item in seen.ready if item.key not in locked]
        first = min(may_go, key=lambda item: (-item.priority, item.added_counter))
        assert key == first.key, "a key went ahead of one that comes before it"

    def _owe(self, key: str, priority: int, after_ns: int) -> None:
        """One more add of a key: the higher priority and the earlier time count."""
        self.owed.add(key)
        self.asked[key] = max(self.asked.get(key, priority), priority)
        due = self.sim.now_ns + max(after_ns, 0)
        self.due[key] = min(self.due.get(key, due), due)

    def _got(self) -> Generator[Event, Any, None]:
        self.waiting += 1
        key, priority, shutdown = yield from self.queue.get_with_priority()
        assert not shutdown
        assert key in self.owed, "a key was handed out that nobody is owed"
        assert key not in self.out, "two workers have one key"
        assert priority == self.asked.pop(key), "the highest priority asked for was lost"
        assert self.due.pop(key) <= self.sim.now_ns, "a key was handed out before its time"
        self.waiting -= 1
        self.owed.remove(key)
        self.out.add(key)

    @rule(keys=st.lists(KEYS, min_size=1, max_size=3), after=DELAYS, priority=PRIORITIES)
    def add(self, keys: list[str], after: float, priority: int | None) -> None:
        """What was added is owed once: at the highest priority and the earliest time asked for."""
        self.queue.add_with_opts(*keys, after=after, priority=priority)
        for key in keys:
            self._owe(key, priority or 0, round(after * 1e9))

    @rule(key=KEYS)
    def fail(self, key: str) -> None:
        """A rate-limited add is owed after its back-off; each counts a failure."""
        failures = self.queue.num_requeues(key)
        self.queue.add_rate_limited(key)
        self._owe(key, 0, 5_000_000 * 2**failures)
        self.sim.settle()
        assert self.queue.num_requeues(key) == failures + 1

    @rule(key=KEYS)
    def forget(self, key: str) -> None:
        """Forgetting failures loses no key."""
        self.queue.forget(key)
        assert self.queue.num_requeues(key) == 0

    @rule()
    def get(self) -> None:
        """A worker asks, and may have to wait."""
        self.sim.process(self._got())

    @precondition(lambda self: self.out)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        """A worker is done with one of the keys that are out."""
        key = data.draw(st.sampled_from(sorted(self.out)))
        self.out.remove(key)
        self.queue.done(key)

    @rule(key=KEYS)
    def done_of_any_key(self, key: str) -> None:
        """Done of a key that is not out changes nothing."""
        if key not in self.out:
            before = self.queue.snapshot()
            self.queue.done(key)
            assert self.queue.snapshot() == before

    @rule(seconds=st.sampled_from([0.0, 0.001, 0.1, 0.5, 5.0]))
    def advance(self, seconds: float) -> None:
        """Time goes on."""
        self.sim.run(until=self.sim.now + seconds)

    @invariant()
    def inner_order(self) -> None:
        """The queue's own invariants."""
        self.queue._check()

    @invariant()
    def the_ledger_agrees(self) -> None:
        """Once everything has settled: what is owed is pending once, and what is out is locked."""
        self.sim.settle()
        seen = self.queue.snapshot()
        assert sorted(str(item.key) for item in seen.items) == sorted(self.owed)
        assert sorted(str(lock.key) for lock in seen.locked) == sorted(self.out)
        assert len(seen.waiters) == self.waiting
        ready = [item for item in seen.ready if item.key not in self.out]
        assert not (ready and seen.waiters), "a key and a worker wait for each other"
        late = [item.key for item in seen.waiting if self.due[str(item.key)] <= self.sim.now_ns]
        assert not late, "a key still waits after its time"
        order = [(-item.priority, item.added_counter) for item in seen.ready]
        assert order == sorted(order), "ready is not in order"

    def teardown(self) -> None:
        """Nothing is lost: workers that keep coming get everything that is owed."""
        for key in sorted(self.out):
            self.queue.done(key)
        self.out.clear()
        for _ in range(len(self.owed) - self.waiting):
            self.sim.process(self._got())
        self.sim.run(until=self.sim.now + 2000)
        assert self.owed == set(), "a key was lost"


TestPriorityQueue = PriorityQueueMachine.TestCase
TestPriorityQueue.settings = settings(
    derandomize=True, deadline=None, max_examples=150, stateful_step_count=40
)


@pytest.mark.parametrize("make", [PriorityQueue, FIFOQueue])
@pytest.mark.parametrize("seed", range(12))
def test_every_order_of_one_instant_is_safe(
    make: type[PriorityQueue] | type[FIFOQueue], seed: int
) -> None:
    """However Go might order what happens at one instant: no overlap, and no event unseen."""
    sim = Simulation(seed, shuffle_ties=True)
    queue: Queue = make(sim, "shuffled")
    changes: dict[str, float] = {}
    looks: dict[str, float] = {}

    def reconcile(request: str) -> Generator[Event, Any, None]:
        looks[request] = sim.now
        yield sim.sleep(stream.choice([0, 1, 2]))

    def change(key: str) -> None:
        changes[key] = sim.now
        queue.add(key)

    Controller(sim, queue, reconcile, max_concurrent_reconciles=3).start()
    stream = sim.stream("test")
    for number in range(120):
        key = stream.choice("ABCD")
        sim.call_at(number // 3, lambda key=key: change(key))  # type: ignore[misc]
    sim.run()
    rounds = sim.trace.rounds()
    for key in "ABCD":
        mine = [span for span in rounds if span.key == key]
        assert all(a.end is not None and a.end <= b.start for a, b in pairwise(mine))
        assert looks[key] >= changes[key], "the last change was never looked at"
