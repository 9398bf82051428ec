"""What is pending: one index by key, and two orders of the same entries."""

from __future__ import annotations

from typing import Any

from sortedcontainers import SortedList

from kubequeue.sim import NANOSECONDS
from kubequeue.workqueue.queue import ItemState, Key


class Item:
    """One pending entry. Mirrors ``priorityqueue.go: item`` (controller-runtime v0.24.1).

    ``ready_at`` is nanoseconds, None when the entry may go; ``index`` is its key in ``items``.
    """

    __slots__ = ("_entry", "added_counter", "index", "key", "priority", "ready_at")

    def __init__(
        self, key: Key, index: Key, priority: int, added_counter: int, ready_at: int | None
    ) -> None:
        self.key = key
        self.index = index
        self.priority = priority
        self.added_counter = added_counter
        self.ready_at = ready_at
        self._entry: tuple[Any, ...] = ()

    def state(self) -> ItemState:
        """What a snapshot shows of it."""
        seconds = None if self.ready_at is None else self.ready_at / NANOSECONDS
        return ItemState(self.key, self.priority, self.added_counter, seconds)


class PendingItems:
    """All pending entries: ``items`` by index, ``waiting`` by deadline, ``ready`` by priority.

    Each entry of ``items`` is in exactly one of the two orders. An entry must be out of its order
    while its priority, place or deadline changes. Mirrors the fields ``items``, ``waiting`` and
    ``ready`` of ``priorityqueue.go`` and its ``lessReady`` and ``lessWaiting`` (controller-runtime
    v0.24.1), which are here the tuples that get sorted.
    """

    def __init__(self, order_by_priority: bool) -> None:
        self.items: dict[Key, Item] = {}
        self.waiting: SortedList[Any] = SortedList()
        self.ready: SortedList[Any] = SortedList()
        self._sign = -1 if order_by_priority else 0

    def insert(self, item: Item) -> None:
        """Put an entry where its deadline, priority and place belong. Costs O(log n)."""
        rank = self._sign * item.priority
        if item.ready_at is None:
            item._entry = (rank, item.added_counter, item)
            self.ready.add(item._entry)
        else:
            item._entry = (item.ready_at, rank, item.added_counter, item)
            self.waiting.add(item._entry)

    def remove(self, item: Item) -> None:
        """Take an entry out of its order; the index keeps it. Costs O(log n)."""
        (self.ready if item.ready_at is None else self.waiting).remove(item._entry)

    def due(self, now: int) -> list[Item]:
        """The entries whose deadline is ``now`` or earlier, in order. Costs O(result)."""
        due = []
        for entry in self.waiting:
            if entry[0] > now:
                break
            due.append(entry[-1])
        return due

    def next_deadline(self) -> int | None:
        """The earliest deadline, in nanoseconds. Costs O(1)."""
        return int(self.waiting[0][0]) if self.waiting else None

    def _check(self) -> None:
        """Raise AssertionError when an invariant of the class does not hold. Costs O(n log n)."""
        for order in (self.waiting, self.ready):
            assert list(order) == sorted(order), "an entry changed while it was in its order"
        waiting = [entry[-1] for entry in self.waiting]
        ready = [entry[-1] for entry in self.ready]
        assert all(item.ready_at is not None for item in waiting), "a ready entry is waiting"
        assert all(item.ready_at is None for item in ready), "a delayed entry is ready"
        ordered = {id(item) for item in waiting + ready}
        assert len(ordered) == len(waiting) + len(ready), "an entry is in an order twice"
        assert ordered == {id(item) for item in self.items.values()}, "index and orders differ"
        assert all(index == item.index for index, item in self.items.items()), "index is stale"
        places = {item.added_counter for item in self.items.values()}
        assert len(places) == len(self.items), "two entries have one place in line"
