"""One process of an operator: its cache, its client, its controllers, and who leads.

Mirrors pkg/manager/internal.go of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any

from simpy.events import AllOf, Event, Process

from kubequeue.cluster.duration import Seconds
from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.builder import ManagedController, NewQueue, Watches, kinds, sources_of
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.client import Client
from kubequeue.runtime.deadline import Deadline
from kubequeue.runtime.leaderelection import LeaderElection, LeaderElector
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.runtime.limits import KUBERAY, RateLimits
from kubequeue.runtime.observer import CacheObserver, ClientObserver, ManagerObserver
from kubequeue.runtime.predicates import Predicate
from kubequeue.runtime.reconcile import Reconciler
from kubequeue.runtime.restclient import Buckets
from kubequeue.runtime.selection import Selectors
from kubequeue.sim import Simulation, to_ns
from kubequeue.workqueue.priorityqueue import PriorityQueue

Steps = Generator[Event, Any, None]
STOPPED, CRASHED, LOST = "stopped", "crashed", "leader election lost"


class Manager:
    """Controllers that share a cache and a client, from `start` until `stop`, `crash` or a loss.

    Once it leads (at once without ``leader_election``) it lists and watches, waits until each
    controller's kinds are in the cache, and starts that controller's workers. One manager lives
    once: after it ended make another, which starts with empty memory.

    Args:
        sim, server, user: what it lives in, and with whom it speaks as whom.
        namespaces: which to watch: one, or several; empty for all.
        limits: the token buckets of its client, one for each kind.
        leader_election: None leads at once.
        name: what traces call it, also before the names of its controllers; for several at a time.
        lag, resync_period, selectors: of its `Cache`; times in seconds.
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
        buckets = Buckets(sim, limits)
        of_lists = buckets if limits.shared else Buckets(sim, limits)
        called = sim.observe(ClientObserver, "client", name)
        self.name = name
        self.cache = Cache(
            sim,
            server,
            user,
            namespaces=namespaces,
            lag=lag,
            resync_period=resync_period,
            buckets=of_lists,
            selectors=selectors,
            observers=(sim.observe(CacheObserver, "cache", name), called),
        )
        self.client = Client(
            sim, self.cache, server, user, limits, buckets=buckets, observer=called
        )
        self.controllers: dict[str, ManagedController] = {}
        """By the names they were given."""
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

    def controller(
        self,
        name: str,
        *,
        for_: type[Any],
        reconcile: Reconciler,
        owns: Iterable[type[Any]] = (),
        watches: Iterable[Watches] = (),
        reads: Iterable[type[Any]] = (),
        max_concurrent_reconciles: int = 1,
        predicates: Predicate | Sequence[Predicate] = (),
        queue: NewQueue = PriorityQueue,
    ) -> ManagedController:
        """Add a controller.

        Args:
            for_: the kind whose keys it reconciles.
            owns: kinds whose events wake the owner of the object.
            watches: kinds with a mapping of their own.
            reads: kinds that wake nobody but are to be in the cache.
            predicates: which events of ``for_`` count; all of them have to agree.
            queue: makes its queue, of a simulation and a name.

        Raises `InvalidArgumentError` after the start, for a name twice, and for what is no kind.
        Mirrors ``builder.ControllerManagedBy(mgr).For().Owns().Complete()``.
        """
        if self._started or self.ended.triggered:
            raise InvalidArgumentError("controller()", name, "every controller before start()")
        if not name or name in self.controllers:
            raise InvalidArgumentError("name", name, "a name that no controller here has yet")
        made = self.controllers[name] = ManagedController(
            f"{self.name}/{name}" if self.name else name,
            sources_of(for_, owns, watches, predicates),
            kinds(reads),
            reconcile,
            max_concurrent_reconciles,
            queue,
        )
        return made

    def start(self) -> None:
        """Begin, in this instant. Raises `InvalidArgumentError` on a second call.

        Mirrors ``internal.go: Start``.
        """
        if self._started or self.ended.triggered:
            raise InvalidArgumentError("start()", "a second call", "a new Manager for each life")
        self._started = True
        self._tell("starts")
        if self._leader_election is None:
            self._lead()
            return
        election = self._leader_election.identified(self._sim, self.name or "operator")
        client = self.client.with_deadline(Deadline(self._sim, self._life, election.call_timeout))
        self.elector = LeaderElector(
            self._sim, client, self._life, election, self._lead, self._stood_down
        )
        self._election = self._life.process(self.elector.run())

    def stop(self) -> None:
        """End in good order: workers finish their rounds, informers end, the lease is given back.

        Takes virtual time, until `ended` fires; what is not done in the time allowed is cut off.
        A second call does nothing. Mirrors ``internal.go: engageStopProcedure``.
        """
        if not self._started:
            self._finish(STOPPED)
        elif not self._stopping and not self.ended.triggered:
            self._stopping = True
            self._life.process(self._stop())

    def crash(self) -> None:
        """The process is gone in this instant, in the middle of whatever it does.

        Queues, cache and what reconcilers remember are lost; what it wrote is in the cluster. A
        call under way is cut off: it has happened if it had reached the server. Called from inside
        a round, that round takes no further step once it yields.
        """
        self._die(CRASHED)

    def _lead(self) -> None:
        """Mirrors ``internal.go: startLeaderElectionRunnables``."""
        if self._stopping or self.ended.triggered:
            return
        self._leads = True
        self._tell("leads")
        for each in self.controllers.values():
            each.prepare(self._sim, self.cache, self._life)
        self.cache.start(self._caches)
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
