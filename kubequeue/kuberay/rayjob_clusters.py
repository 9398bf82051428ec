"""The RayCluster of a RayJob: found or made, and deleted when the job is suspended or over.

Mirrors ``rayjob_controller.go: getOrCreateRayClusterInstance`` and ``deleteClusterResources``
(KubeRay v1.7.0).
"""

from __future__ import annotations

from kubequeue.cluster.objects import NamespacedName, ObjectMeta
from kubequeue.errors import NotFoundError, ReconcileError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.pods import ORIGINATED_FROM_CRD, ORIGINATED_FROM_NAME, owned_by
from kubequeue.kuberay.raycluster_types import RayCluster, RayClusterSpec
from kubequeue.kuberay.rayjob_types import RayJob
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools


def _key(job: RayJob) -> NamespacedName:
    return NamespacedName(job.metadata.namespace, job.status.ray_cluster_name)


def get_or_create_ray_cluster_instance(tools: Tools, job: RayJob) -> Steps[RayCluster]:
    """The RayCluster of the job as the cache has it, or a new one.

    Raises the failed write (the name is taken while the cache lags), and `ReconcileError` when a
    selected RayCluster is not there.
    """
    try:
        return tools.client.get(RayCluster, _key(job))
    except NotFoundError:
        pass
    if job.spec.cluster_selector:
        told = f"RayCluster {_key(job)} set in the clusterSelector is not found"
        tools.event(job, WARNING, "RayClusterNotFound", f"{told}. It must be created manually")
        raise ReconcileError(told)
    try:
        created = yield from tools.client.create(_construct_ray_cluster_for_ray_job(job))
    except FAILURES as error:
        told = f"Failed to create RayCluster {_key(job)}: {error}"
        tools.event(job, WARNING, "FailedToCreateRayCluster", told)
        raise
    tools.event(job, NORMAL, "CreatedRayCluster", f"Created RayCluster {_key(job)}")
    return created


def _construct_ray_cluster_for_ray_job(job: RayJob) -> RayCluster:
    """Mirrors ``constructRayClusterForRayJob``."""
    meta = job.metadata
    origin = {ORIGINATED_FROM_NAME: meta.name, ORIGINATED_FROM_CRD: job.kind}
    return RayCluster(
        ObjectMeta(
            name=job.status.ray_cluster_name,
            namespace=meta.namespace,
            labels={**meta.labels, **origin},
            annotations=meta.annotations,
            owner_references=owned_by(job.kind, meta),
        ),
        job.spec.ray_cluster_spec or RayClusterSpec(),
    )


def delete_cluster_resources(tools: Tools, job: RayJob) -> Steps[bool]:
    """Delete the RayCluster; True once the cache has it no more.

    Mirrors ``deleteClusterResources``.
    """
    if job.spec.cluster_selector:
        return True
    try:
        cluster = tools.client.get(RayCluster, _key(job))
    except NotFoundError:
        return True
    if cluster.metadata.deletion_timestamp is None:
        try:
            yield from tools.client.delete(RayCluster, _key(job))
        except FAILURES as error:
            told = f"Failed to delete cluster {_key(job)}: {error}"
            tools.event(job, WARNING, "FailedToDeleteRayCluster", told)
            raise
        tools.event(job, NORMAL, "DeletedRayCluster", f"Deleted cluster {_key(job)}")
    return False
