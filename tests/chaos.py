"""A cluster in which everything goes wrong that can, and operators that are started again."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from chaos_cases import QUIET_AT, Case
from simpy.events import Event

from kubequeue import Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.fault import Fault
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import KINDS, Lease, ObjectMeta, Pod, Service, key_of
from kubequeue.cluster.watch import WatchEvent
from kubequeue.errors import NotFoundError
from kubequeue.kuberay import api
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, WorkerGroupSpec
from kubequeue.kuberay.operator import Operator, start_operator
from kubequeue.runtime.informer import Informer

NODES = ("node-1", "node-2")
KIND = {kind.kind: kind for kind in (RayCluster, Pod, Service, Lease)}


@dataclass
class Doubled:
    """A head that was made while the same RayCluster had another one."""

    at: float
    name: str
    other_since: float
    answers_lost: int


@dataclass
class Chaos:
    """The run of a case; each act is a method, called with the act's arguments."""

    case: Case
    doubled: list[Doubled] = field(default_factory=list)
    operators: dict[str, Operator] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        case = self.case
        self.sim = sim = Simulation(case.seed, shuffle_ties=True)
        real = APIServer(sim, (*KINDS, *api.KINDS), latency=(0.005, 0.02), history=case.history)
        self.server = FaultyServer(sim, real)
        self.store = self.server.store
        self.kubelet = Kubelet(
            sim, self.server, nodes=NODES, start=(0.5, 3), ready=(0, 2), termination=(0, 4)
        )
        GarbageCollector(sim, self.server, delay=(0, 1))
        self._held: list[str] = []
        self.store.watch(Pod).receive(self._on_pod)
        for name, spec in case.clusters.items():
            self.store.create(RayCluster(ObjectMeta(name, "default"), spec))
        for number in range(case.replicas):
            sim.process(self._deploy(f"operator-{number + 1}"))

    def _deploy(self, name: str) -> Generator[Event, Any, None]:
        """A process that ends is followed by another one."""
        while True:
            operator = self.operators[name] = start_operator(
                self.sim,
                self.server,
                name=name,
                leader_election=self.case.replicas > 1,
                reconcile_concurrency=self.case.workers,
                lag=self.case.lag,
            )
            yield operator.ended
            yield self.sim.sleep(1)

    def _on_pod(self, event: WatchEvent) -> None:
        """Note when a RayCluster gets a second head beside its first."""
        new = event.object
        if event.type != "ADDED" or not _is_head(new):
            return
        for pod in self.store.list(Pod, "default", {"ray.io/cluster": _cluster(new)}).items:
            if _is_head(pod) and pod is not new and _owner(pod) == _owner(new):
                since = pod.metadata.creation_timestamp or 0.0
                lost = sum(f.struck for f in self.faults if f.loses_answer and f.verb == "create")
                self.doubled.append(Doubled(self.sim.now, new.metadata.name, since, lost))

    def run(self) -> None:
        """All acts in their order, and then quiet."""
        for act in sorted(self.case.acts, key=lambda act: act.at):
            self.sim.run(until=max(act.at, self.sim.now))
            for _ in range(act.steps):
                self.sim.step()
            getattr(self, act.do)(*act.args)
        self.sim.run(until=max(QUIET_AT, self.sim.now))
        self.calm()

    def calm(self) -> None:
        """Nothing goes wrong from here on, and what was held goes on."""
        for fault in self.faults:
            fault.stop()
        for kind in (RayCluster, Pod, Service):
            for informer in self._informers(kind):
                informer.lag = 0.0
                informer.resume()
        for key in self._held:
            self._try(partial(self.kubelet.finish, key))
        for node in NODES:
            self.kubelet.node_up(node)

    # What users do.

    def scale(self, cluster: str, group: int, replicas: int) -> None:
        """Set the replicas of a group."""
        self._edit_group(cluster, group, lambda old: replace(old, replicas=replicas))

    def suspend_group(self, cluster: str, group: int, suspend: bool) -> None:
        """Suspend a group or wake it up; with an autoscaler that would be invalid."""
        self._edit_group(cluster, group, lambda old: replace(old, suspend=suspend))

    def workers_to_delete(self, cluster: str, group: int, picks: tuple[int, ...]) -> None:
        """Name workers to delete, as the autoscaler does; none takes the names back."""

        def name(old: WorkerGroupSpec) -> WorkerGroupSpec:
            labels = {"ray.io/cluster": cluster, "ray.io/group": old.group_name}
            there = [pod.metadata.name for pod in self.store.list(Pod, "default", labels).items]
            named = tuple(dict.fromkeys(there[pick % len(there)] for pick in picks if there))
            return replace(old, scale_strategy_workers_to_delete=named)

        self._edit_group(cluster, group, name)

    def suspend(self, cluster: str, suspend: bool) -> None:
        """Suspend a RayCluster or wake it up."""
        self._edit(cluster, lambda old: replace(old, suspend=suspend))

    def upgrade(self, cluster: str, template: str, strategy: str) -> None:
        """Another image for the head, and how to bring it about."""
        self._edit(
            cluster,
            lambda old: replace(
                old,
                head_group_spec=replace(old.head_group_spec, template=template),
                upgrade_strategy=strategy,
            ),
        )

    def remove(self, cluster: str) -> None:
        """Delete a RayCluster."""
        self._try(lambda: self.store.delete(RayCluster, f"default/{cluster}"))

    def replace(self, cluster: str) -> None:
        """Delete a RayCluster and make another one of the same name at once."""
        self.remove(cluster)
        spec = self.case.clusters[cluster]
        self.store.create(RayCluster(ObjectMeta(cluster, "default"), spec))

    def _edit(self, cluster: str, change: Callable[[RayClusterSpec], RayClusterSpec]) -> None:
        self._try(
            lambda: self.store.patch(
                RayCluster, f"default/{cluster}", lambda old: replace(old, spec=change(old.spec))
            )
        )

    def _edit_group(
        self, cluster: str, group: int, change: Callable[[WorkerGroupSpec], WorkerGroupSpec]
    ) -> None:
        def edit(old: RayClusterSpec) -> RayClusterSpec:
            groups = list(old.worker_group_specs)
            if groups:
                at = group % len(groups)
                groups[at] = change(groups[at])
                if old.enable_in_tree_autoscaling and groups[at].suspend:
                    return old
            return replace(old, worker_group_specs=tuple(groups))

        self._edit(cluster, edit)

    # What becomes of Pods and nodes.

    def delete_pod(self, pick: int, at_once: bool) -> None:
        """Somebody else deletes a Pod, with or without its grace period."""
        grace = 0.0 if at_once else None
        self._with_pod(pick, lambda key: self.store.delete(Pod, key, grace_period_seconds=grace))

    def pod_ends(self, pick: int, how: str) -> None:
        """A Pod fails, succeeds, or its container ends: ``how`` is a method of the kubelet."""
        self._with_pod(pick, lambda key: self._end(key, how))

    def _end(self, key: str, how: str) -> None:
        if self.store.get(Pod, key).status.phase == "Running":  # only that can end
            getattr(self.kubelet, how)(key)

    def hold_pod(self, pick: int, for_ever: bool) -> None:
        """The deletion of a Pod does not finish, until the end of all trouble or never."""
        self._with_pod(pick, self.kubelet.never_finish)
        if not for_ever:
            self._with_pod(pick, self._held.append)

    def node_down(self, node: str) -> None:
        """A node is down."""
        self.kubelet.node_down(node)

    def node_up(self, node: str) -> None:
        """A node is up."""
        self.kubelet.node_up(node)

    def _with_pod(self, pick: int, act: Callable[[str], object]) -> None:
        pods = self.store.list(Pod).items
        if pods:
            self._try(lambda: act(str(key_of(pods[pick % len(pods)]))))

    # What goes wrong between the operator and the server.

    def trouble(self, what: str, verb: str, kind: str, share: float, seconds: float) -> None:
        """Calls fail, are slow by 3 s or have their answers lost, for some time."""
        more = {"seconds": 3.0} if what == "slow" else {}
        fault: Fault = getattr(self.server, what)(verb, KIND[kind], share=share, **more)
        self.faults.append(fault)
        self.sim.call_at(self.sim.now + seconds, fault.stop)

    def lose_lease(self) -> None:
        """No lease can be renewed for 12 s."""
        for verb in ("get", "update"):
            self.trouble("fail", verb, "Lease", 1.0, 12.0)

    def lag(self, kind: str, seconds: float | tuple[float, float]) -> None:
        """The caches are behind from now on."""
        for informer in self._informers(KIND[kind]):
            informer.lag = seconds

    def pause(self, kind: str, seconds: float) -> None:
        """The caches learn nothing for some time."""
        for informer in self._informers(KIND[kind]):
            informer.pause()
        self.sim.call_at(self.sim.now + seconds, lambda: self._resume(KIND[kind]))

    def _resume(self, kind: type[Any]) -> None:
        for informer in self._informers(kind):
            informer.resume()

    def gap(self, kind: str, compacted: bool, seconds: float) -> None:
        """The watches break, for some time; after a compaction they cannot go on as before."""
        for verb in ("watch", "list") if seconds else ():
            self.trouble("fail", verb, kind, 1.0, seconds)
        if compacted:
            self.store.compact()
            self.server.break_watches(KIND[kind])
            return
        for informer in self._informers(KIND[kind]):
            informer.break_watch()

    def crash(self, pick: int) -> None:
        """A process of the operator is gone."""
        list(self.operators.values())[pick % len(self.operators)].crash()

    def stop(self, pick: int) -> None:
        """A process of the operator ends in good order."""
        list(self.operators.values())[pick % len(self.operators)].stop()

    def _informers(self, kind: type[Any]) -> list[Informer]:
        """Those of the processes that are alive."""
        alive = [each for each in self.operators.values() if not each.end_reason]
        return [operator.cache.informer(kind) for operator in alive]

    def _try(self, act: Callable[[], object]) -> None:
        with suppress(NotFoundError):  # what it was about may be gone already
            act()


def _is_head(pod: Pod) -> bool:
    return pod.metadata.labels.get("ray.io/node-type") == "head"


def _cluster(pod: Pod) -> str:
    return pod.metadata.labels["ray.io/cluster"]


def _owner(pod: Pod) -> str:
    return pod.metadata.owner_references[0].uid
