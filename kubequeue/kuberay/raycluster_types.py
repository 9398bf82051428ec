"""RayCluster: what its owner asks for and what the operator says of it.

Fields that change no queue, write or requeue are left out; a ``template`` is a text that stands for
the whole Pod template, so that two specs can differ in it.

Mirrors apis/ray/v1/raycluster_types.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from kubequeue.cluster.objects import ObjectMeta
from kubequeue.kuberay.conditions import Conditions

MAX_INT32 = 2**31 - 1

READY = "ready"
SUSPENDED = "suspended"
"""Values of ``RayClusterStatus.state``; it is empty before the first time that all is ready."""

PROVISIONED = "RayClusterProvisioned"
HEAD_POD_READY = "HeadPodReady"
REPLICA_FAILURE = "ReplicaFailure"
SUSPENDING_CONDITION = "RayClusterSuspending"
SUSPENDED_CONDITION = "RayClusterSuspended"
"""Types of a RayCluster's conditions."""

RECREATE = "Recreate"
NO_UPGRADE = "None"
"""Values of ``RayClusterSpec.upgrade_strategy``."""


@dataclass(frozen=True, slots=True)
class HeadGroupSpec:
    """The head Pod; its template stands for everything that two heads can differ in."""

    template: str = "rayproject/ray:2.52.0"
    restart_policy: str = "Always"


@dataclass(frozen=True, slots=True)
class WorkerGroupSpec:
    """Workers that are alike.

    Attributes:
        group_name: unique within the RayCluster.
        replicas: how many replicas are wanted; kept between ``min_replicas`` and ``max_replicas``.
        num_of_hosts: Pods of each replica.
        suspend: delete all Pods of this group and make none.
        scale_strategy_workers_to_delete: names of Pods that the autoscaler wants deleted.
    """

    group_name: str
    replicas: int = 0
    min_replicas: int = 0
    max_replicas: int = MAX_INT32
    num_of_hosts: int = 1
    suspend: bool = False
    scale_strategy_workers_to_delete: tuple[str, ...] = ()
    template: str = "rayproject/ray:2.52.0"
    restart_policy: str = "Always"


@dataclass(frozen=True, slots=True)
class RayClusterSpec:
    """What the owner of a RayCluster asks for; ``managed_by`` is empty or names a controller."""

    head_group_spec: HeadGroupSpec = HeadGroupSpec()
    worker_group_specs: tuple[WorkerGroupSpec, ...] = ()
    suspend: bool = False
    enable_in_tree_autoscaling: bool = False
    upgrade_strategy: str = ""
    managed_by: str = ""


@dataclass(frozen=True, slots=True)
class HeadInfo:
    """Which Pod and which Service are the head's; empty when there is none.

    ``pod_ip`` is empty until the head runs, so that a status is written when it does.
    """

    pod_name: str = ""
    service_name: str = ""
    pod_ip: str = ""


@dataclass(frozen=True, slots=True)
class RayClusterStatus:
    """What the operator saw in the cache at the end of its last round that changed anything."""

    state: str = ""
    reason: str = ""
    ready_worker_replicas: int = 0
    available_worker_replicas: int = 0
    desired_worker_replicas: int = 0
    min_worker_replicas: int = 0
    max_worker_replicas: int = 0
    head: HeadInfo = HeadInfo()
    conditions: Conditions = ()
    observed_generation: int = 0
    last_update_time: float | None = None
    state_transition_times: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class RayCluster:
    """A Ray cluster: one head Pod and groups of worker Pods.

    >>> from kubequeue.cluster.objects import ObjectMeta
    >>> spec = RayClusterSpec(worker_group_specs=(WorkerGroupSpec("small", replicas=3),))
    >>> a = RayCluster(ObjectMeta(name="a", namespace="default"), spec)
    >>> a.spec.worker_group_specs[0].replicas
    3
    """

    kind: ClassVar[str] = "RayCluster"
    group: ClassVar[str] = "ray.io"

    metadata: ObjectMeta
    spec: RayClusterSpec = field(default_factory=RayClusterSpec)
    status: RayClusterStatus = field(default_factory=RayClusterStatus)


def desired_replicas(group: WorkerGroupSpec) -> int:
    """Pods wanted of a group: replicas between its bounds, times the hosts; 0 while suspended.

    Mirrors ``util.go: GetWorkerGroupDesiredReplicas``.

    >>> desired_replicas(WorkerGroupSpec("g", replicas=9, max_replicas=4, num_of_hosts=2))
    8
    """
    if group.suspend:
        return 0
    if group.replicas < group.min_replicas:
        return group.min_replicas * group.num_of_hosts
    return min(group.replicas, group.max_replicas) * group.num_of_hosts
