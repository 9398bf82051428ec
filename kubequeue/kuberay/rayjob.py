"""One round of a RayJob: a state machine whose state is in the status of the object.

Mirrors ``rayjob_controller.go: Reconcile`` (KubeRay v1.7.0) for the submission by HTTP.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from kubequeue.cluster.objects import NamespacedName, Service
from kubequeue.errors import NotFoundError
from kubequeue.kuberay import rayjob_types as state
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.failures import FAILURES
from kubequeue.kuberay.raycluster_services import head_service_name
from kubequeue.kuberay.raycluster_types import READY
from kubequeue.kuberay.rayjob_clusters import (
    delete_cluster_resources,
    get_or_create_ray_cluster_instance,
)
from kubequeue.kuberay.rayjob_running import check_job
from kubequeue.kuberay.rayjob_states import (
    check_backoff_limit,
    check_deadlines,
    init_ray_job_status_if_need,
    is_news,
    reset_for_suspend_or_retry,
)
from kubequeue.kuberay.rayjob_types import RayJob, RayJobStatus, is_job_deployment_terminal
from kubequeue.kuberay.tools import WARNING, Steps, Tools, managed_by_external_controller
from kubequeue.kuberay.validation import validate_ray_job
from kubequeue.runtime.reconcile import Request, Result

RAY_JOB_DEFAULT_REQUEUE_DURATION = 3.0
STOP_JOB_FINALIZER = "ray.io/rayjob-finalizer"

COME_BACK = Result(requeue_after=RAY_JOB_DEFAULT_REQUEUE_DURATION)
DONE = Result()


class RayJobReconciler:
    """The reconciler of RayJobs; all its workers share one.

    Mirrors ``rayjob_controller.go: RayJobReconciler``.
    """

    def __init__(self, tools: Tools, dashboards: Dashboards) -> None:
        self._tools = tools
        self._dashboards = dashboards

    def reconcile(self, request: Request) -> Steps[Result]:
        """One round; it asks for the next in 3 s until the job is over. Mirrors ``Reconcile``."""
        try:
            job = self._tools.client.get(RayJob, NamespacedName.parse(request))
        except NotFoundError:
            return DONE
        try:
            return (yield from self._reconcile(job))
        except FAILURES as error:
            return Result(requeue_after=RAY_JOB_DEFAULT_REQUEUE_DURATION, error=error)

    def _reconcile(self, job: RayJob) -> Steps[Result]:
        if managed_by_external_controller(job.spec.managed_by):
            return DONE
        if job.metadata.deletion_timestamp is not None:
            return (yield from self._finalize(job))
        if (problem := validate_ray_job(job)) is not None:
            return (yield from self._refuse(job, *problem))
        deployment = job.status.job_deployment_status
        if deployment in (state.COMPLETE, state.FAILED):
            return (yield from self._handle_shutdown_after_job_finishes(job))
        if deployment == state.SUSPENDED and job.spec.suspend:
            return DONE
        if deployment == state.NEW:
            job = yield from self._add_finalizer(job)
        status = yield from self._next_status(job)
        if status is not None:
            yield from self.update_ray_job_status(job, check_backoff_limit(job, status))
        return COME_BACK

    def _next_status(self, job: RayJob) -> Steps[RayJobStatus | None]:
        """The status after this round; None where Go returns before it writes any."""
        deployment = job.status.job_deployment_status
        if deployment == state.NEW:
            return init_ray_job_status_if_need(self._tools, job)
        if deployment in (state.SUSPENDING, state.RETRYING):
            if not (yield from delete_cluster_resources(self._tools, job)):
                return None
            return reset_for_suspend_or_retry(job.status)
        if deployment == state.SUSPENDED:
            return replace(job.status, job_status=state.NEW, job_deployment_status=state.NEW)
        if deployment not in (state.INITIALIZING, state.RUNNING):
            return None
        if (due := check_deadlines(self._tools, job)) is not None:
            return due
        if deployment == state.INITIALIZING:
            return (yield from self._initialize(job))
        return (yield from check_job(self._tools, self._dashboards, job))

    def _initialize(self, job: RayJob) -> Steps[RayJobStatus | None]:
        """Wait until the RayCluster is ready, and note where its dashboard is.

        Mirrors the case ``JobDeploymentStatusInitializing`` and ``util.go: FetchHeadServiceURL``.
        """
        cluster = yield from get_or_create_ray_cluster_instance(self._tools, job)
        status = job.status
        if not status.dashboard_url:
            if cluster.status.state != READY:
                return replace(status, ray_cluster_status=cluster.status)
            name = head_service_name(cluster.metadata.name)
            namespace = cluster.metadata.namespace
            self._tools.client.get(Service, NamespacedName(namespace, name))
            url = f"{name}.{namespace}.svc.cluster.local:8265"
            status = replace(status, dashboard_url=url)
        return replace(status, job_deployment_status=state.RUNNING)

    def _add_finalizer(self, job: RayJob) -> Steps[RayJob]:
        meta = job.metadata
        if STOP_JOB_FINALIZER in meta.finalizers:
            return job
        finalizers = (*meta.finalizers, STOP_JOB_FINALIZER)
        return (
            yield from self._tools.client.update(
                replace(job, metadata=replace(meta, finalizers=finalizers))
            )
        )

    def _finalize(self, job: RayJob) -> Steps[Result]:
        """Try to stop the job, then let go of the object whether that worked or not."""
        status, meta = job.status, job.metadata
        if status.dashboard_url and not state.is_job_terminal(status.job_status):
            cluster = NamespacedName(meta.namespace, status.ray_cluster_name)
            with suppress(*FAILURES):  # Go logs it and goes on
                yield from self._dashboards.stop_job(cluster, status.job_id)
        finalizers = tuple(name for name in meta.finalizers if name != STOP_JOB_FINALIZER)
        yield from self._tools.client.update(
            replace(job, metadata=replace(meta, finalizers=finalizers))
        )
        return COME_BACK

    def _refuse(self, job: RayJob, reason: str, problem: str) -> Steps[Result]:
        """An invalid RayJob is marked as such and left alone."""
        self._tools.event(job, WARNING, reason, problem)
        status = replace(
            job.status,
            job_deployment_status=state.VALIDATION_FAILED,
            reason=state.VALIDATION_FAILED,
            message=problem,
        )
        yield from self.update_ray_job_status(job, status)
        return DONE

    def update_ray_job_status(self, job: RayJob, status: RayJobStatus) -> Steps[None]:
        """Write the status when one of the fields that move the machine differs.

        Mirrors ``updateRayJobStatus``.
        """
        if not is_news(job.status, status):
            return
        if is_job_deployment_terminal(status.job_deployment_status):
            status = replace(status, end_time=self._tools.sim.now)
        yield from self._tools.client.update_status(replace(job, status=status))

    def _handle_shutdown_after_job_finishes(self, job: RayJob) -> Steps[Result]:
        """Delete the RayCluster when its time is over.

        Mirrors ``handleShutdownAfterJobFinishes`` and ``requeueDelayFor``.
        """
        if job.spec.cluster_selector or not job.spec.shutdown_after_job_finishes:
            return DONE
        left = (job.status.end_time or 0.0) + job.spec.ttl_seconds_after_finished
        left -= self._tools.sim.now
        if left > 0:
            return Result(requeue_after=left + 2.0)
        yield from delete_cluster_resources(self._tools, job)
        return DONE
