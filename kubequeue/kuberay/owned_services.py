"""A Service of a RayJob or RayService, pointed at one of its RayClusters.

Mirrors ``reconcileServices`` of rayjob_controller.go and rayservice_controller.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Service, ServiceSpec
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.pods import CLUSTER, HEAD, NODE_TYPE, owned_by
from kubequeue.kuberay.raycluster_services import head_service_name
from kubequeue.kuberay.raycluster_types import RayCluster
from kubequeue.kuberay.rayjob_types import RayJob
from kubequeue.kuberay.rayservice_types import RayService
from kubequeue.kuberay.tools import NORMAL, WARNING, Steps, Tools

Owner = RayJob | RayService


def reconcile_head_service_of(tools: Tools, owner: Owner, cluster: RayCluster) -> Steps[None]:
    """The Service before the head of whichever cluster is the owner's now."""
    selector = {CLUSTER: cluster.metadata.name, NODE_TYPE: HEAD}
    name = head_service_name(owner.metadata.name)
    yield from reconcile_owned_service(tools, owner, name, selector)


def reconcile_owned_service(
    tools: Tools, owner: Owner, name: str, selector: dict[str, str]
) -> Steps[None]:
    """Write only when there is none, or when it points to another cluster.

    Raises the failed write.
    """
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


def _write(tools: Tools, owner: Owner, service: Service, verb: str) -> Steps[None]:
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
