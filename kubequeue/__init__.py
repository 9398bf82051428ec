"""kubequeue: how one Kubernetes operator looks after many objects, in a model that can be watched.

What a learner types is here; the rest of each room is a module away::

    workqueue   the line that keys wait in
    cluster     a Kubernetes cluster in memory
    runtime     what an operator is built on: cache, client, workers, manager
    kuberay     the operator under study
    observe     what a run leaves behind: traces and metrics
    lab         what the notebooks are made of

``plots`` is loaded when it is first used, because it brings matplotlib with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Pod
from kubequeue.errors import (
    AlreadyExistsError,
    APIError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    InstantNeverEndsError,
    InvalidArgumentError,
    KubeQueueError,
    NeverIdleError,
    NotFoundError,
    QueueStalledError,
    ReconcileError,
    ReconcilerContractError,
    TerminalError,
)
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, RayJob, RayService, WorkerGroupSpec
from kubequeue.kuberay.expectations import ExpectationRules
from kubequeue.kuberay.operator import start_operator
from kubequeue.observe.perfetto import to_perfetto
from kubequeue.runtime.client import Client
from kubequeue.runtime.controller import Controller
from kubequeue.runtime.leaderelection import LeaderElection
from kubequeue.runtime.limits import RateLimits
from kubequeue.runtime.manager import Manager
from kubequeue.runtime.reconcile import Request, Result
from kubequeue.sim import Simulation
from kubequeue.workqueue.fifoqueue import FIFOQueue
from kubequeue.workqueue.priorityqueue import PriorityQueue
from kubequeue.workqueue.ratelimiter import (
    BucketRateLimiter,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    TokenBucket,
)

if TYPE_CHECKING:
    from kubequeue.lab import plots

__all__ = [
    "APIError",
    "APIServer",
    "AlreadyExistsError",
    "BucketRateLimiter",
    "Client",
    "ConflictError",
    "Controller",
    "ExpectationRules",
    "ExpiredError",
    "FIFOQueue",
    "FaultyServer",
    "ForbiddenError",
    "GarbageCollector",
    "InstantNeverEndsError",
    "InvalidArgumentError",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "KubeQueueError",
    "Kubelet",
    "LeaderElection",
    "Manager",
    "MaxOfRateLimiter",
    "NamespacedName",
    "NeverIdleError",
    "NotFoundError",
    "ObjectMeta",
    "Pod",
    "PriorityQueue",
    "QueueStalledError",
    "RateLimits",
    "RayCluster",
    "RayClusterSpec",
    "RayJob",
    "RayService",
    "ReconcileError",
    "ReconcilerContractError",
    "Request",
    "Result",
    "Simulation",
    "TerminalError",
    "TokenBucket",
    "WorkerGroupSpec",
    "plots",
    "start_operator",
    "to_perfetto",
]


def __getattr__(name: str) -> Any:
    if name == "plots":
        import importlib

        return importlib.import_module("kubequeue.lab.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "plots"])
