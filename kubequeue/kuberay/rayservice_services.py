"""The two Services of a RayService, which are pointed at the cluster that serves.

Mirrors ``rayservice_controller.go: reconcileServices`` (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Pod, Service, ServiceSpec
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.pods import CLUSTER, HEAD, NODE_TYPE, owned_by
from kubequeue.kuberay.raycluster_services import head_service_name
from kubequeue.kuberay.raycluster_status import is_running_and_ready
from kubequeue.kuberay.raycluster_types import RayCluster
from kubequeue.kuberay.rayservice_types import RayService
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools


def serve_service_name(service: str) -> str:
    """Mirrors ``util.go: GenerateServeServiceName``."""
    return f"{service}-serve-svc"


def reconcile_services_to_ready_cluster(
    tools: Tools, service: RayService, cluster: RayCluster
) -> Steps[None]:
    """Both Services, each made or turned to the cluster. Raises the failed write."""
    name = service.metadata.name
    head = {CLUSTER: cluster.metadata.name, NODE_TYPE: HEAD}
    yield from _reconcile_services(tools, service, head_service_name(name), head)
    serve = {CLUSTER: cluster.metadata.name, "ray.io/serve": "true"}
    yield from _reconcile_services(tools, service, serve_service_name(name), serve)


def calculate_num_serve_endpoints(tools: Tools, service: RayService) -> int:
    """How many ready Pods are behind the serve Service, as the cache has both. A plain read.

    Go reads EndpointSlices; here every ready Pod of the cluster that it points to counts.
    Mirrors ``calculateNumServeEndpointsFromSlices``.
    """
    namespace = service.metadata.namespace
    key = NamespacedName(namespace, serve_service_name(service.metadata.name))
    try:
        cluster = tools.client.get(Service, key).spec.selector[CLUSTER]
    except NotFoundError:
        return 0
    pods = tools.client.list(Pod, namespace, labels={CLUSTER: cluster})
    return sum(is_running_and_ready(pod) for pod in pods)


def _reconcile_services(
    tools: Tools, owner: RayService, name: str, selector: dict[str, str]
) -> Steps[None]:
    """Write only when there is none, or when it points to another cluster."""
    namespace = owner.metadata.namespace
    spec = ServiceSpec(selector)
    try:
        old = tools.client.get(Service, NamespacedName(namespace, name))
    except NotFoundError:
        meta = ObjectMeta(
            name=name,
            namespace=namespace,
            owner_references=owned_by(owner.kind, owner.metadata),
        )
        yield from _write(tools, owner, Service(meta, spec), "Create")
        return
    if old.spec.selector.get(CLUSTER) != selector[CLUSTER]:
        yield from _write(tools, owner, replace(old, spec=spec), "Update")


def _write(tools: Tools, owner: RayService, service: Service, verb: str) -> Steps[None]:
    name = service.metadata.name
    try:
        if verb == "Create":
            yield from tools.client.create(service)
        else:
            yield from tools.client.update(service)
    except FAILURES as error:
        told = f"Failed to {verb.lower()} the service {name}: {error}"
        tools.event(owner, WARNING, f"FailedTo{verb}Service", told)
        raise
    tools.event(owner, NORMAL, f"{verb}dService", f"{verb}d the service {name}")
