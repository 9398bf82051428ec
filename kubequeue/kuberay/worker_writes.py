"""The two writes of worker Pods, each remembered after it succeeded.

Mirrors ``createWorkerPod`` and the deletes of raycluster_controller.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from kubequeue.cluster.objects import NamespacedName, Pod
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.expectations import ScaleAction
from kubequeue.kuberay.failures import FAILURES, ReplicaFailureError
from kubequeue.kuberay.raycluster_types import RayCluster, WorkerGroupSpec
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools


def create_worker_pod(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, pod: Pod
) -> Steps[None]:
    """Create one Pod and remember it. Raises `ReplicaFailureError`.

    Mirrors ``createWorkerPod``, and ``createWorkerPodWithIndex`` for a Pod of several hosts.
    """
    try:
        created = yield from tools.client.create(pod)
    except FAILURES as error:
        tools.event(
            cluster, WARNING, "FailedToCreateWorkerPod", f"Failed to create worker Pod: {error}"
        )
        raise ReplicaFailureError("FailedCreateWorkerPod", error) from error
    _remember(tools, cluster, group, created.metadata.name, ScaleAction.CREATE)
    told = f"Created worker Pod {created.metadata.name}"
    tools.event(cluster, NORMAL, "CreatedWorkerPod", told)


def delete_worker_pod(
    tools: Tools,
    cluster: RayCluster,
    group: WorkerGroupSpec,
    name: str,
    *,
    tells_not_found: bool = False,
) -> Steps[None]:
    """Delete one Pod and remember it.

    Raises `ReplicaFailureError`, whose cause is a `NotFoundError` when the Pod is gone already:
    whether that is a failure differs from caller to caller.
    """
    try:
        yield from tools.client.delete(Pod, NamespacedName(cluster.metadata.namespace, name))
    except FAILURES as error:
        if tells_not_found or not isinstance(error, NotFoundError):
            told = f"Failed deleting worker Pod {name}: {error}"
            tools.event(cluster, WARNING, "FailedToDeleteWorkerPod", told)
        raise ReplicaFailureError("FailedDeleteWorkerPod", error) from error
    _remember(tools, cluster, group, name, ScaleAction.DELETE)
    tools.event(cluster, NORMAL, "DeletedWorkerPod", f"Deleted worker Pod {name}")


def _remember(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, pod: str, action: ScaleAction
) -> None:
    tools.expectations.expect_scale_pod(
        cluster.metadata.namespace, cluster.metadata.name, group.group_name, pod, action
    )
