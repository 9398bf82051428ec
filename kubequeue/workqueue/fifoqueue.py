"""client-go's older queue: first come, first served, with what is due kept in two sets.

``dirty`` says which keys need a check, ``processing`` which ones are out, and ``queue`` in which
order the dirty ones that are not out will go. It knows no priorities.
Mirrors util/workqueue/queue.go and rate_limiting_queue.go of client-go v0.36, and, for
`add_with_opts`, ``controller.go: priorityQueueWrapper`` of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections import deque

from simpy.events import Event

from kubequeue.sim import NANOSECONDS, Simulation
from kubequeue.workqueue.delaying import DelayingLayer
from kubequeue.workqueue.observer import QueueObserver
from kubequeue.workqueue.queue import (
    AddOpts,
    BufferItem,
    Getting,
    ItemState,
    Key,
    Lock,
    Queue,
    QueueSnapshot,
    check_key,
    make_opts,
)
from kubequeue.workqueue.ratelimiter import RateLimiter, default_controller_rate_limiter


class FIFOQueue(Queue):
    """The queue that controllers used before priorities, with the surface of `PriorityQueue`.

    Args:
        sim: the simulation it lives in.
        name: the queue's name in traces and metrics; no name, no metrics (as in Go).
        rate_limiter: for rate-limited adds; by default the larger of 5 ms doubled with each failure
            (up to 1000 s) and a bucket of 10 a second, burst 100.

    >>> sim = Simulation()
    >>> queue = FIFOQueue(sim, name="raycluster")
    >>> queue.add("default/a"); queue.add("default/a"); queue.add("default/b")
    >>> len(queue)
    2
    """

    def __init__(
        self, sim: Simulation, name: str = "", *, rate_limiter: RateLimiter | None = None
    ) -> None:
        super().__init__(name, rate_limiter or default_controller_rate_limiter(sim))
        self._env = sim.env
        self._queue: deque[Key] = deque()
        self._dirty: dict[Key, None] = {}  # a set that keeps the order of arrival
        self._processing: dict[Key, str] = {}
        self._cond: deque[tuple[Event, str]] = deque()
        self._runnable: list[Event] = []
        self._observer: QueueObserver = sim.observe(QueueObserver, "queue", name, False)
        self._delaying = DelayingLayer(sim, self._mark_dirty, self._observer)

    def add_after(self, key: Key, after: float) -> None:
        """Ask for one check of ``key`` in ``after`` seconds; zero or less means now.

        Counts a retry whatever the delay. Raises `InvalidArgumentError` when ``after`` is no finite
        number. Mirrors ``delaying_queue.go: AddAfter``.
        """
        opts = make_opts(after, False, None)
        check_key(key)
        if not self._shutdown:
            self._observer.buffered((key,), opts)
            self._delaying.add_after(key, opts.after_ns)

    def get_with_priority(self, waiter: str = "a worker") -> Getting:
        """Wait for a key: ``key, priority, shutdown = yield from queue.get_with_priority()``.

        The priority is always 0. After `shut_down` what is still in line is given out, then the
        answer is ``(None, 0, True)``. Mirrors ``queue.go: Get``.
        """
        self._observer.waited(waiter)
        while not self._queue and not self._shutdown:
            woken = Event(self._env)
            self._cond.append((woken, waiter))
            yield woken
        if not self._queue:
            return None, 0, True
        key = self._queue.popleft()
        self._observer.got(key, None, waiter, True)
        self._processing[key] = waiter
        self._dirty.pop(key, None)
        return key, 0, False

    def done(self, key: Key) -> None:
        """Say that the work on ``key`` is finished; if it is dirty again it goes in line again.

        A key that is dirty but not out gets a second place in line, as in Go. Costs O(1).
        Mirrors ``queue.go: Done``.
        """
        check_key(key)
        self._observer.done(key, self._processing.pop(key, None))
        if key in self._dirty:
            self._queue.append(key)
            self._signal()
        elif not self._processing:
            self._signal()

    def shut_down(self) -> None:
        """Take no more keys; what is in line is still given out. Mirrors ``queue.go: ShutDown``."""
        if self._shutdown:
            return
        self._shutdown = True
        self._observer.shut_down()
        while self._cond:
            self._signal()
        self._delaying.shut_down()

    def __len__(self) -> int:
        """How many places in line are taken. Costs O(1). Mirrors ``queue.go: Len``."""
        return len(self._queue)

    def snapshot(self) -> QueueSnapshot:
        """Everything inside, frozen. Changes nothing. Costs O(n).

        ``buffer`` are delayed adds not yet sorted in, ``items`` the dirty keys, ``ready`` the keys
        in line, ``locked`` those in processing; ``waiting`` is in the order of its heap.
        """
        new = self._delaying.waiting_for_add
        waiting = self._delaying.waiting_for_queue.entries
        return QueueSnapshot(
            now=self._env.now / NANOSECONDS,
            buffer=tuple(
                BufferItem(AddOpts(entry.ready_at - int(self._env.now)), (entry.key,))
                for entry in new
            ),
            items=_states(self._dirty),
            waiting=tuple(
                ItemState(entry.key, 0, place, entry.ready_at / NANOSECONDS)
                for place, entry in enumerate(waiting)
            ),
            ready=_states(self._queue),
            locked=tuple(Lock(key, holder) for key, holder in self._processing.items()),
            waiters=tuple(name for _, name in self._cond),
            shutting_down=self._shutdown,
        )

    def _accept(self, opts: AddOpts, keys: tuple[Key, ...]) -> None:
        """Mirrors ``controller.go: priorityQueueWrapper.AddWithOpts`` (controller-runtime)."""
        for key in keys:
            self._observer.buffered((key,), opts)
            if opts.rate_limited:
                self._delaying.add_after(key, self._rate_limiter.when(key))
            elif opts.after_ns > 0:
                self._delaying.add_after(key, opts.after_ns)
            else:
                self._mark_dirty(key)

    def _mark_dirty(self, key: Key) -> None:
        """Mirrors ``queue.go: Add``."""
        if self._shutdown:
            return
        if key in self._dirty:
            self._observer.merged(key, None, None)
            return
        self._observer.added(key, None)
        self._dirty[key] = None
        if key not in self._processing:
            self._queue.append(key)
            self._signal()

    def _signal(self) -> None:
        """Wake the worker that has waited longest; it looks for itself whether there is a key."""
        if not self._cond:
            return
        woken, _ = self._cond.popleft()
        self._runnable.append(woken)
        if len(self._runnable) == 1:
            turn = Event(self._env)
            turn.callbacks.append(self._run_woken)
            turn.succeed()

    def _run_woken(self, _: Event) -> None:
        """Let the woken run: the one woken last first, then the others in order.

        So does Go's scheduler, when one goroutine wakes several (runtime/proc.go: ``runnext``).
        """
        *others, last = self._runnable
        self._runnable = []
        for woken in (last, *others):
            woken.succeed()

    def _check(self) -> None:
        """Raise AssertionError when an invariant of the queue does not hold. Costs O(n)."""
        out_of_line = [key for key in self._dirty if key not in self._processing]
        assert set(out_of_line) <= set(self._queue), "a dirty key is neither in line nor out"


def _states(keys: deque[Key] | dict[Key, None]) -> tuple[ItemState, ...]:
    return tuple(ItemState(key, 0, place, None) for place, key in enumerate(keys))
