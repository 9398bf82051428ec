"""The conditions of a RayCluster: is the head ready, was all provisioned once, is it suspended.

Mirrors the part of ``raycluster_controller.go: calculateStatus`` behind the feature gate
RayClusterStatusConditions (KubeRay v1.7.0, on by default).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import Pod
from kubequeue.kuberay.conditions import (
    Condition,
    Conditions,
    is_status_condition_true,
    set_status_condition,
)
from kubequeue.kuberay.raycluster_pods import find_ray_cluster_suspend_status
from kubequeue.kuberay.raycluster_types import (
    HEAD_POD_READY,
    PROVISIONED,
    SUSPENDED_CONDITION,
    SUSPENDING_CONDITION,
    RayCluster,
)

ALL_READY_FIRST_TIME = "AllPodRunningAndReadyFirstTime"
PODS_PROVISIONING = "RayClusterPodsProvisioning"
"""Reasons of the condition ``RayClusterProvisioned``."""


def calculate_conditions(
    cluster: RayCluster,
    conditions: Conditions,
    head: Pod | None,
    pods: int,
    *,
    all_running: bool,
    now: float,
) -> Conditions:
    """The conditions after a round that found ``pods`` Pods. Pure."""
    suspend_status = find_ray_cluster_suspend_status(cluster)
    new = [find_head_pod_ready_condition(head)]
    provisioned = is_status_condition_true(conditions, PROVISIONED)
    if not provisioned and suspend_status != SUSPENDED_CONDITION:
        new.append(_provisioned(all_running))
    new += _suspend_conditions(cluster, suspend_status, pods)
    for condition in new:
        stamped = replace(condition, last_transition_time=now)
        conditions = set_status_condition(conditions, stamped)
    return conditions


def find_head_pod_ready_condition(head: Pod | None) -> Condition:
    """What the head's own readiness makes of the condition.

    Mirrors ``util.go: FindHeadPodReadyCondition``.
    """
    if head is None:
        return Condition(HEAD_POD_READY, "False", "HeadPodNotFound", "Head Pod not found")
    if head.status.ready:
        return Condition(HEAD_POD_READY, "True", "HeadPodRunningAndReady")
    return Condition(HEAD_POD_READY, "False", "ContainersNotReady")


def _provisioned(all_running: bool) -> Condition:
    """True the first time that all Pods are ready; from then on it is left as it is."""
    if all_running:
        told = "All Ray Pods are ready for the first time"
        return Condition(PROVISIONED, "True", ALL_READY_FIRST_TIME, told)
    told = "RayCluster Pods are being provisioned for first time"
    return Condition(PROVISIONED, "False", PODS_PROVISIONING, told)


def _suspend_conditions(cluster: RayCluster, suspend_status: str, pods: int) -> list[Condition]:
    """One step on the way: suspending when asked, suspended when no Pod is left, and back."""
    if suspend_status == SUSPENDING_CONDITION:
        if pods:
            return []
        told = "RayCluster has been suspended"
        return [
            Condition(PROVISIONED, "False", PODS_PROVISIONING, told),
            _suspend(SUSPENDING_CONDITION, False),
            _suspend(SUSPENDED_CONDITION, True),
        ]
    if suspend_status == SUSPENDED_CONDITION:
        return [] if cluster.spec.suspend else [_suspend(SUSPENDED_CONDITION, False)]
    return [
        _suspend(SUSPENDED_CONDITION, False),
        _suspend(SUSPENDING_CONDITION, cluster.spec.suspend),
    ]


def _suspend(type_: str, holds: bool) -> Condition:
    return Condition(type_, str(holds), type_)
