"""Go's binary heap, step by step, because it decides who comes first among equal deadlines.

Neither Go's heap nor Python's ``heapq`` keeps equal entries in order of arrival, and the two
shuffle them differently, so ``heapq`` would not agree with Go.
"""

from __future__ import annotations


class Entry:
    """One delayed key; ``index`` is where it stands in its heap.

    Mirrors ``delaying_queue.go: waitFor`` (client-go v0.36).
    """

    __slots__ = ("index", "key", "ready_at")

    def __init__(self, key: object, ready_at: int) -> None:
        self.key = key
        self.ready_at = ready_at
        self.index = -1


class WaitForPriorityQueue:
    """Entries by deadline. Each method mirrors its namesake in Go's ``container/heap``.

    Mirrors ``delaying_queue.go: waitForPriorityQueue`` (client-go v0.36).
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def push(self, entry: Entry) -> None:
        """Add an entry. Costs O(log n)."""
        entry.index = len(self.entries)
        self.entries.append(entry)
        self._up(entry.index)

    def pop(self) -> Entry:
        """Take out the entry with the earliest deadline. Costs O(log n)."""
        last = len(self.entries) - 1
        self._swap(0, last)
        entry = self.entries.pop()
        self._down(0)
        return entry

    def fix(self, index: int) -> None:
        """Restore the order after the deadline at ``index`` changed. Costs O(log n)."""
        if not self._down(index):
            self._up(index)

    def _less(self, i: int, j: int) -> bool:
        return self.entries[i].ready_at < self.entries[j].ready_at

    def _swap(self, i: int, j: int) -> None:
        entries = self.entries
        entries[i], entries[j] = entries[j], entries[i]
        entries[i].index, entries[j].index = i, j

    def _up(self, j: int) -> None:
        while j > 0 and self._less(j, parent := (j - 1) // 2):
            self._swap(parent, j)
            j = parent

    def _down(self, start: int) -> bool:
        i, size = start, len(self.entries)
        while (child := 2 * i + 1) < size:
            if child + 1 < size and self._less(child + 1, child):
                child += 1
            if not self._less(child, i):
                break
            self._swap(i, child)
            i = child
        return i > start
