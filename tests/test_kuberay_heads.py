"""What is lost with a head Pod: the jobs and the Serve config, and who finds out how."""

from __future__ import annotations

from typing import Any

import pytest
from kuberay_rig import JobRig, ServiceRig

from kubequeue.cluster.objects import Pod, key_of
from kubequeue.kuberay.api import HeadGroupSpec, RayClusterSpec, RayJob, RayService
from kubequeue.kuberay.dashboard import Dashboards, DashboardUnreachableError

HEAD_ALONE = RayClusterSpec()
NEVER = RayClusterSpec(HeadGroupSpec(restart_policy="Never"))


def end_head(rig: Any, how: str) -> None:
    """The head goes: as a whole, its container alone, or deleted by somebody."""
    (head,) = rig.heads()
    if how == "delete":
        rig.store.delete(Pod, key_of(head))
    else:
        getattr(rig.kubelet, how)(key_of(head))


@pytest.mark.parametrize("how", ["fail", "succeed", "end_container", "delete"])
@pytest.mark.parametrize("spec", [HEAD_ALONE, NEVER])
def test_a_service_whose_head_goes_is_set_up_again(how: str, spec: RayClusterSpec) -> None:
    """Nothing answers in between, the config is sent again, and then it serves as before."""
    rig = ServiceRig(ray_cluster_spec=spec)
    rig.run(60)
    assert (rig.status.num_serve_endpoints, rig.status.service_status) == (1, "Running")
    endpoints = rig.record(RayService, lambda service: service.status.num_serve_endpoints)
    labels = rig.record(Pod, lambda pod: pod.metadata.labels["ray.io/serve"])
    end_head(rig, how)
    rig.run(100)
    assert rig.events("default/s").count("UpdatedServeApplications") == 2
    assert 0 in endpoints
    assert "false" in labels
    assert (rig.status.num_serve_endpoints, rig.status.service_status) == (1, "Running")


@pytest.mark.parametrize("how", ["fail", "succeed", "end_container", "delete"])
def test_a_job_whose_head_goes_is_submitted_again(how: str) -> None:
    """First the timer of failed looks starts; the new head knows no such job."""
    rig = JobRig({"job_seconds": 60.0}, kubelet={"start": 5.0})
    rig.submit(ray_cluster_spec=NEVER)
    rig.run(40)
    failing = rig.record(RayJob, lambda job: job.status.job_status_check_failure_start_time)
    end_head(rig, how)
    rig.run(90)
    assert any(time is not None for time in failing)
    assert failing[-1] is None
    assert (rig.status.job_deployment_status, rig.status.job_status) == ("Running", "RUNNING")
    rig.run(130)
    assert rig.status.job_status == "SUCCEEDED"


def test_a_head_that_does_not_come_back_fails_the_job() -> None:
    """After the time-out of failed looks; each of them fails at once and holds no worker."""
    rig = JobRig({"job_seconds": None})
    rig.submit(ray_cluster_spec=NEVER)
    rig.run(30)
    rig.kubelet.node_down("node-1")
    end_head(rig, "fail")
    rig.run(60)
    spans = [s for s in rig.sim.trace.rounds() if s.source == "rayjob" and s.end]
    assert spans[-1].end == spans[-1].start
    rig.run(400)
    assert rig.status.reason == "JobStatusCheckTimeoutExceeded"


def test_a_second_head_answers_for_nothing_while_the_first_one_runs() -> None:
    """Its end takes nothing with it."""
    rig = ServiceRig(ray_cluster_spec=HEAD_ALONE)
    rig.run(60)
    (head,) = rig.heads()
    other = rig.store.create(Pod(type(head.metadata)("b", "default", labels=head.metadata.labels)))
    rig.run(61.5)
    rig.store.delete(Pod, key_of(other), grace_period_seconds=0)
    rig.run(90)
    assert rig.events("default/s").count("UpdatedServeApplications") == 1


def test_a_request_under_way_when_the_head_goes_has_no_answer() -> None:
    """The connection ends with the head, whatever the next one could say."""
    rig = JobRig({"job_seconds": None, "latency": 1.5})
    rig.submit(ray_cluster_spec=NEVER)
    rig.run(30)
    call = rig.dashboards.get_job_info(key_of(rig.clusters[0]), rig.status.job_id)
    asked = rig.sim.process(call)
    asked.defused = True
    rig.sim.call_at(30.1, lambda: end_head(rig, "fail"))
    rig.run(32)
    assert isinstance(asked.value, DashboardUnreachableError)
    assert "connection refused: no head Pod runs" in str(asked.value)


def test_dashboards_that_follow_no_store_always_answer() -> None:
    """As in a test of their own, without any cluster."""
    rig = JobRig()
    alone = Dashboards(rig.sim)
    rig.submit()
    rig.run(30)
    steps = alone.check_proxy_actor_health(key_of(rig.clusters[0]))
    next(steps)
    with pytest.raises(StopIteration):
        next(steps)
