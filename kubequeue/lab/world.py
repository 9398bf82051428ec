"""A whole world for a lesson: a cluster with its kubelet, faults to ask for, and an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import KINDS, NamespacedName, ObjectMeta, Pod, key_of
from kubequeue.cluster.rbac import RBAC
from kubequeue.errors import NotFoundError
from kubequeue.kuberay import api
from kubequeue.kuberay.api import (
    HeadGroupSpec,
    RayCluster,
    RayClusterSpec,
    RayJob,
    RayJobSpec,
    RayService,
    RayServiceSpec,
    WorkerGroupSpec,
)
from kubequeue.kuberay.expectations import ExpectationRules
from kubequeue.kuberay.operator import Operator, start_operator
from kubequeue.sim import Simulation

Change = Callable[[RayCluster], RayCluster]
"""What a RayCluster is made into."""

RULES = ExpectationRules()
"""KubeRay v1.7.0's own rules for its memory of writes."""

Workers = int | Mapping[str, int]
"""So many workers in one group, or in each of several by their names."""

GROUP = "workers"
"""The name of the one group of workers that a RayCluster has by default."""


class World:
    """One Kubernetes cluster and one KubeRay operator in it.

    Args:
        lag: seconds until the operator's cache learns of a write, or ``(low, high)``.
        expectations: the rules of the operator's memory; None switches it off.
        seed: of everything that is drawn.
        pod_start: seconds from a Pod's node to its running containers.
        latency: seconds of each API call.
        rbac: who may do what at the server; None lets everybody do everything.
        metrics: False leaves them out, which is faster.
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
        rbac: RBAC | None = None,
        metrics: bool = True,
        **flags: Any,
    ) -> None:
        self.sim = Simulation(seed, metrics=metrics)
        self.server = FaultyServer(
            self.sim, APIServer(self.sim, (*KINDS, *api.KINDS), latency=latency, rbac=rbac)
        )
        self.kubelet = Kubelet(self.sim, self.server, start=pod_start)
        self.garbage_collector = GarbageCollector(self.sim, self.server)
        self._flags = {
            "lag": lag, "expectations": expectations, "leader_election": False, **flags
        }  # fmt: skip
        self._pod_lag: float | tuple[float, float] = lag
        self.operator: Operator = start_operator(self.sim, self.server, **self._flags)

    def create(self, name: str, *, workers: Workers = 1, namespace: str = "default") -> None:
        """Ask for a RayCluster with one group of so many workers, or several by their names."""
        self.server.store.create(ray_cluster(name, workers=workers, namespace=namespace))

    def create_job(self, name: str, *, workers: int = 1, namespace: str = "default") -> None:
        """Ask for a RayJob, which gets a RayCluster of its own, in this instant."""
        spec = RayJobSpec(ray_cluster_spec=_spec(workers))
        self.server.store.create(RayJob(ObjectMeta(name, namespace), spec))

    def create_service(self, name: str, *, workers: int = 1, namespace: str = "default") -> None:
        """Ask for a RayService, which gets a RayCluster of its own, in this instant."""
        spec = RayServiceSpec(ray_cluster_spec=_spec(workers))
        self.server.store.create(RayService(ObjectMeta(name, namespace), spec))

    def another_server(self) -> APIServer:
        """A second Kubernetes cluster in the same time, empty and without a kubelet."""
        return APIServer(self.sim, (*KINDS, *api.KINDS))

    def change(self, name: str, change: Change, namespace: str = "default") -> None:
        """Somebody changes a RayCluster at the server, in this instant."""
        self.server.store.patch(RayCluster, key(name, namespace), change)

    def scale(self, name: str, workers: int, *, group: str = GROUP) -> None:
        """Ask for another number of workers of one group, in this instant."""
        self.change(name, scaled(workers, group))

    def touch(self, name: str) -> None:
        """An event of a RayCluster that asks for nothing new: a note is changed."""
        self.change(name, annotated(touched=str(self.sim.now_ns)))

    def touch_at(self, name: str, *seconds: float) -> None:
        """The same, later: at each of these seconds at which it is still there."""

        def touch() -> None:
            with suppress(NotFoundError):
                self.touch(name)

        for at in seconds:
            self.sim.call_at(at, touch)

    def pod_lag(self, seconds: float | tuple[float, float]) -> None:
        """From now on the cache learns so late what becomes of Pods; also after a restart."""
        self._pod_lag = seconds
        self.operator.cache.informer(Pod).lag = seconds

    def vanish(self, name: str, *, breaks_watch: bool = True) -> None:
        """Somebody removes the newest Pod of a RayCluster, and the cache never shows it.

        The watch breaks at that moment, so the cache hears of birth and end in one instant. With
        a watch that holds, it shows the Pod for as long as the Pod was there, only later.
        """
        newest = max(self.pods(name), key=lambda pod: int(pod.metadata.resource_version))
        self.server.store.delete(Pod, key_of(newest), grace_period_seconds=0)
        if breaks_watch:
            self.operator.cache.informer(Pod).break_watch()

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
        self.pod_lag(self._pod_lag)

    def run(self, until: float) -> None:
        """Let virtual time go on until ``until`` seconds."""
        self.sim.run(until=until)


def _spec(workers: Workers) -> RayClusterSpec:
    asked = {GROUP: workers} if isinstance(workers, int) else workers
    groups = tuple(WorkerGroupSpec(group, replicas=count) for group, count in asked.items())
    return RayClusterSpec(HeadGroupSpec(), groups)


def ray_cluster(name: str, *, workers: Workers = 1, namespace: str = "default") -> RayCluster:
    """A RayCluster with one group of so many workers, as it is asked for."""
    return RayCluster(ObjectMeta(name, namespace), _spec(workers))


def scaled(workers: int, group: str = GROUP) -> Change:
    """The change that asks for so many workers in a group."""

    def change(cluster: RayCluster) -> RayCluster:
        groups = tuple(
            replace(each, replicas=workers) if each.group_name == group else each
            for each in cluster.spec.worker_group_specs
        )
        return replace(cluster, spec=replace(cluster.spec, worker_group_specs=groups))

    return change


def annotated(**notes: str) -> Change:
    """The change that adds annotations; it touches neither spec nor status."""

    def change(cluster: RayCluster) -> RayCluster:
        meta = cluster.metadata
        return replace(cluster, metadata=replace(meta, annotations={**meta.annotations, **notes}))

    return change


def ready_world(
    *, workers: Workers = 1, pod_lag: float = 4.0, at: float = 10.0, **options: Any
) -> World:
    """RayCluster a is ready at second ``at``; from there on the cache is late about Pods.

    ``options`` go to `World`.

    >>> world = ready_world(pod_lag=4)
    >>> world.scale("a", 2)
    >>> world.run(until=11)
    >>> len(world.pods("a")), len(world.cached_pods("a"))
    (3, 2)
    """
    world = World(**options)
    world.create("a", workers=workers)
    world.run(until=at)
    world.pod_lag(pod_lag)
    return world


def _of(name: str) -> dict[str, str]:
    return {"ray.io/cluster": name}


def key(name: str, namespace: str = "default") -> NamespacedName:
    """The key of an object of a lesson."""
    return NamespacedName(namespace, name)
