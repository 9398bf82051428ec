"""kubequeue: how one Kubernetes operator looks after many objects, in a model that can be watched.

What a learner types is here; the rest of each room is a module away::

    workqueue   the line that keys wait in
    runtime     the workers, and what they make of a result
    observe     what a run leaves behind: traces and metrics
    lab         what the notebooks are made of

``plots`` is loaded when it is first used, because it brings matplotlib with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubequeue.errors import (
    InstantNeverEndsError,
    InvalidArgumentError,
    KubeQueueError,
    NeverIdleError,
    QueueStalledError,
    ReconcileError,
    ReconcilerContractError,
    TerminalError,
)
from kubequeue.observe.perfetto import to_perfetto
from kubequeue.runtime.controller import Controller
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
    "BucketRateLimiter",
    "Controller",
    "FIFOQueue",
    "InstantNeverEndsError",
    "InvalidArgumentError",
    "ItemExponentialFailureRateLimiter",
    "ItemFastSlowRateLimiter",
    "KubeQueueError",
    "MaxOfRateLimiter",
    "NeverIdleError",
    "PriorityQueue",
    "QueueStalledError",
    "ReconcileError",
    "ReconcilerContractError",
    "Request",
    "Result",
    "Simulation",
    "TerminalError",
    "TokenBucket",
    "plots",
    "to_perfetto",
]


def __getattr__(name: str) -> Any:
    if name == "plots":
        import importlib

        return importlib.import_module("kubequeue.lab.plots")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), "plots"])
