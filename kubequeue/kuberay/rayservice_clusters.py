"""The RayClusters of a RayService: made under a name that its status holds, deleted with a delay.

Mirrors ``rayservice_controller.go: reconcileRayCluster``, ``cleanUpRayClusterInstance`` and
``shouldPrepareNewCluster`` (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, key_of
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.conditions import is_status_condition_true
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.pods import (
    ORIGINATED_FROM_CRD,
    ORIGINATED_FROM_NAME,
    VERSION,
    generate_hash_without_replicas_and_workers_to_delete,
    owned_by,
)
from kubequeue.kuberay.raycluster_types import RayCluster, RayClusterSpec
from kubequeue.kuberay.rayservice_types import NEW_CLUSTER, UPGRADE_IN_PROGRESS, RayService
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools

HASH = "ray.io/hash-without-replicas-and-workers-to-delete"
NUM_WORKER_GROUPS = "ray.io/num-worker-groups"


class RayServiceClusters:
    """What a RayService does with RayClusters; when each dangling one may go is in memory."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._deletion_times: dict[NamespacedName, float] = {}

    def clean_up_ray_cluster_instance(self, service: RayService) -> Steps[bool]:
        """Delete the clusters that neither serve nor are prepared, each after its delay.

        Gives whether there were any. Mirrors ``cleanUpRayClusterInstance``.
        """
        tools, status = self._tools, service.status
        is_deleted = service.metadata.deletion_timestamp is not None
        kept = (status.active_service_status, status.pending_service_status)
        names = [] if is_deleted else [each.ray_cluster_name for each in kept]
        labels = {ORIGINATED_FROM_NAME: service.metadata.name, ORIGINATED_FROM_CRD: service.kind}
        found = tools.client.list(RayCluster, service.metadata.namespace, labels=labels)
        dangling = [cluster for cluster in found if cluster.metadata.name not in names]
        for cluster in dangling:
            if is_deleted or self._may_go(service, cluster):
                yield from self._delete(service, cluster)
        return bool(dangling)

    def _may_go(self, service: RayService, cluster: RayCluster) -> bool:
        """The first look sets the time; a later one finds it passed or not.

        Mirrors ``RayClusterDeletionTimestamps`` in ``cleanUpRayClusterInstance``.
        """
        key, now = key_of(cluster), self._tools.sim.now
        if key in self._deletion_times:
            return now > self._deletion_times[key]
        self._deletion_times[key] = now + service.spec.ray_cluster_deletion_delay_seconds
        return False

    def _delete(self, service: RayService, cluster: RayCluster) -> Steps[None]:
        key = key_of(cluster)
        try:
            yield from self._tools.client.delete(RayCluster, key)
        except FAILURES as error:
            told = f"Failed to delete the RayCluster {key}: {error}"
            self._tools.event(service, WARNING, "FailedToDeleteRayCluster", told)
            raise
        self._tools.event(service, NORMAL, "DeletedRayCluster", f"Deleted the RayCluster {key}")

    def reconcile_ray_cluster(
        self, service: RayService
    ) -> Steps[tuple[RayCluster | None, RayCluster | None]]:
        """The active and the pending cluster; the pending one is made, either is changed in place.

        Mirrors ``reconcileRayCluster``.
        """
        status = service.status
        active = self._get(service, status.active_service_status.ray_cluster_name)
        pending = self._get(service, status.pending_service_status.ray_cluster_name)
        name = status.pending_service_status.ray_cluster_name
        if name and pending is None:
            return active, (yield from self._create(service, name))
        if _should_update_cluster(self._tools, service, active, True):
            active = yield from self._update(service, active, "active")
        if _should_update_cluster(self._tools, service, pending, False):
            pending = yield from self._update(service, pending, "pending")
        return active, pending

    def _get(self, service: RayService, name: str) -> RayCluster | None:
        if not name:
            return None
        try:
            key = NamespacedName(service.metadata.namespace, name)
            return self._tools.client.get(RayCluster, key)
        except NotFoundError:
            return None

    def _create(self, service: RayService, name: str) -> Steps[RayCluster]:
        """Mirrors ``createRayClusterInstance``."""
        try:
            created = yield from self._tools.client.create(self._construct(service, name))
        except FAILURES as error:
            told = f"Failed to create the RayCluster {name}: {error}"
            self._tools.event(service, WARNING, "FailedToCreateRayCluster", told)
            raise
        self._tools.event(service, NORMAL, "CreatedRayCluster", f"Created the RayCluster {name}")
        return created

    def _update(
        self, service: RayService, cluster: RayCluster | None, which: str
    ) -> Steps[RayCluster]:
        """Mirrors ``modifyRayCluster``: the spec, labels and annotations, but not ``suspend``."""
        assert cluster is not None
        goal = self._construct(service, cluster.metadata.name)
        meta = replace(
            cluster.metadata, labels=goal.metadata.labels, annotations=goal.metadata.annotations
        )
        spec = replace(goal.spec, suspend=cluster.spec.suspend)
        key = key_of(cluster)
        try:
            updated = yield from self._tools.client.update(
                replace(cluster, metadata=meta, spec=spec)
            )
        except FAILURES as error:
            told = f"Failed to update the {which} RayCluster {key}: {error}"
            self._tools.event(service, WARNING, "FailedToUpdateRayCluster", told)
            raise
        told = f"Updated the {which} RayCluster {key}"
        self._tools.event(service, NORMAL, "UpdatedRayCluster", told)
        return updated

    def _construct(self, service: RayService, name: str) -> RayCluster:
        """Mirrors ``constructRayClusterForRayService``."""
        meta, spec = service.metadata, service.spec.ray_cluster_spec
        origin = {ORIGINATED_FROM_NAME: meta.name, ORIGINATED_FROM_CRD: service.kind}
        noted = {
            HASH: generate_hash_without_replicas_and_workers_to_delete(
                ray_cluster_spec_for_hashing(service)
            ),
            NUM_WORKER_GROUPS: str(len(spec.worker_group_specs)),
            VERSION: self._tools.options.version,
        }
        return RayCluster(
            ObjectMeta(
                name=name,
                namespace=meta.namespace,
                labels={**meta.labels, **origin},
                annotations={**meta.annotations, **noted},
                owner_references=owned_by(service.kind, meta),
            ),
            spec,
        )


def ray_cluster_spec_for_hashing(service: RayService) -> RayClusterSpec:
    """The spec without ``suspend``, which is handed on only when a cluster is made.

    Mirrors ``rayClusterSpecForHashing``.
    """
    return replace(service.spec.ray_cluster_spec, suspend=False)


def _is_cluster_spec_hash_equal(service: RayService, cluster: RayCluster, partial: bool) -> bool:
    """Whether a cluster was made from this spec; ``partial``: or from its first worker groups.

    Mirrors ``isClusterSpecHashEqual``.
    """
    spec, noted = ray_cluster_spec_for_hashing(service), cluster.metadata.annotations
    if partial:
        number = int(noted.get(NUM_WORKER_GROUPS, "-1"))
        if number < 0:
            return True
        if len(spec.worker_group_specs) < number:
            return noted.get(HASH) == ""
        spec = replace(spec, worker_group_specs=spec.worker_group_specs[:number])
    return noted.get(HASH) == generate_hash_without_replicas_and_workers_to_delete(spec)


def _should_update_cluster(
    tools: Tools, service: RayService, cluster: RayCluster | None, is_active: bool
) -> bool:
    """Whether a cluster is to be changed in place. Mirrors ``shouldUpdateCluster``."""
    if cluster is None:
        return False
    if is_active:
        if is_status_condition_true(service.status.conditions, UPGRADE_IN_PROGRESS):
            return False
        if cluster.metadata.annotations.get(VERSION) != tools.options.version:
            return True
    if _is_cluster_spec_hash_equal(service, cluster, False):
        return False
    return _is_cluster_spec_hash_equal(service, cluster, True)


def should_prepare_new_cluster(
    service: RayService,
    active: RayCluster | None,
    pending: RayCluster | None,
    is_pending_cluster_serving: bool,
) -> bool:
    """Whether another cluster is to be made beside. Mirrors ``shouldPrepareNewCluster``."""
    if is_pending_cluster_serving:
        return False
    cluster = pending or active
    if cluster is None:
        return True
    if _is_cluster_spec_hash_equal(service, cluster, False):
        return False
    if _is_cluster_spec_hash_equal(service, cluster, True):
        return False
    return service.spec.upgrade_strategy == NEW_CLUSTER
