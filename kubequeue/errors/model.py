"""What goes wrong in the model itself, in a call of it, or in a round."""

from __future__ import annotations


class KubeQueueError(Exception):
    """The base of all errors of this package."""


class InvalidArgumentError(KubeQueueError, ValueError):
    """A call was given a value that it cannot use.

    >>> raise InvalidArgumentError("after", float("nan"), "a number of seconds")
    Traceback (most recent call last):
    kubequeue.errors.model.InvalidArgumentError: after was nan; expected a number of seconds.
    """

    def __init__(self, what: str, given: object, expected: str) -> None:
        super().__init__(what, given, expected)

    def __str__(self) -> str:
        what, given, expected = self.args
        return f"{what} was {given!r}; expected {expected}."


class InstantNeverEndsError(KubeQueueError):
    """Events kept following each other at one instant, so virtual time could not go on."""

    def __init__(self, at: float, events: int) -> None:
        super().__init__(at, events)

    def __str__(self) -> str:
        at, events = self.args
        return (
            f"{events:,} events followed one another at t = {at} s and none moved the clock; "
            "look for a loop that never sleeps, or raise max_events_per_instant."
        )


class NeverIdleError(KubeQueueError):
    """A run without ``until`` went on for longer than any run that ends by itself should."""

    def __init__(self, at: float, events: int) -> None:
        super().__init__(at, events)

    def __str__(self) -> str:
        at, events = self.args
        return (
            f"still busy after {events:,} events, at t = {at} s; something asks to come back for "
            "ever (a requeue_after, say), so give run(until=...) a time to stop at."
        )


class QueueStalledError(KubeQueueError):
    """A call needs a lock that v0.24.1's shutdown never gives back (``fixed_shutdown=False``)."""

    def __init__(self, call: str) -> None:
        super().__init__(call)

    def __str__(self) -> str:
        return (
            f"{self.args[0]} would block for ever: handle_ready_items holds the queue's locks "
            "while it hands a key to a waiter that has left; build the queue with "
            "fixed_shutdown=True."
        )


class ReconcilerContractError(KubeQueueError):
    """A reconciler did something that is no part of the contract of a reconciler."""

    def __init__(self, request: object, did: str, expected: str) -> None:
        super().__init__(request, did, expected)

    def __str__(self) -> str:
        request, did, expected = self.args
        return f"the reconciler {did} for {request}; expected {expected}."


class ReconcileError(KubeQueueError):
    """A round failed: the key comes back with back-off. Raise it, or return ``Result(error=...)``.

    Mirrors a non-nil error from ``Reconcile`` (controller-runtime v0.24.1, pkg/reconcile).
    """


class TerminalError(ReconcileError):
    """A round failed and another try cannot help: it is counted, and the key is not retried.

    Mirrors ``reconcile.go: TerminalError`` (controller-runtime v0.24.1, pkg/reconcile).
    """


class CacheError(KubeQueueError):
    """A read that the cache cannot answer; in a round it counts as a returned error."""


class CacheNotSyncedError(CacheError):
    """A kind was read before its first list was there; ``watched`` says whether anybody lists it.

    Mirrors ``informer_cache.go: ErrCacheNotStarted`` (controller-runtime v0.24.1), which in Go is
    raised before the start only: later, a read starts the informer and blocks until it has synced.
    """

    def __init__(self, kind: str, watched: bool) -> None:
        super().__init__(kind, watched)

    def __str__(self) -> str:
        kind, watched = self.args
        if watched:
            return (
                f"the cache was read for {kind} before its first list was there; wait for "
                "has_synced, or read from a reconciler, which starts after that."
            )
        return (
            f"the cache was read for {kind}, which nobody watches; name it in owns= or reads= of "
            f"the controller, or call cache.informer({kind}) before the start."
        )


class UnknownNamespaceError(CacheError):
    """A namespace was read that the cache does not watch.

    Mirrors ``multi_namespace_cache.go: Get`` (controller-runtime v0.24.1).
    """

    def __init__(self, kind: str, namespace: str, watched: tuple[str, ...]) -> None:
        super().__init__(kind, namespace, watched)

    def __str__(self) -> str:
        kind, namespace, watched = self.args
        return (
            f"unable to read {kind} because of unknown namespace for the cache: {namespace!r}; "
            f"it watches {', '.join(watched)}: name it in namespaces=, or read live."
        )
