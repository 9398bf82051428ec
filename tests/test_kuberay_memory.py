"""Why the operator remembers its writes: each rule of the expectations in a whole cluster."""

from __future__ import annotations

import pytest
from kuberay_rig import Rig

from kubequeue.cluster.objects import Pod
from kubequeue.kuberay.api import WorkerGroupSpec
from kubequeue.kuberay.expectations import HEAD_GROUP
from kubequeue.kuberay.operator import RULES
from kubequeue.kuberay.raycluster_types import READY

SMALL, BIG = WorkerGroupSpec("small"), WorkerGroupSpec("big")


def ready_rig(*groups: WorkerGroupSpec, until: float = 10.0, **options: object) -> Rig:
    """A RayCluster that is ready, and nothing under way."""
    rig = Rig(**options)  # type: ignore[arg-type]
    rig.create("a", *(groups or (SMALL,)))
    rig.run(until)
    assert rig.cluster().status.state == READY
    assert rig.operator.expectations.is_satisfied("default", "a", HEAD_GROUP)
    return rig


@pytest.mark.parametrize("touches", [(), (10.2,), (10.2, 10.5, 10.9)])
@pytest.mark.parametrize("desired", [1, 4])
def test_without_a_memory_each_round_inside_the_lag_creates_all_again(
    desired: int, touches: tuple[float, ...]
) -> None:
    """Created = desired x rounds inside the lag; with the memory it is desired, however many."""
    for rules, rounds in ((None, 1 + len(touches)), (RULES, 1)):
        rig = ready_rig(expectations=rules)
        rig.operator.cache.informer(Pod).lag = 1.0
        rig.scale("a", desired)
        rig.touch_at(*touches)
        rig.run(10.95)
        assert rig.pods_created["small"] == desired * rounds
        rig.run(100)
        assert len(rig.pods()) == desired
        assert len(rig.pods_marked) == desired * (rounds - 1)


def vanish_unseen(rig: Rig) -> None:
    """A worker is created at 10 s, and gone before the cache has heard of it."""
    informer = rig.operator.cache.informer(Pod)
    informer.lag = 1.0
    rig.scale("a", 1)
    rig.run(10.1)
    (name,) = rig.names()
    rig.store.delete(Pod, name, grace_period_seconds=0)
    informer.break_watch()
    rig.run(rig.sim.now + 5)
    assert rig.pods() == []


def test_a_create_that_vanished_blocks_its_group_until_a_round_after_30_s() -> None:
    """Nobody wakes up at 30 s: the round at 29 s is too early, and the one at 35 s creates."""
    rig = ready_rig()
    vanish_unseen(rig)
    rig.touch_at(39.0, 45.0)
    rig.run(44.9)
    assert rig.pods_created["small"] == 1
    rig.run(45.0)
    assert rig.pods_created["small"] == 2


def test_without_an_event_the_next_look_is_the_one_after_300_s() -> None:
    """The requeue of a round that found nothing to do, not the 30 s of the record."""
    rig = ready_rig()
    vanish_unseen(rig)
    last_round = rig.rounds()[-1][0]
    rig.run(last_round + 299.9)
    assert rig.pods_created["small"] == 1
    assert rig.operator.expectations
    rig.run(last_round + 300.1)
    assert rig.pods_created["small"] == 2


def test_a_delete_that_does_not_finish_blocks_its_group_for_ever() -> None:
    """There is no time-out for it: after a day the group still gets nothing."""
    rig = ready_rig(WorkerGroupSpec("small", replicas=2))
    rig.kubelet.never_finish(rig.names()[0])
    rig.scale("a", 1)
    rig.run(20)
    rig.scale("a", 8)
    rig.touch_at(60, 600, 6_000, 60_000)
    rig.run(86_400)
    assert (rig.pods_created["small"], len(rig.pods_marked)) == (2, 1)


def test_and_goes_on_in_the_round_after_it_has_finished() -> None:
    """The end of the Pod is an event, so nobody has to wait for the 300 s."""
    rig = ready_rig(WorkerGroupSpec("small", replicas=2))
    name = rig.names()[0]
    rig.kubelet.never_finish(name)
    rig.scale("a", 1)
    rig.run(20)
    rig.scale("a", 8)
    rig.run(500)
    assert rig.pods_created["small"] == 2
    rig.kubelet.finish(name)
    rig.run(510)
    assert len(rig.pods()) == 8


def test_an_unmet_expectation_leaves_the_other_groups_alone() -> None:
    """One group waits for a delete; the other, behind it in the spec, is scaled at once."""
    rig = ready_rig(WorkerGroupSpec("small", replicas=1), BIG)
    rig.kubelet.never_finish(rig.names()[0])
    rig.scale("a", 0)
    rig.run(20)
    rig.scale("a", 5)
    rig.scale("a", 3, "big")
    rig.run(30)
    assert (rig.pods_created["small"], rig.pods_created["big"]) == (1, 3)


def test_the_head_is_the_group_of_the_empty_name() -> None:
    """While its record is open, the workers are looked after all the same."""
    rig = Rig()
    rig.operator.cache.informer(Pod).lag = 1.0
    rig.create("a", WorkerGroupSpec("small", replicas=2))
    rig.run(0.5)
    held = rig.operator.expectations.records("default", "a")  # type: ignore[union-attr]
    assert [item.group for item in held] == [HEAD_GROUP, "small", "small"]
    rig.touch()
    rig.run(10)
    assert (rig.pods_created["headgroup"], rig.pods_created["small"]) == (1, 2)
    assert len(rig.operator.expectations) == 0


def test_a_cluster_that_waits_does_not_hold_up_another() -> None:
    """Records are of one RayCluster, and no worker sleeps on one."""
    rig = ready_rig(WorkerGroupSpec("small", replicas=1))
    rig.kubelet.never_finish(rig.names()[0])
    rig.scale("a", 0)
    rig.run(20)
    rig.create("b", WorkerGroupSpec("small", replicas=2))
    rig.run(22)
    assert rig.cluster("b").status.state == READY


def test_a_failed_create_records_nothing() -> None:
    """The next round, after back-off, creates it."""
    rig = ready_rig()
    rig.server.fail("create", Pod, times=1)
    rig.scale("a", 1)
    rig.sim.settle()
    assert len(rig.operator.expectations) == 0
    assert "FailedToCreateWorkerPod" in rig.events()
    rig.run(20)
    assert rig.pods_created["small"] == 1


def test_a_create_whose_answer_was_lost_is_made_again() -> None:
    """What the memory cannot know: the Pod is there, the caller was told otherwise."""
    rig = ready_rig()
    rig.operator.cache.informer(Pod).lag = 1.0
    rig.server.lose_answer("create", Pod, times=1)
    rig.scale("a", 1)
    rig.run(10.5)
    assert rig.pods_created["small"] == 2


def test_a_restart_forgets() -> None:
    """A new process knows nothing of the writes of the last; its first list does know the Pods."""
    rig = ready_rig(lag=0.0)
    rig.operator.cache.informer(Pod).lag = 5.0
    rig.scale("a", 2)
    rig.run(10.5)
    assert len(rig.operator.expectations) == 2
    rig.operator.crash()
    rig.start()
    assert len(rig.operator.expectations) == 0
    rig.run(60)
    assert rig.pods_created["small"] == 2


def test_records_go_with_the_cluster() -> None:
    """Deleted with a record still open: the round that finds nothing drops it."""
    rig = ready_rig(WorkerGroupSpec("small", replicas=1))
    rig.kubelet.never_finish(rig.names()[0])
    rig.scale("a", 0)
    rig.run(20)
    assert len(rig.operator.expectations) == 1
    rig.store.delete(type(rig.cluster()), "default/a")
    rig.run(21)
    assert len(rig.operator.expectations) == 0


def test_a_steady_cluster_holds_no_records() -> None:
    """At most as many as there are Pods under way, and none in the end."""
    rig = ready_rig(WorkerGroupSpec("small", replicas=50), until=30)
    assert len(rig.operator.expectations) == 0
