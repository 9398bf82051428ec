"""From events to requests: which keys a controller is to look at, and how urgently.

Mirrors pkg/handler of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.predicates import EVERYTHING, Predicate
from kubequeue.runtime.reconcile import Request
from kubequeue.workqueue.queue import Queue

LOW_PRIORITY = -100
"""For objects of the initial list and for updates that changed nothing. Mirrors ``LowPriority``."""

MapFunction = Callable[[Any], Iterable[Request]]
"""The requests that an object stands for. Mirrors ``enqueue_mapped.go: MapFunc``."""


def enqueue_request_for_object(obj: Any) -> tuple[Request, ...]:
    """The object itself. Mirrors ``enqueue.go: EnqueueRequestForObject``."""
    return (Request(obj.metadata.namespace, obj.metadata.name),)


def enqueue_request_for_owner(
    kind: type[Any], *, only_controller_owner: bool = True
) -> MapFunction:
    """The owner of that kind: the one that controls the object, or each that has a share in it.

    Mirrors ``enqueue_owner.go: EnqueueRequestForOwner``, with ``OnlyControllerOwner`` as the
    builder's ``Owns`` sets it. Raises `InvalidArgumentError` for what is no kind.
    """
    name = getattr(kind, "kind", None)
    if not isinstance(name, str):
        raise InvalidArgumentError("kind", kind, "a kind of object, such as Pod")

    def owners(obj: Any) -> list[Request]:
        namespace = obj.metadata.namespace if getattr(kind, "namespaced", True) else ""
        return [
            Request(namespace, owner.name)
            for owner in obj.metadata.owner_references
            if owner.kind == name and (owner.controller or not only_controller_owner)
        ]

    return owners


class Enqueuer:
    """Puts into a queue what events stand for, as far as a predicate lets them pass.

    An update stands for the requests of the object before and after it, each once. It is an
    ``EventHandler`` of an informer. Mirrors ``eventhandler.go: TypedFuncs`` with
    ``WithLowPriorityWhenUnchanged``, and ``event_handler.go: EventHandler`` (pkg/internal/source).
    """

    def __init__(
        self, queue: Queue, requests: MapFunction, predicate: Predicate = EVERYTHING
    ) -> None:
        self._queue = queue
        self._requests = requests
        self._predicate = predicate

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """An object is new, or new to this process."""
        if self._predicate.create(obj):
            priority = LOW_PRIORITY if is_in_initial_list else None
            self._enqueue(self._requests(obj), priority)

    def on_update(self, old: Any, new: Any) -> None:
        """An object changed, or is only told of again."""
        if self._predicate.update(old, new):
            unchanged = old.metadata.resource_version == new.metadata.resource_version
            both = dict.fromkeys((*self._requests(old), *self._requests(new)))
            self._enqueue(both, LOW_PRIORITY if unchanged else None)

    def on_delete(self, obj: Any) -> None:
        """An object is gone."""
        if self._predicate.delete(obj):
            self._enqueue(self._requests(obj), None)

    def _enqueue(self, requests: Iterable[Request], priority: int | None) -> None:
        for request in requests:
            self._queue.add_with_opts(request, priority=priority)
