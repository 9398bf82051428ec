"""The kinds that the operator serves, in one place.

Mirrors apis/ray/v1 (KubeRay v1.7.0): RayCluster, RayJob and RayService, each in a file of its own.
"""

from __future__ import annotations

from kubequeue.kuberay.conditions import Condition, is_status_condition_true
from kubequeue.kuberay.raycluster_types import (
    HeadGroupSpec,
    HeadInfo,
    RayCluster,
    RayClusterSpec,
    RayClusterStatus,
    WorkerGroupSpec,
)
from kubequeue.kuberay.rayjob_types import RayJob, RayJobSpec, RayJobStatus
from kubequeue.kuberay.rayservice_types import (
    RayService,
    RayServiceSpec,
    RayServiceStatus,
    RayServiceStatuses,
)

KINDS = (RayCluster, RayJob, RayService)
"""What an `APIServer` has to know before the operator can start."""

__all__ = [
    "KINDS",
    "Condition",
    "HeadGroupSpec",
    "HeadInfo",
    "RayCluster",
    "RayClusterSpec",
    "RayClusterStatus",
    "RayJob",
    "RayJobSpec",
    "RayJobStatus",
    "RayService",
    "RayServiceSpec",
    "RayServiceStatus",
    "RayServiceStatuses",
    "WorkerGroupSpec",
    "is_status_condition_true",
]
