"""What every object carries: its name, its versions, its owners and what holds it.

Mirrors apimachinery v0.36, pkg/apis/meta/v1/types.go. Everything is frozen: a server and a cache
hand out what they hold, and whoever wants another object makes one with `dataclasses.replace`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from kubequeue.cluster.given import several
from kubequeue.errors import InvalidArgumentError


class NamespacedName(NamedTuple):
    """What names one object of a kind. The namespace of a cluster-wide object is empty.

    Mirrors ``types.NamespacedName``.

    >>> str(NamespacedName("team-a", "x")), NamespacedName.parse("team-a/x").name
    ('team-a/x', 'x')
    """

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @classmethod
    def parse(cls, text: str) -> NamespacedName:
        """From ``namespace/name``; a text without a slash is a name without a namespace.

        Raises `InvalidArgumentError` for what is no text.
        """
        if not isinstance(text, str):
            raise InvalidArgumentError("key", text, 'a NamespacedName, or "namespace/name"')
        namespace, _, name = text.rpartition("/")
        return cls(namespace, name)


def as_key(key: NamespacedName | str) -> NamespacedName:
    """A key, be it given as one or as its text; raises as `NamespacedName.parse` does."""
    return key if isinstance(key, NamespacedName) else NamespacedName.parse(key)


class ReadOnlyMap(dict[str, str]):
    """Labels, annotations or a selector: a dict that cannot be changed, so it can be shared.

    >>> labels = ReadOnlyMap({"group": "small"})
    >>> labels | {"group": "big"}
    {'group': 'big'}
    """

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("objects are frozen: make another with replace(metadata, labels={...})")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied whole, because unpickling a dict sets its items one by one."""
        return ReadOnlyMap, (dict(self),)


NO_LABELS = ReadOnlyMap()


def read_only(mapping: Mapping[str, str], what: str) -> ReadOnlyMap:
    """``mapping`` itself when it is read-only already, a copy otherwise.

    Raises `InvalidArgumentError`, which calls it ``what``, for what is no mapping.
    """
    if isinstance(mapping, ReadOnlyMap):
        return mapping
    if not isinstance(mapping, Mapping):
        raise InvalidArgumentError(what, mapping, 'a mapping of texts, such as {"group": "small"}')
    return ReadOnlyMap(mapping)


@dataclass(frozen=True, slots=True)
class OwnerReference:
    """Whom an object belongs to; ``controller`` marks the one that manages it.

    Mirrors ``metav1.OwnerReference``.
    """

    kind: str
    name: str
    uid: str
    controller: bool = True
    block_owner_deletion: bool = True


@dataclass(frozen=True, slots=True)
class ObjectMeta:
    """What every object carries. Mirrors ``metav1.ObjectMeta``.

    Attributes:
        name, namespace: together the key; the namespace of a cluster-wide object is empty.
        generate_name: the server makes a name of it when ``name`` is empty.
        uid: given by the server; another object of the same name has another.
        resource_version: the store's version at the last write; a text that only the store reads.
        generation: 1 at first, raised with the spec, and once when deletion is asked for.
        creation_timestamp: virtual seconds, not rounded to whole ones as in Kubernetes.
        deletion_timestamp: when its grace period is over (for other objects than Pods: when
            deletion was asked for); None while nobody has asked.
        deletion_grace_period_seconds: the grace period that goes with it.
        labels, annotations: read-only mappings; a dict that is given is copied.
        owner_references: the garbage collector removes the object when all of them are gone.
        finalizers: while there is one, a deleted object stays.

    Raises `InvalidArgumentError` for one thing, or a text, where several belong.

    >>> ObjectMeta("a", "team-a", labels={"group": "small"}).labels["group"]
    'small'
    """

    name: str = ""
    namespace: str = ""
    generate_name: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: float | None = None
    deletion_timestamp: float | None = None
    deletion_grace_period_seconds: float | None = None
    labels: Mapping[str, str] = NO_LABELS
    annotations: Mapping[str, str] = NO_LABELS
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        keep = object.__setattr__
        if type(self.labels) is not ReadOnlyMap:
            keep(self, "labels", read_only(self.labels, "labels"))
        if type(self.annotations) is not ReadOnlyMap:
            keep(self, "annotations", read_only(self.annotations, "annotations"))
        if type(self.owner_references) is not tuple:
            owners = several("owner_references", self.owner_references, "a list of OwnerReference")
            keep(self, "owner_references", owners)
        if type(self.finalizers) is not tuple:
            keep(self, "finalizers", several("finalizers", self.finalizers, "a list of texts"))
