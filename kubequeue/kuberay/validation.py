"""What the operator refuses to work on: the sentence that goes into the Event, or None.

Mirrors controllers/ray/utils/validation.go (KubeRay v1.7.0), as far as the model has the fields,
and pkg/webhooks/v1/raycluster_webhook.go for what only the webhook checks.
"""

from __future__ import annotations

import re

from kubequeue.cluster.objects import ObjectMeta
from kubequeue.kuberay.conditions import is_status_condition_true
from kubequeue.kuberay.pods import creator_of
from kubequeue.kuberay.raycluster_types import (
    NO_UPGRADE,
    RECREATE,
    SUSPENDED_CONDITION,
    SUSPENDING_CONDITION,
    RayCluster,
    RayClusterSpec,
    WorkerGroupSpec,
)
from kubequeue.kuberay.rayjob_types import RayJob
from kubequeue.kuberay.rayservice_initializing import validate_initializing_timeout
from kubequeue.kuberay.rayservice_types import NEW_CLUSTER, RayService

MAX_RAY_CLUSTER_NAME_LENGTH = 53
MAX_OWNER_NAME_LENGTH = MAX_RAY_CLUSTER_NAME_LENGTH - len("-12345")
"""Of a RayJob or RayService, whose RayCluster's name has a dash and five characters more."""

_DNS_1035_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")


def validate_ray_cluster_metadata(metadata: ObjectMeta) -> str | None:
    """A name that is too long or no DNS label. Mirrors ``ValidateRayClusterMetadata``."""
    return _problem_of_name("RayCluster", metadata.name, MAX_RAY_CLUSTER_NAME_LENGTH)


def validate_ray_cluster_spec(spec: RayClusterSpec) -> str | None:
    """The first problem of any worker group. Mirrors ``ValidateRayClusterSpec``."""
    problems = map(_problem_of_group, spec.worker_group_specs)
    found = next((problem for problem in problems if problem), None)
    if found or not spec.enable_in_tree_autoscaling:
        return found
    for group in spec.worker_group_specs:
        if group.suspend:
            return f"worker group {group.group_name} cannot be suspended with Autoscaler enabled"
    return None


def _problem_of_group(group: WorkerGroupSpec) -> str | None:
    name, low, high = group.group_name, group.min_replicas, group.max_replicas
    if low < 0:
        return f"worker group {name} has negative minReplicas {low}"
    if high < 0:
        return f"worker group {name} has negative maxReplicas {high}"
    if low > high:
        return f"worker group {name} has minReplicas {low} greater than maxReplicas {high}"
    return None


def validate_ray_cluster_webhook(cluster: RayCluster) -> str | None:
    """Two groups of one name: only the webhook refuses them; the operator would not notice.

    Mirrors ``raycluster_webhook.go: validateWorkerGroups``.
    """
    names = [group.group_name for group in cluster.spec.worker_group_specs]
    if len(set(names)) < len(names):
        return "worker group names must be unique"
    return None


def validate_ray_cluster_upgrade_options(cluster: RayCluster) -> str | None:
    """An unknown strategy, or one on a cluster of somebody else's.

    Mirrors ``ValidateRayClusterUpgradeOptions``.
    """
    strategy = cluster.spec.upgrade_strategy
    if strategy not in ("", RECREATE, NO_UPGRADE):
        return (
            f"The RayCluster spec is invalid: Spec.UpgradeStrategy.Type value {strategy} is "
            f"invalid, valid options are {RECREATE} or {NO_UPGRADE}"
        )
    creator = creator_of(cluster.metadata)
    if strategy and creator in ("RayJob", "RayService"):
        return f"upgradeStrategy cannot be set when RayCluster is created by {creator}"
    return None


def validate_ray_cluster_status(cluster: RayCluster) -> str | None:
    """Suspending and suspended at once. Mirrors ``ValidateRayClusterStatus``."""
    conditions = cluster.status.conditions
    both = (SUSPENDING_CONDITION, SUSPENDED_CONDITION)
    if all(is_status_condition_true(conditions, type_) for type_ in both):
        return (
            "invalid RayCluster State: rayv1.RayClusterSuspending and rayv1.RayClusterSuspended "
            "conditions should not be both true"
        )
    return None


def validate_ray_job(job: RayJob) -> tuple[str, str] | None:
    """The reason of the Event and its sentence.

    Mirrors ``rayjob_controller.go: validateRayJob``.
    """
    if problem := validate_ray_job_metadata(job.metadata):
        return "InvalidRayJobMetadata", problem
    if problem := validate_ray_job_spec(job):
        return "InvalidRayJobSpec", problem
    return None


def validate_ray_job_metadata(metadata: ObjectMeta) -> str | None:
    """A name that is too long or no DNS label. Mirrors ``ValidateRayJobMetadata``."""
    problem = _problem_of_name("RayJob", metadata.name, MAX_OWNER_NAME_LENGTH)
    return f"The RayJob metadata is invalid: {problem}" if problem else None


def validate_ray_job_spec(job: RayJob) -> str | None:
    """The first problem in Go's order.

    Mirrors ``ValidateRayJobSpec`` and ``validateDeletionConfiguration``.
    """
    spec, invalid = job.spec, "The RayJob spec is invalid:"
    problems = {
        f"{invalid} a RayJob with shutdownAfterJobFinishes set to false is not allowed to be "
        "suspended": spec.suspend and not spec.shutdown_after_job_finishes,
        f"{invalid} TTLSecondsAfterFinished must be a non-negative integer": (
            spec.ttl_seconds_after_finished < 0
        ),
        f"{invalid} a RayJob with shutdownAfterJobFinishes set to false cannot have "
        "TTLSecondsAfterFinished": (
            not spec.shutdown_after_job_finishes and spec.ttl_seconds_after_finished > 0
        ),
        f"{invalid} the ClusterSelector mode doesn't support the suspend operation": (
            spec.suspend and bool(spec.cluster_selector)
        ),
        f"{invalid} one of RayClusterSpec or ClusterSelector must be set": (
            spec.ray_cluster_spec is None and not spec.cluster_selector
        ),
        f"{invalid} BackoffLimit is incompatible with ClusterSelector mode": (
            bool(spec.cluster_selector) and (spec.backoff_limit or 0) > 0
        ),
        f"{invalid} activeDeadlineSeconds must be a positive integer": (
            spec.active_deadline_seconds is not None and spec.active_deadline_seconds <= 0
        ),
        f"{invalid} backoffLimit must be a positive integer": (spec.backoff_limit or 0) < 0,
    }
    found = next((problem for problem, holds in problems.items() if holds), None)
    if found or spec.ray_cluster_spec is None:
        return found
    problem = validate_ray_cluster_spec(spec.ray_cluster_spec)
    return f"{invalid} {problem}" if problem else None


def validate_ray_service(service: RayService) -> tuple[str, str] | None:
    """The reason of the Event and its sentence. Mirrors ``validateRayService``."""
    if problem := validate_ray_service_metadata(service.metadata):
        return "InvalidRayServiceMetadata", problem
    if problem := validate_ray_service_spec(service):
        return "InvalidRayServiceSpec", f"The RayService spec is invalid: {problem}"
    return None


def validate_ray_service_metadata(metadata: ObjectMeta) -> str | None:
    """A name that cannot be, or a time-out that is none. Mirrors ``ValidateRayServiceMetadata``."""
    invalid = "The RayService metadata is invalid:"
    if problem := _problem_of_name("RayService", metadata.name, MAX_OWNER_NAME_LENGTH):
        return f"{invalid} {problem}"
    if problem := validate_initializing_timeout(metadata.annotations):
        return f"{invalid} RayService annotations is invalid: {problem}"
    return None


def validate_ray_service_spec(service: RayService) -> str | None:
    """The first problem in Go's order. Mirrors ``ValidateRayServiceSpec``."""
    spec = service.spec
    if problem := validate_ray_cluster_spec(spec.ray_cluster_spec):
        return problem
    if (strategy := spec.upgrade_strategy) not in (NEW_CLUSTER, NO_UPGRADE):
        return (
            f"Spec.UpgradeStrategy.Type value {strategy} is invalid, valid options are "
            f"{NEW_CLUSTER} or {NO_UPGRADE}"
        )
    if (delay := spec.ray_cluster_deletion_delay_seconds) < 0:
        return (
            f"Spec.RayClusterDeletionDelaySeconds should be a non-negative integer, got {delay:g}"
        )
    return None


def _problem_of_name(kind: str, name: str, limit: int) -> str | None:
    if len(name) > limit:
        return f"{kind} name should be no more than {limit} characters"
    if not _DNS_1035_LABEL.fullmatch(name):
        return f"{kind} name should be a valid DNS1035 label: {name!r} is none"
    return None
