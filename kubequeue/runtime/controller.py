"""The worker pool: take a key, run one round, act on its result, take the next.

Mirrors pkg/internal/controller/controller.go of controller-runtime v0.24.1.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from typing import Any

from simpy.events import Event, Process

from kubequeue.errors import (
    APIError,
    CacheError,
    InvalidArgumentError,
    QueueStalledError,
    ReconcileError,
    ReconcilerContractError,
    TerminalError,
)
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.runtime.observer import ControllerObserver, Outcome
from kubequeue.runtime.reconcile import Reconciler, Request, Result, drive
from kubequeue.sim import Simulation, to_ns
from kubequeue.workqueue.queue import Key, Queue

RETURNED = (ReconcileError, APIError, CacheError)
"""What is an error that Go would return; any other exception is a panic."""

_log = logging.getLogger("kubequeue")


class Controller:
    """``max_concurrent_reconciles`` workers that serve one queue with one reconciler.

    Args:
        sim: the simulation it lives in.
        queue: where the workers get their keys.
        reconcile: a generator function of a request that returns a `Result` or None.
        name: its name in traces and metrics; by default the queue's.
        max_concurrent_reconciles: how many worker loops to start; zero or less means 1.
        lifetime: the process that the workers live and die in; None for one without an end.

    Raises `InvalidArgumentError` for a reconciler that cannot be called or workers that are no
    whole number. Mirrors ``controller.go: Controller``.

    >>> from kubequeue import PriorityQueue
    >>> sim = Simulation()
    >>> queue = PriorityQueue(sim, name="raycluster")
    >>> def reconcile(request):
    ...     yield sim.sleep(1.5)
    >>> Controller(sim, queue, reconcile, max_concurrent_reconciles=2).start()
    >>> queue.add("default/a")
    >>> sim.run()
    >>> [(span.worker, span.key, span.end) for span in sim.trace.rounds()]
    [('worker-1', 'default/a', 1.5)]
    """

    def __init__(
        self,
        sim: Simulation,
        queue: Queue,
        reconcile: Reconciler,
        *,
        name: str | None = None,
        max_concurrent_reconciles: int = 1,
        lifetime: Lifetime | None = None,
    ) -> None:
        check_reconciler(reconcile, max_concurrent_reconciles)
        self.name = queue.name if name is None else name
        self.max_concurrent_reconciles = max(max_concurrent_reconciles, 1)
        self._sim = sim
        self._env: Any = sim.env
        self._queue = queue
        self._reconcile = reconcile
        self._lifetime = lifetime or Lifetime(sim)
        self._observer: ControllerObserver | None = None
        self.workers: list[Process] = []
        """The worker loops, from the start on; each is an event that fires when the loop ended."""

    def start(self) -> None:
        """Start the worker loops, ``worker-1`` first. Mirrors ``controller.go: Start``.

        Raises `InvalidArgumentError` on a second call, or when another controller of the
        simulation has its name.
        """
        if self._observer is not None:
            raise InvalidArgumentError("start()", "a second call", "one start for each controller")
        self._observer = self._sim.observe(ControllerObserver, "controller", self.name)
        self._observer.started(self.max_concurrent_reconciles)
        for number in range(1, self.max_concurrent_reconciles + 1):
            loop = self._work(f"worker-{number}", self._observer)
            self.workers.append(self._lifetime.process(loop))

    def stop(self) -> None:
        """Shut the queue down: workers finish the round they are in and end."""
        self._queue.shut_down()

    def _work(self, worker: str, observer: ControllerObserver) -> Generator[Event, Any, None]:
        """One worker loop. Mirrors ``controller.go: processNextWorkItem``, called for ever."""
        sim, queue, reconcile = self._sim, self._queue, self._reconcile
        while True:
            key, priority, shutdown = yield from queue.get_with_priority(worker)
            if shutdown:
                return
            started, panicked = self._env.now, False
            observer.round_started(worker, key, priority)
            try:
                request = str.__new__(Request, key) if type(key) is str else key
                result = yield from drive(sim, reconcile, request)
            except GeneratorExit:
                raise
            except BaseException as error:
                result, panicked = self._recover(key, error)
            observer.round_ended(worker, key, _outcome(result, self._env.now - started, panicked))
            self._reconcile_handler(key, result, priority)
            try:
                queue.done(key)
            except QueueStalledError:
                yield sim.event()  # Go's worker waits here for ever

    def _recover(self, key: Key, error: BaseException) -> tuple[Result, bool]:
        """The result of a round that raised, and whether that was a panic.

        A `ReconcileError`, and what a client or a cache raises, is Go's returned error; any other
        exception is its panic, caught and taken as an error. What is to stop the program (a
        contract that was broken, an interrupt) comes out of ``sim.run``, and the worker goes on.
        Mirrors ``controller.go: Reconcile``.
        """
        if isinstance(error, ReconcilerContractError) or not isinstance(error, Exception):
            stop: Any = error  # SimPy asks for less than it can carry
            self._sim.event().fail(stop)
            stopped = error if isinstance(error, Exception) else ReconcileError(_words(error, repr))
            return Result(error=stopped), False
        if isinstance(error, RETURNED):
            return Result(error=error), False
        told = _words(error, repr)
        _log.error("%s: the reconciler raised %s for %s", self.name, told, key)
        return Result(error=error), True

    def _reconcile_handler(self, key: Key, result: Result, priority: int) -> None:
        """When the key comes back, if at all. Mirrors ``controller.go: reconcileHandler``."""
        queue = self._queue
        if result.priority is not None:
            priority = result.priority
        if result.error is not None:
            if not isinstance(result.error, TerminalError):
                queue.add_with_opts(key, rate_limited=True, priority=priority)
        elif result.requeue_after > 0:
            queue.forget(key)
            queue.add_with_opts(key, after=result.requeue_after, priority=priority)
        elif result.requeue:
            queue.add_with_opts(key, rate_limited=True, priority=priority)
        else:
            queue.forget(key)


def check_reconciler(reconcile: Any, workers: Any) -> None:
    """Raise `InvalidArgumentError` for what cannot be called, or no number of workers."""
    if not callable(reconcile):
        raise InvalidArgumentError("reconcile", reconcile, "a generator function of a request")
    if not isinstance(workers, int):
        raise InvalidArgumentError(
            "max_concurrent_reconciles", workers, "a whole number of workers"
        )


def _words(error: BaseException, tell: Callable[[object], str]) -> str:
    """What an error says of itself, or its type when it cannot even do that."""
    try:
        return tell(error)
    except Exception:
        return type(error).__name__


def _outcome(result: Result, took_ns: int, panicked: bool) -> Outcome:
    error = result.error
    if error is not None:
        text = _words(error, repr if panicked else str)
        return Outcome("error", took_ns, text, panicked, isinstance(error, TerminalError))
    if result.requeue_after > 0:
        after_ns = to_ns(result.requeue_after, "requeue_after")
        return Outcome("requeue_after", took_ns, requeue_after_ns=after_ns)
    return Outcome("requeue" if result.requeue else "success", took_ns)
