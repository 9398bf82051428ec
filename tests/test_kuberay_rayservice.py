"""A RayService's rounds: the first cluster, the upgrade beside it, and the switch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kuberay_rig import Rig

from kubequeue.cluster.objects import ObjectMeta, Service
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, RayService, RayServiceSpec
from kubequeue.kuberay.conditions import is_status_condition_true
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.raycluster_types import HeadGroupSpec, WorkerGroupSpec
from kubequeue.kuberay.rayservice_types import UPGRADE_IN_PROGRESS, RayServiceStatuses

GROUP = WorkerGroupSpec("small", replicas=1)


class ServiceRig(Rig):
    """A rig with one RayService, default/s."""

    def __init__(self, **spec: Any) -> None:
        super().__init__(starts=False)
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
    assert rig.events("default/s").count("UpdatedHeadPodServeLabel") == 3


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
