"""How what was added becomes one entry for each key.

Mirrors ``priorityqueue.go: lockedAddWithOpts`` of controller-runtime v0.24.1.
"""

from __future__ import annotations

from typing import Any

from kubequeue.signals import Signal
from kubequeue.sim import Simulation
from kubequeue.workqueue.items import Item, PendingItems
from kubequeue.workqueue.observer import QueueObserver
from kubequeue.workqueue.queue import AddOpts, Key
from kubequeue.workqueue.ratelimiter import RateLimiter


class Merger:
    """Puts keys into ``pending``, and wakes the loop that looks after the entry's new place.

    Args:
        sim: for its clock.
        pending: all entries of one queue.
        rate_limiter: asked for the delay of each rate-limited key.
        observer: told of everything.
        waiting_changed, ready_changed: the signals of the two loops.
        merge: False makes an entry for each add.
    """

    def __init__(
        self,
        sim: Simulation,
        pending: PendingItems,
        rate_limiter: RateLimiter,
        observer: QueueObserver,
        waiting_changed: Signal,
        ready_changed: Signal,
        merge: bool,
    ) -> None:
        self._env: Any = sim.env
        self._pending = pending
        self._rate_limiter = rate_limiter
        self._observer = observer
        self._waiting_changed = waiting_changed
        self._ready_changed = ready_changed
        self._merge = merge
        self._added_counter = 0

    def locked_add_with_opts(self, opts: AddOpts, keys: tuple[Key, ...]) -> None:
        """Merge one record of the add buffer. Costs O(keys log n)."""
        priority = opts.priority or 0
        for key in keys:
            ready_at = self._ready_at(key, opts)
            index = key if self._merge else (key, self._added_counter)
            item = self._pending.items.get(index)
            if item is None:
                self._insert_new(Item(key, index, priority, self.next_place(), ready_at))
            else:
                self._merge_into(item, ready_at, priority)

    def announce(self, item: Item) -> None:
        """Wake the loop that looks after an entry in its new place."""
        if item.ready_at is None:
            self._observer.added(item.key, item.priority)
            self._ready_changed.notify()
        else:
            self._waiting_changed.notify()

    def next_place(self) -> int:
        """The next place in line; no two entries have the same. Mirrors ``addedCounter``."""
        self._added_counter += 1
        return self._added_counter - 1

    def _ready_at(self, key: Key, opts: AddOpts) -> int | None:
        """When the key may go, in nanoseconds; None means now. Counts a failure if rate-limited."""
        after = opts.after_ns
        if opts.rate_limited:
            backoff = self._rate_limiter.when(key)
            if after == 0 or backoff < after:
                after = backoff
        if after <= 0:
            return None
        self._observer.retried()
        return int(self._env.now) + after

    def _insert_new(self, item: Item) -> None:
        self._pending.items[item.index] = item
        self._pending.insert(item)
        if item.ready_at is not None:
            self._observer.delayed(item.key, item.ready_at)
        self.announce(item)

    def _merge_into(self, item: Item, ready_at: int | None, priority: int) -> None:
        """The earlier time and the higher priority win; a raise takes a new place in line."""
        was_ready = item.ready_at is None
        self._pending.remove(item)
        if item.ready_at is not None:
            item.ready_at = None if ready_at is None else min(item.ready_at, ready_at)
        if priority > item.priority:
            if was_ready:
                self._observer.depth_moved(item.priority, priority)
            item.priority, item.added_counter = priority, self.next_place()
        self._pending.insert(item)
        self._observer.merged(item.key, item.priority, item.ready_at)
        if not was_ready:
            self.announce(item)
