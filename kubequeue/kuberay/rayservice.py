"""One round of a RayService: the cluster that serves, the one that is prepared, and the switch.

Mirrors ``rayservice_controller.go: Reconcile`` (KubeRay v1.7.0) for the upgrade strategies
NewCluster and None.
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, key_of
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.conditions import is_status_condition_true
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.raycluster_types import HEAD_POD_READY, RayCluster
from kubequeue.kuberay.rayservice_clusters import RayServiceClusters, should_prepare_new_cluster
from kubequeue.kuberay.rayservice_initializing import is_initializing_timeout
from kubequeue.kuberay.rayservice_services import (
    reconcile_services_to_ready_cluster,
    update_head_pod_serve_label,
)
from kubequeue.kuberay.rayservice_status import (
    Seen,
    calculate_status,
    inconsistent_ray_service_statuses,
    validation_failed,
)
from kubequeue.kuberay.rayservice_types import RayService, RayServiceStatuses
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools, managed_by_external_controller
from kubequeue.kuberay.validation import validate_ray_service
from kubequeue.runtime.reconcile import Request, Result

SERVICE_DEFAULT_REQUEUE_DURATION = 2.0
RAY_SERVICE_FINALIZER = "ray.io/rayservice-finalizer"

Applications = tuple[tuple[str, str], ...]
COME_BACK = Result(requeue_after=SERVICE_DEFAULT_REQUEUE_DURATION)
DONE = Result()


class RayServiceReconciler:
    """The reconciler of RayServices; its memory is what was sent to which cluster.

    Mirrors ``rayservice_controller.go: RayServiceReconciler``.
    """

    def __init__(self, tools: Tools, dashboards: Dashboards) -> None:
        self._tools = tools
        self._dashboards = dashboards
        self._clusters = RayServiceClusters(tools)
        self._serve_configs: dict[NamespacedName, str] = {}

    def reconcile(self, request: Request) -> Steps[Result]:
        """One round; it asks for the next in 2 s, always. Mirrors ``Reconcile``."""
        try:
            service = self._tools.client.get(RayService, NamespacedName.parse(request))
        except NotFoundError:
            return DONE
        try:
            return (yield from self._reconcile(service))
        except FAILURES as error:
            return Result(requeue_after=SERVICE_DEFAULT_REQUEUE_DURATION, error=error)

    def _reconcile(self, service: RayService) -> Steps[Result]:
        if managed_by_external_controller(service.spec.managed_by):
            return DONE
        to_clean = yield from self._clusters.clean_up_ray_cluster_instance(service)
        if service.metadata.deletion_timestamp is not None:
            return COME_BACK if to_clean else (yield from self._finalize(service))
        if RAY_SERVICE_FINALIZER not in service.metadata.finalizers:
            finalizers = (*service.metadata.finalizers, RAY_SERVICE_FINALIZER)
            yield from self._set_finalizers(service, finalizers)
            return COME_BACK
        if (problem := validate_ray_service(service)) is not None:
            return (yield from self._refuse(service, *problem))
        if is_initializing_timeout(service):
            return COME_BACK if to_clean else DONE
        try:
            active, pending = yield from self._clusters.reconcile_ray_cluster(service)
        except NotFoundError:  # Go: client.IgnoreNotFound
            return COME_BACK
        seen = yield from self._look(service, active, pending)
        status = calculate_status(self._tools, service, seen)
        if inconsistent_ray_service_statuses(service.status, status):
            yield from self._write(service, status)
        return COME_BACK

    def _look(
        self, service: RayService, active: RayCluster | None, pending: RayCluster | None
    ) -> Steps[Seen]:
        """Make or change the clusters, ask Serve on one of them, point the Services at it."""
        for cluster in (active, pending):
            yield from update_head_pod_serve_label(self._tools, self._dashboards, service, cluster)
        serving: RayCluster | None = None
        applications: Applications = ()
        asked = pending
        if pending is None and active is not None:
            asked = None if should_prepare_new_cluster(service, active, None, False) else active
        if asked is not None:
            is_ready, applications = yield from self._reconcile_serve(service, asked)
            serving = asked if is_ready else None
        points_to = ""
        if serving is not None:
            yield from reconcile_services_to_ready_cluster(self._tools, service, serving)
            points_to = serving.metadata.name
        return Seen(active, pending, asked is pending, applications, points_to)

    def _reconcile_serve(
        self, service: RayService, cluster: RayCluster
    ) -> Steps[tuple[bool, Applications]]:
        """Ask the dashboard how Serve is, and send it the config that it lacks.

        The worker is held until the answers are there. What was sent last to a cluster is in
        memory. Mirrors ``reconcileServe``, ``getAndCheckServeStatus``,
        ``checkIfNeedSubmitServeApplications`` and ``updateServeDeployment``; the memory
        ``getServeConfigFromCache`` and ``cacheServeConfig``.
        """
        if not is_status_condition_true(cluster.status.conditions, HEAD_POD_READY):
            return False, ()
        key, config = key_of(cluster), service.spec.serve_config
        found = yield from self._dashboards.get_multi_application_status(key)
        if not found or self._serve_configs.get(key) != config:
            try:
                yield from self._dashboards.update_deployments(key, config)
            except FAILURES as error:
                told = f"Failed to update serve applications to the RayCluster {key}: {error}"
                self._tools.event(service, WARNING, "FailedToUpdateServeApplications", told)
                raise
            self._serve_configs[key] = config
            told = f"Updated serve applications to the RayCluster {key}"
            self._tools.event(service, NORMAL, "UpdatedServeApplications", told)
        return bool(found) and all(status == "RUNNING" for _, status in found), found

    def _finalize(self, service: RayService) -> Steps[Result]:
        finalizers = service.metadata.finalizers
        left = tuple(name for name in finalizers if name != RAY_SERVICE_FINALIZER)
        yield from self._set_finalizers(service, left)
        return DONE

    def _set_finalizers(self, service: RayService, finalizers: tuple[str, ...]) -> Steps[None]:
        meta = replace(service.metadata, finalizers=finalizers)
        yield from self._tools.client.update(replace(service, metadata=meta))

    def _refuse(self, service: RayService, reason: str, problem: str) -> Steps[Result]:
        """An invalid RayService says so in a condition, and is left alone."""
        self._tools.event(service, WARNING, reason, problem)
        status = validation_failed(service.status, problem, self._tools.sim.now)
        yield from self._write(service, status)
        return DONE

    def _write(self, service: RayService, status: RayServiceStatuses) -> Steps[None]:
        status = replace(status, last_update_time=self._tools.sim.now)
        yield from self._tools.client.update_status(replace(service, status=status))
