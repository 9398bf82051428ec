"""One worker group's turn within a round: unhealthy Pods, named Pods, then the difference.

Mirrors the loop over worker groups in ``raycluster_controller.go: reconcilePods`` (KubeRay v1.7.0).
"""

from __future__ import annotations

from collections.abc import Sequence

from kubequeue.cluster.objects import Pod
from kubequeue.errors import NotFoundError, ReconcileError
from kubequeue.kuberay.expectations import ScaleAction
from kubequeue.kuberay.failures import FAILURES, ReplicaFailureError
from kubequeue.kuberay.pods import (
    WORKER,
    build_worker_pod,
    delete_all_pods,
    list_pods,
    should_delete_pod,
)
from kubequeue.kuberay.raycluster_multihost import reconcile_multi_host_worker_group
from kubequeue.kuberay.raycluster_types import RayCluster, WorkerGroupSpec, desired_replicas
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools
from kubequeue.kuberay.worker_writes import create_worker_pod, delete_worker_pod


def reconcile_worker_group(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec
) -> Steps[None]:
    """Bring one group to its number of Pods; an unmet expectation leaves it for later.

    Raises what ends the round, so the groups behind this one are not looked at.
    """
    namespace, name = cluster.metadata.namespace, cluster.metadata.name
    if not tools.expectations.is_satisfied(namespace, name, group.group_name):
        return
    pods = list_pods(tools, cluster, group=group.group_name)
    if group.suspend:
        yield from _suspend(tools, cluster, group)
    elif group.num_of_hosts > 1:
        yield from reconcile_multi_host_worker_group(tools, cluster, group, pods)
    else:
        yield from _delete_unhealthy(tools, cluster, group, pods)
        gone = yield from _delete_workers_to_delete(tools, cluster, group)
        running = [pod for pod in pods if pod.metadata.name not in gone]
        yield from _scale(tools, cluster, group, running)


def _suspend(tools: Tools, cluster: RayCluster, group: WorkerGroupSpec) -> Steps[None]:
    name = group.group_name
    try:
        yield from delete_all_pods(tools, cluster, group=name)
    except FAILURES as error:
        tools.event(
            cluster,
            WARNING,
            "FailedToDeleteWorkerPodCollection",
            f"Failed deleting worker Pods for suspended group {name}: {error}",
        )
        raise ReplicaFailureError("FailedDeleteWorkerPod", error) from error
    tools.event(
        cluster, NORMAL, "DeletedWorkerPod", f"Deleted all pods for suspended worker group {name}"
    )


def _delete_unhealthy(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, pods: Sequence[Pod]
) -> Steps[None]:
    """Delete what cannot come back by itself; after any of it the round ends with an error."""
    unhealthy = [pod for pod in pods if should_delete_pod(pod, WORKER)[0]]
    for pod in unhealthy:
        yield from delete_worker_pod(tools, cluster, group, pod.metadata.name, tells_not_found=True)
    if unhealthy:
        raise ReconcileError(f"delete {len(unhealthy)} unhealthy worker Pods")


def _delete_workers_to_delete(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec
) -> Steps[set[str]]:
    """Delete the Pods that the autoscaler named, whatever the replicas; gives their names.

    A Pod that is gone already is passed over, and leaves no record.
    """
    gone = set()
    for name in group.scale_strategy_workers_to_delete:
        try:
            yield from delete_worker_pod(tools, cluster, group, name)
        except ReplicaFailureError as error:
            if not isinstance(error.__cause__, NotFoundError):
                raise
        else:
            gone.add(name)
    return gone


def _scale(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, running: Sequence[Pod]
) -> Steps[None]:
    """Create what is missing, one after another, or delete what is too many."""
    diff = desired_replicas(group) - len(running)
    for _ in range(diff):
        yield from create_worker_pod(tools, cluster, group, build_worker_pod(cluster, group))
    if diff < 0 and may_delete_at_random(tools, cluster):
        for pod in running[:-diff]:
            yield from _delete_surplus(tools, cluster, group, pod)


def may_delete_at_random(tools: Tools, cluster: RayCluster) -> bool:
    """Whether the operator may choose what to delete, or the autoscaler alone."""
    return not cluster.spec.enable_in_tree_autoscaling or tools.options.enable_random_pod_delete


def _delete_surplus(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, pod: Pod
) -> Steps[None]:
    """Delete one Pod; one that is gone already is remembered all the same, as in Go."""
    name = pod.metadata.name
    try:
        yield from delete_worker_pod(tools, cluster, group, name)
    except ReplicaFailureError as error:
        if not isinstance(error.__cause__, NotFoundError):
            raise
        tools.expectations.expect_scale_pod(
            pod.metadata.namespace,
            cluster.metadata.name,
            group.group_name,
            name,
            ScaleAction.DELETE,
        )
        tools.event(cluster, NORMAL, "DeletedWorkerPod", f"Deleted worker Pod {name}")
