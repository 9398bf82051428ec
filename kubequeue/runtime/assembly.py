"""What one process of an operator is made of: its cache, its client, its controllers.

Mirrors pkg/cluster/cluster.go and pkg/builder/controller.go of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kubequeue.cluster.duration import Seconds
from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.builder import (
    ManagedController,
    NewQueue,
    Watches,
    check_workers,
    kinds,
    sources_of,
)
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.client import Client
from kubequeue.runtime.limits import RateLimits
from kubequeue.runtime.observer import CacheObserver, ClientObserver
from kubequeue.runtime.predicates import Predicate
from kubequeue.runtime.reconcile import Reconciler
from kubequeue.runtime.restclient import Buckets
from kubequeue.runtime.selection import Selectors
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue


class Assembly:
    """A cache and a client, and the controllers that share them; none of it runs yet."""

    def __init__(
        self,
        sim: Simulation,
        server: Any,
        user: str,
        namespaces: str | Iterable[str],
        limits: RateLimits,
        name: str,
        lag: Seconds,
        resync_period: float,
        selectors: Selectors | None,
    ) -> None:
        buckets = Buckets(sim, limits)
        called = sim.observe(ClientObserver, "client", name)
        told = sim.observe(CacheObserver, "cache", name)
        self.name = name
        self.cache = Cache(
            sim,
            server,
            user,
            namespaces=namespaces,
            lag=lag,
            resync_period=resync_period,
            buckets=buckets.apart(),
            selectors=selectors,
            observers=(told, called),
        )
        self.client = Client(
            sim, self.cache, server, user, limits, buckets=buckets, observer=called
        )
        self.controllers: dict[str, ManagedController] = {}
        """By the names they were given."""
        self._closed_to_more = False

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

        Raises `InvalidArgumentError` after the start, for a name twice, for what is no kind, no
        predicate, no reconciler, and for what makes no queue.
        Mirrors ``builder.ControllerManagedBy(mgr).For().Owns().Complete()``.
        """
        if self._closed_to_more:
            raise InvalidArgumentError("controller()", name, "every controller before start()")
        if not isinstance(name, str) or not name or name in self.controllers:
            raise InvalidArgumentError("name", name, "a name that no controller here has yet")
        check_workers(reconcile, max_concurrent_reconciles, queue)
        made = self.controllers[name] = ManagedController(
            f"{self.name}/{name}" if self.name else name,
            sources_of(for_, owns, watches, predicates),
            kinds("reads", reads),
            reconcile,
            max_concurrent_reconciles,
            queue,
        )
        return made
