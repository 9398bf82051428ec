"""Worker groups whose replicas have several hosts: replicas come and go as a whole.

Mirrors ``raycluster_controller.go: reconcileMultiHostWorkerGroup`` (KubeRay v1.7.0, where the
feature gate RayMultiHostIndexing is on by default).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count

from kubequeue.cluster.objects import Pod
from kubequeue.errors import NotFoundError, ReconcileError
from kubequeue.kuberay.failures import ReplicaFailureError
from kubequeue.kuberay.pods import (
    REPLICA_INDEX,
    REPLICA_NAME,
    WORKER,
    build_worker_pod,
    should_delete_pod,
)
from kubequeue.kuberay.raycluster_types import RayCluster, WorkerGroupSpec, desired_replicas
from kubequeue.kuberay.tools import Steps, Tools
from kubequeue.kuberay.worker_writes import create_worker_pod, delete_worker_pod

Replicas = dict[str, list[Pod]]
"""The Pods of each replica, by the replica's name."""


def reconcile_multi_host_worker_group(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, pods: Sequence[Pod]
) -> Steps[None]:
    """Bring a group to its number of whole replicas. Raises what ends the round."""
    replicas = _by_replica(pods)
    yield from _delete_incomplete(tools, cluster, group, replicas)
    found = dict(replicas)
    yield from _delete_unhealthy(tools, cluster, group, replicas)
    yield from _delete_workers_to_delete(tools, cluster, group, found)
    diff = desired_replicas(group) // group.num_of_hosts - len(replicas)
    if diff > 0:
        yield from _create_replicas(tools, cluster, group, replicas, diff)
    elif not cluster.spec.enable_in_tree_autoscaling or tools.options.enable_random_pod_delete:
        for name in list(replicas)[: max(-diff, 0)]:
            yield from _delete_pods(tools, cluster, group, replicas[name])


def _by_replica(pods: Iterable[Pod]) -> Replicas:
    replicas: Replicas = {}
    for pod in pods:
        if REPLICA_NAME in pod.metadata.labels:
            replicas.setdefault(pod.metadata.labels[REPLICA_NAME], []).append(pod)
    return replicas


def _delete_pods(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, pods: Iterable[Pod]
) -> Steps[None]:
    """Delete each Pod, passing over those that are gone. Mirrors ``deletePods``."""
    for pod in pods:
        try:
            yield from delete_worker_pod(tools, cluster, group, pod.metadata.name)
        except ReplicaFailureError as error:
            if not isinstance(error.__cause__, NotFoundError):
                raise


def _delete_incomplete(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, replicas: Replicas
) -> Steps[None]:
    """A replica that lost a host goes as a whole, and the round ends."""
    for name, pods in replicas.items():
        if len(pods) < group.num_of_hosts:
            yield from _delete_pods(tools, cluster, group, pods)
            raise ReconcileError(f"cleaned up incomplete replica group {name}, requeueing")


def _delete_unhealthy(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, replicas: Replicas
) -> Steps[None]:
    """A replica with an unhealthy host goes as a whole and counts no more; the round goes on."""
    unhealthy = [
        name
        for name, pods in replicas.items()
        if any(should_delete_pod(pod, WORKER)[0] for pod in pods)
    ]
    for name in unhealthy:
        yield from _delete_pods(tools, cluster, group, replicas.pop(name))


def _delete_workers_to_delete(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, replicas: Replicas
) -> Steps[None]:
    """The replicas of the Pods that the autoscaler named; after any of them the round ends."""
    named = set(group.scale_strategy_workers_to_delete)
    chosen = [
        pod
        for pods in replicas.values()
        if any(pod.metadata.name in named for pod in pods)
        for pod in pods
    ]
    yield from _delete_pods(tools, cluster, group, chosen)
    if chosen:
        raise ReconcileError(
            f"deleted {len(chosen)} worker Pods based on ScaleStrategy, requeueing"
        )


def _create_replicas(
    tools: Tools, cluster: RayCluster, group: WorkerGroupSpec, replicas: Replicas, number: int
) -> Steps[None]:
    """Whole replicas, each with the lowest index that is free."""
    taken = {pods[0].metadata.labels.get(REPLICA_INDEX) for pods in replicas.values()}
    free = (index for index in count() if str(index) not in taken)
    for _ in range(number):
        name = tools.random_name(group.group_name)
        labels = {REPLICA_NAME: name, REPLICA_INDEX: str(next(free))}
        for _ in range(group.num_of_hosts):
            pod = build_worker_pod(cluster, group, labels)
            yield from create_worker_pod(tools, cluster, group, pod)
