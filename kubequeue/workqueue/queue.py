"""What both queues share: their surface, what they are given, and what they show of themselves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable
from dataclasses import dataclass
from operator import index
from typing import Any, NamedTuple

from simpy.events import Event

from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import to_ns
from kubequeue.workqueue.ratelimiter import RateLimiter

Key = Hashable
"""What a queue holds. Controllers put ``namespace/name`` in it; the queue only compares."""

Got = tuple[Any, int, bool]
"""What a get returns: the key, its priority, and whether the queue has shut down."""

Getting = Generator[Event, Any, Got]
"""A get under way, to be used with ``yield from``."""


class AddOpts(NamedTuple):
    """How keys are to be added. Mirrors ``priorityqueue.go: AddOpts`` (controller-runtime v0.24.1).

    ``after_ns`` is a delay in nanoseconds (0: unset), ``priority`` is None when unset.
    """

    after_ns: int = 0
    rate_limited: bool = False
    priority: int | None = None


AT_ONCE = AddOpts()


class BufferItem(NamedTuple):
    """One call of ``add_with_opts``, not yet merged. Mirrors ``priorityqueue.go: bufferItem``."""

    opts: AddOpts
    keys: tuple[Key, ...]


class ItemState(NamedTuple):
    """One pending entry as a snapshot shows it; ``ready_at`` in seconds, None when it is ready."""

    key: Key
    priority: int
    added_counter: int
    ready_at: float | None


class Lock(NamedTuple):
    """A key that is out, and the waiter that took it."""

    key: Key
    holder: str


@dataclass(frozen=True, slots=True)
class QueueSnapshot:
    """Everything inside a queue at one moment, frozen; tuples are in the queue's own order.

    ``items`` is the index of all that is pending; ``waiting`` and ``ready`` are two orders of the
    same entries. ``now`` in seconds.
    """

    now: float
    buffer: tuple[BufferItem, ...]
    items: tuple[ItemState, ...]
    waiting: tuple[ItemState, ...]
    ready: tuple[ItemState, ...]
    locked: tuple[Lock, ...]
    waiters: tuple[str, ...]
    shutting_down: bool


class Queue(ABC):
    """The surface that the priority queue and the older queue have in common.

    Mirrors ``priorityqueue.go: PriorityQueue`` (controller-runtime v0.24.1) with client-go's
    ``TypedRateLimitingInterface`` in it. ``name`` is what traces and metrics call the queue.
    """

    def __init__(self, name: str, rate_limiter: RateLimiter) -> None:
        self.name = name
        self._rate_limiter = rate_limiter
        self._shutdown = False

    def add(self, key: Key) -> None:
        """Ask for one check of ``key``, now. Costs O(1). Mirrors ``Add``."""
        self._add(AT_ONCE, (key,))

    def add_after(self, key: Key, after: float) -> None:
        """Ask for one check of ``key`` in ``after`` seconds; zero or less means now.

        Raises `InvalidArgumentError` when ``after`` is no finite number. Mirrors ``AddAfter``.
        """
        self._add(make_opts(after, False, None), (key,))

    def add_rate_limited(self, key: Key) -> None:
        """Ask for one check of ``key`` after its back-off. Mirrors ``AddRateLimited``."""
        self._add(AddOpts(rate_limited=True), (key,))

    def add_with_opts(
        self,
        *keys: Key,
        after: float = 0.0,
        rate_limited: bool = False,
        priority: int | None = None,
    ) -> None:
        """Ask for one check of each key.

        Args:
            after: seconds to wait; zero means unset, less means now.
            rate_limited: wait for the rate limiter; each such add counts as one failure.
            priority: higher goes first; None means unset, which counts as 0.

        After `shut_down` it does nothing. Raises `InvalidArgumentError` for an unhashable key, a
        delay that is no finite number or a priority that is no integer; then nothing is added.
        Costs O(keys). Mirrors ``AddWithOpts``.
        """
        self._add(make_opts(after, rate_limited, priority), keys)

    def forget(self, key: Key) -> None:
        """Stop counting the failures of ``key``. Costs O(1). Mirrors ``Forget``."""
        check_key(key)
        self._rate_limiter.forget(key)

    def num_requeues(self, key: Key) -> int:
        """How many failures of ``key`` are counted. Costs O(1). Mirrors ``NumRequeues``."""
        check_key(key)
        return self._rate_limiter.num_requeues(key)

    @property
    def shutting_down(self) -> bool:
        """Whether `shut_down` has been called. Mirrors ``ShuttingDown``."""
        return self._shutdown

    def _add(self, opts: AddOpts, keys: tuple[Key, ...]) -> None:
        for key in keys:
            check_key(key)
        if keys and not self._shutdown:
            self._accept(opts, keys)

    @abstractmethod
    def _accept(self, opts: AddOpts, keys: tuple[Key, ...]) -> None:
        """Take in keys that have been checked."""

    @abstractmethod
    def get_with_priority(self, waiter: str = "a worker") -> Getting:
        """Wait for a key: ``key, priority, shutdown = yield from queue.get_with_priority()``.

        ``waiter`` is a name for traces. When the queue has shut down and gives out no more, the
        answer is ``(None, 0, True)``. Mirrors ``GetWithPriority``.
        """

    @abstractmethod
    def done(self, key: Key) -> None:
        """Say that the work on ``key`` is finished. Mirrors ``Done``."""

    @abstractmethod
    def shut_down(self) -> None:
        """Take no more keys and release whoever waits. Mirrors ``ShutDown``."""

    @abstractmethod
    def snapshot(self) -> QueueSnapshot:
        """Everything inside, frozen. Changes nothing. Costs O(n)."""

    @abstractmethod
    def __len__(self) -> int:
        """How many entries are ready, without those that still wait. Mirrors ``Len``."""

    @abstractmethod
    def _check(self) -> None:
        """Raise AssertionError when an invariant of the queue does not hold."""


def check_key(key: Key) -> None:
    """Raise `InvalidArgumentError` for a key that cannot be compared by value."""
    try:
        hash(key)
    except TypeError:
        raise InvalidArgumentError(
            "the key", key, 'something hashable, such as "namespace/name"'
        ) from None


def make_opts(after: float, rate_limited: bool, priority: int | None) -> AddOpts:
    """Checked options; raises `InvalidArgumentError` for a NaN delay or a fractional priority."""
    return AddOpts(to_ns(after, "after"), bool(rate_limited), whole_priority(priority))


def whole_priority(priority: int | None) -> int | None:
    """The priority as a plain integer; raises `InvalidArgumentError` for what is none."""
    if priority is None:
        return None
    try:
        whole = int(index(priority))
    except TypeError:
        raise InvalidArgumentError(
            "priority", priority, "a whole number, or None for unset"
        ) from None
    if whole.bit_length() > 63:
        raise InvalidArgumentError(
            "priority", f"{whole:#x}", "a number that fits Go's int, 64 bits"
        )
    return whole
