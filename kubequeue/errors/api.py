"""What an API server answers instead of what was asked for.

Codes, reasons and sentences are those of k8s.io/apimachinery v0.36, pkg/api/errors.
"""

from __future__ import annotations

from typing import ClassVar

from kubequeue.errors.model import KubeQueueError


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
    kubequeue.errors.api.NotFoundError: pods "a-head" not found
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
    kubequeue.errors.api.InvalidError: Pod "a" is invalid: metadata.namespace: Required value
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
