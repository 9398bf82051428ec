"""One round of a RayCluster, from reading it to saying when to look again.

Mirrors ``raycluster_controller.go: Reconcile`` and ``rayClusterReconcile`` (KubeRay v1.7.0). What
it calls is in ``raycluster_services``, ``raycluster_pods``, ``raycluster_workers``,
``raycluster_multihost`` and ``raycluster_status``.
"""

from __future__ import annotations

from collections.abc import Callable

from kubequeue.cluster.objects import NamespacedName
from kubequeue.errors import NotFoundError, ReconcileError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.raycluster_pods import reconcile_pods
from kubequeue.kuberay.raycluster_services import (
    reconcile_head_service,
    reconcile_headless_service,
)
from kubequeue.kuberay.raycluster_status import calculate_status, update_ray_cluster_status
from kubequeue.kuberay.raycluster_types import RayCluster
from kubequeue.kuberay.tools import WARNING, Steps, Tools, managed_by_external_controller
from kubequeue.kuberay.validation import (
    validate_ray_cluster_metadata,
    validate_ray_cluster_spec,
    validate_ray_cluster_status,
    validate_ray_cluster_upgrade_options,
)
from kubequeue.runtime.reconcile import Request, Result

DEFAULT_REQUEUE_DURATION = 2.0
"""Seconds until the next round after a change of status or an error; see `Result`."""

RECONCILE_FUNCS: tuple[Callable[[Tools, RayCluster], Steps[None]], ...] = (
    reconcile_head_service,
    reconcile_headless_service,
    reconcile_pods,
)
"""The acts of a round, in order; the first that fails ends them.

Go has seven more: the autoscaler's account, role and binding, ingress, authentication secret, serve
service, storage claim. What they are for is not in the model; where Go would write something (with
the autoscaler its account, role and binding, with an annotation a serve service), nothing is.
"""


class RayClusterReconciler:
    """The reconciler of RayClusters; all its workers share one.

    Mirrors ``raycluster_controller.go: RayClusterReconciler``.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def reconcile(self, request: Request) -> Steps[Result]:
        """One round; what is gone is forgotten.

        Mirrors ``Reconcile`` and ``cleanUpRayClusterMetrics``.
        """
        key = NamespacedName.parse(request)
        try:
            cluster = self._tools.client.get(RayCluster, key)
        except NotFoundError:
            self._tools.expectations.delete(key.name, key.namespace)
            self._tools.observer.cluster_gone(key.name, key.namespace)
            return Result()
        return (yield from self.ray_cluster_reconcile(cluster))

    def ray_cluster_reconcile(self, cluster: RayCluster) -> Steps[Result]:
        """A round of a RayCluster that is there. Mirrors ``rayClusterReconcile``.

        A change of status or an error asks for another round in 2 s, which counts only without an
        error; otherwise the next one is in 300 s.
        """
        tools = self._tools
        if managed_by_external_controller(cluster.spec.managed_by):
            return Result()
        if (refused := self._validate(cluster)) is not None:
            return refused
        if cluster.metadata.deletion_timestamp is not None:
            return Result()
        error = yield from self._reconcile_funcs(cluster)
        inconsistent = False
        try:
            status = calculate_status(tools, cluster, error)
            inconsistent = yield from update_ray_cluster_status(tools, cluster, status)
        except FAILURES as failure:
            error = error or failure
        if error is not None or inconsistent:
            return Result(requeue_after=DEFAULT_REQUEUE_DURATION, error=error)
        return Result(requeue_after=tools.options.requeue_seconds)

    def _validate(self, cluster: RayCluster) -> Result | None:
        """What the operator does not work on gets an Event and no other round."""
        problems = {
            "InvalidRayClusterMetadata": validate_ray_cluster_metadata(cluster.metadata),
            "InvalidRayClusterSpec": validate_ray_cluster_spec(cluster.spec)
            or validate_ray_cluster_upgrade_options(cluster),
            "InvalidRayClusterStatus": validate_ray_cluster_status(cluster),
        }
        for reason, problem in problems.items():
            if problem is not None:
                self._tools.event(cluster, WARNING, reason, problem)
                if reason != "InvalidRayClusterStatus":
                    return Result()
                error = ReconcileError(problem)
                return Result(requeue_after=DEFAULT_REQUEUE_DURATION, error=error)
        return None

    def _reconcile_funcs(self, cluster: RayCluster) -> Steps[Exception | None]:
        for reconcile in RECONCILE_FUNCS:
            try:
                yield from reconcile(self._tools, cluster)
            except FAILURES as error:
                return error
        return None
