"""The API server: the store, behind latency and permission.

Every verb but ``watch`` is a generator, used as ``obj = yield from server.get(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeVar

from simpy.events import Event, Timeout

from kubequeue.cluster.duration import Seconds, drawn_ns
from kubequeue.cluster.metadata import NamespacedName, as_key
from kubequeue.cluster.objects import KINDS, T
from kubequeue.cluster.rbac import RBAC
from kubequeue.cluster.store import ObjectList, Store
from kubequeue.cluster.watch import Watch
from kubequeue.errors import APIError, ForbiddenError, InvalidArgumentError
from kubequeue.sim import Simulation

A = TypeVar("A")
Key = NamespacedName | str
Call = Generator[Event, Any, A]
"""What costs virtual time and gives an A: ``answer = yield from call``."""

CALLS = ("create", "get", "list", "update", "update_status", "patch", "delete")
DEFAULT_LATENCY = 0.010


class APIServer:
    """A Kubernetes API server.

    A call goes out for the first half of its latency; then it is checked and done, all at one
    instant; then the answer, or the error, comes back for the second half. So a caller that is
    gone by then has written all the same, and one that is gone before has not.

    Args:
        sim: the simulation it lives in.
        kinds: the kinds it has; any frozen dataclass of the shape in `kubequeue.cluster.objects`.
        latency: seconds from call to answer, a number or a range to draw from, for all verbs or
            by verb in a mapping (verbs that it leaves out take 10 ms).
        rbac: who may do what; None lets everybody do everything.
        history: how many events of each kind a watch can start before.

    Errors of its calls: `NoKindMatchError`, `ForbiddenError`, `NotFoundError`,
    `AlreadyExistsError` (create), `ConflictError` (update, update_status, patch, delete),
    `InvalidError` and `BadRequestError` for what is wrong with the object or the call. Raises
    `InvalidArgumentError` for a latency below zero or a verb that there is not.

    >>> from kubequeue.cluster.objects import ObjectMeta, Pod
    >>> sim = Simulation()
    >>> server = APIServer(sim, latency=0.02)
    >>> def program():
    ...     pod = yield from server.create("me", Pod(ObjectMeta("a", "team-a")))
    ...     print(sim.now, pod.metadata.resource_version)
    >>> _ = sim.process(program()); sim.run()
    0.02 1
    """

    def __init__(
        self,
        sim: Simulation,
        kinds: Iterable[type[Any]] = KINDS,
        *,
        latency: Seconds | Mapping[str, Seconds] = DEFAULT_LATENCY,
        rbac: RBAC | None = None,
        history: int = 10_000,
    ) -> None:
        self.store = Store(sim, kinds, history=history)
        self._env = sim.env
        self._rbac = rbac
        self._watches: list[Watch] = []
        by_verb = latency if isinstance(latency, Mapping) else dict.fromkeys(CALLS, latency)
        unknown = [verb for verb in by_verb if verb not in CALLS]
        if unknown:
            raise InvalidArgumentError("latency", unknown, f"some of {', '.join(CALLS)}")
        self._latency = {
            verb: drawn_ns(sim, by_verb.get(verb, DEFAULT_LATENCY), f"apiserver/latency/{verb}")
            for verb in CALLS
        }

    def create(self, user: str, obj: T) -> Call[T]:
        """Make a new object, and give it back with its uid and version."""
        return self._call("create", user, type(obj), _where(obj), lambda: self.store.create(obj))

    def get(self, user: str, kind: type[T], key: Key) -> Call[T]:
        """The object of a key, as it is now."""
        return self._call("get", user, kind, key, lambda: self.store.get(kind, key))

    def list(
        self,
        user: str,
        kind: type[T],
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> Call[ObjectList[T]]:
        """The objects of one or of all namespaces that have all of ``labels``, by key."""
        where = NamespacedName(namespace, "")
        return self._call(
            "list", user, kind, where, lambda: self.store.list(kind, namespace, labels)
        )

    def update(self, user: str, obj: T) -> Call[T]:
        """Replace spec and metadata of the version that ``obj`` carries; its status is ignored."""
        return self._call("update", user, type(obj), _where(obj), lambda: self.store.update(obj))

    def update_status(self, user: str, obj: T) -> Call[T]:
        """Replace the status of the version that ``obj`` carries; all else is ignored."""
        return self._call(
            "update_status", user, type(obj), _where(obj), lambda: self.store.update_status(obj)
        )

    def patch(self, user: str, kind: type[T], key: Key, change: Callable[[T], T]) -> Call[T]:
        """Change spec or metadata of the object as it is then; see `Store.patch`."""
        return self._call("patch", user, kind, key, lambda: self.store.patch(kind, key, change))

    def delete(
        self,
        user: str,
        kind: type[T],
        key: Key,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> Call[T]:
        """Mark or remove an object; see `Store.delete`. With a uid or a version: only that one."""

        def delete() -> T:
            return self.store.delete(
                kind,
                key,
                uid=uid,
                resource_version=resource_version,
                grace_period_seconds=grace_period_seconds,
            )

        return self._call("delete", user, kind, key, delete)

    def watch(
        self, user: str, kind: type[Any], namespace: str = "", resource_version: str = ""
    ) -> Watch:
        """What happens after a version; a plain call. See `Store.watch`.

        Raises `ExpiredError` for a version that was compacted away, `ServerTimeoutError` for one
        that has not been yet.
        """
        self._authorize("watch", user, kind, NamespacedName(namespace, ""))
        watch = self.store.watch(kind, namespace, resource_version)
        self._watches = [open_ for open_ in self._watches if not open_.stopped]
        self._watches.append(watch)
        return watch

    def break_watches(self, kind: type[Any] | None = None, error: APIError | None = None) -> None:
        """Break every watch that was opened here, or every one on a kind; ERROR ends each.

        The store's own watches, such as the kubelet's, go on.
        """
        for watch in self._watches:
            if kind in (None, watch.kind):
                watch.break_(int(self._env.now), error)

    def latency_ns(self, verb: str) -> int:
        """How long the next call of a verb takes, in nanoseconds."""
        return self._latency[verb]()

    def _call(
        self,
        verb: str,
        user: str,
        kind: type[Any],
        key: Key,
        act: Callable[[], A],
    ) -> Call[A]:
        """Go there, do it, come back; an error comes back too."""
        latency = self.latency_ns(verb)
        there = latency // 2
        if latency:
            yield Timeout(self._env, there)
        try:
            self._authorize(verb, user, kind, key)
            return act()
        finally:  # with the answer or the error on its way
            if latency:
                yield Timeout(self._env, latency - there)

    def _authorize(self, verb: str, user: str, kind: type[Any], key: Key) -> None:
        """Raise `ForbiddenError` when no rule of the user allows it."""
        if self._rbac is None:
            return
        resource = self.store.resource(kind)
        namespace, name = as_key(key)
        part = "/status" if verb == "update_status" else ""
        word = "update" if part else verb
        if not self._rbac.allows(user, word, resource.kind + part, namespace):
            raise ForbiddenError(user, word, resource.name + part, resource.group, name, namespace)


def _where(obj: Any) -> NamespacedName:
    """The key of an object, as far as it has one: what is no object the store refuses."""
    meta = getattr(obj, "metadata", None)
    return NamespacedName(getattr(meta, "namespace", ""), getattr(meta, "name", ""))
