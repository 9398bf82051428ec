"""How a reconciler reads and writes: reads come from the cache, writes go to the API server.

Mirrors pkg/client/client.go of controller-runtime v0.24.1, as a manager builds it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

from kubequeue.cluster.objects import NamespacedName, Object, ObjectMeta, T
from kubequeue.errors import InvalidArgumentError
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.deadline import Deadline
from kubequeue.runtime.limits import KUBERAY, RateLimits
from kubequeue.runtime.observer import ClientObserver
from kubequeue.runtime.restclient import Buckets, Calling, RESTClient
from kubequeue.sim import Simulation


class LiveReader:
    """Reads that go to the server: they take time, and a token of their own bucket.

    Mirrors ``GetAPIReader``, which is another client than the one that writes.
    """

    def __init__(self, rest: RESTClient) -> None:
        self._rest = rest

    def get(self, kind: type[T], key: NamespacedName | str) -> Calling[T]:
        """The object as the server has it. Raises `NotFoundError`."""
        rest = self._rest
        return rest.call("get", kind.kind, str(key), lambda: rest.server.get(rest.user, kind, key))

    def list(
        self, kind: type[T], namespace: str = "", labels: Mapping[str, str] | None = None
    ) -> Calling[Any]:
        """``items`` and ``resource_version`` as the server has them."""
        return self._rest.list(kind, namespace, labels)


class Client:
    """``get`` and ``list`` are plain calls; what writes is a generator for ``yield from``.

    Args:
        sim, server, user: what it lives in, and to whom it writes as whom.
        cache: where reads come from.
        limits: each kind has a token bucket of that size for its writes, and one for live reads.
        buckets, name: what several clients share, and what the observers call it.

    A write first waits for a token of its kind, then for the server. It raises what the server
    answers, an `APIError`; after a `ServerTimeoutError` it may have happened or not.
    """

    def __init__(
        self,
        sim: Simulation,
        cache: Cache,
        server: Any,
        user: str,
        limits: RateLimits = KUBERAY,
        *,
        buckets: Buckets | None = None,
        name: str = "",
        observer: ClientObserver | None = None,
    ) -> None:
        self.cache = cache
        observer = observer or sim.observe(ClientObserver, "client", name)
        self._rest = RESTClient(sim, server, user, buckets or Buckets(sim, limits), observer)
        self.live = LiveReader(self._rest.beside())
        """Reads past the cache."""

    def get(self, kind: type[T], key: NamespacedName | str) -> T:
        """The object as the cache has it. Costs O(1). Raises as `Cache.get` does."""
        return self.cache.get(kind, key)

    def list(
        self,
        kind: type[T],
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        owner_uid: str = "",
    ) -> Sequence[T]:
        """The objects as the cache has them, in order of their keys. Raises as `Cache.get` does."""
        return self.cache.list(kind, namespace, labels, owner_uid)

    def apart(self, deadline: Deadline) -> Client:
        """A client for leader election: it gives up late calls, and is cancelled by nobody else.

        It has buckets of its own, one for reads and writes of a kind, unless all share one. Mirrors
        ``leader_election.go: NewResourceLock`` (controller-runtime v0.24.1).
        """
        return self._with(self._rest.apart(deadline))

    def anew(self) -> Client:
        """The same client, buckets included, that is not cancelled with this one."""
        return self._with(self._rest.anew())

    def _with(self, rest: RESTClient) -> Client:
        other = copy(self)
        other._rest = rest
        other.live = LiveReader(rest)
        return other

    def cancel(self) -> None:
        """The process is stopping: each call, also one under way, ends with an error at once.

        It is a `ContextCanceledError`; a write that had reached the server has happened. Reads from
        the cache go on. Mirrors what a cancelled context does to a client of Go.
        """
        self._rest.cancel()

    def close(self) -> None:
        """The process is gone: no call goes out any more, and whoever makes one ends there."""
        self._rest.close()

    def create(self, obj: T) -> Calling[T]:
        """Create an object; as the server stored it. Mirrors ``client.go: Create``."""
        return self._write("create", obj, lambda s, user: s.create(user, obj))

    def update(self, obj: T) -> Calling[T]:
        """Replace spec and metadata. Raises `ConflictError` when ``obj`` is not the newest."""
        return self._write("update", obj, lambda s, user: s.update(user, obj))

    def update_status(self, obj: T) -> Calling[T]:
        """Replace the status alone. Mirrors ``Status().Update``."""
        return self._write("update_status", obj, lambda s, user: s.update_status(user, obj))

    def patch(
        self, kind: type[T], key: NamespacedName | str, change: Callable[[T], T]
    ) -> Calling[T]:
        """Make of an object what ``change`` makes of it as the server has it then."""
        rest = self._rest
        return rest.call(
            "patch", kind.kind, str(key), lambda: rest.server.patch(rest.user, kind, key, change)
        )

    def delete(
        self,
        kind: type[T],
        key: NamespacedName | str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> Calling[Any]:
        """Delete an object, if it still is the one that ``uid`` and ``resource_version`` mean."""
        rest = self._rest
        return rest.call(
            "delete",
            kind.kind,
            str(key),
            lambda: rest.server.delete(
                rest.user,
                kind,
                key,
                uid=uid,
                resource_version=resource_version,
                grace_period_seconds=grace_period_seconds,
            ),
        )

    def _write(
        self, verb: str, obj: Object, request: Callable[[Any, str], Calling[Any]]
    ) -> Calling[Any]:
        meta = None if isinstance(obj, type) else getattr(obj, "metadata", None)
        if not isinstance(meta, ObjectMeta):
            raise InvalidArgumentError("the object", obj, "one such as Pod(ObjectMeta(...))")
        rest = self._rest
        key = f"{meta.namespace}/{meta.name or meta.generate_name}"
        return rest.call(verb, obj.kind, key, lambda: request(rest.server, rest.user))
