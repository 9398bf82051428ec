"""The errors of an API server: their sentences, codes, and that they travel whole."""

from __future__ import annotations

import copy
import pickle

import pytest

from kubequeue import errors
from kubequeue.errors import (
    AlreadyExistsError,
    APIError,
    BadRequestError,
    ConflictError,
    ContextCanceledError,
    ExpiredError,
    ForbiddenError,
    InternalError,
    InvalidError,
    KubeQueueError,
    NoConnectionError,
    NoKindMatchError,
    NotFoundError,
    ServerTimeoutError,
    TooManyRequestsError,
    UnavailableError,
)

TOYS = "toys.example.com"
ERRORS: list[tuple[APIError, int, str, str]] = [
    (BadRequestError("no"), 400, "BadRequest", "no"),
    (
        ForbiddenError("me", "get", "pods", "", "", ""),
        403,
        "Forbidden",
        'pods is forbidden: User "me" cannot get resource "pods" in API group "" at the cluster '
        "scope",
    ),
    (NotFoundError(TOYS, "a"), 404, "NotFound", 'toys.example.com "a" not found'),
    (
        NoKindMatchError("Toy", "", ()),
        404,
        "NotFound",
        'no matches for kind "Toy" in group ""; this server has none: name every kind in '
        "APIServer(sim, kinds=...).",
    ),
    (AlreadyExistsError("pods", "a"), 409, "AlreadyExists", 'pods "a" already exists'),
    (
        ConflictError("pods", "{a}", "why"),
        409,
        "Conflict",
        'Operation cannot be fulfilled on pods "{a}": why',
    ),
    (ExpiredError(3, 5), 410, "Expired", "too old resource version: 3 (5)"),
    (InvalidError("Pod", "a", "spec", "Required value"), 422, "Invalid", "is invalid: spec: Req"),
    (InternalError("disk full"), 500, "InternalError", "Internal error occurred: disk full"),
    (UnavailableError(), 503, "ServiceUnavailable", "currently unable to handle the request"),
    (ServerTimeoutError(), 504, "Timeout", "Timeout: request did not complete"),
    (TooManyRequestsError(), 429, "TooManyRequests", "has asked us to try again later"),
    (NoConnectionError(), 0, "", "connection refused"),
    (ContextCanceledError(), 0, "", "context canceled"),
]


@pytest.mark.parametrize(("error", "code", "reason", "said"), ERRORS)
def test_an_error_says_what_kubernetes_says(
    error: APIError, code: int, reason: str, said: str
) -> None:
    """Code and reason for programs, a sentence for people."""
    assert (error.code, error.reason) == (code, reason)
    assert said in str(error)
    assert isinstance(error, KubeQueueError)


@pytest.mark.parametrize("error", [row[0] for row in ERRORS])
def test_an_error_travels_whole(error: APIError) -> None:
    """SimPy, pickle and joblib make it again from its arguments."""
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), type(error)(*error.args)):
        assert (type(again), again.args, str(again)) == (type(error), error.args, str(error))


def test_every_error_is_in_the_tree() -> None:
    """The docstring of the module draws all of them, and here each is tried."""
    named = {name for name in vars(errors) if name.endswith("Error")}
    assert {name for name in named if name not in str(errors.__doc__)} == set()
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    tried = {type(row[0]) for row in ERRORS} | {APIError}
    assert {kind for kind in kinds if issubclass(kind, APIError)} == tried
