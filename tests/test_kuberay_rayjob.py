"""A RayJob's rounds: its RayCluster, the job on it, and what a dashboard does to a worker."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from kuberay_rig import JobRig

from kubequeue.cluster.objects import NamespacedName, Service
from kubequeue.errors import InvalidArgumentError
from kubequeue.kuberay.api import RayClusterSpec, RayJob, WorkerGroupSpec
from kubequeue.kuberay.tools import Options


def test_from_new_to_complete() -> None:
    """A cluster is made, the job waits for it, runs for a minute, and is over."""
    rig = JobRig()
    rig.submit()
    rig.run(0.5)
    assert rig.status.job_deployment_status == "Initializing"
    (cluster,) = rig.clusters
    assert cluster.metadata.name == rig.status.ray_cluster_name
    assert cluster.metadata.labels["ray.io/originated-from-crd"] == "RayJob"
    rig.run(30)
    assert (rig.status.job_deployment_status, rig.status.job_status) == ("Running", "RUNNING")
    service = rig.store.get(Service, "default/j-head-svc")
    assert service.spec.selector["ray.io/cluster"] == cluster.metadata.name
    rig.run(120)
    assert (rig.status.job_deployment_status, rig.status.job_status) == ("Complete", "SUCCEEDED")
    assert rig.status.succeeded == 1
    assert rig.clusters


def test_a_running_job_is_asked_for_each_3_s_after_the_last_answer() -> None:
    """The answer takes 20 ms of the worker's time, then the key is away for 3 s."""
    rig = JobRig({"job_seconds": None})
    rig.submit()
    rig.run(60)
    starts = [start for start, _ in rig.rounds("rayjob") if start > 30]
    assert {round(b - a, 6) for a, b in pairwise(starts)} == {3.02}


def test_a_job_that_the_dashboard_does_not_know_is_submitted_in_the_same_round() -> None:
    """Two calls, then one each round."""
    rig = JobRig({"job_seconds": None, "latency": 0.5})
    rig.submit()
    rig.run(60)
    spans = [s for s in rig.sim.trace.rounds() if s.source == "rayjob" and s.end]
    took = [round(s.end - s.start, 6) for s in spans if s.end]
    assert took[-1] == 0.5
    assert took.count(1.0) == 1


def test_a_dashboard_that_is_dead_holds_the_worker_for_its_time_out() -> None:
    """2 s a round; after 300 s of that the job has failed, and is not tried again."""
    rig = JobRig({"job_seconds": None})
    rig.submit(backoff_limit=3)
    rig.run(30)
    rig.dashboards.kill(f"default/{rig.status.ray_cluster_name}")
    rig.run(100)
    spans = [s for s in rig.sim.trace.rounds() if s.source == "rayjob" and s.end]
    assert round((spans[-1].end or 0) - spans[-1].start, 6) == 2.0
    assert rig.status.job_status_check_failure_start_time == pytest.approx(33, abs=3)
    rig.run(400)
    assert rig.status.job_deployment_status == "Failed"
    assert rig.status.reason == "JobStatusCheckTimeoutExceeded"


def test_a_dashboard_that_comes_back_in_time_is_forgiven() -> None:
    """The timer is reset by the first answer."""
    rig = JobRig({"job_seconds": None}, options=Options(job_status_check_timeout_seconds=20))
    rig.submit()
    rig.run(30)
    cluster = f"default/{rig.status.ray_cluster_name}"
    rig.dashboards.kill(cluster)
    rig.run(45)
    rig.dashboards.revive(cluster)
    rig.run(100)
    assert rig.status.job_deployment_status == "Running"
    assert rig.status.job_status_check_failure_start_time is None


def test_a_failed_job_is_tried_again_on_another_cluster() -> None:
    """As often as the limit says; each try has a cluster of its own."""
    rig = JobRig({"job_seconds": 5.0})
    rig.submit(backoff_limit=1, job_id="mine")
    rig.dashboards.fail_job("mine")
    rig.run(0.5)
    first = rig.status.ray_cluster_name
    rig.run(200)
    assert (rig.status.job_deployment_status, rig.status.reason) == ("Failed", "AppFailed")
    assert rig.status.failed == 2
    assert rig.status.ray_cluster_name != first
    assert [cluster.metadata.name for cluster in rig.clusters] == [rig.status.ray_cluster_name]


def test_the_cluster_goes_when_the_job_is_over_if_asked() -> None:
    """After its time to live; then the RayJob is left alone."""
    rig = JobRig({"job_seconds": 10.0})
    rig.submit(shutdown_after_job_finishes=True, ttl_seconds_after_finished=30)
    rig.run(40)
    assert (rig.status.job_deployment_status, len(rig.clusters)) == ("Complete", 1)
    rig.run(60)
    assert rig.clusters == []


def test_a_job_that_takes_too_long_fails() -> None:
    """The active deadline counts from the start of the RayJob, clusters included."""
    rig = JobRig()
    rig.submit(active_deadline_seconds=20)
    rig.run(30)
    assert (rig.status.job_deployment_status, rig.status.reason) == ("Failed", "DeadlineExceeded")


def test_suspend_deletes_the_cluster_and_resume_makes_another() -> None:
    """Everything of the first is gone before the state says so."""
    rig = JobRig({"job_seconds": None})
    rig.submit(shutdown_after_job_finishes=True)
    rig.run(30)
    rig.set_suspend(True)
    rig.run(50)
    assert rig.status.job_deployment_status == "Suspended"
    assert rig.clusters == []
    rig.set_suspend(False)
    rig.run(100)
    assert rig.status.job_deployment_status == "Running"


def test_a_job_on_a_cluster_that_is_there() -> None:
    """It is selected by name, used, and not deleted."""
    rig = JobRig({"job_seconds": 5.0})
    rig.create("a")
    rig.submit(ray_cluster_spec=None, cluster_selector="a", shutdown_after_job_finishes=True)
    rig.run(60)
    assert (rig.status.job_deployment_status, len(rig.clusters)) == ("Complete", 1)


def test_a_selected_cluster_that_is_not_there_is_an_error() -> None:
    """With an Event for each try."""
    rig = JobRig()
    rig.submit(ray_cluster_spec=None, cluster_selector="nowhere")
    rig.run(10)
    assert "RayClusterNotFound" in rig.events("default/j")
    assert rig.rounds("rayjob")[-1][1] == "error"


def test_a_deleted_job_is_stopped_and_let_go() -> None:
    """The finalizer holds it until the dashboard was told, or did not answer."""
    rig = JobRig({"job_seconds": None})
    rig.submit()
    rig.run(30)
    rig.dashboards.kill(f"default/{rig.status.ray_cluster_name}")
    rig.store.delete(RayJob, "default/j")
    rig.run(40)
    assert list(rig.store.list(RayJob).items) == []
    assert rig.clusters == []


def test_a_job_that_has_no_dashboard_yet_is_let_go_at_once() -> None:
    """There is no address to send a request to, so no worker waits for an answer."""
    rig = JobRig(kubelet={"start": 100.0})
    rig.submit()
    rig.run(5)
    rig.store.delete(RayJob, "default/j")
    rig.run(5.1)
    assert list(rig.store.list(RayJob).items) == []
    assert rig.dashboards.calls == 0


PROBLEMS: dict[str, dict[str, Any]] = {
    "one of RayClusterSpec or ClusterSelector must be set": {"ray_cluster_spec": None},
    "not allowed to be suspended": {"suspend": True},
    "TTLSecondsAfterFinished must be": {"ttl_seconds_after_finished": -1},
    "false cannot have TTLSecondsAfterFinished": {"ttl_seconds_after_finished": 10},
    "activeDeadlineSeconds must be": {"active_deadline_seconds": 0},
    "backoffLimit must be": {"backoff_limit": -1},
    "incompatible with ClusterSelector": {"cluster_selector": "a", "backoff_limit": 1},
    "doesn't support the suspend": {
        "cluster_selector": "a",
        "suspend": True,
        "shutdown_after_job_finishes": True,
    },
    "minReplicas 2 greater than maxReplicas 1": {
        "ray_cluster_spec": RayClusterSpec(worker_group_specs=(WorkerGroupSpec("g", 1, 2, 1),))
    },
}


@pytest.mark.parametrize(("problem", "spec"), PROBLEMS.items(), ids=PROBLEMS.keys())
def test_an_invalid_job_says_so_in_its_status(problem: str, spec: dict[str, Any]) -> None:
    """And an Event; nothing is made."""
    rig = JobRig()
    rig.submit(**spec)
    rig.run(10)
    assert rig.status.job_deployment_status == "ValidationFailed"
    assert problem in rig.status.message
    assert rig.events("default/j")[0] == "InvalidRayJobSpec"
    assert rig.clusters == []


def test_a_latency_below_zero_is_told() -> None:
    """With the value that was given."""
    rig = JobRig({"job_seconds": None})
    rig.dashboards.set_latency(-1.0)
    steps = rig.dashboards.submit_job(NamespacedName("default", "a"), "j")
    with pytest.raises(InvalidArgumentError, match="latency was -1"):
        next(steps)
