"""Every error that kubequeue raises.

::

    KubeQueueError
    ├── InvalidArgumentError (also a ValueError)   a call was given what it cannot use
    ├── InstantNeverEndsError                      events keep coming, time does not move
    ├── NeverIdleError                             a run without an end was asked to reach one
    ├── QueueStalledError                          a call that would block for ever in Go
    ├── ReconcilerContractError                    a reconciler yielded or returned the wrong thing
    ├── ReconcileError                             a round failed and wants another try
    │   └── TerminalError                          a round failed and another try cannot help
    ├── CacheError                                 a read that the cache cannot answer
    │   ├── CacheNotSyncedError                    it has no first list of that kind yet
    │   └── UnknownNamespaceError                  it does not watch that namespace
    └── APIError                                   an API server refused or did not answer a call
        ├── BadRequestError      400               the call itself makes no sense
        ├── ForbiddenError       403               the user may not do this
        ├── NotFoundError        404               there is no such object
        ├── NoKindMatchError     404               there is no such kind
        ├── AlreadyExistsError   409               the name is taken
        ├── ConflictError        409               the object has changed since it was read
        ├── ExpiredError         410               the watch asks for history that is gone
        ├── InvalidError         422               the object breaks a rule of its kind
        ├── TooManyRequestsError 429               the server is too busy for this call now
        ├── InternalError        500               the server broke down over the call
        ├── UnavailableError     503               the server takes no calls, or a watch broke
        ├── ServerTimeoutError   504               no answer in time; the write may have happened
        ├── NoConnectionError                      nobody listens where the server should be
        └── ContextCanceledError                   the operator is stopping: it calls no more

Each error keeps its data in ``args`` and makes its sentence in ``__str__``, because SimPy, pickle
and joblib all re-create an exception as ``type(error)(*error.args)``.
"""

from __future__ import annotations

from typing import ClassVar


class KubeQueueError(Exception):
    """The base of all errors of this package."""


class InvalidArgumentError(KubeQueueError, ValueError):
    """A call was given a value that it cannot use.

    >>> raise InvalidArgumentError("after", float("nan"), "a number of seconds")
    Traceback (most recent call last):
    kubequeue.errors.InvalidArgumentError: after was nan; expected a number of seconds.
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


class APIError(KubeQueueError):
    """An API server refused a call, or did not answer it.

    ``code`` is the HTTP status and ``reason`` Kubernetes' own word for it; the sentences are those
    of Kubernetes. Mirrors ``errors.go: StatusError`` (apimachinery v0.36, pkg/api/errors).
    """

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "Unknown"
    _sentence: ClassVar[str] = "{}"

    def __str__(self) -> str:
        return self._sentence.format(*self.args)


class BadRequestError(APIError):
    """The call itself makes no sense, whatever the state of the server."""

    code, reason = 400, "BadRequest"

    def __init__(self, message: str) -> None:
        super().__init__(message)


class ForbiddenError(APIError):
    """The user may not do this; ``name`` is empty when no single object was asked for."""

    code, reason = 403, "Forbidden"

    def __init__(
        self, user: str, verb: str, resource: str, group: str, name: str, namespace: str
    ) -> None:
        super().__init__(user, verb, resource, group, name, namespace)

    def __str__(self) -> str:
        user, verb, resource, group, name, namespace = self.args
        what = resource.partition("/")[0] + (f".{group}" if group else "")
        which = f'{what} "{name}"' if name else what
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        return (
            f'{which} is forbidden: User "{user}" cannot {verb} resource "{resource}" '
            f'in API group "{group}" {where}'
        )


class NotFoundError(APIError):
    """There is no such object. ``resource`` as Kubernetes writes it: ``rayclusters.ray.io``.

    >>> raise NotFoundError("pods", "a-head")
    Traceback (most recent call last):
    kubequeue.errors.NotFoundError: pods "a-head" not found
    """

    code, reason = 404, "NotFound"
    _sentence = '{} "{}" not found'

    def __init__(self, resource: str, name: str) -> None:
        super().__init__(resource, name)


class NoKindMatchError(APIError):
    """The server knows no such kind; ``known`` are the kinds that it has."""

    code, reason = 404, "NotFound"

    def __init__(self, kind: str, group: str, known: tuple[str, ...]) -> None:
        super().__init__(kind, group, known)

    def __str__(self) -> str:
        kind, group, known = self.args
        return (
            f'no matches for kind "{kind}" in group "{group}"; this server has '
            f"{', '.join(known) or 'none'}: name every kind in APIServer(sim, kinds=...)."
        )


class AlreadyExistsError(APIError):
    """The name is taken; ``more`` says what else was tried."""

    code, reason = 409, "AlreadyExists"
    _sentence = '{} "{}" already exists{}'

    def __init__(self, resource: str, name: str, more: str = "") -> None:
        super().__init__(resource, name, more)


class ConflictError(APIError):
    """The object has changed since it was read, or is no longer the one that was meant."""

    code, reason = 409, "Conflict"
    _sentence = 'Operation cannot be fulfilled on {} "{}": {}'
    STALE = (
        "the object has been modified; please apply your changes to the latest version and try "
        "again"
    )

    def __init__(self, resource: str, name: str, why: str = STALE) -> None:
        super().__init__(resource, name, why)


class ExpiredError(APIError):
    """A watch asks for history that was compacted away: list again, and watch from there."""

    code, reason = 410, "Expired"
    _sentence = "too old resource version: {} ({})"

    def __init__(self, resource_version: int, oldest: int) -> None:
        super().__init__(resource_version, oldest)


class InvalidError(APIError):
    """The object breaks a rule of its kind.

    >>> raise InvalidError("Pod", "a", "metadata.namespace", "Required value")
    Traceback (most recent call last):
    kubequeue.errors.InvalidError: Pod "a" is invalid: metadata.namespace: Required value
    """

    code, reason = 422, "Invalid"
    _sentence = '{} "{}" is invalid: {}: {}'

    def __init__(self, kind: str, name: str, field: str, problem: str) -> None:
        super().__init__(kind, name, field, problem)


class TooManyRequestsError(APIError):
    """The server is too busy for this call now; it has not begun with it.

    Mirrors ``errors.go: NewTooManyRequestsError`` (apimachinery v0.36).
    """

    code, reason = 429, "TooManyRequests"

    def __init__(
        self,
        message: str = "the server has received too many requests and has asked us to try again "
        "later",
    ) -> None:
        super().__init__(message)


class InternalError(APIError):
    """The server broke down over the call."""

    code, reason = 500, "InternalError"
    _sentence = "Internal error occurred: {}"

    def __init__(self, cause: str) -> None:
        super().__init__(cause)


class UnavailableError(APIError):
    """The server takes no calls, or a watch broke: come back later."""

    code, reason = 503, "ServiceUnavailable"

    def __init__(
        self, message: str = "the server is currently unable to handle the request"
    ) -> None:
        super().__init__(message)


class ServerTimeoutError(APIError):
    """No answer came in time. A write may have happened all the same: read before trying again.

    Mirrors ``errors.go: NewTimeoutError`` (apimachinery v0.36), whose reason is ``Timeout``.
    """

    code, reason = 504, "Timeout"
    _sentence = "Timeout: {}"

    def __init__(
        self, message: str = "request did not complete within the allotted timeout"
    ) -> None:
        super().__init__(message)


class NoConnectionError(APIError):
    """The connection was refused: the server is down. It has said nothing, so there is no code.

    Mirrors what client-go knows by ``net.IsConnectionRefused`` (apimachinery v0.36).
    """

    code, reason = 0, ""

    def __init__(
        self, message: str = "dial tcp 10.96.0.1:443: connect: connection refused"
    ) -> None:
        super().__init__(message)


class ContextCanceledError(APIError):
    """The process that called is stopping; a write that was under way may have happened.

    The server has said nothing, so there is no code. Mirrors ``context.Canceled`` of Go.
    """

    code, reason = 0, ""

    def __init__(self, message: str = "context canceled") -> None:
        super().__init__(message)
