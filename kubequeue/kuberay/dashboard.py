"""The dashboards of all Ray clusters, and the proxies of their Serve, as an HTTP client sees them.

A call is part of a round: while it waits for the answer, it holds the worker. An answer that takes
longer than the client's time-out does not come at all. What they know is in the head Pod.

Mirrors controllers/ray/utils/dashboardclient/dashboard_httpclient.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kubequeue.cluster.objects import NamespacedName
from kubequeue.cluster.store import Store
from kubequeue.errors import InvalidArgumentError, ReconcileError
from kubequeue.kuberay.heads import Heads, Life
from kubequeue.kuberay.rayjob_types import JOB_FAILED, JOB_RUNNING, JOB_SUCCEEDED
from kubequeue.kuberay.tools import Steps
from kubequeue.sim import Simulation, to_ns

HTTP_CLIENT_TIMEOUT = 2.0
"""Seconds that the client waits for an answer (RayHTTPClientDirectTimeoutSeconds)."""

Duration = float | tuple[float, float]
"""Seconds, or a (low, high) that each call draws from."""


class DashboardTimeoutError(ReconcileError):
    """No answer came within the client's time-out."""

    def __init__(self, call: str, cluster: str, timeout: float) -> None:
        super().__init__(call, cluster, timeout)

    def __str__(self) -> str:
        call, cluster, timeout = self.args
        return (
            f"{call} of {cluster}: context deadline exceeded (Client.Timeout exceeded while "
            f"awaiting headers): no answer within {timeout:g} s"
        )


class DashboardUnreachableError(ReconcileError):
    """No head Pod runs, so nobody listens: the call fails at once."""

    def __init__(self, call: str, cluster: str) -> None:
        super().__init__(call, cluster)

    def __str__(self) -> str:
        return f"{self.args[0]} of {self.args[1]}: connection refused: no head Pod runs"


class JobNotFoundError(ReconcileError):
    """The dashboard answered that it knows no such job; Go's client makes a BadRequest of it."""

    def __init__(self, job_id: str, cluster: str) -> None:
        super().__init__(job_id, cluster)

    def __str__(self) -> str:
        return f"the dashboard of {self.args[1]} has no job {self.args[0]}"


@dataclass(frozen=True, slots=True)
class JobInfo:
    """What a dashboard says of a job; times in seconds, None for "not yet"."""

    job_status: str
    message: str = ""
    start_time: float | None = None
    end_time: float | None = None


class Dashboards:
    """What answers behind the head Services of all clusters.

    An operator has them `follow` the head Pods: a dashboard answers while its head runs and is
    ready, and what it knew is lost with the head. Without that all of them answer.

    Args:
        sim: the simulation.
        latency: seconds from a request to its answer, or a (low, high) to draw each from.
        timeout: seconds until the client gives up (120 before KubeRay 1.1, see PR 1910).
        job_seconds: how long a job runs, or a function of its id; None for ever.
        serve_seconds: how long Serve applications take from their config to running.

    >>> sim = Simulation()
    >>> dashboards = Dashboards(sim, latency=0.02)
    >>> dashboards.kill("default/a")
    >>> sim.process(dashboards.get_job_info(NamespacedName("default", "a"), "j")).defused = True
    >>> sim.run()
    >>> sim.now
    2.0
    """

    def __init__(
        self,
        sim: Simulation,
        *,
        latency: Duration = 0.02,
        timeout: float = HTTP_CLIENT_TIMEOUT,
        job_seconds: float | Callable[[str], float | None] | None = 60.0,
        serve_seconds: float = 10.0,
    ) -> None:
        to_ns(timeout, "timeout")
        self._sim = sim
        self._timeout = timeout
        self._latency = latency
        self._own_latency: dict[str, Duration] = {}
        self._dead: set[str] = set()
        self._job_seconds = job_seconds
        self._serve_seconds = serve_seconds
        self._submitted: dict[str, dict[str, float]] = {}
        self._failing: set[str] = set()
        self._serving: dict[str, tuple[str, float]] = {}
        self._heads: Heads | None = None
        self.calls = 0
        """How many requests were sent."""

    def follow(self, store: Store) -> None:
        """Live and die with the head Pods of this store; a second call does nothing."""
        if self._heads is None:
            self._heads = Heads(store, self.forget)

    def forget(self, cluster: str) -> None:
        """The head of ``namespace/name`` ended: the jobs and the Serve config are gone."""
        self._submitted.pop(cluster, None)
        self._serving.pop(cluster, None)

    def kill(self, cluster: str) -> None:
        """The dashboard of ``namespace/name`` does not answer any more."""
        self._dead.add(cluster)

    def revive(self, cluster: str) -> None:
        """It answers again."""
        self._dead.discard(cluster)

    def set_latency(self, latency: Duration, cluster: str = "") -> None:
        """Seconds to an answer from now on: of one cluster, or of all without one of their own."""
        if cluster:
            self._own_latency[cluster] = latency
        else:
            self._latency = latency

    def fail_job(self, job_id: str) -> None:
        """The job ends as FAILED instead of SUCCEEDED."""
        self._failing.add(job_id)

    def get_job_info(self, cluster: NamespacedName, job_id: str) -> Steps[JobInfo]:
        """How a job is. Raises `JobNotFoundError`, and as every call what means no answer.

        That is `DashboardTimeoutError` or, at once, `DashboardUnreachableError`.
        Mirrors ``GetJobInfo``.
        """
        yield from self._request("GetJobInfo", cluster)
        started = self._submitted.get(str(cluster), {}).get(job_id)
        if started is None:
            raise JobNotFoundError(job_id, str(cluster))
        return self._job_info(job_id, started)

    def submit_job(self, cluster: NamespacedName, job_id: str) -> Steps[None]:
        """Start a job. Mirrors ``SubmitJob``."""
        yield from self._request("SubmitJob", cluster)
        self._submitted.setdefault(str(cluster), {}).setdefault(job_id, self._sim.now)

    def stop_job(self, cluster: NamespacedName, job_id: str) -> Steps[None]:
        """Stop a job. Mirrors ``StopJob``."""
        yield from self._request("StopJob", cluster)
        self._submitted.get(str(cluster), {}).pop(job_id, None)

    def update_deployments(self, cluster: NamespacedName, config: str) -> Steps[None]:
        """Send a Serve config. Mirrors ``UpdateDeployments``."""
        yield from self._request("UpdateDeployments", cluster)
        self._serving[str(cluster)] = config, self._sim.now + self._serve_seconds

    def get_multi_application_status(
        self, cluster: NamespacedName
    ) -> Steps[tuple[tuple[str, str], ...]]:
        """Serve applications by name, and their status; none before a config was sent.

        Mirrors ``GetMultiApplicationStatus``.
        """
        yield from self._request("GetMultiApplicationStatus", cluster)
        if str(cluster) not in self._serving:
            return ()
        config, ready_at = self._serving[str(cluster)]
        return ((config, "RUNNING" if self._sim.now >= ready_at else "DEPLOYING"),)

    def check_proxy_actor_health(self, cluster: NamespacedName) -> Steps[bool]:
        """Whether the proxy on the head answers that it serves; no answer is a no.

        Mirrors ``httpproxy_httpclient.go: CheckProxyActorHealth``.
        """
        try:
            yield from self._request("CheckProxyActorHealth", cluster)
        except (DashboardTimeoutError, DashboardUnreachableError):
            return False
        _, ready_at = self._serving.get(str(cluster), ("", None))
        return ready_at is not None and self._sim.now >= ready_at

    def _request(self, call: str, cluster: NamespacedName) -> Steps[None]:
        """One request and its answer, or the time-out, or nobody there, also in the meantime."""
        self.calls += 1
        seconds = self._draw(str(cluster))
        head = self._head(cluster)
        if str(cluster) in self._dead or (head is not None and seconds > self._timeout):
            yield self._sim.sleep(self._timeout)
            raise DashboardTimeoutError(call, str(cluster), self._timeout)
        if head is not None:
            yield self._sim.sleep(seconds)
        if head is None or head != self._head(cluster):
            raise DashboardUnreachableError(call, str(cluster))

    def _head(self, cluster: NamespacedName) -> Life | None:
        return ("", 0) if self._heads is None else self._heads.answering(str(cluster))

    def _draw(self, cluster: str) -> float:
        latency = self._own_latency.get(cluster, self._latency)
        if isinstance(latency, tuple):
            return self._sim.stream("kuberay/dashboards").uniform(*latency)
        if not latency >= 0:
            raise InvalidArgumentError("latency", latency, "zero seconds or more")
        return latency

    def _job_info(self, job_id: str, started: float) -> JobInfo:
        seconds = self._job_seconds
        if callable(seconds):
            seconds = seconds(job_id)
        if seconds is None or self._sim.now < started + seconds:
            return JobInfo(JOB_RUNNING, start_time=started)
        status = JOB_FAILED if job_id in self._failing else JOB_SUCCEEDED
        return JobInfo(status, start_time=started, end_time=started + seconds)
