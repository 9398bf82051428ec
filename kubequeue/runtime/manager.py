"""One process of an operator: its cache, its client, its controllers, and who leads.

Mirrors pkg/manager/internal.go of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

from simpy.events import AllOf, Event, Process

from kubequeue.cluster.duration import Seconds
from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.assembly import Assembly
from kubequeue.runtime.controller import RETURNED
from kubequeue.runtime.deadline import Deadline
from kubequeue.runtime.leaderelection import LeaderElection, LeaderElector
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.runtime.limits import KUBERAY, RateLimits
from kubequeue.runtime.observer import ManagerObserver
from kubequeue.runtime.selection import Selectors
from kubequeue.sim import Simulation, to_ns

Steps = Generator[Event, Any, None]
SYNC_PERIOD = 36_000.0
"""controller-runtime's default resync period; a `Manager` has it when asked, so that runs end."""

STOPPED, CRASHED, LOST = "stopped", "crashed", "leader election lost"


class Manager(Assembly):
    """Controllers that share a cache and a client, from `start` until `stop`, `crash` or a loss.

    First come the informers that its cache was asked for before the start, also while it does not
    lead. Once it leads (at once without ``leader_election``) it lists and watches, waits until
    each controller's kinds are in the cache, and starts that controller's workers. One manager
    lives once: after it ended make another, which starts with empty memory.

    Args:
        sim, server, user: what it lives in, and with whom it speaks as whom.
        namespaces: which to watch: one, or several; empty for all.
        limits: the token buckets of its client, one for each kind.
        leader_election: None leads at once.
        name: what traces call it, also before the names of its controllers; for several at a time.
        lag, resync_period, selectors: of its `Cache`; times in seconds, 0 for no resync.
        graceful_shutdown_timeout: seconds that `stop` waits for the rounds under way.

    Raises `InvalidArgumentError` for what `Cache` and `Client` refuse, or a time-out below zero.
    """

    def __init__(
        self,
        sim: Simulation,
        server: Any,
        *,
        user: str = "operator",
        namespaces: str | Iterable[str] = (),
        limits: RateLimits = KUBERAY,
        leader_election: LeaderElection | None = None,
        name: str = "",
        lag: Seconds = 0.0,
        resync_period: float = 0.0,
        selectors: Selectors | None = None,
        graceful_shutdown_timeout: float = 30.0,
    ) -> None:
        if to_ns(graceful_shutdown_timeout, "graceful_shutdown_timeout") < 0:
            raise InvalidArgumentError(
                "graceful_shutdown_timeout", graceful_shutdown_timeout, "zero seconds or more"
            )
        if not isinstance(leader_election, LeaderElection | None):
            raise InvalidArgumentError(
                "leader_election", leader_election, "a LeaderElection(...), or None to lead at once"
            )
        super().__init__(sim, server, user, namespaces, limits, name, lag, resync_period, selectors)
        self.elector: LeaderElector | None = None
        self.ended: Event = sim.event()
        """Fires at the end, with ``stopped``, ``crashed`` or ``leader election lost``."""
        self._sim = sim
        self._observer: ManagerObserver = sim.observe(ManagerObserver, "manager", name)
        self._leader_election = leader_election
        self._graceful_shutdown_timeout = graceful_shutdown_timeout
        self._life = Lifetime(sim)
        self._caches = Lifetime(sim)
        self._started = self._stopping = self._leads = False
        self._election: Process | None = None

    @property
    def leads(self) -> bool:
        """Whether its controllers are on, or about to be."""
        return self._leads and not self.ended.triggered

    @property
    def end_reason(self) -> str:
        """Why it ended; empty while it has not."""
        return str(self.ended.value) if self.ended.triggered else ""

    def process(self, generator: Generator[Event, Any, Any]) -> Process:
        """Run a generator beside everything else of this process; it is gone with it.

        For what a round does side by side, as with goroutines: ``yield`` what this returns to wait
        for it. What a call raises there comes out of that ``yield``, and is dropped when nobody
        waits. After the end it takes no step. Costs O(1).
        """
        process = self._life.process(generator)
        process.callbacks.append(_drop_error)
        return process

    def start(self) -> None:
        """Begin, in this instant. Raises `InvalidArgumentError` on a second call.

        Mirrors ``internal.go: Start``.
        """
        if self._started or self.ended.triggered:
            raise InvalidArgumentError("start()", "a second call", "a new Manager for each life")
        self._started = self._closed_to_more = True
        self._tell("starts")
        self.cache.start(self._caches)
        if self.cache.has_synced:
            self._campaign()
        else:
            self._life.process(self._campaign_once_synced())

    def stop(self) -> None:
        """End in good order: workers finish their rounds, informers end, the lease is given back.

        The context of every round is cancelled: from now on each call of the client, also one under
        way, ends at once with `ContextCanceledError`. Takes virtual time, until `ended` fires; what
        is not done in the time allowed is cut off. A second call does nothing.
        Mirrors ``internal.go: engageStopProcedure``.
        """
        if not self._started:
            self._finish(STOPPED)
        elif not self._stopping and not self.ended.triggered:
            self._stopping = True
            self.client.cancel()
            self._life.process(self._stop())

    def crash(self) -> None:
        """The process is gone in this instant, in the middle of whatever it does.

        Queues, cache and what reconcilers remember are lost; what it wrote is in the cluster. A
        call under way is cut off: it has happened if it had reached the server. Called from inside
        a round, that round takes no further step once it yields.
        """
        self._die(CRASHED)

    def _campaign_once_synced(self) -> Steps:
        yield from self.cache.wait_for_sync()
        if not self._stopping:
            self._campaign()

    def _campaign(self) -> None:
        """Lead at once, or try to be elected."""
        if self._leader_election is None:
            self._lead()
            return
        election = self._leader_election.identified(self._sim, self.name or "operator")
        client = self.client.apart(Deadline(self._sim, self._life, election.call_timeout))
        self.elector = LeaderElector(
            self._sim, client, self._life, election, self._lead, self._stood_down
        )
        self._election = self._life.process(self.elector.run())

    def _lead(self) -> None:
        """Mirrors ``internal.go: startLeaderElectionRunnables``."""
        if self._stopping or self.ended.triggered:
            return
        self._leads = True
        self._tell("leads")
        for each in self.controllers.values():
            each.prepare(self._sim, self.cache, self._life)
        for each in self.controllers.values():
            self._life.process(each.start(self.cache))

    def _stood_down(self) -> None:
        """The election is over: as asked, or because the lease is lost, which ends the process."""
        if not self._stopping:
            self._die(LOST)

    def _stop(self) -> Steps:
        self._tell("stops")
        workers: list[Process] = []
        for each in self.controllers.values():
            if each.controller is not None:
                each.controller.stop()
                workers += each.controller.workers
        if workers:
            limit = self._sim.sleep(self._graceful_shutdown_timeout)
            yield AllOf(self._sim.env, workers) | limit
        self._caches.end()
        if self.elector is not None and self._election is not None:
            self.elector.cancel()
            yield self._election
        if all(not worker.is_alive for worker in workers):
            self._finish(STOPPED)
        else:
            self._die(STOPPED)

    def _die(self, why: str) -> None:
        if not self.ended.triggered:
            self._observer.crashed(tuple(each.name for each in self.controllers.values()))
            self._finish(why)

    def _finish(self, why: str) -> None:
        """Nothing of this process is left. A second call does nothing."""
        if self.ended.triggered:
            return
        self.ended.succeed(why)
        self._closed_to_more = True
        self.client.close()
        self._life.end()
        self._caches.end()
        for each in self.controllers.values():
            each.end(self._sim)
        for kind in ("client", "cache", "manager"):
            self._sim.release(kind, self.name)
        self._tell("ended", why)

    def _tell(self, step: str, why: str = "") -> None:
        self._observer.lived(step, why)


def _drop_error(process: Event) -> None:
    """An error that was returned and that nobody takes: a goroutine's is lost too."""
    if not process.ok and isinstance(process.value, RETURNED):
        process.defused = True
