"""The memory of the operator: what meets a record, what is dropped, what stops a check.

What is expected here was read off the Go source (KubeRay v1.7.0). ``test_golden_expectations.py``
holds the model against what that code did.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Pod
from kubequeue.errors import InternalError, NotFoundError, ServerTimeoutError
from kubequeue.kuberay.expectations import (
    HEAD_GROUP,
    ExpectationRules,
    NoExpectations,
    RayClusterScaleExpectation,
    ScaleAction,
)
from kubequeue.sim import Simulation

CREATE, DELETE = ScaleAction.CREATE, ScaleAction.DELETE


class Reader:
    """A cache that is told what to hold, and which reads fail; it notes whom it was asked for."""

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.failing: Exception | None = None
        self.asked: list[str] = []

    def appear(self, name: str) -> None:
        """The cache has the Pod from now on."""
        self.pods[name] = Pod(ObjectMeta(name, "default"))

    def mark(self, name: str) -> None:
        """The cache has the Pod as one that is being deleted."""
        pod = self.pods[name]
        self.pods[name] = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=1.0))

    def get(self, kind: type[Any], key: NamespacedName) -> Any:
        """The Pod, or the failure."""
        assert kind is Pod
        self.asked.append(key.name)
        if self.failing is not None:
            raise self.failing
        if key.namespace != "default" or key.name not in self.pods:
            raise NotFoundError("pods", key.name)
        return self.pods[key.name]


class Memory:
    """Expectations of the RayCluster default/a over such a reader."""

    def __init__(self, seed: int = 0, **rules: Any) -> None:
        self.sim = Simulation(seed)
        self.reader = Reader()
        self.kept = RayClusterScaleExpectation(self.sim, self.reader, ExpectationRules(**rules))

    def expect(self, pod: str, action: ScaleAction, group: str = "small") -> None:
        """Record a write."""
        self.kept.expect_scale_pod("default", "a", group, pod, action)

    def satisfied(self, group: str = "small") -> bool:
        """Check a group, and the indices."""
        answer = self.kept.is_satisfied("default", "a", group)
        self.kept._check()
        return answer

    @property
    def names(self) -> list[str]:
        """The Pods that there are records of, oldest first."""
        return [item.key.name for item in self.kept.records()]


def test_a_group_without_records_is_satisfied() -> None:
    """The first round of a RayCluster is not held up, and the cache is not asked."""
    memory = Memory()
    assert memory.satisfied()
    assert memory.reader.asked == []


def test_a_create_is_met_when_the_cache_has_the_pod() -> None:
    """Ready or not: the Pod is there, so it is counted, and the record goes."""
    memory = Memory()
    memory.expect("p", CREATE)
    assert not memory.satisfied()
    memory.reader.appear("p")
    assert memory.satisfied()
    assert len(memory.kept) == 0


@pytest.mark.parametrize(
    ("seconds", "met"), [(29.999999999, False), (30.0, False), (30.000000001, True)]
)
def test_a_create_times_out_after_30_s_strictly(seconds: float, met: bool) -> None:
    """At 30 s to the nanosecond it is still waited for."""
    memory = Memory()
    memory.expect("p", CREATE)
    memory.sim.run(until=seconds)
    assert memory.satisfied() is met


def test_a_delete_is_met_by_not_found_alone() -> None:
    """A Pod that is being deleted is still found, for however long."""
    memory = Memory()
    memory.reader.appear("p")
    memory.expect("p", DELETE)
    memory.reader.mark("p")
    memory.sim.run(until=86_400)
    assert not memory.satisfied()
    del memory.reader.pods["p"]
    assert memory.satisfied()


def test_before_1_4_a_mark_met_a_delete() -> None:
    """The old rule, for the incident that ended it."""
    memory = Memory(delete_until_not_found=False)
    memory.reader.appear("p")
    memory.expect("p", DELETE)
    assert not memory.satisfied()
    memory.reader.mark("p")
    assert memory.satisfied()


@pytest.mark.parametrize("failure", [InternalError("etcd"), ServerTimeoutError()])
def test_a_read_that_fails_meets_no_delete_and_a_create_only_by_age(failure: Exception) -> None:
    """Go tolerates any error of the read of a create after 30 s, and none of a delete's."""
    memory = Memory()
    memory.expect("created", CREATE, "one")
    memory.expect("deleted", DELETE, "two")
    memory.reader.failing = failure
    assert not memory.satisfied("one")
    memory.sim.run(until=31)
    assert memory.satisfied("one")
    assert not memory.satisfied("two")


def test_a_check_stops_at_the_first_unmet_record() -> None:
    """Met records behind it are kept, and the cache is not asked for them."""
    memory = Memory()
    for name in "abc":
        memory.expect(name, CREATE)
    memory.reader.appear("a")
    memory.reader.appear("c")
    assert not memory.satisfied()
    assert memory.names == ["b", "c"]
    assert memory.reader.asked == ["a", "b"]


def test_before_1_6_a_check_looked_at_every_record() -> None:
    """The old rule drops the met ones behind an unmet one too."""
    memory = Memory(stop_at_first_unmet=False)
    for name in "abc":
        memory.expect(name, CREATE)
    memory.reader.appear("a")
    memory.reader.appear("c")
    assert not memory.satisfied()
    assert memory.names == ["b"]


def test_the_order_of_a_check_is_no_promise() -> None:
    """Go walks a map: with a stream the order is drawn, and every record can be the first."""
    firsts = set()
    for seed in range(20):
        memory = Memory(seed, drawn_order=True)
        for name in "abc":
            memory.expect(name, CREATE)
        assert not memory.satisfied()
        firsts.add(memory.reader.asked[0])
    assert firsts == {"a", "b", "c"}


def test_a_later_record_of_a_pod_replaces_the_earlier() -> None:
    """Also in another group: a record is found by the Pod's name, so there is one of each Pod."""
    memory = Memory()
    memory.expect("p", CREATE, "one")
    memory.sim.run(until=20)
    memory.expect("p", DELETE, "two")
    assert len(memory.kept) == 1
    assert memory.satisfied("one")
    (item,) = memory.kept.records("default", "a")
    assert (item.group, item.action, item.recorded_at_ns) == ("two", DELETE, 20_000_000_000)


def test_groups_and_clusters_do_not_know_each_other() -> None:
    """The head is the group of the empty name; a namesake elsewhere is another cluster."""
    memory = Memory()
    memory.expect("p", CREATE, HEAD_GROUP)
    assert HEAD_GROUP == ""
    assert not memory.satisfied(HEAD_GROUP)
    assert memory.satisfied("small")
    assert memory.kept.is_satisfied("default", "b", HEAD_GROUP)
    assert memory.kept.is_satisfied("team", "a", HEAD_GROUP)


def test_deleting_drops_the_records_of_one_cluster() -> None:
    """All its groups, and nobody else's; the Pods are not touched."""
    memory = Memory()
    memory.expect("p", CREATE)
    memory.expect("q", DELETE, HEAD_GROUP)
    memory.kept.expect_scale_pod("default", "b", "small", "r", CREATE)
    memory.kept.delete("a", "default")
    memory.kept.delete("nobody", "default")
    assert memory.names == ["r"]
    assert memory.satisfied()
    assert memory.reader.asked == []


def test_the_trace_tells_each_step() -> None:
    """What was remembered, what held a group up, what was forgotten and why."""
    memory = Memory()
    memory.expect("p", CREATE, HEAD_GROUP)
    memory.satisfied(HEAD_GROUP)
    memory.sim.run(until=31)
    memory.satisfied(HEAD_GROUP)
    memory.expect("q", DELETE)
    memory.kept.delete("a", "default")
    assert [str(instant) for instant in memory.sim.trace.instants] == [
        "default/a remembers the create of default/p for the head.",
        "default/a leaves the head for later: the cache does not show the create of default/p.",
        "default/a forgets the create of default/p for the head: it is past its time-out.",
        "default/a remembers the delete of default/q for group small.",
        "default/a forgets all its 1 records.",
    ]


def test_without_a_memory_everything_is_satisfied() -> None:
    """The switch that a lesson turns: the same calls, and nothing is kept."""
    nothing = NoExpectations()
    nothing.expect_scale_pod("default", "a", "small", "p", CREATE)
    assert nothing.is_satisfied("default", "a", "small")
    nothing.delete("a", "default")
    assert len(nothing) == 0


# --- Against the rule, said in another way ------------------------------------------------------


class Rule:
    """A list of records, searched from the front: the rule, without any index."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self.items: list[tuple[str, str, ScaleAction, int]] = []

    def expect(self, pod: str, action: ScaleAction, group: str) -> None:
        """Replace and append."""
        self.items = [item for item in self.items if item[0] != pod]
        self.items.append((pod, group, action, self._memory.sim.now_ns))

    def satisfied(self, group: str) -> bool:
        """Take met records from the front of the group until one is not met."""
        for item in [item for item in self.items if item[1] == group]:
            if not self._met(item):
                return False
            self.items.remove(item)
        return True

    def _met(self, item: tuple[str, str, ScaleAction, int]) -> bool:
        pod, _, action, at = item
        reader = self._memory.reader
        found = reader.failing is None and pod in reader.pods
        if action is CREATE:
            return found or self._memory.sim.now_ns - at > 30_000_000_000
        return reader.failing is None and not found


PODS, GROUPS = st.sampled_from("pqrst"), st.sampled_from(["", "small", "big"])
ACTS = st.one_of(
    st.tuples(st.just("expect"), PODS, st.sampled_from([CREATE, DELETE]), GROUPS),
    st.tuples(st.just("check"), GROUPS),
    st.tuples(st.just("appear"), PODS),
    st.tuples(st.just("vanish"), PODS),
    st.tuples(st.just("fail"), st.booleans()),
    st.tuples(st.just("advance"), st.sampled_from([0.001, 1, 15, 30])),
    st.tuples(st.just("forget")),
)


@given(st.lists(ACTS, max_size=40))
def test_any_run_agrees_with_the_rule(acts: list[tuple[Any, ...]]) -> None:
    """Whatever happens in whatever order: the same answers, and the same records are left."""
    memory = Memory()
    rule = Rule(memory)
    for act, *args in acts:
        match act:
            case "expect":
                memory.expect(*args)
                rule.expect(*args)
            case "check":
                assert memory.satisfied(*args) == rule.satisfied(*args)
            case "appear":
                memory.reader.appear(*args)
            case "vanish":
                memory.reader.pods.pop(str(args[0]), None)
            case "fail":
                memory.reader.failing = InternalError("no") if args[0] else None
            case "advance":
                memory.sim.run(until=memory.sim.now + args[0])
            case "forget":
                memory.kept.delete("a", "default")
                rule.items.clear()
        assert memory.names == [pod for pod, *_ in rule.items]
