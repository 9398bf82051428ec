"""A whole world for a lesson: a cluster with its kubelet, faults to ask for, and an operator."""

from __future__ import annotations

from typing import Any

from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import KINDS, NamespacedName, ObjectMeta, Pod
from kubequeue.kuberay import api
from kubequeue.kuberay.api import HeadGroupSpec, RayCluster, RayClusterSpec, WorkerGroupSpec
from kubequeue.kuberay.expectations import ExpectationRules
from kubequeue.kuberay.operator import Operator, start_operator
from kubequeue.sim import Simulation

RULES = ExpectationRules()
"""KubeRay v1.7.0's own rules for its memory of writes."""


class World:
    """One Kubernetes cluster and one KubeRay operator in it.

    Args:
        lag: seconds until the operator's cache learns of a write, or ``(low, high)``.
        expectations: the rules of the operator's memory; None switches it off.
        seed: of everything that is drawn.
        pod_start: seconds from a Pod's node to its running containers.
        latency: seconds of each API call.
        flags: go to `start_operator`: ``reconcile_concurrency``, ``watch_namespace``, ...

    The cluster is ``server.store``, trouble comes from ``server`` (a `FaultyServer`) and
    ``kubelet``. Raises what those raise.

    >>> world = World(lag=2)
    >>> world.create("a", workers=1)
    >>> world.run(until=1)
    >>> len(world.pods("a")), len(world.cached_pods("a"))
    (2, 0)
    """

    def __init__(
        self,
        *,
        lag: float | tuple[float, float] = 0.0,
        expectations: ExpectationRules | None = RULES,
        seed: int = 0,
        pod_start: float = 1.0,
        latency: float = 0.010,
        **flags: Any,
    ) -> None:
        self.sim = Simulation(seed)
        self.server = FaultyServer(
            self.sim, APIServer(self.sim, (*KINDS, *api.KINDS), latency=latency)
        )
        self.kubelet = Kubelet(self.sim, self.server, start=pod_start)
        self.garbage_collector = GarbageCollector(self.sim, self.server)
        self._flags = {
            "lag": lag, "expectations": expectations, "leader_election": False, **flags
        }  # fmt: skip
        self.operator: Operator = start_operator(self.sim, self.server, **self._flags)

    def create(self, name: str, *, workers: int = 1, namespace: str = "default") -> None:
        """Ask for a RayCluster with one group of so many workers, in this instant."""
        group = WorkerGroupSpec("workers", replicas=workers)
        spec = RayClusterSpec(HeadGroupSpec(), (group,))
        self.server.store.create(RayCluster(ObjectMeta(name, namespace), spec))

    def pods(self, name: str, namespace: str = "default") -> tuple[Pod, ...]:
        """The Pods of a RayCluster as the server has them."""
        return self.server.store.list(Pod, namespace, _of(name)).items

    def cached_pods(self, name: str, namespace: str = "default") -> tuple[Pod, ...]:
        """The Pods of a RayCluster as the operator sees them."""
        return tuple(self.operator.client.list(Pod, namespace, labels=_of(name)))

    def restart(self) -> None:
        """The operator's process crashes, and another one starts in its place."""
        self.operator.crash()
        self.operator = start_operator(self.sim, self.server, **self._flags)

    def run(self, until: float) -> None:
        """Let virtual time go on until ``until`` seconds."""
        self.sim.run(until=until)


def _of(name: str) -> dict[str, str]:
    return {"ray.io/cluster": name}


def key(name: str, namespace: str = "default") -> NamespacedName:
    """The key of an object of a lesson."""
    return NamespacedName(namespace, name)
