"""controller-runtime's priority queue: who waits in line, in which order, and who may go.

Requests come into an add buffer. Three loops do the rest, each asleep until a signal wakes it:
`handle_add_buffer` merges the buffer into one entry for each key, `handle_waiting_items` makes
ready what is due, `handle_ready_items` hands ready keys that are not locked to waiting workers.

Mirrors pkg/controller/priorityqueue/priorityqueue.go of controller-runtime v0.24.1, function by
function, with the later fix that lets a hand-over be abandoned on shutdown. Go guards the state
with mutexes; here a pass is atomic, because a simulation runs one event at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

from simpy.events import Event

from kubequeue.errors import QueueStalledError
from kubequeue.signals import Signal, Timer
from kubequeue.sim import NANOSECONDS, Simulation
from kubequeue.workqueue.items import Item, PendingItems
from kubequeue.workqueue.merging import Merger
from kubequeue.workqueue.observer import QueueObserver
from kubequeue.workqueue.queue import (
    AddOpts,
    BufferItem,
    Getting,
    Key,
    Lock,
    Queue,
    QueueSnapshot,
    check_key,
)
from kubequeue.workqueue.ratelimiter import ItemExponentialFailureRateLimiter, RateLimiter


class PriorityQueue(Queue):
    """A queue of keys, at most one pending entry for each, at most one worker on each.

    Args:
        sim: the simulation it lives in; its three loops start at once.
        name: the queue's name in traces and metrics; no name, no metrics (as in Go).
        rate_limiter: for rate-limited adds; by default 5 ms doubled each time, up to 1000 s.
        merge, lock_keys, order_by_priority: False takes that mechanism away.
        signal_ready: False lets nobody tell the dispatcher of a key that became ready.
        reorder_at_expiry: False lets an expired key keep the place it had when it was added.
        flush_before_dispatch: False lets the dispatcher choose without looking into the buffer.
        fixed_shutdown: False gives v0.24.1's hand-over, which can block for ever on shutdown.

    >>> sim = Simulation()
    >>> queue = PriorityQueue(sim, name="raycluster")
    >>> queue.add("default/a"); queue.add("default/a"); queue.add("default/b")
    >>> len(queue)
    2
    """

    def __init__(
        self,
        sim: Simulation,
        name: str = "",
        *,
        rate_limiter: RateLimiter | None = None,
        merge: bool = True,
        lock_keys: bool = True,
        order_by_priority: bool = True,
        signal_ready: bool = True,
        reorder_at_expiry: bool = True,
        flush_before_dispatch: bool = True,
        fixed_shutdown: bool = True,
    ) -> None:
        super().__init__(name, rate_limiter or ItemExponentialFailureRateLimiter())
        self._env: Any = sim.env
        self._lock_keys = lock_keys
        self._reorder_at_expiry = reorder_at_expiry
        self._flush_before_dispatch = flush_before_dispatch
        self._fixed_shutdown = fixed_shutdown

        self._add_buffer: list[BufferItem] = []
        self._pending = PendingItems(order_by_priority)
        self._locked: dict[Key, str] = {}
        self._waiters: deque[tuple[Event, str]] = deque()
        self._stalled = False

        self._item_added_to_add_buffer = Signal(sim)
        self._waiting_item_added_or_updated = Signal(sim)
        self._ready_item_or_waiter_added = Signal(sim)
        self._next_ready = Timer(sim, self._waiting_item_added_or_updated.notify)
        self._observer: QueueObserver = sim.observe(QueueObserver, "queue", name, True)
        self._merger = Merger(
            sim,
            self._pending,
            self._rate_limiter,
            self._observer,
            self._waiting_item_added_or_updated,
            self._ready_item_or_waiter_added if signal_ready else Signal(sim),
            merge,
        )

        sim.process(self.handle_add_buffer())
        sim.process(self.handle_ready_items())
        sim.process(self.handle_waiting_items())

    def get_with_priority(self, waiter: str = "a worker") -> Getting:
        """Wait for a key: ``key, priority, shutdown = yield from queue.get_with_priority()``.

        Waiters are served in the order they came. ``waiter`` is a name for traces. After
        `shut_down` it returns ``(None, 0, True)`` at once, and a blocked one is released so.
        Mirrors ``priorityqueue.go: GetWithPriority``.
        """
        if self._shutdown:
            return None, 0, True
        handed_over = Event(self._env)
        self._waiters.append((handed_over, waiter))
        self._observer.waited(waiter)
        self._ready_item_or_waiter_added.notify()
        key, priority = yield handed_over
        return key, priority, self._shutdown

    def done(self, key: Key) -> None:
        """Unlock ``key``; harmless when it is not out. Costs O(1). Mirrors ``Done``.

        Raises `QueueStalledError` where Go would block for ever (``fixed_shutdown=False``).
        """
        check_key(key)
        if self._stalled:
            raise QueueStalledError(f"done({key!r})")
        self._observer.done(key, self._locked.pop(key, None))
        self._ready_item_or_waiter_added.notify()

    def __len__(self) -> int:
        """How many entries are ready, locked keys included; merges the buffer first.

        Mirrors ``priorityqueue.go: Len``. Raises `QueueStalledError` where Go would block for ever.
        """
        if self._stalled:
            raise QueueStalledError("len()")
        if self._add_buffer:
            self._observer.woke("len")
            self._locked_flush_add_buffer()
        return len(self._pending.ready)

    def shut_down(self) -> None:
        """Take no more keys, stop the loops, release whoever waits. A second call does nothing.

        What is pending stays where it is and is handed to nobody. Mirrors ``ShutDown``.
        """
        if self._shutdown:
            return
        self._shutdown = True
        self._observer.shut_down()
        # Go lowers the count of waiters for none of them: see _hand_over.
        for handed_over, _ in self._waiters:
            handed_over.succeed((None, 0))
        self._item_added_to_add_buffer.close()
        self._waiting_item_added_or_updated.close()
        self._ready_item_or_waiter_added.close()

    def handle_add_buffer(self) -> Generator[Event, Any, None]:
        """Merge what was added, whenever something was. Mirrors ``handleAddBuffer``."""
        while (yield self._item_added_to_add_buffer.wait()):
            self._observer.woke("handle_add_buffer")
            self._locked_flush_add_buffer()

    def handle_waiting_items(self) -> Generator[Event, Any, None]:
        """Make ready what is due, then sleep until the next deadline.

        Mirrors ``handleWaitingItems``. The alarm for the next deadline rings the same signal as a
        change among the waiting.
        """
        while (yield self._waiting_item_added_or_updated.wait()):
            self._observer.woke("handle_waiting_items")
            for item in self._pending.due(self._env.now):
                self._pending.remove(item)
                item.ready_at = None
                if self._reorder_at_expiry:
                    item.added_counter = self._merger.next_place()
                self._pending.insert(item)
                self._merger.announce(item)
            deadline = self._pending.next_deadline()
            if deadline is not None:
                self._next_ready.arm(deadline)

    def handle_ready_items(self) -> Generator[Event, Any, None]:
        """Hand ready keys to waiters, whenever either appeared. Mirrors ``handleReadyItems``."""
        while not self._stalled and (yield self._ready_item_or_waiter_added.wait()):
            self._observer.woke("handle_ready_items")
            if self._add_buffer and self._flush_before_dispatch:
                self._locked_flush_add_buffer()
            if self._waiters and self._pending.ready:
                self._dispatch()

    def _accept(self, opts: AddOpts, keys: tuple[Key, ...]) -> None:
        """Append one record to the add buffer and signal. Mirrors ``AddWithOpts``."""
        self._add_buffer.append(BufferItem(opts, keys))
        self._observer.buffered(keys, opts)
        self._item_added_to_add_buffer.notify()

    def _locked_flush_add_buffer(self) -> None:
        """Mirrors ``priorityqueue.go: lockedFlushAddBuffer``."""
        buffer, self._add_buffer = self._add_buffer, []
        for opts, keys in () if self._shutdown else buffer:
            self._merger.locked_add_with_opts(opts, keys)

    def _dispatch(self) -> None:
        """Walk ``ready`` in order until the waiters run out, passing over locked keys."""
        handed: list[Item] = []
        for entry in self._pending.ready:
            item = entry[-1]
            if item.key in self._locked:
                self._observer.passed_over(item.key)
                continue
            handed.append(item)
            if not self._hand_over(item):
                break
        for item in handed:
            self._pending.remove(item)

    def _hand_over(self, item: Item) -> bool:
        """Give the key to the first waiter; False when the walk ends here."""
        handed_over, waiter = self._waiters.popleft()
        self._take_out(item, waiter)
        if self._shutdown:
            # The waiter left through the shutdown. The fix gives up; v0.24.1 blocks on its channel.
            self._observer.abandoned(item.key, waiter)
            self._stalled = not self._fixed_shutdown
            return False
        handed_over.succeed((item.key, item.priority))
        return bool(self._waiters)

    def _take_out(self, item: Item, waiter: str) -> None:
        """The key is out from now on, and its record is gone: the next request makes a new one."""
        self._observer.got(item.key, item.priority, waiter, self._lock_keys)
        if self._lock_keys:
            self._locked[item.key] = waiter
        del self._pending.items[item.index]

    def snapshot(self) -> QueueSnapshot:
        """Everything inside, frozen. Changes nothing, merges nothing. Costs O(n)."""
        pending = self._pending
        return QueueSnapshot(
            now=self._env.now / NANOSECONDS,
            buffer=tuple(self._add_buffer),
            items=tuple(item.state() for item in pending.items.values()),
            waiting=tuple(item.state() for *_, item in pending.waiting),
            ready=tuple(item.state() for *_, item in pending.ready),
            locked=tuple(Lock(key, holder) for key, holder in self._locked.items()),
            waiters=tuple(name for handed_over, name in self._waiters if not handed_over.triggered),
            shutting_down=self._shutdown,
        )

    def _check(self) -> None:
        """Raise AssertionError when an invariant of the queue does not hold. Costs O(n log n)."""
        self._pending._check()
        assert not (self._locked and not self._lock_keys), "a key is locked without a lock"
