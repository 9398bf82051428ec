"""What a queue tells whoever observes it."""

from __future__ import annotations

from typing import Protocol

from kubequeue.workqueue.queue import AddOpts, Key


class QueueObserver(Protocol):
    """The hooks of a queue, each called as the thing happens; an observer may leave any out.

    `added`, `got`, `depth_moved`, `done` and `retried` are the calls of ``metrics.go:
    queueMetrics`` (controller-runtime v0.24.1); the others tell the rest of the story. A
    ``priority`` of None means that the queue knows no priorities.
    """

    def buffered(self, keys: tuple[Key, ...], opts: AddOpts) -> None:
        """A call appended keys to the add buffer."""

    def woke(self, loop: str) -> None:
        """A loop begins a pass; what it does follows."""

    def retried(self) -> None:
        """A key was given a delay."""

    def delayed(self, key: Key, ready_at_ns: int) -> None:
        """A new entry joined the waiting."""

    def merged(self, key: Key, priority: int | None, ready_at_ns: int | None) -> None:
        """An add met an entry that was pending already; this is what the entry asks for now."""

    def added(self, key: Key, priority: int | None) -> None:
        """An entry became ready."""

    def depth_moved(self, old: int, new: int) -> None:
        """A ready entry went from one priority to another."""

    def passed_over(self, key: Key) -> None:
        """The dispatcher left a ready entry in its place, because its key is locked."""

    def waited(self, waiter: str) -> None:
        """A worker asked for a key."""

    def got(self, key: Key, priority: int | None, waiter: str, locked: bool) -> None:
        """A key was handed over; ``locked`` is False when the queue locks no keys."""

    def abandoned(self, key: Key, waiter: str) -> None:
        """A hand-over found that its receiver had left through the shutdown."""

    def done(self, key: Key, holder: str | None) -> None:
        """The work on a key ended; ``holder`` had it locked, None when nobody had."""

    def shut_down(self) -> None:
        """The queue shut down."""
