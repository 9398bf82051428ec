"""RayJob: a job, and the RayCluster that is made for it.

Only the submission by HTTP is modelled (``submissionMode: HTTPMode``): the operator submits the
job itself and asks the dashboard for it; the submitter Job of the default mode has no part here.

Mirrors apis/ray/v1/rayjob_types.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from kubequeue.cluster.objects import ObjectMeta
from kubequeue.kuberay.raycluster_types import RayClusterSpec, RayClusterStatus

NEW = ""
INITIALIZING = "Initializing"
RUNNING = "Running"
COMPLETE = "Complete"
FAILED = "Failed"
VALIDATION_FAILED = "ValidationFailed"
SUSPENDING = "Suspending"
SUSPENDED = "Suspended"
RETRYING = "Retrying"
"""Values of ``RayJobStatus.job_deployment_status``."""

JOB_PENDING = "PENDING"
JOB_RUNNING = "RUNNING"
JOB_SUCCEEDED = "SUCCEEDED"
JOB_FAILED = "FAILED"
JOB_STOPPED = "STOPPED"
"""Values of ``RayJobStatus.job_status``; it is empty before the job is submitted."""

APP_FAILED = "AppFailed"
DEADLINE_EXCEEDED = "DeadlineExceeded"
JOB_STATUS_CHECK_TIMEOUT_EXCEEDED = "JobStatusCheckTimeoutExceeded"
"""Values of ``RayJobStatus.reason``, beside ``ValidationFailed``."""


@dataclass(frozen=True, slots=True)
class RayJobSpec:
    """What the owner of a RayJob asks for.

    Attributes:
        ray_cluster_spec: the cluster to make; None only with ``cluster_selector``.
        cluster_selector: the name of a RayCluster that is there already; empty for none.
        job_id: the submission id; made up when empty.
        suspend: take the cluster down and wait.
        shutdown_after_job_finishes: delete the RayCluster when the job is over ...
        ttl_seconds_after_finished: ... and so many seconds have passed.
        active_deadline_seconds: the job fails when it is not over so long after its start.
        backoff_limit: how many more clusters to try after a failure; None for no retry.
        managed_by: the controller that looks after it; empty for the operator.
    """

    ray_cluster_spec: RayClusterSpec | None = None
    cluster_selector: str = ""
    job_id: str = ""
    suspend: bool = False
    shutdown_after_job_finishes: bool = False
    ttl_seconds_after_finished: float = 0.0
    active_deadline_seconds: float | None = None
    backoff_limit: int | None = None
    managed_by: str = ""


@dataclass(frozen=True, slots=True)
class RayJobStatus:
    """Where the job is; ``job_deployment_status`` is the state that the operator moves on."""

    job_id: str = ""
    ray_cluster_name: str = ""
    dashboard_url: str = ""
    job_status: str = ""
    job_deployment_status: str = NEW
    reason: str = ""
    message: str = ""
    start_time: float | None = None
    end_time: float | None = None
    job_status_check_failure_start_time: float | None = None
    succeeded: int = 0
    failed: int = 0
    ray_cluster_status: RayClusterStatus = field(default_factory=RayClusterStatus)


@dataclass(frozen=True, slots=True)
class RayJob:
    """A job on a Ray cluster."""

    kind: ClassVar[str] = "RayJob"
    group: ClassVar[str] = "ray.io"

    metadata: ObjectMeta
    spec: RayJobSpec = field(default_factory=RayJobSpec)
    status: RayJobStatus = field(default_factory=RayJobStatus)


def is_job_terminal(job_status: str) -> bool:
    """Whether a job cannot change any more. Mirrors ``rayjob_types.go: IsJobTerminal``."""
    return job_status in (JOB_STOPPED, JOB_SUCCEEDED, JOB_FAILED)


def is_job_deployment_terminal(status: str) -> bool:
    """Whether the operator has done its part. Mirrors ``IsJobDeploymentTerminal``."""
    return status in (COMPLETE, FAILED, VALIDATION_FAILED)
