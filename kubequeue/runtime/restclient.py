"""Calls to the API server: behind a token bucket for each kind, timed and counted.

Mirrors rest/request.go of client-go v0.36, and the clients that controller-runtime makes for each
kind (v0.24.1, pkg/client/client_rest_resources.go).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from copy import copy
from typing import Any, TypeVar

from simpy.events import Event, Timeout

from kubequeue.errors import APIError, InvalidArgumentError
from kubequeue.runtime.context import Context
from kubequeue.runtime.deadline import Deadline
from kubequeue.runtime.limits import RateLimits
from kubequeue.runtime.observer import ClientObserver
from kubequeue.sim import Simulation
from kubequeue.workqueue.ratelimiter import TokenBucket

R = TypeVar("R")
Calling = Generator[Event, Any, R]
"""A call under way, to be used with ``yield from``."""

METHODS = {
    "create": "POST",
    "delete": "DELETE",
    "get": "GET",
    "list": "GET",
    "patch": "PATCH",
    "update": "PUT",
    "update_status": "PUT",
    "watch": "GET",
}
"""The HTTP method of each verb, which metrics know it by."""


class Buckets:
    """The token bucket of each kind, made when the kind is first called for.

    Raises `InvalidArgumentError` for what is no `RateLimits`.
    """

    def __init__(self, sim: Simulation, limits: RateLimits) -> None:
        if not isinstance(limits, RateLimits):
            raise InvalidArgumentError("limits", limits, "RateLimits, such as KUBERAY or OFF")
        self.limits = limits
        self._sim = sim
        self._buckets: dict[str, TokenBucket] = {}

    def apart(self) -> Buckets:
        """Those of another client of the process: others, unless all of them share one."""
        return self if self.limits.shared else Buckets(self._sim, self.limits)

    def reserve(self, kind: str) -> int | None:
        """Take a token; nanoseconds until it may be used, None without a limit. Costs O(1)."""
        limits = self.limits
        if limits.qps < 0:
            return None
        name = "" if limits.shared else kind
        if name not in self._buckets:
            self._buckets[name] = TokenBucket(self._sim, limits.qps, limits.burst)
        return self._buckets[name].reserve()


class RESTClient:
    """One user's calls to one server. After `close` no call goes out and none comes back.

    A deadline is for each call without its wait for a token, as ``Timeout`` in ``rest.Config``.
    """

    def __init__(
        self,
        sim: Simulation,
        server: Any,
        user: str,
        buckets: Buckets,
        observer: ClientObserver,
    ) -> None:
        self.server = server
        self.user = user
        self._sim = sim
        self._env: Any = sim.env
        self._buckets = buckets
        self._observer = observer
        self._deadline: Deadline | None = None
        self._context = Context(sim)

    def apart(self, deadline: Deadline | None = None) -> RESTClient:
        """Another client of the process, whose calls may take so long and no longer."""
        other = self.anew()
        other._deadline = deadline
        other._buckets = self._buckets.apart()
        return other

    def anew(self) -> RESTClient:
        """The same client, which is cancelled and closed by itself."""
        other = copy(self)
        other._context = Context(self._sim)
        return other

    def beside(self) -> RESTClient:
        """Another client of the process, which is cancelled and closed together with this one."""
        other = copy(self)
        other._buckets = self._buckets.apart()
        return other

    def cancel(self) -> None:
        """Whoever calls or waits for an answer gets `ContextCanceledError`, from now on."""
        self._context.cancel()

    def close(self) -> None:
        """The process is gone: whoever calls takes no further step."""
        self._context.close()

    def call(self, verb: str, kind: str, key: str, request: Callable[[], Calling[R]]) -> Calling[R]:
        """Wait for a token, send the request, wait for the answer.

        Raises what the server answers, or `ContextCanceledError`, whatever the call waits for, once
        `cancel` was called. A watch takes no token. Mirrors ``request.go: request``,
        where the time of a call counts from before the token, and ``Watch``.
        """
        if self._context.closed:
            yield self._sim.event()
        call = self._context.begin()
        try:
            return (yield from self._call(verb, kind, key, request))
        finally:
            self._context.end(call)

    def _call(
        self, verb: str, kind: str, key: str, request: Callable[[], Calling[R]]
    ) -> Calling[R]:
        started, observer, method = self._env.now, self._observer, METHODS[verb]
        throttled = 0 if verb == "watch" else (yield from self._throttle(kind, method))
        observer.sent(verb, kind, key, throttled)
        try:
            limit = self._deadline
            answer = yield from (limit.limit(request()) if limit else request())
        except APIError as error:
            took = self._env.now - started
            observer.answered(verb, method, kind, key, error.code, took, str(error))
            raise
        took = self._env.now - started
        observer.answered(verb, method, kind, key, 201 if verb == "create" else 200, took, "")
        return answer

    def _throttle(self, kind: str, method: str) -> Calling[int]:
        """Wait for a token of ``kind``; how many nanoseconds it took. Mirrors ``tryThrottle``."""
        wait = self._buckets.reserve(kind)
        if wait is None:
            return 0
        if wait:
            yield Timeout(self._env, wait)
        self._observer.throttled(method, wait)
        return wait

    def list(self, kind: type[Any], namespace: str, labels: Any = None) -> Calling[Any]:
        """The objects of a kind as the server has them, with the version to watch from."""
        return self.call(
            "list",
            kind.kind,
            namespace,
            lambda: self.server.list(self.user, kind, namespace, labels),
        )

    def watch(self, kind: type[Any], namespace: str, resource_version: str) -> Calling[Any]:
        """A watch that goes on from a version."""

        def request() -> Calling[Any]:
            return self.server.watch(self.user, kind, namespace, resource_version)
            yield  # a plain call, in the shape of the others

        return self.call("watch", kind.kind, namespace, request)
