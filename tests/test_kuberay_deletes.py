"""Deletes of Pods in the corners: gone already, unhealthy and named at once."""

from __future__ import annotations

from kuberay_rig import Rig

from kubequeue.cluster.objects import Pod
from kubequeue.kuberay.api import WorkerGroupSpec


def ready(*groups: WorkerGroupSpec) -> Rig:
    """The RayCluster default/a of these groups, ready, and nothing new gets into the cache."""
    rig = Rig(latency=0.01)
    rig.create("a", *groups)
    rig.run(10)
    rig.operator.cache.informer(Pod).pause()
    return rig


def new_events(rig: Rig, until: float) -> list[str]:
    """The reasons of the Events of default/a from now on."""
    seen = len(rig.events())
    rig.run(until)
    return rig.events()[seen:]


def test_an_unhealthy_worker_that_is_gone_already_is_a_failed_delete() -> None:
    """Of all deletes of workers only this one tells of a Pod that is not found."""
    rig = ready(WorkerGroupSpec("small", replicas=1))
    (name,) = rig.names()
    rig.operator.cache.informer(Pod).resume()
    rig.kubelet.fail(name)
    rig.sim.settle()
    rig.operator.cache.informer(Pod).pause()
    rig.store.delete(Pod, name, grace_period_seconds=0)
    assert "FailedToDeleteWorkerPod" in new_events(rig, 10.05)


def test_a_surplus_worker_that_is_gone_already_is_told_as_deleted() -> None:
    """It is remembered like one that was there."""
    rig = ready(WorkerGroupSpec("small", replicas=1))
    rig.store.delete(Pod, rig.names()[0], grace_period_seconds=0)
    rig.scale("a", 0)
    assert new_events(rig, 10.05) == ["DeletedWorkerPod"]
    assert len(rig.operator.expectations) == 1


def test_a_named_worker_that_is_gone_already_is_passed_over() -> None:
    """Without an Event and without a record."""
    rig = ready(WorkerGroupSpec("small", replicas=1))
    rig.set_group("a", "small", scale_strategy_workers_to_delete=("nobody",))
    assert new_events(rig, 10.05) == []
    assert len(rig.operator.expectations) == 0


def test_an_unhealthy_replica_that_is_named_too_ends_the_round() -> None:
    """It is among the replicas that the names are looked up in, so no other one is made yet."""
    rig = ready(WorkerGroupSpec("small", replicas=2, num_of_hosts=2))
    bad = rig.pods()[0].metadata.name
    rig.kubelet.fail(f"default/{bad}")
    rig.set_group("a", "small", scale_strategy_workers_to_delete=(bad,))
    before = len(rig.rounds())
    rig.operator.cache.informer(Pod).resume()
    rig.run(10.5)
    ends = [outcome for _, outcome in rig.rounds()[before:]]
    assert (ends[0], rig.pods_created["small"]) == ("error", 4)
