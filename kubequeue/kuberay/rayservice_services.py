"""What a RayService serves by: its Services, the label of the head, and how many Pods answer.

Mirrors ``rayservice_controller.go: reconcileServicesToReadyCluster``, ``updateHeadPodServeLabel``
and ``calculateNumServeEndpointsFromSlices`` (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, Pod, Service, key_of
from kubequeue.errors import NotFoundError, ReconcileError
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.owned_services import reconcile_head_service_of, reconcile_owned_service
from kubequeue.kuberay.pods import CLUSTER, HEAD, SERVE, list_pods
from kubequeue.kuberay.raycluster_status import is_running_and_ready
from kubequeue.kuberay.raycluster_types import RayCluster
from kubequeue.kuberay.rayservice_types import RayService
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools


def serve_service_name(service: str) -> str:
    """Mirrors ``util.go: GenerateServeServiceName``.

    >>> serve_service_name("s")
    's-serve-svc'
    """
    return f"{service}-serve-svc"


def reconcile_services_to_ready_cluster(
    tools: Tools, service: RayService, cluster: RayCluster
) -> Steps[None]:
    """Both Services, each made or turned to the cluster. Raises the failed write."""
    yield from reconcile_head_service_of(tools, service, cluster)
    name = serve_service_name(service.metadata.name)
    selector = {CLUSTER: cluster.metadata.name, SERVE: "true"}
    yield from reconcile_owned_service(tools, service, name, selector)


def update_head_pod_serve_label(
    tools: Tools, dashboards: Dashboards, service: RayService, cluster: RayCluster | None
) -> Steps[None]:
    """Ask the head's proxy whether it serves, and label the head with the answer when it changed.

    The worker is held until the proxy answers or the client gives up. Raises `ReconcileError` while
    the cache has no head, and the failed write. Mirrors ``updateHeadPodServeLabel``.
    """
    if cluster is None:
        return
    heads = list_pods(tools, cluster, node_type=HEAD)
    if len(heads) != 1:
        raise ReconcileError(f"found {len(heads)} head. cluster name {cluster.metadata.name}")
    healthy = yield from dashboards.check_proxy_actor_health(key_of(cluster))
    label, head = str(healthy).lower(), heads[0]
    if head.metadata.labels.get(SERVE) == label:
        return
    meta = replace(head.metadata, labels={**head.metadata.labels, SERVE: label})
    told = f"the serve label to {label!r} for the Head Pod {head.metadata.name}"
    try:
        yield from tools.client.update(replace(head, metadata=meta))
    except FAILURES as error:
        failed = f"Failed to update {told}: {error}"
        tools.event(service, WARNING, "FailedToUpdateHeadPodServeLabel", failed)
        raise
    tools.event(service, NORMAL, "UpdatedHeadPodServeLabel", f"Updated {told}")


def calculate_num_serve_endpoints(tools: Tools, service: RayService) -> int:
    """How many ready Pods are behind the serve Service, as the cache has both. A plain read.

    Go reads EndpointSlices; here the Service's selector is followed.
    """
    namespace = service.metadata.namespace
    key = NamespacedName(namespace, serve_service_name(service.metadata.name))
    try:
        selector = tools.client.get(Service, key).spec.selector
    except NotFoundError:
        return 0
    pods = tools.client.list(Pod, namespace, labels=selector)
    return sum(
        is_running_and_ready(pod) and pod.metadata.deletion_timestamp is None for pod in pods
    )
