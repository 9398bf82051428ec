"""The steps of a RayJob's status that need no call: from one status to the next.

Mirrors the helpers of rayjob_controller.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.kuberay import rayjob_types as state
from kubequeue.kuberay.raycluster_status import inconsistent_ray_cluster_status
from kubequeue.kuberay.raycluster_types import RayClusterStatus
from kubequeue.kuberay.rayjob_types import RayJob, RayJobStatus
from kubequeue.kuberay.tools import Tools

_NO_RETRY = (state.DEADLINE_EXCEEDED, state.JOB_STATUS_CHECK_TIMEOUT_EXCEEDED)


def init_ray_job_status_if_need(tools: Tools, job: RayJob) -> RayJobStatus:
    """Names for the job and its cluster before either is made, so that neither is made twice.

    Mirrors ``initRayJobStatusIfNeed``.
    """
    status, spec, name = job.status, job.spec, job.metadata.name
    return replace(
        status,
        job_id=status.job_id or spec.job_id or tools.random_name(name),
        ray_cluster_name=status.ray_cluster_name
        or spec.cluster_selector
        or tools.random_name(name),
        job_deployment_status=state.INITIALIZING,
        start_time=tools.sim.now,
    )


def check_deadlines(tools: Tools, job: RayJob) -> RayJobStatus | None:
    """The status when the job is to be suspended, or when its time is over; None otherwise.

    Mirrors ``updateStatusToSuspendingIfNeeded``, ``checkActiveDeadlineAndUpdateStatusIfNeeded`` and
    ``checkJobStatusCheckTimeoutAndUpdateStatusIfNeeded``.
    """
    status, now = job.status, tools.sim.now
    if job.spec.suspend:
        return replace(status, job_deployment_status=state.SUSPENDING)
    seconds = job.spec.active_deadline_seconds
    if seconds is not None and now >= (status.start_time or 0.0) + seconds:
        told = (
            f"The RayJob has passed the activeDeadlineSeconds. ActiveDeadlineSeconds: {seconds:g}"
        )
        return _failed(status, state.DEADLINE_EXCEEDED, told)
    failing_since = status.job_status_check_failure_start_time
    if status.job_deployment_status != state.RUNNING or failing_since is None:
        return None
    timeout = tools.options.job_status_check_timeout_seconds
    if now < failing_since + timeout:
        return None
    told = f"Job status checks have been failing since {failing_since:g} s; exceeded {timeout:g} s"
    return _failed(status, state.JOB_STATUS_CHECK_TIMEOUT_EXCEEDED, told)


def _failed(status: RayJobStatus, reason: str, message: str) -> RayJobStatus:
    return replace(status, job_deployment_status=state.FAILED, reason=reason, message=message)


def reset_for_suspend_or_retry(status: RayJobStatus) -> RayJobStatus:
    """Nothing is left of the cluster and the job; a retry starts anew, a suspended job waits."""
    is_retry = status.job_deployment_status == state.RETRYING
    return RayJobStatus(
        job_deployment_status=state.NEW if is_retry else state.SUSPENDED,
        start_time=status.start_time,
        end_time=status.end_time,
        succeeded=status.succeeded,
        failed=status.failed,
    )


def check_backoff_limit(job: RayJob, status: RayJobStatus) -> RayJobStatus:
    """Count how the job ended, and send a failed one round again while there are tries left.

    Mirrors ``checkBackoffLimitAndUpdateStatusIfNeeded``.
    """
    has_failed = status.job_deployment_status == state.FAILED
    is_complete = status.job_deployment_status == state.COMPLETE
    has_succeeded = is_complete and status.job_status == state.JOB_SUCCEEDED
    status = replace(
        status, failed=status.failed + has_failed, succeeded=status.succeeded + has_succeeded
    )
    limit = job.spec.backoff_limit
    if not has_failed or limit is None or status.failed > limit or status.reason in _NO_RETRY:
        return status
    return replace(status, job_deployment_status=state.RETRYING)


def is_news(old: RayJobStatus, new: RayJobStatus) -> bool:
    """Whether one of the fields differs that make Go write.

    Mirrors ``updateRayJobStatus`` and ``jobStatusCheckFailureStartTimeChanged``.
    """
    clusters: tuple[RayClusterStatus, ...] = (old.ray_cluster_status, new.ray_cluster_status)
    failing_since = (
        old.job_status_check_failure_start_time,
        new.job_status_check_failure_start_time,
    )
    return (
        old.job_status != new.job_status
        or old.job_deployment_status != new.job_deployment_status
        or failing_since[0] != failing_since[1]
        or inconsistent_ray_cluster_status(*clusters)
    )
