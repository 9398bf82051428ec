"""The Services of a RayCluster: one before the head, one without an address for several hosts.

Mirrors ``raycluster_controller.go: reconcileHeadService`` and ``reconcileHeadlessService`` (KubeRay
v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import ObjectMeta, Service, ServiceSpec
from kubequeue.errors import ReconcileError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.pods import CLUSTER, HEAD, NODE_TYPE, owned_by
from kubequeue.kuberay.raycluster_types import RayCluster
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools

HEADLESS = "ray.io/headless-worker-svc"


def head_service_name(owner: str) -> str:
    """Mirrors ``util.go: GenerateHeadServiceName``.

    >>> head_service_name("a")
    'a-head-svc'
    """
    return f"{owner}-{HEAD}-svc"


def list_head_services(tools: Tools, cluster: RayCluster) -> list[Service]:
    """The head Services that the cache has. A plain read."""
    labels = {CLUSTER: cluster.metadata.name, NODE_TYPE: HEAD}
    return list(tools.client.list(Service, cluster.metadata.namespace, labels=labels))


def reconcile_head_service(tools: Tools, cluster: RayCluster) -> Steps[None]:
    """Create the head Service where the cache has none.

    There is no memory of this write: before the cache shows it, another round is refused by the
    name that is taken. Raises the failed write, or `ReconcileError` for two Services.
    """
    services = list_head_services(tools, cluster)
    if len(services) > 1:
        names = [service.metadata.name for service in services]
        raise ReconcileError(f"{len(services)} head service found {names}")
    if not services:
        yield from _create_service(tools, cluster, build_service_for_head_pod(cluster))


def build_service_for_head_pod(cluster: RayCluster) -> Service:
    """Mirrors ``service.go: BuildServiceForHeadPod`` (controllers/ray/common)."""
    labels = {CLUSTER: cluster.metadata.name, NODE_TYPE: HEAD}
    name = head_service_name(cluster.metadata.name)
    meta = ObjectMeta(name=name, namespace=cluster.metadata.namespace, labels=labels)
    return Service(meta, ServiceSpec(labels))


def reconcile_headless_service(tools: Tools, cluster: RayCluster) -> Steps[None]:
    """Create the Service that replicas of several hosts find each other by, if there are any."""
    if all(group.num_of_hosts <= 1 for group in cluster.spec.worker_group_specs):
        return
    name, namespace = cluster.metadata.name, cluster.metadata.namespace
    service_name = f"{name}-headless"
    labels = {CLUSTER: name, HEADLESS: service_name}
    if not tools.client.list(Service, namespace, labels=labels):
        meta = ObjectMeta(name=service_name, namespace=namespace, labels=labels)
        yield from _create_service(tools, cluster, Service(meta, ServiceSpec({CLUSTER: name})))


def _create_service(tools: Tools, cluster: RayCluster, service: Service) -> Steps[None]:
    """Mirrors ``createService``."""
    owners = owned_by(cluster.kind, cluster.metadata)
    name = service.metadata.name
    try:
        yield from tools.client.create(
            replace(service, metadata=replace(service.metadata, owner_references=owners))
        )
    except FAILURES as error:
        told = f"Failed creating service {name}: {error}"
        tools.event(cluster, WARNING, "FailedToCreateService", told)
        raise
    tools.event(cluster, NORMAL, "CreatedService", f"Created service {name}")
