"""The operator as a process: one manager, three controllers, and what its flags change.

Mirrors ray-operator/main.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from typing import Any

from kubequeue.cluster.duration import Seconds
from kubequeue.cluster.objects import Pod, Secret, Service
from kubequeue.errors import InvalidArgumentError
from kubequeue.kuberay.api import RayCluster, RayJob, RayService
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.expectations import (
    ExpectationRules,
    NoExpectations,
    RayClusterScaleExpectation,
)
from kubequeue.kuberay.observer import KubeRayObserver
from kubequeue.kuberay.pods import NODE_TYPE
from kubequeue.kuberay.raycluster import RayClusterReconciler
from kubequeue.kuberay.rayjob import RayJobReconciler
from kubequeue.kuberay.rayservice import RayServiceReconciler
from kubequeue.kuberay.tools import Options, Tools
from kubequeue.runtime.builder import NewQueue
from kubequeue.runtime.leaderelection import LeaderElection
from kubequeue.runtime.limits import OFF, RateLimits
from kubequeue.runtime.manager import Manager
from kubequeue.runtime.predicates import (
    annotations_changed,
    generation_changed,
    labels_changed,
    or_,
)
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue

USER = "system:serviceaccount:ray-system:kuberay-operator"
"""Whom the operator is to the API server, for an RBAC."""

LEADER_ELECTION = LeaderElection(
    name="ray-operator-leader", namespace="ray-system", release_on_cancel=False
)
"""KubeRay's lease: 15 s, renewed within 10 s, tried each 2 s, and not given back at a stop."""

RULES = ExpectationRules()
"""How v1.7.0 judges its expectations."""

_NEWS = or_(generation_changed, labels_changed, annotations_changed)


RAY_NODES = ("head", "worker", "redis-cleanup")


def is_ray_node(pod: Pod) -> bool:
    """Whether the operator's cache has a Pod at all; others cost it nothing and wake nobody.

    Mirrors ``managercache/cache.go: K8sControllerRuntimeCacheSelectors`` (ray-operator/internal).
    """
    return pod.metadata.labels.get(NODE_TYPE) in RAY_NODES


class Operator(Manager):
    """A manager with KubeRay's controllers, and what is in its memory besides.

    Attributes:
        expectations: the memory of writes, or a `NoExpectations`.
        dashboards: what answers its HTTP client.
    """

    def __init__(
        self,
        sim: Simulation,
        server: Any,
        *,
        reconcile_concurrency: int = 1,
        expectations: ExpectationRules | None = None,
        dashboards: Dashboards | None = None,
        options: Options | None = None,
        queue: NewQueue = PriorityQueue,
        **manager: Any,
    ) -> None:
        super().__init__(sim, server, selectors={Pod: is_ray_node}, **manager)
        self.dashboards = dashboards or Dashboards(sim)
        self.dashboards.follow(server.store)
        self.expectations: RayClusterScaleExpectation | NoExpectations = NoExpectations()
        if expectations is not None:
            self.expectations = RayClusterScaleExpectation(sim, self.client, expectations)
        tools = Tools(
            sim,
            self.client,
            self.expectations,
            sim.observe(KubeRayObserver, "kuberay", ""),
            options or Options(),
        )
        self._set_up(tools, reconcile_concurrency, queue)

    def _set_up(self, tools: Tools, workers: int, queue: NewQueue) -> None:
        """The same number of workers to each. Mirrors each ``SetupWithManager``."""
        self.controller(
            "raycluster",
            for_=RayCluster,
            owns=(Pod, Service, Secret),
            predicates=_NEWS,
            reconcile=RayClusterReconciler(tools).reconcile,
            max_concurrent_reconciles=workers,
            queue=queue,
        )
        self.controller(
            "rayjob",
            for_=RayJob,
            owns=(RayCluster, Service),
            reconcile=RayJobReconciler(tools, self.dashboards).reconcile,
            max_concurrent_reconciles=workers,
            queue=queue,
        )
        self.controller(
            "rayservice",
            for_=RayService,
            owns=(RayCluster, Service),
            reads=(Pod,),
            predicates=_NEWS,
            reconcile=RayServiceReconciler(tools, self.dashboards).reconcile,
            max_concurrent_reconciles=workers,
            queue=queue,
        )


def start_operator(
    sim: Simulation,
    server: Any,
    *,
    reconcile_concurrency: int = 1,
    qps: float = 100.0,
    burst: int = 200,
    watch_namespace: str = "",
    leader_election: bool | LeaderElection = True,
    expectations: ExpectationRules | None = RULES,
    dashboards: Dashboards | None = None,
    options: Options | None = None,
    lag: Seconds = 0.0,
    queue: NewQueue = PriorityQueue,
    user: str = USER,
    name: str = "",
) -> Operator:
    """Start one process of the operator, in this instant.

    Args:
        sim, server: where; the server has to know `kubequeue.kuberay.api.KINDS` and the cluster's.
        reconcile_concurrency: workers of each of the three controllers.
        qps, burst: of its client, a bucket for each kind; a negative ``qps`` is no limit.
        watch_namespace: one namespace, several with commas and no blanks between them, or empty
            for all. Go would watch a namespace whose name begins with the blank, which there is
            not.
        leader_election: True for KubeRay's own lease, False to lead at once, or another lease.
        expectations: the rules of the memory; None switches the memory off.
        dashboards: what answers its HTTP client; by default dashboards that answer in 20 ms.
        options: environment variables.
        lag: seconds from an event of the server to the cache, or (low, high).
        queue: ``FIFOQueue`` for KubeRay before 1.7.
        user: who it is to the server.
        name: what traces call it; several at a time need a name each.

    Raises `InvalidArgumentError` for such a blank. After ``stop()``, ``crash()`` or a lost lease
    start another one: it has an empty memory.

    >>> from kubequeue.cluster.apiserver import APIServer
    >>> from kubequeue.cluster.objects import KINDS, ObjectMeta
    >>> from kubequeue.kuberay import api
    >>> sim = Simulation()
    >>> server = APIServer(sim, KINDS + api.KINDS)
    >>> operator = start_operator(sim, server, leader_election=False)
    >>> _ = server.store.create(RayCluster(ObjectMeta("a", "default")))
    >>> sim.run(until=1)
    >>> [str(pod.metadata.name).rpartition("-")[0] for pod in server.store.list(Pod).items]
    ['a-head']
    """
    if not isinstance(watch_namespace, str) or any(map(str.isspace, watch_namespace)):
        raise InvalidArgumentError(
            "watch_namespace",
            watch_namespace,
            "a text, with commas and no blanks between several namespaces",
        )
    election = LEADER_ELECTION if leader_election is True else leader_election or None
    operator = Operator(
        sim,
        server,
        reconcile_concurrency=reconcile_concurrency,
        expectations=expectations,
        dashboards=dashboards,
        options=options,
        queue=queue,
        user=user,
        namespaces=watch_namespace.split(","),
        limits=OFF if qps < 0 else RateLimits(qps, burst),
        leader_election=election,
        name=name,
        lag=lag,
    )
    operator.start()
    return operator
