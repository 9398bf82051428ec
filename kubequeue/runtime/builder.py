"""One controller of a manager: what it watches, its queue, its workers, and when they start.

Mirrors pkg/builder/controller.go and ``controller.go: Start`` of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simpy.events import Event

from kubequeue.cluster.given import a_kind, several
from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.controller import Controller, check_reconciler
from kubequeue.runtime.handler import (
    Enqueuer,
    MapFunction,
    enqueue_request_for_object,
    enqueue_request_for_owner,
)
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.runtime.predicates import EVERYTHING, Predicate, and_
from kubequeue.runtime.reconcile import Reconciler
from kubequeue.sim import Simulation
from kubequeue.workqueue.queue import Queue

NewQueue = Callable[[Simulation, str], Queue]
"""Makes the queue of a controller, given the simulation and its name."""


class Watches(NamedTuple):
    """A kind to watch, the requests that its objects stand for, and which events count."""

    kind: type[Any]
    requests: MapFunction
    predicate: Predicate = EVERYTHING


def sources_of(
    for_: type[Any],
    owns: Iterable[type[Any]],
    watches: Iterable[Watches],
    predicates: Predicate | Sequence[Predicate],
) -> tuple[Watches, ...]:
    """Everything a controller watches. Mirrors ``controller.go: doWatch``.

    Raises `InvalidArgumentError` for what is no kind and for what is no predicate.
    """
    if isinstance(predicates, Predicate):
        predicates = (predicates,)
    given = several("predicates", predicates, "a Predicate, or a list of them")
    a_kind("the kind", for_)
    return (
        Watches(for_, enqueue_request_for_object, and_(*given) if given else EVERYTHING),
        *(Watches(kind, enqueue_request_for_owner(for_)) for kind in kinds("owns", owns)),
        *map(_checked, several("watches", watches, _WATCHES)),
    )


_WATCHES = "a list of Watches(kind, requests, predicate)"


def _checked(given: Any) -> Watches:
    if not isinstance(given, Watches) or not callable(given.requests):
        raise InvalidArgumentError("watches", given, _WATCHES)
    a_kind("the kind", given.kind)
    if not isinstance(given.predicate, Predicate):
        raise InvalidArgumentError("the predicate of Watches", given.predicate, "a Predicate")
    return given


def kinds(what: str, given: Iterable[type[Any]]) -> tuple[type[Any], ...]:
    """What was given, once it is sure that each is a kind; else `InvalidArgumentError`."""
    found = several(what, given, "a list of kinds, such as [Pod]")
    for kind in found:
        a_kind("the kind", kind)
    return found


def check_workers(reconcile: Any, max_concurrent_reconciles: Any, new_queue: Any) -> None:
    """Raise `InvalidArgumentError` for what no workers can be made of."""
    check_reconciler(reconcile, max_concurrent_reconciles)
    if not callable(new_queue):
        raise InvalidArgumentError(
            "queue", new_queue, "what makes one of a simulation and a name, such as PriorityQueue"
        )


@dataclass(slots=True)
class ManagedController:
    """A controller as its manager knows it. ``queue`` and ``controller`` are there once it leads.

    Attributes:
        name: in traces and metrics.
        sources: what it watches.
        reads: what it only reads.
        reconcile, max_concurrent_reconciles, new_queue: what it is made of.
    """

    name: str
    sources: tuple[Watches, ...]
    reads: tuple[type[Any], ...]
    reconcile: Reconciler
    max_concurrent_reconciles: int
    new_queue: NewQueue
    queue: Queue | None = None
    controller: Controller | None = None

    def prepare(self, sim: Simulation, cache: Cache, lifetime: Lifetime) -> None:
        """Make queue and workers, and have the informers fill the queue."""
        self.queue = self.new_queue(lifetime.inside, self.name)
        self.controller = Controller(
            sim,
            self.queue,
            self.reconcile,
            name=self.name,
            max_concurrent_reconciles=self.max_concurrent_reconciles,
            lifetime=lifetime,
        )
        for source in self.sources:
            handler = Enqueuer(self.queue, source.requests, source.predicate)
            cache.informer(source.kind).add_event_handler(handler)
        for kind in self.reads:
            cache.informer(kind)

    def start(self, cache: Cache) -> Generator[Event, Any, None]:
        """Wait until what it watches and reads is in the cache, then start the workers."""
        for kind in (*(source.kind for source in self.sources), *self.reads):
            informer = cache.informer(kind)
            if not informer.has_synced:
                yield informer.synced
        if self.controller is not None and self.queue is not None and not self.queue.shutting_down:
            self.controller.start()

    def end(self, sim: Simulation) -> None:
        """Its process is gone: the queue's loops end, and its name is free for the next one."""
        if self.queue is not None:
            self.queue.shut_down()
            sim.release("queue", self.name)
            sim.release("controller", self.name)
