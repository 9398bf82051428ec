"""What the cluster is: every object, one version for all of them, and what happened to them.

Plain calls that cost no virtual time; `kubequeue.cluster.apiserver` puts latency and permission
in front of them. Mirrors pkg/registry/generic/registry/store.go of apiserver v0.36, for all kinds
the way it is for custom resources with a status of their own (Kubernetes lets some built-in kinds
be updated without a version; here none). Namespaces need not be made: any valid name is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple

from kubequeue.cluster import deletion
from kubequeue.cluster.ledger import Ledger, any_replace, by_key
from kubequeue.cluster.metadata import NamespacedName
from kubequeue.cluster.objects import KINDS, Pod, T, key_of
from kubequeue.cluster.shelf import (
    Shelf,
    check_finalizers,
    check_preconditions,
    check_version,
    free_name,
    new_uid,
)
from kubequeue.cluster.watch import ADDED, DELETED, MODIFIED
from kubequeue.errors import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
)
from kubequeue.sim import NANOSECONDS, Simulation, to_ns


class ObjectList(NamedTuple, Generic[T]):
    """What a list gives: the objects by namespace and name, and the version to watch from."""

    items: tuple[T, ...]
    resource_version: str


class Store(Ledger):
    """Every object of a cluster.

    Args:
        sim: the simulation it lives in; uids and generated names come from its streams.
        kinds: the kinds it has, as in `kubequeue.cluster.objects`.
        history: how many events of each kind a watch can start before.

    Each call takes and gives whole frozen objects. Raises what `APIServer` says for each verb.

    >>> from kubequeue.cluster.objects import ObjectMeta
    >>> store = Store(Simulation())
    >>> pod = store.create(Pod(ObjectMeta("a", "team-a")))
    >>> pod.metadata.resource_version, pod.metadata.generation, pod.status.phase
    ('1', 1, 'Pending')
    """

    def __init__(
        self,
        sim: Simulation,
        kinds: Iterable[type[Any]] = KINDS,
        *,
        history: int = 10_000,
    ) -> None:
        super().__init__(sim, kinds, history)
        self._uids = sim.stream("apiserver/uid")
        self._names = sim.stream("apiserver/generateName")

    def create(self, obj: T) -> T:
        """Store a new object with a uid, generation 1 and its first status. Costs O(1)."""
        shelf = self._shelf(type(obj))
        meta = obj.metadata
        shelf.resource.check_new(meta)
        space = shelf.spaces.setdefault(meta.namespace, {})
        name = meta.name or free_name(shelf.resource, meta.generate_name, space, self._names)
        if name in space:
            raise AlreadyExistsError(shelf.resource.full_name, name)
        return self._write(
            ADDED,
            shelf,
            obj,
            {"status": shelf.resource.first_status},
            name=name,
            uid=new_uid(self._uids),
            generation=1,
            creation_timestamp=self._sim.now,
            deletion_timestamp=None,
            deletion_grace_period_seconds=None,
        )

    def get(self, kind: type[T], key: NamespacedName | str) -> T:
        """The object of a key. Costs O(1)."""
        found: T = self._shelf(kind).find(key)
        return found

    def list(
        self, kind: type[T], namespace: str = "", labels: Mapping[str, str] | None = None
    ) -> ObjectList[T]:
        """The objects of one or of all namespaces that have all of ``labels``, by key.

        Costs O(n log n) in the objects of the namespace.
        """
        found: Iterable[T] = self._shelf(kind).within(namespace)
        if labels:
            wanted = labels.items()
            found = [obj for obj in found if wanted <= obj.metadata.labels.items()]
        return ObjectList(tuple(sorted(found, key=by_key)), str(self._version))

    def update(self, obj: T) -> T:
        """Replace spec and metadata; the status stays as it is. Costs O(1)."""
        shelf, old = self._current(obj)
        return self._replace(shelf, old, obj)

    def update_status(self, obj: T) -> T:
        """Replace the status; spec and metadata stay as they are. Costs O(1)."""
        shelf, old = self._current(obj)
        if obj.status == old.status:
            return old
        return self._write(MODIFIED, shelf, old, {"status": obj.status})

    def patch(self, kind: type[T], key: NamespacedName | str, change: Callable[[T], T]) -> T:
        """Change the object as it is now, as `update` would. Costs O(1).

        ``change`` is given the present object, so no version can be old; it may return one that
        carries another version, which is then compared and refused as in an update.
        """
        shelf = self._shelf(kind)
        old: T = shelf.find(key)
        new = change(old)
        if type(new) is not kind:
            raise BadRequestError(f"a patch of a {shelf.resource.kind} gave back {new!r}")
        if key_of(new) != key_of(old):
            raise BadRequestError(
                f"the name of the object ({key_of(new)}) does not match the name on the URL "
                f"({key_of(old)})"
            )
        check_version(shelf.resource, new.metadata, old.metadata, needed=False)
        return self._replace(shelf, old, new)

    def delete(
        self,
        kind: type[T],
        key: NamespacedName | str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> T:
        """Mark or remove an object; gives it back as it is then, or as it was at last.

        A Pod on a node gets its grace period and goes at a second delete with none; anything else
        goes at once, unless a finalizer holds it: then it is marked, and goes with the update that
        takes its last finalizer. Removing a Pod at once is two events, as in Kubernetes: the mark
        (grace period 0) and the end. Costs O(1).
        """
        shelf = self._shelf(kind)
        obj: T = shelf.find(key)
        check_preconditions(shelf.resource, obj.metadata, uid, resource_version)
        grace = grace_period_seconds
        if grace is not None:
            grace = to_ns(grace, "grace_period_seconds") / NANOSECONDS
        mark = deletion.graceful_mark(obj, grace, self._sim.now)
        if mark is deletion.PENDING:
            return obj
        if mark is None and obj.metadata.finalizers:
            mark = deletion.mark_as_deleting(obj, self._sim.now)
        waits = mark and mark.get("deletion_grace_period_seconds")
        ends = not (obj.metadata.finalizers or waits)
        if mark:
            obj = self._write(MODIFIED, shelf, obj, tell=not ends, **mark)
        return self._write(DELETED, shelf, obj) if ends else obj

    def bind(self, key: NamespacedName | str, node_name: str) -> Pod:
        """Give a Pod its node; the generation stays. Mirrors ``BindingREST`` of Pods."""
        shelf = self._shelf(Pod)
        pod: Pod = shelf.find(key)
        name, node = pod.metadata.name, pod.spec.node_name
        if pod.metadata.deletion_timestamp is not None:
            why = f"pod {name} is being deleted, cannot be assigned to a host"
            raise ConflictError("pods/binding", name, why)
        if node:
            why = f'pod {name} is already assigned to node "{node}"'
            raise ConflictError("pods/binding", name, why)
        spec = replace(pod.spec, node_name=node_name)
        return self._write(MODIFIED, shelf, pod, {"spec": spec})

    def _current(self, obj: T) -> tuple[Shelf, T]:
        """Where an object is and how it is now, when that is the object that was read."""
        shelf = self._shelf(type(obj))
        old: T = shelf.find(key_of(obj))
        check_version(shelf.resource, obj.metadata, old.metadata, needed=True)
        return shelf, old

    def _replace(self, shelf: Shelf, old: T, new: T) -> T:
        """Write what is new in spec and metadata, if anything is. Mirrors ``BeforeUpdate``."""
        before, after = old.metadata, new.metadata
        check_finalizers(shelf.resource, before, after)
        wanted = {
            name: getattr(after, name)
            for name in ("labels", "annotations", "owner_references", "finalizers")
            if getattr(after, name) != getattr(before, name)
        }
        parts: dict[str, Any] = {}
        if new.spec != old.spec:
            parts["spec"] = new.spec
            wanted["generation"] = before.generation + 1
        if not wanted:
            return old  # a write of what is there already is no write
        if not deletion.ends_with_update(old, after.finalizers):
            return self._write(MODIFIED, shelf, old, parts, **wanted)
        gone = self._write(DELETED, shelf, old)  # the event has what was stored, the answer not
        answer: T = any_replace(gone, metadata=replace(gone.metadata, **wanted), **parts)
        return answer
