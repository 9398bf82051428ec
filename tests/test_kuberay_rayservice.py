"""A RayService's rounds: the first cluster, the upgrade beside it, and the switch."""

from __future__ import annotations

from kuberay_rig import GROUP, ServiceRig

from kubequeue.cluster.objects import Pod
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, RayService
from kubequeue.kuberay.conditions import is_status_condition_true
from kubequeue.kuberay.raycluster_types import HeadGroupSpec, WorkerGroupSpec
from kubequeue.kuberay.rayservice_types import UPGRADE_IN_PROGRESS

UPGRADED = RayClusterSpec(HeadGroupSpec("another image"), (GROUP,))


def test_a_service_comes_up() -> None:
    """The cluster is pending until its applications run, then it is active and served from."""
    rig = ServiceRig()
    rig.run(8)
    assert (rig.active, bool(rig.pending)) == ("", True)
    rig.run(30)
    assert (bool(rig.active), rig.pending) == (True, "")
    assert rig.serves_from() == rig.active
    assert rig.status.service_status == "Running"
    assert rig.status.num_serve_endpoints == 2


def test_it_is_looked_at_each_2_s_and_written_only_when_it_changed() -> None:
    """Each round asks the head's proxy and the dashboard, 20 ms each; nothing is news."""
    rig = ServiceRig()
    rig.run(60)
    version = rig.store.get(RayService, "default/s").metadata.resource_version
    before, calls = len(rig.rounds("rayservice")), rig.dashboards.calls
    rig.run(60 + 204)
    assert len(rig.rounds("rayservice")) - before == 100
    assert rig.dashboards.calls - calls == 200
    assert rig.store.get(RayService, "default/s").metadata.resource_version == version


def test_an_upgrade_prepares_a_cluster_beside_and_switches_when_it_is_ready() -> None:
    """The old one serves until then, and goes a minute later."""
    rig = ServiceRig()
    rig.run(60)
    old = rig.active
    rig.edit(ray_cluster_spec=UPGRADED)
    rig.run(68)
    assert rig.serves_from() == rig.active == old
    assert rig.pending
    assert is_status_condition_true(rig.status.conditions, UPGRADE_IN_PROGRESS)
    rig.run(90)
    new = rig.active
    assert rig.serves_from() == new != old
    assert not is_status_condition_true(rig.status.conditions, UPGRADE_IN_PROGRESS)
    assert len(rig.store.list(RayCluster).items) == 2
    rig.run(160)
    assert [cluster.metadata.name for cluster in rig.store.list(RayCluster).items] == [new]


def test_the_strategy_none_keeps_the_cluster() -> None:
    """A new spec is for the next RayService."""
    rig = ServiceRig(upgrade_strategy="None")
    rig.run(60)
    old = rig.active
    rig.edit(ray_cluster_spec=UPGRADED)
    rig.run(120)
    assert (rig.active, rig.pending) == (old, "")


def test_a_group_more_is_added_in_place() -> None:
    """As long as it comes behind the groups that are there."""
    rig = ServiceRig()
    rig.run(60)
    old = rig.active
    more = RayClusterSpec(worker_group_specs=(GROUP, WorkerGroupSpec("big", replicas=2)))
    rig.edit(ray_cluster_spec=more)
    rig.run(90)
    assert rig.active == old
    assert rig.events("default/s")[-1] == "UpdatedRayCluster"
    assert len(rig.pods("big", old)) == 2


def test_a_new_serve_config_is_sent_to_the_same_cluster() -> None:
    """It is compared with what this process sent last."""
    rig = ServiceRig()
    rig.run(60)
    old = rig.active
    rig.edit(serve_config="other applications")
    rig.run(90)
    assert rig.active == old
    assert rig.events("default/s").count("UpdatedServeApplications") == 2


def test_a_restarted_operator_sends_the_config_again() -> None:
    """What was sent is in memory; the dashboard does not mind."""
    rig = ServiceRig()
    rig.run(60)
    rig.operator.crash()
    rig.start(dashboards=rig.dashboards)
    rig.run(70)
    assert rig.events("default/s").count("UpdatedServeApplications") == 2


def test_a_head_that_is_dead_holds_the_worker_for_two_time_outs_and_is_an_error() -> None:
    """Its proxy, then its dashboard; back-off, not the 2 s, says when it is asked again."""
    rig = ServiceRig()
    rig.run(60)
    rig.dashboards.kill(f"default/{rig.active}")
    rig.run(70)
    ended = [s for s in rig.sim.trace.rounds() if s.source == "rayservice" and s.end]
    assert ended[-1].outcome == "error"
    assert round((ended[-1].end or 0) - ended[-1].start, 6) == 4.0
    (head,) = rig.pods("headgroup", rig.active)
    assert head.metadata.labels["ray.io/serve"] == "false"
    assert rig.events("default/s").count("UpdatedHeadPodServeLabel") == 2


def test_a_deleted_service_takes_its_clusters_with_it() -> None:
    """The finalizer holds it until they are gone."""
    rig = ServiceRig()
    rig.run(60)
    rig.store.delete(RayService, "default/s")
    rig.run(90)
    assert not rig.store.list(RayService).items
    assert not rig.store.list(RayCluster).items


def test_an_invalid_service_says_so() -> None:
    """In a condition and an Event; no cluster is made."""
    rig = ServiceRig(ray_cluster_deletion_delay_seconds=-1)
    rig.run(20)
    assert "InvalidRayServiceSpec" in rig.events("default/s")
    assert rig.status.conditions[0].reason == "ValidationFailed"
    assert not rig.store.list(RayCluster).items


MORE = RayClusterSpec(worker_group_specs=(GROUP, WorkerGroupSpec("big", replicas=2)))


def test_a_group_that_cannot_be_added_is_told() -> None:
    """The failed write is an Event and ends the round."""
    rig = ServiceRig()
    rig.run(60)
    rig.server.fail("update", RayCluster, times=1)
    rig.edit(ray_cluster_spec=MORE)
    rig.run(61)
    assert "FailedToUpdateRayCluster" in rig.events("default/s")
    assert "error" in [outcome for start, outcome in rig.rounds("rayservice") if start >= 60]


def test_a_cluster_that_is_gone_from_the_server_is_no_error() -> None:
    """The write is told as failed, and the next round is in 2 s, without a back-off."""
    rig = ServiceRig({"latency": 0.01})
    rig.run(60)
    rig.operator.cache.informer(RayCluster).pause()
    rig.store.delete(RayCluster, f"default/{rig.active}")
    rig.edit(ray_cluster_spec=MORE)
    rig.run(60.5)
    assert rig.events("default/s")[-1] == "FailedToUpdateRayCluster"
    ends = [outcome for start, outcome in rig.rounds("rayservice") if start >= 60]
    assert set(ends) == {"requeue_after"}


def test_suspend_is_handed_on_only_to_a_cluster_that_is_made() -> None:
    """Later on it is neither a change in place nor a reason for a new cluster."""
    rig = ServiceRig()
    rig.run(60)
    old = rig.active
    rig.edit(ray_cluster_spec=RayClusterSpec(worker_group_specs=(GROUP,), suspend=True))
    rig.run(90)
    assert (rig.active, rig.pending) == (old, "")
    assert not rig.store.get(RayCluster, f"default/{old}").spec.suspend


def test_a_head_is_made_with_the_label_that_it_does_not_serve() -> None:
    """And a worker with the one that it does; no write is needed to say so."""
    rig = ServiceRig()
    labels = rig.record(Pod, lambda pod: pod.metadata.labels["ray.io/serve"])
    rig.run(5)
    assert labels[:2] == ["false", "true"]


def test_a_pod_that_is_being_deleted_is_no_endpoint() -> None:
    """As it is not ready any more in its EndpointSlice."""
    rig = ServiceRig({"kubelet": {"termination": 20.0}})
    rig.run(60)
    (worker,) = rig.names(cluster=rig.active)
    rig.store.delete(Pod, worker)
    rig.run(63)
    assert rig.status.num_serve_endpoints == 1


def test_conditions_note_the_generation_that_they_are_about() -> None:
    """So an edit that changes nothing else is written down; a RayCluster's conditions note none."""
    rig = ServiceRig()
    rig.run(60)
    assert {each.observed_generation for each in rig.status.conditions} == {1}
    rig.edit(ray_cluster_deletion_delay_seconds=30.0)
    rig.run(62)
    assert {each.observed_generation for each in rig.status.conditions} == {2}
    assert rig.status.observed_generation == 2
    assert {each.observed_generation for each in rig.cluster(rig.active).status.conditions} == {0}


def test_a_refused_edit_keeps_the_generation_that_was_looked_at() -> None:
    """The condition is set before the new generation is."""
    rig = ServiceRig()
    rig.run(60)
    rig.edit(ray_cluster_deletion_delay_seconds=-1.0)
    rig.run(62)
    refused = rig.status.conditions[0]
    assert (refused.reason, refused.observed_generation) == ("ValidationFailed", 1)
