"""The end of a RayService's round: promotion, a name for the next cluster, the conditions.

Mirrors ``rayservice_controller.go: calculateStatus``, ``reconcilePromotionAndServingStatus`` and
``calculateConditions`` (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kubequeue.kuberay.conditions import (
    Condition,
    Conditions,
    find_status_condition,
    is_status_condition_true,
    set_status_condition,
)
from kubequeue.kuberay.raycluster_types import RayCluster, RayClusterStatus
from kubequeue.kuberay.rayservice_clusters import should_prepare_new_cluster
from kubequeue.kuberay.rayservice_initializing import mark_failed_on_initializing_timeout
from kubequeue.kuberay.rayservice_services import calculate_num_serve_endpoints
from kubequeue.kuberay.rayservice_types import (
    INITIALIZING,
    INITIALIZING_TIMEOUT,
    NOT_RUNNING,
    SERVICE_READY,
    SERVICE_RUNNING,
    UPGRADE_IN_PROGRESS,
    RayService,
    RayServiceStatus,
    RayServiceStatuses,
)
from kubequeue.kuberay.tools import Tools


@dataclass(frozen=True, slots=True)
class Seen:
    """What a round found: both clusters, whom it asked for what, and what the Services point to.

    ``points_to`` is empty when this round found no cluster ready.
    """

    active: RayCluster | None
    pending: RayCluster | None
    asked_pending: bool
    applications: tuple[tuple[str, str], ...]
    points_to: str


def calculate_status(tools: Tools, service: RayService, seen: Seen) -> RayServiceStatuses:
    """The status after this round. Pure, but for a random name. Mirrors ``calculateStatus``."""
    status = replace(
        _with_clusters(service.status, seen), observed_generation=service.metadata.generation
    )
    is_pending_serving = False
    if seen.points_to:
        is_pending_serving = seen.points_to == status.pending_service_status.ray_cluster_name
        if seen.points_to != status.active_service_status.ray_cluster_name:
            promoted = status.pending_service_status
            status = replace(
                status, active_service_status=promoted, pending_service_status=RayServiceStatus()
            )
    if should_prepare_new_cluster(service, seen.active, seen.pending, is_pending_serving):
        name = tools.random_name(service.metadata.name)
        status = replace(status, pending_service_status=RayServiceStatus(name))
    endpoints = calculate_num_serve_endpoints(tools, service)
    return _conditions(tools, service, replace(status, num_serve_endpoints=endpoints))


def _with_clusters(status: RayServiceStatuses, seen: Seen) -> RayServiceStatuses:
    asked_active = () if seen.asked_pending else seen.applications
    return replace(
        status,
        active_service_status=_with_cluster(
            status.active_service_status, seen.active, asked_active
        ),
        pending_service_status=_with_cluster(
            status.pending_service_status,
            seen.pending,
            seen.applications if seen.asked_pending else (),
        ),
    )


def _with_cluster(
    status: RayServiceStatus,
    cluster: RayCluster | None,
    applications: tuple[tuple[str, str], ...],
) -> RayServiceStatus:
    seen = cluster.status if cluster is not None else RayClusterStatus()
    return replace(status, ray_cluster_status=seen, applications=applications)


def _conditions(
    tools: Tools, service: RayService, status: RayServiceStatuses
) -> RayServiceStatuses:
    """Mirrors ``calculateConditions``, and the service status that follows from it."""
    new = []
    if not status.conditions:
        told = "RayService is initializing"
        new += [
            Condition(SERVICE_READY, "False", INITIALIZING, told),
            Condition(UPGRADE_IN_PROGRESS, "False", INITIALIZING, told),
        ]
    was_ready = is_status_condition_true(status.conditions, SERVICE_READY)
    if status.num_serve_endpoints > 0:
        told = "Number of serve endpoints is greater than 0"
        new.append(Condition(SERVICE_READY, "True", "NonZeroServeEndpoints", told))
    elif was_ready:
        told = "Number of serve endpoints dropped to 0"
        new.append(Condition(SERVICE_READY, "False", "ZeroServeEndpoints", told))
    elif failed := mark_failed_on_initializing_timeout(tools, service, status.conditions):
        new.append(failed)
        status = _without_clusters(status)
    new += _upgrade_condition(status)
    conditions, generation = status.conditions, status.observed_generation
    for condition in new:
        conditions = _set_condition(conditions, condition, generation, tools.sim.now)
    is_ready = is_status_condition_true(conditions, SERVICE_READY)
    service_status = SERVICE_RUNNING if is_ready else NOT_RUNNING
    return replace(status, conditions=conditions, service_status=service_status)


def _without_clusters(status: RayServiceStatuses) -> RayServiceStatuses:
    """No name is kept, so that both clusters are cleaned up."""
    return replace(
        status,
        active_service_status=replace(status.active_service_status, ray_cluster_name=""),
        pending_service_status=replace(status.pending_service_status, ray_cluster_name=""),
    )


def _set_condition(
    conditions: Conditions, new: Condition, observed_generation: int, now: float
) -> Conditions:
    """A new generation is news by itself, if nothing else is. Mirrors ``setCondition``."""
    stamped = replace(new, observed_generation=observed_generation, last_transition_time=now)
    return set_status_condition(conditions, stamped)


def _upgrade_condition(status: RayServiceStatuses) -> list[Condition]:
    active = status.active_service_status.ray_cluster_name
    pending = status.pending_service_status.ray_cluster_name
    if active and pending:
        told = "Both active and pending Ray clusters exist"
        return [Condition(UPGRADE_IN_PROGRESS, "True", "BothActivePendingClustersExist", told)]
    if active:
        told = "Active Ray cluster exists and no pending Ray cluster"
        return [Condition(UPGRADE_IN_PROGRESS, "False", "NoPendingCluster", told)]
    old = find_status_condition(status.conditions, UPGRADE_IN_PROGRESS)
    if old is not None and old.reason in (INITIALIZING, INITIALIZING_TIMEOUT):
        return []
    told = "No active Ray cluster exists, and the RayService is not initializing"
    return [Condition(UPGRADE_IN_PROGRESS, "Unknown", "NoActiveCluster", told)]


def validation_failed(status: RayServiceStatuses, problem: str, now: float) -> RayServiceStatuses:
    """The status of a RayService that the operator refuses.

    The generation is the one observed before: this one is looked at no further.
    """
    refused = Condition(SERVICE_READY, "False", "ValidationFailed", problem)
    conditions = _set_condition(status.conditions, refused, status.observed_generation, now)
    return replace(status, conditions=conditions)


def inconsistent_ray_service_statuses(old: RayServiceStatuses, new: RayServiceStatuses) -> bool:
    """Whether ``new`` is news; the statuses of the RayClusters, and times, are none.

    Mirrors ``consistency.go: InconsistentRayServiceStatuses``.
    """
    return _muted(old) != _muted(new)


def _muted(status: RayServiceStatuses) -> RayServiceStatuses:
    nothing = RayClusterStatus()
    return replace(
        status,
        active_service_status=replace(status.active_service_status, ray_cluster_status=nothing),
        pending_service_status=replace(status.pending_service_status, ray_cluster_status=nothing),
        observed_generation=0,
        last_update_time=None,
    )
