"""The part of a RayCluster's round that makes and deletes Pods: suspend, upgrade, head, groups.

Mirrors ``raycluster_controller.go: reconcilePods`` (KubeRay v1.7.0) in its order of acts.
"""

from __future__ import annotations

from kubequeue.cluster.objects import Pod
from kubequeue.errors import ReconcileError
from kubequeue.kuberay.conditions import is_status_condition_true
from kubequeue.kuberay.expectations import HEAD_GROUP, ScaleAction
from kubequeue.kuberay.failures import FAILURES, ReplicaFailureError
from kubequeue.kuberay.pods import (
    HEAD,
    build_head_pod,
    delete_all_pods,
    key,
    list_pods,
    should_delete_pod,
    should_recreate_pods_for_upgrade,
)
from kubequeue.kuberay.raycluster_types import (
    PROVISIONED,
    SUSPENDED_CONDITION,
    SUSPENDING_CONDITION,
    RayCluster,
)
from kubequeue.kuberay.raycluster_workers import reconcile_worker_group
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools

DISABLE_PROVISIONED_HEAD_RESTART = "ray.io/disable-provisioned-head-restart"
"""The annotation that keeps a provisioned cluster from getting another head."""


def reconcile_pods(tools: Tools, cluster: RayCluster) -> Steps[None]:
    """Bring the Pods to what the spec asks for, as far as the cache and the memory allow.

    Raises what ends the round; what was written before stays. Mirrors ``reconcilePods``.
    """
    suspend_status = find_ray_cluster_suspend_status(cluster)
    if suspend_status == SUSPENDING_CONDITION:
        yield from _delete_all(tools, cluster, "due to suspension")
        return
    if suspend_status == SUSPENDED_CONDITION or cluster.spec.suspend:
        return
    if (yield from should_recreate_pods_for_upgrade(tools, cluster)):
        yield from _delete_all(tools, cluster, "due to spec change with Recreate upgradeStrategy")
        tools.expectations.delete(cluster.metadata.name, cluster.metadata.namespace)
        return
    if not (yield from _reconcile_head(tools, cluster)):
        return
    for group in cluster.spec.worker_group_specs:
        yield from reconcile_worker_group(tools, cluster, group)


def find_ray_cluster_suspend_status(cluster: RayCluster) -> str:
    """The condition that holds, suspending or suspended; empty for neither.

    Mirrors ``util.go: FindRayClusterSuspendStatus``.
    """
    for condition in cluster.status.conditions:
        is_of_suspend = condition.type in (SUSPENDING_CONDITION, SUSPENDED_CONDITION)
        if is_of_suspend and condition.status == "True":
            return condition.type
    return ""


def _delete_all(tools: Tools, cluster: RayCluster, why: str) -> Steps[None]:
    try:
        yield from delete_all_pods(tools, cluster)
    except FAILURES as error:
        tools.event(
            cluster, WARNING, "FailedToDeletePodCollection", f"Failed deleting Pods {why}: {error}"
        )
        raise ReplicaFailureError("FailedDeleteAllPods", error) from error
    tools.event(cluster, NORMAL, "DeletedPod", f"Deleted all Pods {why}")


def _reconcile_head(tools: Tools, cluster: RayCluster) -> Steps[bool]:
    """The head group's turn; False when the workers are to be left alone too."""
    namespace, name = cluster.metadata.namespace, cluster.metadata.name
    heads = list_pods(tools, cluster, node_type=HEAD)
    if not tools.expectations.is_satisfied(namespace, name, HEAD_GROUP):
        return True
    if len(heads) == 1:
        yield from _delete_head_if_needed(tools, cluster, heads[0])
    elif len(heads) > 1:
        names = [pod.metadata.name for pod in heads]
        raise ReconcileError(f"{len(heads)} head pods found {names}. Please delete extra head pods")
    elif _should_skip_head_pod_restart(cluster):
        return False
    else:
        yield from create_head_pod(tools, cluster)
    return True


def _delete_head_if_needed(tools: Tools, cluster: RayCluster, pod: Pod) -> Steps[None]:
    """A head that cannot come back by itself is deleted, and the round ends with an error."""
    should_delete, reason = should_delete_pod(pod, HEAD)
    if not should_delete:
        return
    name = pod.metadata.name
    try:
        yield from tools.client.delete(Pod, key(pod))
    except FAILURES as error:
        tools.event(
            cluster, WARNING, "FailedToDeleteHeadPod", f"Failed deleting head Pod {name}: {error}"
        )
        raise ReplicaFailureError("FailedDeleteHeadPod", error) from error
    tools.expectations.expect_scale_pod(
        pod.metadata.namespace, cluster.metadata.name, HEAD_GROUP, name, ScaleAction.DELETE
    )
    tools.event(cluster, NORMAL, "DeletedHeadPod", f"Deleted head Pod {name}")
    raise ReconcileError(reason)


def _should_skip_head_pod_restart(cluster: RayCluster) -> bool:
    """Mirrors ``shouldSkipHeadPodRestart`` and the condition beside it."""
    provisioned = is_status_condition_true(cluster.status.conditions, PROVISIONED)
    annotations = cluster.metadata.annotations
    return provisioned and annotations.get(DISABLE_PROVISIONED_HEAD_RESTART) == "true"


def create_head_pod(tools: Tools, cluster: RayCluster) -> Steps[None]:
    """Create the head, then remember it; a create that failed is not remembered.

    Mirrors ``createHeadPod``.
    """
    try:
        pod = yield from tools.client.create(build_head_pod(tools, cluster))
    except FAILURES as error:
        tools.event(
            cluster, WARNING, "FailedToCreateHeadPod", f"Failed to create head Pod: {error}"
        )
        raise ReplicaFailureError("FailedCreateHeadPod", error) from error
    tools.expectations.expect_scale_pod(
        pod.metadata.namespace,
        cluster.metadata.name,
        HEAD_GROUP,
        pod.metadata.name,
        ScaleAction.CREATE,
    )
    tools.event(cluster, NORMAL, "CreatedHeadPod", f"Created head Pod {pod.metadata.name}")
