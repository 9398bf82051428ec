"""RayService: Serve applications, the RayCluster that serves them and the one that will.

Mirrors apis/ray/v1/rayservice_types.go (KubeRay v1.7.0); suspend and the incremental upgrade are
left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from kubequeue.cluster.objects import ObjectMeta
from kubequeue.kuberay.conditions import Conditions
from kubequeue.kuberay.raycluster_types import RayClusterSpec, RayClusterStatus

SERVICE_RUNNING = "Running"
NOT_RUNNING = ""
"""Values of ``RayServiceStatuses.service_status``."""

SERVICE_READY = "Ready"
UPGRADE_IN_PROGRESS = "UpgradeInProgress"
"""Types of a RayService's conditions."""

INITIALIZING = "Initializing"
INITIALIZING_TIMEOUT = "InitializingTimeout"
"""Reasons of the condition ``Ready``, before it is true for the first time."""

NEW_CLUSTER = "NewCluster"
NO_UPGRADE = "None"
"""Values of ``RayServiceSpec.upgrade_strategy``."""


@dataclass(frozen=True, slots=True)
class RayServiceSpec:
    """What the owner of a RayService asks for.

    Attributes:
        ray_cluster_spec: the cluster to serve from; a change prepares a second one beside it.
        serve_config: a text that stands for serveConfigV2; a change is sent to the dashboard.
        upgrade_strategy: ``NewCluster``, or ``None`` to keep the cluster whatever its spec.
        ray_cluster_deletion_delay_seconds: how long a replaced cluster is kept.
        managed_by: the controller that looks after it; empty for the operator.
    """

    ray_cluster_spec: RayClusterSpec = field(default_factory=RayClusterSpec)
    serve_config: str = "applications"
    upgrade_strategy: str = NEW_CLUSTER
    ray_cluster_deletion_delay_seconds: float = 60.0
    managed_by: str = ""


@dataclass(frozen=True, slots=True)
class RayServiceStatus:
    """One of the two clusters of a RayService, and what Serve said there (name, status)."""

    ray_cluster_name: str = ""
    applications: tuple[tuple[str, str], ...] = ()
    ray_cluster_status: RayClusterStatus = field(default_factory=RayClusterStatus)


@dataclass(frozen=True, slots=True)
class RayServiceStatuses:
    """The cluster that serves, the one that is prepared, and whether anything answers."""

    service_status: str = NOT_RUNNING
    num_serve_endpoints: int = 0
    active_service_status: RayServiceStatus = RayServiceStatus()
    pending_service_status: RayServiceStatus = RayServiceStatus()
    conditions: Conditions = ()
    observed_generation: int = 0
    last_update_time: float | None = None


@dataclass(frozen=True, slots=True)
class RayService:
    """Serve applications on a Ray cluster."""

    kind: ClassVar[str] = "RayService"
    group: ClassVar[str] = "ray.io"

    metadata: ObjectMeta
    spec: RayServiceSpec = field(default_factory=RayServiceSpec)
    status: RayServiceStatuses = field(default_factory=RayServiceStatuses)
