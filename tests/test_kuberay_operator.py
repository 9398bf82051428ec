"""The operator as a process: its flags, its three controllers, restarts and replicas."""

from __future__ import annotations

from typing import Any

import pytest
from kuberay_rig import Rig

from kubequeue import FIFOQueue, InvalidArgumentError
from kubequeue.cluster.objects import Lease, ObjectMeta, Pod
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, WorkerGroupSpec
from kubequeue.kuberay.expectations import ExpectationRules
from kubequeue.kuberay.validation import validate_ray_cluster_webhook


@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_concurrency_goes_to_each_controller(workers: int) -> None:
    """2 means up to 6 rounds at once."""
    rig = Rig(reconcile_concurrency=workers)
    rig.run(1)
    assert rig.sim.trace.workers == dict.fromkeys(["raycluster", "rayjob", "rayservice"], workers)


def test_qps_and_burst_hold_back_the_creates_of_pods() -> None:
    """A bucket of 10, and 10 a second: 31 Pods take 2.1 s; without a limit no time."""
    for qps, seconds in ((10.0, 2.1), (-1.0, 0.0)):
        rig = Rig(latency={"create": 0.0}, qps=qps, burst=10)
        rig.create("a", WorkerGroupSpec("small", replicas=30))
        while len(rig.pods()) < 30:
            assert rig.sim.step()
        assert rig.sim.now == pytest.approx(seconds, abs=0.05)


@pytest.mark.parametrize(
    ("flag", "served"), [("", "abc"), ("a", "a"), ("a,b", "ab"), ("a,", "abc")]
)
def test_watch_namespace_says_what_is_seen(flag: str, served: str) -> None:
    """One, several with commas, or all."""
    rig = Rig(watch_namespace=flag)
    for namespace in "abc":
        rig.store.create(RayCluster(ObjectMeta("x", namespace)))
    rig.run(10)
    made = {pod.metadata.namespace for pod in rig.store.list(Pod).items}
    assert made == set(served)


@pytest.mark.parametrize("wrong", [["a"], "a, b", " a", "a\t"])
def test_watch_namespace_is_a_text_without_blanks(wrong: Any) -> None:
    """A list is told as the mistake that it is; and a blank would belong to a namespace's name."""
    rig = Rig(starts=False)
    with pytest.raises(InvalidArgumentError, match="watch_namespace"):
        rig.start(watch_namespace=wrong)


def test_leader_election_is_kuberays_own() -> None:
    """The lease has its name and its times, and is not given back at a stop."""
    rig = Rig(leader_election=True)
    rig.run(5)
    lease = rig.store.get(Lease, "ray-system/ray-operator-leader")
    assert lease.spec.lease_duration_seconds == 15
    rig.operator.stop()
    rig.run(6)
    assert rig.store.get(Lease, "ray-system/ray-operator-leader").spec.holder_identity


def test_a_standby_goes_on_where_the_leader_crashed() -> None:
    """In the middle of a scale-up: nothing is made twice, because its first list has all Pods."""
    rig = Rig(leader_election=True, latency={"create": 0.1})
    rig.create("a", WorkerGroupSpec("small", replicas=20))
    rig.sim.call_at(1.05, rig.operator.crash)
    rig.run(1.1)
    assert 0 < len(rig.pods()) < 20
    rig.start(name="other")
    rig.run(60)
    assert len(rig.pods()) == rig.pods_created["small"] == 20
    assert rig.cluster().status.state == "ready"


def test_a_write_under_way_at_a_crash_may_be_made_and_not_be_known() -> None:
    """The list of the next process may come before the last write of the dead one arrives."""
    rig = Rig(latency={"create": 2.0, "list": 0.0})
    rig.create("a", WorkerGroupSpec("small", replicas=1))
    rig.run(4.5)
    assert rig.pods_created == {"headgroup": 1}
    rig.operator.crash()
    rig.start()
    rig.run(60)
    assert (rig.pods_created["small"], len(rig.pods())) == (1, 1)


def test_two_operators_without_a_lease_get_in_each_others_way() -> None:
    """The memory is of one process: each creates what it sees missing."""
    rig = Rig(starts=False, lag=1.0)
    rig.start(name="one")
    rig.start(name="two")
    rig.create("a", WorkerGroupSpec("small"))
    rig.run(50)
    rig.scale("a", 2)
    rig.run(51.5)
    assert rig.pods_created["small"] == 4
    rig.run(100)
    assert len(rig.pods()) == 2


def test_the_older_queue_serves_too() -> None:
    """KubeRay before 1.7 was built on it."""
    rig = Rig(queue=FIFOQueue)
    rig.create("a", WorkerGroupSpec("small", replicas=3))
    rig.run(20)
    assert rig.cluster().status.state == "ready"


def test_equal_seeds_give_equal_runs() -> None:
    """Names, order and times, to the last step of the trace."""

    def story(seed: int) -> str:
        rig = Rig(seed=seed, lag=(0.01, 0.3), kubelet={"start": (1.0, 3.0)}, latency=(0.001, 0.02))
        for name in "ab":
            rig.create(name, WorkerGroupSpec("small", replicas=3))
        rig.run(30)
        return rig.sim.trace.story()

    assert story(1) == story(1) != story(2)


def test_rules_with_a_negative_time_out_are_told() -> None:
    """A record cannot be older than never."""
    with pytest.raises(InvalidArgumentError, match="timeout was -1"):
        ExpectationRules(timeout=-1)


def test_only_the_webhook_knows_two_groups_of_one_name() -> None:
    """The operator itself does not look."""
    groups = (WorkerGroupSpec("small", 1), WorkerGroupSpec("small", 2))
    twice = RayCluster(ObjectMeta("a", "default"), RayClusterSpec(worker_group_specs=groups))
    once = RayCluster(ObjectMeta("a", "default"), RayClusterSpec(worker_group_specs=groups[:1]))
    assert validate_ray_cluster_webhook(twice) == "worker group names must be unique"
    assert validate_ray_cluster_webhook(once) is None


def test_a_pod_of_somebody_else_costs_no_event_and_is_not_seen() -> None:
    """Without the label of a node's type it is not in the cache, whatever cluster it names."""
    rig = Rig()
    labels = {"ray.io/cluster": "a", "ray.io/group": "small"}
    for i in range(3):
        rig.store.create(Pod(ObjectMeta(f"other-{i}", "default", labels=labels)))
    rig.create("a", WorkerGroupSpec("small", replicas=1))
    rig.run(10)
    assert rig.cluster().status.state == "ready"
    assert rig.pods_created["small"] == 3 + 1
    cached = {str(i.key) for i in rig.sim.trace.instants if i.kind == "cached"}
    assert "default/a" in cached
    assert not any("other" in key for key in cached)
