"""Of several replicas one leads: the lease, who may take it, and when it is lost.

Mirrors tools/leaderelection/leaderelection.go of client-go v0.36.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from simpy.events import Event, Timeout

from kubequeue.cluster.objects import LeaseSpec
from kubequeue.errors import APIError, NotFoundError, ServerTimeoutError
from kubequeue.runtime.client import Client
from kubequeue.runtime.deadline import Deadline
from kubequeue.runtime.leaderelectionconfig import JITTER_FACTOR, LeaderElection
from kubequeue.runtime.leaselock import LeaseLock
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.sim import NANOSECONDS, Simulation, to_ns

__all__ = ["LeaderElection", "LeaderElector"]

Steps = Generator[Event, Any, None]
Try = Generator[Event, Any, bool]


class LeaderElector:
    """One replica's part in the election; `run` is its loop.

    Args:
        sim, client, lifetime: what it lives in; its calls go out through the client, whose
            deadline should be ``config.call_timeout``.
        config: the lease and the durations; with an identity.
        on_started_leading, on_stopped_leading: called once each, the second one also when it never
            led. Mirrors ``LeaderCallbacks``.

    Clocks are not compared: what counts is when this replica saw the record change.
    """

    def __init__(
        self,
        sim: Simulation,
        client: Client,
        lifetime: Lifetime,
        config: LeaderElection,
        on_started_leading: Callable[[], object],
        on_stopped_leading: Callable[[], object],
    ) -> None:
        self.identity = config.identity
        self._sim = sim
        self._lifetime = lifetime
        self._config = config
        self._on_started = on_started_leading
        self._on_stopped = on_stopped_leading
        self._lock = LeaseLock(client, config.namespace, config.name)
        self._jitter = sim.stream(f"leaderelection/{config.identity}")
        self._record = LeaseSpec()
        self._observed_ns = 0
        self._cancelled = sim.event()

    @property
    def is_leader(self) -> bool:
        """Whether the last record that was seen names this replica. Mirrors ``IsLeader``."""
        return self._record.holder_identity == self.identity

    @property
    def leader(self) -> str:
        """Who leads, as far as this replica has seen; empty for nobody. Mirrors ``GetLeader``."""
        return self._record.holder_identity

    def cancel(self) -> None:
        """Stand down: the lease is given back if the election says so, and `run` ends.

        A call under way ends at once.
        """
        if not self._cancelled.triggered:
            self._cancelled.succeed()
            self._lock.client.cancel()

    def run(self) -> Steps:
        """Acquire, lead, renew until that fails or is cancelled. Mirrors ``Run``."""
        config = self._config
        if (yield from self._acquire()):
            self._on_started()
            yield from self._renew()
            if config.release_on_cancel:
                limit = self._sim.now_ns + to_ns(config.renew_deadline, "renew_deadline")
                yield from self._within(self._release(), limit)
        self._on_stopped()

    def _acquire(self) -> Try:
        """Try until it works; False when cancelled. Mirrors ``acquire``."""
        retry = self._config.retry_period
        while not self._cancelled.triggered:
            if (yield from self._try_acquire_or_renew()):
                return True
            pause = retry * (1 + JITTER_FACTOR * self._jitter.random())
            yield self._sim.sleep(pause) | self._cancelled
        return False

    def _renew(self) -> Steps:
        """Renew each retry period; return when it was not possible in time. Mirrors ``renew``."""
        while (yield from self._renew_in_time()):
            yield self._sim.sleep(self._config.retry_period) | self._cancelled
            if self._cancelled.triggered:
                return

    def _renew_in_time(self) -> Try:
        """Try until it works; False at the deadline, or when cancelled.

        The next try is due at the next tick of a clock that goes on during a try and keeps one
        tick. Mirrors ``poll.go: PollUntilContextTimeout`` (apimachinery v0.36, pkg/util/wait).
        """
        sim, config = self._sim, self._config
        start, retry = sim.now_ns, to_ns(config.retry_period, "retry_period")
        deadline, looked = start + to_ns(config.renew_deadline, "renew_deadline"), start
        while not (yield from self._within(self._try_acquire_or_renew(), deadline)):
            tick = start + ((looked - start) // retry + 1) * retry
            wait = max(min(tick, deadline) - sim.now_ns, 0)
            yield Timeout(sim.env, wait) | self._cancelled
            looked = sim.now_ns
            if looked >= deadline or self._cancelled.triggered:
                return False
        return True

    def _within(self, steps: Try, deadline_ns: int) -> Try:
        """What ``steps`` return, or False at the deadline."""
        left = (deadline_ns - self._sim.now_ns) / NANOSECONDS
        limit = Deadline(self._sim, self._lifetime, left)
        try:
            return (yield from limit.limit(steps))
        except ServerTimeoutError:
            return False

    def _try_acquire_or_renew(self) -> Try:
        """Mirrors ``tryAcquireOrRenew``, step by step."""
        try:
            return (yield from self._acquire_or_renew(self._sim.now_ns))
        except APIError:
            return False

    def _acquire_or_renew(self, now_ns: int) -> Try:
        if self.is_leader and self._is_valid(now_ns):
            # The fast path: nobody else can have changed the lease, so the last version will do.
            try:
                yield from self._update(self._next(now_ns, self._record))
                return True
            except APIError:
                pass
        try:
            record = yield from self._lock.get()
        except NotFoundError:
            now = now_ns / NANOSECONDS
            record = LeaseSpec(self.identity, int(self._config.lease_duration), now, now)
            yield from self._lock.create(record)
            self._observe(record)
            return True
        if record != self._record:
            self._observe(record)
        if record.holder_identity and self._is_valid(now_ns) and not self.is_leader:
            return False
        yield from self._update(self._next(now_ns, record))
        return True

    def _update(self, record: LeaseSpec) -> Steps:
        yield from self._lock.update(record)
        self._observe(record)

    def _release(self) -> Try:
        """Give the lease back, so that the next one need not wait. Mirrors ``tryRelease``."""
        self._lock.client = self._lock.client.anew()  # the old one may be cancelled
        try:
            record = yield from self._lock.get()
            if self.is_leader:
                now = self._sim.now
                yield from self._update(LeaseSpec("", 1, now, now, record.lease_transitions))
            return True
        except APIError:
            return False

    def _next(self, now_ns: int, old: LeaseSpec) -> LeaseSpec:
        """The record for this replica: since when it leads, and the how-manyth leader it is."""
        now = now_ns / NANOSECONDS
        since, transitions = now, old.lease_transitions + 1
        if self.is_leader:
            since, transitions = old.acquire_time, old.lease_transitions
        return LeaseSpec(self.identity, int(self._config.lease_duration), since, now, transitions)

    def _is_valid(self, now_ns: int) -> bool:
        """Whether the holder still has time, counted from when its record was seen to change."""
        duration = to_ns(self._record.lease_duration_seconds, "lease_duration_seconds")
        return self._observed_ns + duration > now_ns

    def _observe(self, record: LeaseSpec) -> None:
        self._record = record
        self._observed_ns = self._sim.now_ns
