"""The running job: ask its dashboard, and wait for the answer inside the round.

Mirrors the case ``JobDeploymentStatusRunning`` of ``rayjob_controller.go: Reconcile`` (KubeRay
v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import key_of
from kubequeue.kuberay import rayjob_types as state
from kubequeue.kuberay.dashboard import Dashboards, JobInfo, JobNotFoundError
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.owned_services import reconcile_head_service_of
from kubequeue.kuberay.raycluster_types import RayCluster
from kubequeue.kuberay.rayjob_clusters import get_or_create_ray_cluster_instance
from kubequeue.kuberay.rayjob_types import RayJob, RayJobStatus, is_job_terminal
from kubequeue.kuberay.tools import Steps, Tools


def check_job(tools: Tools, dashboards: Dashboards, job: RayJob) -> Steps[RayJobStatus | None]:
    """The status after one look at the job; None when there is nothing to write.

    The worker is held until the dashboard answers or the client gives up. A job that the dashboard
    does not know is submitted, in the same round. A call that fails starts a timer in the status.
    """
    cluster = yield from get_or_create_ray_cluster_instance(tools, job)
    if not job.spec.cluster_selector:
        yield from reconcile_head_service_of(tools, job, cluster)
    try:
        info = yield from dashboards.get_job_info(key_of(cluster), job.status.job_id)
    except JobNotFoundError:
        return (yield from _submit(tools, dashboards, job, cluster))
    except FAILURES:
        return _record_job_status_check_failure(tools, job)
    return _follow(job, cluster, info)


def _submit(
    tools: Tools, dashboards: Dashboards, job: RayJob, cluster: RayCluster
) -> Steps[RayJobStatus | None]:
    """Mirrors ``reconcileHTTPModeJobNotFound`` and ``clearJobStatusCheckFailureTimer``."""
    try:
        yield from dashboards.submit_job(key_of(cluster), job.status.job_id)
    except FAILURES:
        return _record_job_status_check_failure(tools, job)
    if job.status.job_status_check_failure_start_time is None:
        return None
    return replace(job.status, job_status_check_failure_start_time=None)


def _record_job_status_check_failure(tools: Tools, job: RayJob) -> RayJobStatus | None:
    """The first failure starts the timer. Mirrors ``recordJobStatusCheckFailure``."""
    if job.status.job_status_check_failure_start_time is not None:
        return None
    return replace(job.status, job_status_check_failure_start_time=tools.sim.now)


def _follow(job: RayJob, cluster: RayCluster, info: JobInfo) -> RayJobStatus:
    """The job's own status, and ours when it is over."""
    deployment, reason = state.RUNNING, ""
    if is_job_terminal(info.job_status):
        deployment = state.COMPLETE
        if info.job_status == state.JOB_FAILED:
            deployment, reason = state.FAILED, state.APP_FAILED
    return replace(
        job.status,
        ray_cluster_status=cluster.status,
        job_status=info.job_status,
        job_deployment_status=deployment,
        reason=reason,
        message=info.message,
        job_status_check_failure_start_time=None,
    )
