"""The end of a RayCluster's round: what the cache says of its Pods, written when it is news.

Mirrors ``raycluster_controller.go: calculateStatus`` and ``updateRayClusterStatus`` (KubeRay
v1.7.0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubequeue.cluster.objects import Pod
from kubequeue.errors import ReconcileError
from kubequeue.kuberay.conditions import (
    Condition,
    Conditions,
    is_status_condition_true,
    remove_status_condition,
    set_status_condition,
)
from kubequeue.kuberay.failures import replica_failure_reason
from kubequeue.kuberay.pods import HEAD, NODE_TYPE, WORKER, list_pods
from kubequeue.kuberay.raycluster_conditions import calculate_conditions
from kubequeue.kuberay.raycluster_services import list_head_services
from kubequeue.kuberay.raycluster_types import (
    MAX_INT32,
    PROVISIONED,
    READY,
    REPLICA_FAILURE,
    SUSPENDED,
    HeadInfo,
    RayCluster,
    RayClusterSpec,
    RayClusterStatus,
    desired_replicas,
)
from kubequeue.kuberay.tools import Steps, Tools


def calculate_status(
    tools: Tools, cluster: RayCluster, reconcile_error: Exception | None
) -> RayClusterStatus:
    """The status as the cache has it now. A plain read.

    Raises `ReconcileError` when the cache has no head Service, or several heads: no status is
    written then. Mirrors ``calculateStatus``.
    """
    now, pods = tools.sim.now, list_pods(tools, cluster)
    status = _count(cluster, pods)
    status = replace(
        status,
        conditions=_replica_failure(status.conditions, reconcile_error, now),
        observed_generation=cluster.metadata.generation,
        last_update_time=now,
    )
    all_running = check_all_pods_running(pods)
    all_there = len(pods) == status.desired_worker_replicas + 1
    if reconcile_error is None and all_there and all_running:
        status = replace(status, state=READY, reason="")
    head = _head_pod(pods)
    conditions = calculate_conditions(
        cluster, status.conditions, head, len(pods), all_running=all_running, now=now
    )
    status = replace(status, conditions=conditions, head=_head_info(tools, cluster, head))
    if cluster.spec.suspend and not pods:
        status = replace(status, state=SUSPENDED)
    return _note_transition(cluster.status, status, now)


def _count(cluster: RayCluster, pods: Sequence[Pod]) -> RayClusterStatus:
    """The numbers of worker Pods, had and wanted.

    Mirrors ``util.go: CalculateReadyReplicas`` and ``CalculateAvailableReplicas``.
    """
    workers = [pod for pod in pods if pod.metadata.labels.get(NODE_TYPE) == WORKER]
    low, high = _bounds(cluster.spec)
    return replace(
        cluster.status,
        ready_worker_replicas=sum(is_running_and_ready(pod) for pod in workers),
        available_worker_replicas=sum(pod.status.phase == "Running" for pod in workers),
        desired_worker_replicas=calculate_desired_replicas(cluster.spec),
        min_worker_replicas=low,
        max_worker_replicas=high,
    )


def calculate_desired_replicas(spec: RayClusterSpec) -> int:
    """Worker Pods wanted, of all groups. Mirrors ``util.go: CalculateDesiredReplicas``."""
    return sum(map(desired_replicas, spec.worker_group_specs))


def _bounds(spec: RayClusterSpec) -> tuple[int, int]:
    """Mirrors ``util.go: CalculateMinReplicas`` and ``CalculateMaxReplicas``."""
    groups = [group for group in spec.worker_group_specs if not group.suspend]
    low = sum(group.min_replicas * group.num_of_hosts for group in groups)
    high = sum(group.max_replicas * group.num_of_hosts for group in groups)
    return low, min(high, MAX_INT32)


def is_running_and_ready(pod: Pod) -> bool:
    """Mirrors ``util.go: IsRunningAndReady``."""
    return pod.status.phase == "Running" and pod.status.ready


def check_all_pods_running(pods: Sequence[Pod]) -> bool:
    """Whether there are Pods and all of them are ready.

    Mirrors ``util.go: CheckAllPodsRunning``.
    """
    return bool(pods) and all(map(is_running_and_ready, pods))


def _replica_failure(conditions: Conditions, error: Exception | None, now: float) -> Conditions:
    """A failed write of a Pod is a condition until a round goes through without an error."""
    if error is None:
        return remove_status_condition(conditions, REPLICA_FAILURE)
    reason = replica_failure_reason(error)
    if not reason:
        return conditions
    failure = Condition(REPLICA_FAILURE, "True", reason, str(error), now)
    return set_status_condition(conditions, failure)


def _head_pod(pods: Sequence[Pod]) -> Pod | None:
    """Mirrors ``association.go: GetRayClusterHeadPod``."""
    heads = [pod for pod in pods if pod.metadata.labels.get(NODE_TYPE) == HEAD]
    if len(heads) > 1:
        raise ReconcileError(f"found multiple heads: {[pod.metadata.name for pod in heads]}")
    return heads[0] if heads else None


def _head_info(tools: Tools, cluster: RayCluster, head: Pod | None) -> HeadInfo:
    """Mirrors ``updateHeadInfo`` and ``getHeadServiceIPAndName``."""
    services = list_head_services(tools, cluster)
    name = cluster.metadata.name
    if not services:
        raise ReconcileError(f"unable to find head service. cluster name {name}")
    if len(services) > 1:
        raise ReconcileError(f"found multiple head services. cluster name {name}")
    service = services[0].metadata.name
    if head is None:
        return HeadInfo(service_name=service)
    return HeadInfo(head.metadata.name, service, head.status.pod_ip)


def _note_transition(old: RayClusterStatus, new: RayClusterStatus, now: float) -> RayClusterStatus:
    if old.state == new.state:
        return new
    times = {**dict(new.state_transition_times), new.state: now}
    return replace(new, state_transition_times=tuple(times.items()))


def inconsistent_ray_cluster_status(old: RayClusterStatus, new: RayClusterStatus) -> bool:
    """Whether ``new`` is news; times and the observed generation alone are none.

    Mirrors ``consistency.go: InconsistentRayClusterStatus``.
    """
    muted = {"observed_generation": 0, "last_update_time": None, "state_transition_times": ()}
    return replace(old, **muted) != replace(new, **muted)  # type: ignore[arg-type]


def update_ray_cluster_status(
    tools: Tools, original: RayCluster, status: RayClusterStatus
) -> Steps[bool]:
    """Write the status when it differs from the one read; whether it did.

    Raises the failed write: a `ConflictError` when the cache was behind. Mirrors
    ``updateRayClusterStatus``.
    """
    if not inconsistent_ray_cluster_status(original.status, status):
        return False
    yield from tools.client.update_status(replace(original, status=status))
    _emit_provisioned_duration(tools, original, status)
    return True


def _emit_provisioned_duration(tools: Tools, cluster: RayCluster, status: RayClusterStatus) -> None:
    """Mirrors ``emitRayClusterMetrics`` and ``emitRayClusterProvisionedDuration``."""
    was = is_status_condition_true(cluster.status.conditions, PROVISIONED)
    if was or not is_status_condition_true(status.conditions, PROVISIONED):
        return
    meta = cluster.metadata
    age = tools.sim.now - (meta.creation_timestamp or 0.0)
    tools.observer.provisioned(meta.name, meta.namespace, meta.uid, age)
