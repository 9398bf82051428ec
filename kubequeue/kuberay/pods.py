"""The Pods of a RayCluster: how they are labelled, listed, built, judged and deleted.

Mirrors controllers/ray/common/association.go and the helpers of raycluster_controller.go (KubeRay
v1.7.0).
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, OwnerReference, Pod, PodSpec
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.raycluster_types import (
    HeadGroupSpec,
    RayCluster,
    RayClusterSpec,
    WorkerGroupSpec,
)
from kubequeue.kuberay.tools import Steps, Tools

CLUSTER = "ray.io/cluster"
NODE_TYPE = "ray.io/node-type"
GROUP = "ray.io/group"
REPLICA_NAME = "ray.io/worker-group-replica-name"
REPLICA_INDEX = "ray.io/worker-group-replica-index"
SERVE = "ray.io/serve"
ORIGINATED_FROM_CRD = "ray.io/originated-from-crd"
ORIGINATED_FROM_NAME = "ray.io/originated-from-cr-name"
UPGRADE_HASH = "ray.io/upgrade-strategy-recreate-hash"
VERSION = "ray.io/kuberay-version"
"""Labels and annotations, as KubeRay writes them."""

HEAD, WORKER = "head", "worker"
HEAD_GROUP_LABEL = "headgroup"
_MAX_PREFIX = 50


def list_pods(tools: Tools, cluster: RayCluster, **labels: str) -> list[Pod]:
    """The Pods of a RayCluster that the cache has, by label and not by owner. A plain read.

    ``node_type`` and ``group`` narrow it down. Mirrors ``association.go:
    RayClusterAllPodsAssociationOptions``, ``RayClusterHeadPodsAssociationOptions`` and
    ``RayClusterGroupPodsAssociationOptions``.
    """
    selector = _selector(cluster, labels)
    pods = list(tools.client.list(Pod, cluster.metadata.namespace, labels=selector))
    if tools.options.drawn_list_order:
        tools.sim.stream("kuberay/list_order").shuffle(pods)
    return pods


def _selector(cluster: RayCluster, labels: dict[str, str]) -> dict[str, str]:
    names = {"node_type": NODE_TYPE, "group": GROUP}
    return {CLUSTER: cluster.metadata.name} | {names[n]: value for n, value in labels.items()}


def delete_all_pods(tools: Tools, cluster: RayCluster, **labels: str) -> Steps[None]:
    """Delete every Pod of a selection that the server has, if the cache has one to delete.

    Go sends one DeleteAllOf; here it is a list of the server and a delete for each Pod, so it takes
    more time and more tokens. No record is made of it. Mirrors ``raycluster_controller.go:
    deleteAllPods``.
    """
    cached = list_pods(tools, cluster, **labels)
    if all(pod.metadata.deletion_timestamp is not None for pod in cached):
        return
    namespace, selector = cluster.metadata.namespace, _selector(cluster, labels)
    found = yield from tools.client.live.list(Pod, namespace, selector)
    for pod in found.items:
        if pod.metadata.deletion_timestamp is None:
            with suppress(NotFoundError):
                yield from tools.client.delete(Pod, key(pod))


def key(pod: Pod) -> NamespacedName:
    """The key of a Pod."""
    return NamespacedName(pod.metadata.namespace, pod.metadata.name)


def should_delete_pod(pod: Pod, node_type: str) -> tuple[bool, str]:
    """Whether a Pod cannot come back by itself, and why or why not.

    Mirrors ``raycluster_controller.go: shouldDeletePod``.
    """
    name, phase, policy = pod.metadata.name, pod.status.phase, pod.spec.restart_policy
    if phase in ("Failed", "Succeeded"):
        return True, (
            f"The {node_type} Pod {name} status is {phase} which is a terminal state. KubeRay "
            "will delete the Pod and create new Pods in the next reconciliation if necessary."
        )
    if phase == "Running" and pod.status.terminated:
        told = f"The {node_type} Pod {name} is {phase} and its Ray container has terminated. "
        if policy == "Never":
            return True, f"{told}Its restart policy is {policy}, so KubeRay will delete it."
        return False, f"{told}Its restart policy is {policy}, so it should restart by itself."
    return False, f"KubeRay does not need to delete the {node_type} Pod {name}, which is {phase}."


def build_head_pod(tools: Tools, cluster: RayCluster) -> Pod:
    """Mirrors ``buildHeadPod``, with the annotations that ``createHeadPod`` adds."""
    head = cluster.spec.head_group_spec
    prefix = pod_name(cluster.metadata.name, HEAD)
    fixed = tools.options.deterministic_head_pod_name
    annotations = {
        UPGRADE_HASH: generate_hash_without_replicas_and_workers_to_delete(cluster.spec),
        VERSION: tools.options.version,
    }
    meta = _meta(cluster, HEAD, HEAD_GROUP_LABEL, prefix if fixed else f"{prefix}-", fixed)
    serves = {SERVE: "false"} if creator_of(cluster.metadata) == "RayService" else {}
    return _pod(replace(meta, annotations=annotations, labels={**meta.labels, **serves}), head)


def build_worker_pod(
    cluster: RayCluster, group: WorkerGroupSpec, more_labels: dict[str, str] | None = None
) -> Pod:
    """Mirrors ``buildWorkerPod``; ``more_labels`` name the replica of a multi-host group."""
    prefix = pod_name(f"{cluster.metadata.name}-{group.group_name}", WORKER)
    meta = _meta(cluster, WORKER, group.group_name, f"{prefix}-", False)
    serves = {SERVE: "true"} if creator_of(cluster.metadata) == "RayService" else {}
    labels = {**meta.labels, **serves, **(more_labels or {})}
    return _pod(replace(meta, labels=labels), group)


def pod_name(prefix: str, node_type: str) -> str:
    """Mirrors ``util.go: PodName``.

    >>> pod_name("a-small", "worker")
    'a-small-worker'
    """
    return f"{prefix[:_MAX_PREFIX]}-{node_type}".lower()


def creator_of(meta: ObjectMeta) -> str:
    """The kind that a RayCluster was made for; empty for a user's own.

    Mirrors ``raycluster_controller.go: getCreatorCRDType``.
    """
    return meta.labels.get(ORIGINATED_FROM_CRD, "")


def owned_by(owner_kind: str, meta: ObjectMeta) -> tuple[OwnerReference, ...]:
    """The reference to a controller of that kind. Mirrors ``SetControllerReference``."""
    return (OwnerReference(owner_kind, meta.name, meta.uid),)


def _meta(
    cluster: RayCluster, node_type: str, group: str, name: str, is_whole_name: bool
) -> ObjectMeta:
    """Mirrors ``pod.go: labelPod`` (controllers/ray/common), for the labels that are looked at."""
    return ObjectMeta(
        name=name if is_whole_name else "",
        generate_name="" if is_whole_name else name,
        namespace=cluster.metadata.namespace,
        labels={CLUSTER: cluster.metadata.name, NODE_TYPE: node_type, GROUP: group},
        owner_references=owned_by(cluster.kind, cluster.metadata),
    )


def _pod(meta: ObjectMeta, group: HeadGroupSpec | WorkerGroupSpec) -> Pod:
    """Mirrors ``pod.go: BuildPod`` (controllers/ray/common); ``meta`` has its serve label."""
    return Pod(meta, PodSpec(restart_policy=group.restart_policy))


def generate_hash_without_replicas_and_workers_to_delete(spec: RayClusterSpec) -> str:
    """A text that is equal for specs that differ only in what scaling changes.

    Mirrors ``util.go: GenerateHashWithoutReplicasAndWorkersToDelete``.
    """
    groups = tuple(
        replace(
            group,
            replicas=0,
            min_replicas=0,
            max_replicas=0,
            scale_strategy_workers_to_delete=(),
        )
        for group in spec.worker_group_specs
    )
    muted = replace(spec, worker_group_specs=groups, upgrade_strategy="")
    return hashlib.sha1(repr(muted).encode()).hexdigest()


def should_recreate_pods_for_upgrade(tools: Tools, cluster: RayCluster) -> Steps[bool]:
    """Whether the head was made from another spec and the strategy is Recreate.

    A head made by another version of the operator gets the new hash instead. Mirrors
    ``raycluster_controller.go: shouldRecreatePodsForUpgrade``.
    """
    if cluster.spec.upgrade_strategy != "Recreate":
        return False
    wanted = generate_hash_without_replicas_and_workers_to_delete(cluster.spec)
    for head in list_pods(tools, cluster, node_type=HEAD)[:1]:
        noted = head.metadata.annotations
        if noted.get(VERSION, "") not in ("", tools.options.version):
            new = {**noted, UPGRADE_HASH: wanted, VERSION: tools.options.version}
            with suppress(*FAILURES):  # Go logs it and goes on
                yield from tools.client.update(
                    replace(head, metadata=replace(head.metadata, annotations=new))
                )
            return False
        return noted.get(UPGRADE_HASH, "") not in ("", wanted)
    return False
