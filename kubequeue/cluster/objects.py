"""The kinds of objects that a cluster has of its own. All frozen.

A kind is a frozen dataclass with a class variable ``kind`` and the fields ``metadata``, ``spec``
and ``status``, the last with a default. Three more class variables may say what Kubernetes
calls it: ``group`` (default: none), ``plural`` (default: the kind in small letters and an s) and
``namespaced`` (default: True). A server takes any kind of that shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from kubequeue.cluster.metadata import (
    NO_LABELS,
    NamespacedName,
    ObjectMeta,
    OwnerReference,
    ReadOnlyMap,
    read_only,
)

__all__ = [
    "KINDS",
    "Lease",
    "LeaseSpec",
    "NamespacedName",
    "Node",
    "NodeSpec",
    "NodeStatus",
    "Object",
    "ObjectMeta",
    "OwnerReference",
    "Pod",
    "PodSpec",
    "PodStatus",
    "ReadOnlyMap",
    "Secret",
    "Service",
    "ServiceSpec",
    "T",
    "key_of",
]


class Object(Protocol):
    """The shape of an object of any kind."""

    kind: ClassVar[str]

    @property
    def metadata(self) -> ObjectMeta: ...
    @property
    def spec(self) -> Any: ...
    @property
    def status(self) -> Any: ...


T = TypeVar("T", bound=Object)


def key_of(obj: Object) -> NamespacedName:
    """The key of an object.

    >>> key_of(Pod(ObjectMeta("a", "team-a")))
    NamespacedName(namespace='team-a', name='a')
    """
    return NamespacedName(obj.metadata.namespace, obj.metadata.name)


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What a Pod should be; the grace period of its deletion is in seconds."""

    restart_policy: str = "Always"
    node_name: str = ""
    termination_grace_period_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class PodStatus:
    """How a Pod is: its phase, whether it is ready, whether its main container has ended for good.

    ``pod_ip`` is empty until it first runs; ``restart_count`` is how often the main container was
    started again.
    """

    phase: str = "Pending"
    ready: bool = False
    terminated: bool = False
    pod_ip: str = ""
    restart_count: int = 0


@dataclass(frozen=True, slots=True)
class Pod:
    """Some containers that run together on one node."""

    kind: ClassVar[str] = "Pod"
    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """Which Pods are behind the Service, by their labels."""

    selector: Mapping[str, str] = NO_LABELS

    def __post_init__(self) -> None:
        object.__setattr__(self, "selector", read_only(self.selector))


@dataclass(frozen=True, slots=True)
class Service:
    """A name under which some Pods are reached."""

    kind: ClassVar[str] = "Service"
    metadata: ObjectMeta
    spec: ServiceSpec = ServiceSpec()
    status: None = None


@dataclass(frozen=True, slots=True)
class Secret:
    """Something that only some may read; what it is does not matter here."""

    kind: ClassVar[str] = "Secret"
    metadata: ObjectMeta
    spec: None = None
    status: None = None


@dataclass(frozen=True, slots=True)
class LeaseSpec:
    """Who holds a lease, for how many seconds, since when; times in virtual seconds."""

    holder_identity: str = ""
    lease_duration_seconds: float = 0.0
    acquire_time: float = 0.0
    renew_time: float = 0.0
    lease_transitions: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """The lock of a leader election."""

    kind: ClassVar[str] = "Lease"
    group: ClassVar[str] = "coordination.k8s.io"
    metadata: ObjectMeta
    spec: LeaseSpec = LeaseSpec()
    status: None = None


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """Whether new Pods may come to a node."""

    unschedulable: bool = False


@dataclass(frozen=True, slots=True)
class NodeStatus:
    """Whether the kubelet of a node is heard of."""

    ready: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    """A machine that Pods run on; it is in no namespace."""

    kind: ClassVar[str] = "Node"
    namespaced: ClassVar[bool] = False
    metadata: ObjectMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


KINDS: tuple[type[Object], ...] = (Pod, Service, Secret, Lease, Node)
"""Every kind that a cluster has of its own."""
