"""What the tests of the operator run it in: a cluster with a kubelet, and somebody who counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kubequeue import Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import KINDS, ObjectMeta, Pod, Service
from kubequeue.cluster.watch import WatchEvent
from kubequeue.kuberay import api
from kubequeue.kuberay.api import (
    RayCluster,
    RayClusterSpec,
    RayJob,
    RayJobSpec,
    RayService,
    RayServiceSpec,
    WorkerGroupSpec,
)
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.operator import Operator, start_operator
from kubequeue.kuberay.rayjob_types import RayJobStatus
from kubequeue.kuberay.rayservice_types import RayServiceStatuses


class Rig:
    """An operator that leads at once, over a server without latency unless one is given."""

    def __init__(
        self,
        *,
        seed: int = 0,
        latency: Any = 0.0,
        kubelet: dict[str, Any] | None = None,
        starts: bool = True,
        **operator: Any,
    ) -> None:
        self.sim = Simulation(seed)
        self.server = FaultyServer(
            self.sim, APIServer(self.sim, (*KINDS, *api.KINDS), latency=latency)
        )
        self.store = self.server.store
        self.kubelet = Kubelet(self.sim, self.server, **(kubelet or {}))
        GarbageCollector(self.sim, self.server)
        self.pods_created: Counter[str] = Counter()
        self.pods_marked: set[str] = set()
        self.store.watch(Pod).receive(self._count)
        self._options = {"leader_election": False, "qps": -1.0, **operator}
        self.operator: Operator
        if starts:
            self.start()

    def start(self, **more: Any) -> Operator:
        """Start an operator, the first or another."""
        self.operator = start_operator(self.sim, self.server, **{**self._options, **more})
        self.sim.settle()
        return self.operator

    def _count(self, event: WatchEvent) -> None:
        meta = event.object.metadata
        if event.type == "ADDED":
            self.pods_created[meta.labels["ray.io/group"]] += 1
        elif meta.deletion_timestamp is not None:
            self.pods_marked.add(meta.name)

    def create(self, name: str, *groups: WorkerGroupSpec, **spec: Any) -> RayCluster:
        """A RayCluster of these groups, in the namespace default."""
        meta = ObjectMeta(name, "default")
        return self.store.create(
            RayCluster(meta, RayClusterSpec(worker_group_specs=groups, **spec))
        )

    def cluster(self, name: str = "a") -> RayCluster:
        """A RayCluster as the server has it."""
        return self.store.get(RayCluster, f"default/{name}")

    def change(self, name: str, change: Callable[[RayClusterSpec], RayClusterSpec]) -> None:
        """Somebody edits the spec."""
        self.store.patch(
            RayCluster, f"default/{name}", lambda old: replace(old, spec=change(old.spec))
        )

    def scale(self, name: str, replicas: int, group: str = "small") -> None:
        """Somebody sets the replicas of a group."""
        self.set_group(name, group, replicas=replicas)

    def set_group(self, name: str, group: str, **fields: Any) -> None:
        """Somebody edits one group."""
        self.change(
            name,
            lambda spec: replace(
                spec,
                worker_group_specs=tuple(
                    replace(each, **fields) if each.group_name == group else each
                    for each in spec.worker_group_specs
                ),
            ),
        )

    def touch(self, name: str = "a") -> None:
        """An event of the RayCluster that asks for nothing new: an annotation."""
        key = f"default/{name}"
        note = {"touched": str(self.sim.now_ns)}
        self.store.patch(
            RayCluster,
            key,
            lambda old: replace(old, metadata=replace(old.metadata, annotations=note)),
        )

    def touch_at(self, *times: float) -> None:
        """The same, at these times."""
        for time in times:
            self.sim.call_at(time, self.touch)

    def pods(self, group: str = "small", cluster: str = "a") -> list[Pod]:
        """The Pods of a group as the server has them."""
        labels = {"ray.io/cluster": cluster, "ray.io/group": group}
        return list(self.store.list(Pod, "default", labels).items)

    def names(self, group: str = "small", cluster: str = "a") -> list[str]:
        """Their keys, as a kubelet takes them."""
        return [f"default/{pod.metadata.name}" for pod in self.pods(group, cluster)]

    def run(self, until: float) -> None:
        """Let time go on."""
        self.sim.run(until=until)

    def record(self, kind: type[Any], note: Callable[[Any], Any]) -> list[Any]:
        """What ``note`` says of each object of a kind after each write, from now on."""
        notes: list[Any] = []
        self.store.watch(kind).receive(lambda event: notes.append(note(event.object)))
        return notes

    def rounds(self, source: str = "raycluster") -> list[tuple[float, str]]:
        """Start and outcome of each round of one controller."""
        return [
            (round(span.start, 6), span.outcome)
            for span in self.sim.trace.rounds()
            if span.source == source
        ]

    def events(self, key: str = "default/a") -> list[str]:
        """The reasons of the Events of an object, in order."""
        return [i.values[0] for i in self.sim.trace.instants if i.kind == "event" and i.key == key]


CLUSTER = RayClusterSpec(worker_group_specs=(WorkerGroupSpec("small", replicas=2),))


class JobRig(Rig):
    """A rig with dashboards of its own, and one RayJob, default/j."""

    def __init__(self, dashboards: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(starts=False, **options)
        self.dashboards = Dashboards(self.sim, **(dashboards or {}))
        self.start(dashboards=self.dashboards)

    def submit(self, **spec: Any) -> None:
        """Create the RayJob."""
        spec = {"ray_cluster_spec": CLUSTER, **spec}
        self.store.create(RayJob(ObjectMeta("j", "default"), RayJobSpec(**spec)))

    def set_suspend(self, suspend: bool) -> None:
        """Somebody suspends or resumes it."""
        self.store.patch(
            RayJob, "default/j", lambda old: replace(old, spec=replace(old.spec, suspend=suspend))
        )

    @property
    def status(self) -> RayJobStatus:
        """How it is, as the server has it."""
        return self.store.get(RayJob, "default/j").status

    @property
    def clusters(self) -> list[RayCluster]:
        """The RayClusters that there are."""
        return list(self.store.list(RayCluster).items)

    def heads(self) -> list[Pod]:
        """The heads of its cluster."""
        return self.pods("headgroup", self.status.ray_cluster_name)


GROUP = WorkerGroupSpec("small", replicas=1)


class ServiceRig(Rig):
    """A rig with one RayService, default/s."""

    def __init__(self, rig: dict[str, Any] | None = None, **spec: Any) -> None:
        super().__init__(starts=False, **(rig or {}))
        self.dashboards = Dashboards(self.sim)
        self.start(dashboards=self.dashboards)
        spec = {"ray_cluster_spec": RayClusterSpec(worker_group_specs=(GROUP,)), **spec}
        self.store.create(RayService(ObjectMeta("s", "default"), RayServiceSpec(**spec)))

    def edit(self, **fields: Any) -> None:
        """Somebody edits the spec."""
        self.store.patch(
            RayService, "default/s", lambda old: replace(old, spec=replace(old.spec, **fields))
        )

    @property
    def status(self) -> RayServiceStatuses:
        """How it is, as the server has it."""
        return self.store.get(RayService, "default/s").status

    @property
    def active(self) -> str:
        """The name of the cluster that serves."""
        return self.status.active_service_status.ray_cluster_name

    @property
    def pending(self) -> str:
        """The name of the cluster that is prepared."""
        return self.status.pending_service_status.ray_cluster_name

    def serves_from(self) -> str:
        """The cluster that the serve Service points to."""
        return self.store.get(Service, "default/s-serve-svc").spec.selector["ray.io/cluster"]

    def heads(self) -> list[Pod]:
        """The heads of the cluster that serves, or is prepared."""
        return self.pods("headgroup", self.active or self.pending)
