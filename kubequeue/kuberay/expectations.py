"""What the operator remembers of its own writes until the cache shows them.

A round reads from the cache and writes to the server, so the next round may read a cache that
does not know the writes of the last one. Each Pod created or deleted leaves a record here; while
a group has a record that is not met, rounds leave the group alone.

Mirrors expectations/scale_expectations.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from kubequeue.cluster.objects import NamespacedName, Pod
from kubequeue.errors import InvalidArgumentError, KubeQueueError, NotFoundError
from kubequeue.kuberay.observer import KubeRayObserver
from kubequeue.sim import Simulation, to_ns

HEAD_GROUP = ""
"""The group of the head Pod: the empty string."""

EXPECTATIONS_TIMEOUT = 30.0
"""Seconds after which a create counts as met, seen or not."""


class ScaleAction(StrEnum):
    """What was done to a Pod."""

    CREATE = "create"
    DELETE = "delete"


class PodReader(Protocol):
    """Where a check looks: the cache. A plain read, which costs no virtual time."""

    def get(self, kind: type[Any], key: NamespacedName, /) -> Any:
        """The object; raises `NotFoundError` when there is none."""


@dataclass(frozen=True, slots=True)
class RayPod:
    """One record: a Pod that was written, for which group, and when.

    Mirrors ``scale_expectations.go: rayPod``.
    """

    key: NamespacedName
    ray_cluster: str
    group: str
    action: ScaleAction
    recorded_at_ns: int

    @property
    def group_key(self) -> tuple[str, str, str]:
        """Namespace, RayCluster, group."""
        return self.key.namespace, self.ray_cluster, self.group

    @property
    def cluster_key(self) -> NamespacedName:
        """Namespace and name of the RayCluster."""
        return NamespacedName(self.key.namespace, self.ray_cluster)


@dataclass(frozen=True, slots=True)
class ExpectationRules:
    """How the memory judges; the defaults are KubeRay v1.7.0's.

    Attributes:
        timeout: seconds; a create older than that, strictly, counts as met.
        delete_until_not_found: False gives the rule before KubeRay 1.4.0: a delete is also met by
            a Pod that is only marked for deletion.
        stop_at_first_unmet: False gives the rule before KubeRay 1.6.0: a check looks at every
            record and drops all that are met.
        drawn_order: draw the order of each check from ``sim.stream("kuberay/expectations")``. Go
            walks a map, so no order is promised; otherwise the oldest record comes first.
    """

    timeout: float = EXPECTATIONS_TIMEOUT
    delete_until_not_found: bool = True
    stop_at_first_unmet: bool = True
    drawn_order: bool = False

    def __post_init__(self) -> None:
        if to_ns(self.timeout, "timeout") < 0:
            raise InvalidArgumentError("timeout", self.timeout, "zero seconds or more")


Records = dict[NamespacedName, RayPod]


class RayClusterScaleExpectation:
    """The records of all RayClusters of one operator process; they are lost with the process.

    Args:
        sim: the simulation, for its clock.
        reader: the cache.
        rules: how it judges.

    Mirrors ``scale_expectations.go: rayClusterScaleExpectationImpl``.
    """

    def __init__(
        self, sim: Simulation, reader: PodReader, rules: ExpectationRules | None = None
    ) -> None:
        self._sim = sim
        self._reader = reader
        self._rules = rules or ExpectationRules()
        self._timeout_ns = to_ns(self._rules.timeout, "timeout")
        self._items: Records = {}
        self._by_group: dict[tuple[str, str, str], Records] = {}
        self._by_cluster: dict[NamespacedName, Records] = {}
        self._observer: KubeRayObserver = sim.observe(KubeRayObserver, "kuberay", "")

    def __len__(self) -> int:
        """How many records are held. Costs O(1)."""
        return len(self._items)

    def records(self, namespace: str = "", ray_cluster_name: str = "") -> tuple[RayPod, ...]:
        """The records, oldest first: all of them, or those of one RayCluster. Costs O(result)."""
        if not ray_cluster_name:
            return tuple(self._items.values())
        found = self._by_cluster.get(NamespacedName(namespace, ray_cluster_name), {})
        return tuple(found.values())

    def expect_scale_pod(
        self, namespace: str, ray_cluster_name: str, group: str, pod_name: str, action: ScaleAction
    ) -> None:
        """Remember a write that succeeded; an earlier record of the same Pod is replaced.

        Costs O(1). Mirrors ``ExpectScalePod``.
        """
        key = NamespacedName(namespace, pod_name)
        self._remove(key)
        item = RayPod(key, ray_cluster_name, group, ScaleAction(action), self._sim.now_ns)
        self._items[key] = item
        self._by_group.setdefault(item.group_key, {})[key] = item
        self._by_cluster.setdefault(item.cluster_key, {})[key] = item
        self._observer.expected(str(item.cluster_key), group, str(key), item.action.value)

    def is_satisfied(self, namespace: str, ray_cluster_name: str, group: str) -> bool:
        """Whether the group has no unmet record; met ones are dropped on the way.

        The check stops at the first unmet record, so met ones behind it stay. Dropping a record
        touches no Pod. Costs O(records of the group). Mirrors ``IsSatisfied``.
        """
        satisfied = True
        for item in self._walk((namespace, ray_cluster_name, group)):
            told = str(item.cluster_key), group, str(item.key), item.action.value
            met, timed_out = self._is_pod_scaled(item)
            if met:
                self._remove(item.key)
                self._observer.met(*told, timed_out)
                continue
            satisfied = False
            self._observer.unsatisfied(*told)
            if self._rules.stop_at_first_unmet:
                break
        return satisfied

    def delete(self, ray_cluster_name: str, namespace: str) -> None:
        """Drop every record of a RayCluster; the name comes first, as in Go.

        Costs O(records of the RayCluster). Mirrors ``Delete``.
        """
        dropped = self.records(namespace, ray_cluster_name)
        for item in dropped:
            self._remove(item.key)
        if dropped:
            self._observer.expectations_deleted(f"{namespace}/{ray_cluster_name}", len(dropped))

    def _walk(self, group_key: tuple[str, str, str]) -> list[RayPod]:
        """The records of a group as they are now, in the order of the check."""
        items = list(self._by_group.get(group_key, {}).values())
        if self._rules.drawn_order:
            self._sim.stream("kuberay/expectations").shuffle(items)
        return items

    def _is_pod_scaled(self, item: RayPod) -> tuple[bool, bool]:
        """Whether the record is met, and whether that is for its age alone.

        A read that fails otherwise than by NotFound meets no delete, and a create only by its
        age. Mirrors ``isPodScaled``.
        """
        try:
            pod = self._reader.get(Pod, item.key)
        except KubeQueueError as error:
            if item.action is ScaleAction.DELETE:
                return isinstance(error, NotFoundError), False
            timed_out = item.recorded_at_ns + self._timeout_ns < self._sim.now_ns
            return timed_out, timed_out
        if item.action is ScaleAction.CREATE:
            return True, False
        is_marked = pod.metadata.deletion_timestamp is not None
        return is_marked and not self._rules.delete_until_not_found, False

    def _remove(self, key: NamespacedName) -> None:
        item = self._items.pop(key, None)
        if item is None:
            return
        _drop(self._by_group, item.group_key, key)
        _drop(self._by_cluster, item.cluster_key, key)

    def _check(self) -> None:
        """Raise AssertionError when an index and the records disagree. Costs O(records)."""
        for index in (self._by_group, self._by_cluster):
            indexed = {key: item for items in index.values() for key, item in items.items()}
            assert indexed == self._items, "an index and the records disagree"
            assert all(index.values()), "an index keeps a place that is empty"


def _drop(index: dict[Any, Records], place: Any, key: NamespacedName) -> None:
    """Take a record out of an index, and its place too when that was the last one."""
    items = index[place]
    del items[key]
    if not items:
        del index[place]


class NoExpectations:
    """The memory switched off: nothing is remembered, so every group is satisfied.

    Mirrors ``scale_expectations.go: fakeRayClusterScaleExpectation``.
    """

    def __len__(self) -> int:
        """None is ever held."""
        return 0

    def expect_scale_pod(self, *_: object) -> None:
        """Remember nothing."""

    def is_satisfied(self, *_: object) -> bool:
        """Nothing is outstanding."""
        return True

    def delete(self, *_: object) -> None:
        """There is nothing to drop."""
