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

from kubequeue.errors.api import (
    AlreadyExistsError,
    APIError,
    BadRequestError,
    ConflictError,
    ContextCanceledError,
    ExpiredError,
    ForbiddenError,
    InternalError,
    InvalidError,
    NoConnectionError,
    NoKindMatchError,
    NotFoundError,
    ServerTimeoutError,
    TooManyRequestsError,
    UnavailableError,
)
from kubequeue.errors.model import (
    CacheError,
    CacheNotSyncedError,
    InstantNeverEndsError,
    InvalidArgumentError,
    KubeQueueError,
    NeverIdleError,
    QueueStalledError,
    ReconcileError,
    ReconcilerContractError,
    TerminalError,
    UnknownNamespaceError,
)

__all__ = [
    "APIError",
    "AlreadyExistsError",
    "BadRequestError",
    "CacheError",
    "CacheNotSyncedError",
    "ConflictError",
    "ContextCanceledError",
    "ExpiredError",
    "ForbiddenError",
    "InstantNeverEndsError",
    "InternalError",
    "InvalidArgumentError",
    "InvalidError",
    "KubeQueueError",
    "NeverIdleError",
    "NoConnectionError",
    "NoKindMatchError",
    "NotFoundError",
    "QueueStalledError",
    "ReconcileError",
    "ReconcilerContractError",
    "ServerTimeoutError",
    "TerminalError",
    "TooManyRequestsError",
    "UnavailableError",
    "UnknownNamespaceError",
]
