"""What has to be so once nothing goes wrong any more, and what Go itself does not promise."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from chaos import Chaos

from kubequeue.cluster.objects import Pod, Service, key_of
from kubequeue.kuberay.api import RayCluster, WorkerGroupSpec, is_status_condition_true
from kubequeue.kuberay.raycluster_types import (
    READY,
    RECREATE,
    SUSPENDED,
    SUSPENDED_CONDITION,
    desired_replicas,
)

SETTLE, WATCH = 2_400.0, 900.0
"""Seconds that are given to come to rest (the longest back-off is 1,000 s, and a round that found
nothing to do comes back after 300 s), and for which nothing may change after that."""


class NotSoError(AssertionError):
    """A property that does not hold, and the RayCluster that it is about."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(key, what)
        self.key, self.what = key, what

    def __str__(self) -> str:
        return f"{self.key}: {self.what}"


def story(chaos: Chaos, key: str) -> str:
    """The time line of a RayCluster and of everything that has its name."""
    told = (i for i in chaos.sim.trace.instants if i.key is None or str(i.key).startswith(key))
    lines = [f"{i.at:10.3f} s  {i.source}: {i}" for i in told if i.kind not in ("woke", "waited")]
    return "\n".join(lines)


def check_rounds(chaos: Chaos) -> None:
    """No key is in two rounds at once, neither of one leader nor of two one after another."""
    by_key: dict[tuple[str, str], list[Any]] = {}
    for span in chaos.sim.trace.rounds():
        kind = span.source.rpartition("/")[2]
        by_key.setdefault((kind, str(span.key)), []).append(span)
    for (kind, key), spans in by_key.items():
        for one, two in pairwise(spans):
            if one.end is None or one.end > two.start:
                raise NotSoError(key, f"two rounds of {kind} at once: {one} and {two}")


def check_heads(chaos: Chaos) -> None:
    """A second head is made only where KubeRay's memory cannot know of the first.

    That is: an answer was lost, so nothing was remembered; or the cache was behind by more than
    the 30 s of the memory. The name of a head is drawn, so the server takes both.
    """
    for double in chaos.doubled:
        if not double.answers_lost and double.at - double.other_since < 30.0:
            raise NotSoError("default/" + double.name[0], f"a needless second head: {double}")


def remove_surplus_heads(chaos: Chaos) -> None:
    """What the operator asks a person to do: "Please delete extra head pods"."""
    for cluster in chaos.store.list(RayCluster).items:
        heads = [pod for pod in pods_of(chaos, cluster) if _group(pod) == "headgroup"]
        for pod in heads[1:]:
            chaos.store.delete(Pod, key_of(pod))


def check_at_rest(chaos: Chaos) -> None:
    """Every RayCluster has what it asks for."""
    for cluster in chaos.store.list(RayCluster).items:
        _check_cluster(chaos, cluster)
    uids = {cluster.metadata.uid for cluster in chaos.store.list(RayCluster).items}
    for pod in chaos.store.list(Pod).items:
        if pod.metadata.deletion_timestamp is None:
            owner = pod.metadata.owner_references[0]
            if owner.uid not in uids:
                raise NotSoError(f"default/{owner.name}", f"{pod.metadata.name} is nobody's")


def _check_cluster(chaos: Chaos, cluster: RayCluster) -> None:
    key, pods = str(key_of(cluster)), pods_of(chaos, cluster)
    blocked = {_group(pod) for pod in pods if pod.metadata.deletion_timestamp is not None}
    if cluster.spec.suspend:
        _check_suspended(chaos, cluster, pods)
        return
    if "headgroup" in blocked and cluster.spec.upgrade_strategy == RECREATE:
        return  # as long as the old head is there, each round deletes all and makes none
    groups = [WorkerGroupSpec("headgroup", replicas=1), *cluster.spec.worker_group_specs]
    for group in groups:
        if group.group_name not in blocked:  # a delete that does not finish has no time-out
            there = sum(_group(pod) == group.group_name for pod in pods)
            wanted = desired_replicas(group)
            surplus = cluster.spec.enable_in_tree_autoscaling and there > wanted
            if there != wanted and not surplus:
                raise NotSoError(key, f"{group.group_name}: {there} Pods, {wanted} wanted")
    total = 1 + sum(map(desired_replicas, cluster.spec.worker_group_specs))
    if not blocked and len(pods) == total:
        if not all(pod.status.ready for pod in pods):
            raise NotSoError(key, f"not all ready: {[pod.status for pod in pods]}")
        if cluster.status.state != READY:
            raise NotSoError(key, f"all is there, the status says {cluster.status}")


def _check_suspended(chaos: Chaos, cluster: RayCluster, pods: list[Pod]) -> None:
    """No Pod is left, but those that the cache did not know when it found none left.

    A RayCluster that is suspended is not looked at again until it is woken up, so a Pod that comes
    into the cache after that stays; and one whose deletion does not finish holds it in suspending.
    """
    key = str(key_of(cluster))
    left = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    since = max(
        (
            c.last_transition_time
            for c in cluster.status.conditions
            if c.type == SUSPENDED_CONDITION
        ),
        default=0.0,
    )
    for pod in left:
        if _first_cached(chaos, str(key_of(pod))) < since:
            raise NotSoError(key, f"suspended, and {pod.metadata.name} is left")
    if not pods and not (
        is_status_condition_true(cluster.status.conditions, SUSPENDED_CONDITION)
        and cluster.status.state == SUSPENDED
    ):
        raise NotSoError(key, f"suspended, no Pod is left, and the status says {cluster.status}")


def _first_cached(chaos: Chaos, key: str) -> float:
    return next(
        (i.at for i in chaos.sim.trace.instants if i.kind == "cached" and str(i.key) == key), 0.0
    )


def check_queues(chaos: Chaos) -> None:
    """Queues hold nothing but the requeues of RayClusters that there are, each within 300 s."""
    clusters = {str(key_of(cluster)) for cluster in chaos.store.list(RayCluster).items}
    leading = [operator for operator in chaos.operators.values() if operator.leads]
    if len(leading) != 1:
        raise NotSoError("default/", f"{len(leading)} operators lead")
    for name, controller in leading[0].controllers.items():
        assert controller.queue is not None
        seen: Any = controller.queue.snapshot()
        if seen.ready or seen.locked or seen.buffer:
            raise NotSoError("default/", f"the queue of {name} is not at rest: {seen}")
        waiting = {str(item.key) for item in seen.waiting}
        if waiting != (clusters if name == "raycluster" else set()):
            raise NotSoError("default/", f"in the queue of {name} wait {waiting}")


def check_caches(chaos: Chaos) -> None:
    """The cache of who leads has what the server has."""
    for operator in chaos.operators.values():
        for kind in (RayCluster, Pod, Service) if operator.leads else ():
            cached, there = operator.client.list(kind), chaos.store.list(kind).items
            if tuple(cached) != tuple(there):
                raise NotSoError("default/", f"the cache has {cached}, the server {there}")


def check_stays(chaos: Chaos) -> None:
    """In the time that follows nothing is written, and no round fails."""
    before, start = _all(chaos), chaos.sim.now
    chaos.sim.run(until=start + WATCH)
    for was, now in zip(before, _all(chaos), strict=False):
        if was != now:
            raise NotSoError("default/", f"{was} became {now}")
    for span in chaos.sim.trace.rounds():
        if span.start >= start and span.outcome not in ("requeue_after", ""):
            raise NotSoError(str(span.key), f"a round at rest: {span}")


def _all(chaos: Chaos) -> list[Any]:
    return [*chaos.store.list(RayCluster).items, *chaos.store.list(Pod).items]


def pods_of(chaos: Chaos, cluster: RayCluster) -> list[Pod]:
    """Its Pods by label, as the operator counts them."""
    labels = {"ray.io/cluster": cluster.metadata.name}
    return list(chaos.store.list(Pod, cluster.metadata.namespace, labels).items)


def _group(pod: Pod) -> str:
    return pod.metadata.labels["ray.io/group"]
