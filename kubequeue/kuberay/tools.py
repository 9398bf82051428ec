"""What each reconciler of the operator works with."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from simpy.events import Event

from kubequeue.cluster.objects import Object, key_of
from kubequeue.kuberay.expectations import NoExpectations, RayClusterScaleExpectation
from kubequeue.kuberay.observer import KubeRayObserver
from kubequeue.runtime.client import Client
from kubequeue.sim import Simulation

T = TypeVar("T")
Steps = Generator[Event, Any, T]
"""A part of a round: it yields what costs time, and returns a T."""

NORMAL, WARNING = "Normal", "Warning"

KUBERAY_CONTROLLER = "ray.io/kuberay-operator"


def managed_by_external_controller(managed_by: str) -> bool:
    """Whether an object is somebody else's to look after, such as Kueue's: a round leaves it alone.

    Mirrors ``util.go: ManagedByExternalController``.

    >>> managed_by_external_controller("kueue.x-k8s.io/multikueue")
    True
    """
    return managed_by not in ("", KUBERAY_CONTROLLER)


@dataclass(frozen=True, slots=True)
class Options:
    """Environment variables of the operator that change what a round does.

    Attributes:
        requeue_seconds: seconds until the next round of a RayCluster that is as wanted
            (RAYCLUSTER_DEFAULT_REQUEUE_SECONDS_ENV).
        deterministic_head_pod_name: name heads without random characters
            (ENABLE_DETERMINISTIC_HEAD_POD_NAME).
        enable_random_pod_delete: delete surplus Pods also where the autoscaler decides
            (ENABLE_RANDOM_POD_DELETE).
        job_status_check_timeout_seconds: a RayJob fails when its dashboard does not answer for so
            long (RAYJOB_STATUS_CHECK_TIMEOUT_SECONDS; Go reads it in
            ``getJobStatusCheckTimeoutSeconds``).
        drawn_list_order: draw the order in which a round finds Pods, and so which ones it deletes.
            Go's cache promises none; here it is that of their names unless this is set.
        version: what is noted on Pods and clusters; another one skips the next Recreate.
    """

    requeue_seconds: float = 300.0
    deterministic_head_pod_name: bool = False
    enable_random_pod_delete: bool = False
    job_status_check_timeout_seconds: float = 300.0
    drawn_list_order: bool = False
    version: str = "v1.7.0"


@dataclass(frozen=True, slots=True)
class Tools:
    """Clock, client, memory and the ear of whoever observes, shared by all rounds of a process."""

    sim: Simulation
    client: Client
    expectations: RayClusterScaleExpectation | NoExpectations
    observer: KubeRayObserver
    options: Options = Options()

    def event(self, obj: Object, kind: str, reason: str, message: str) -> None:
        """Record a Kubernetes Event. It goes by a client of its own and costs no virtual time.

        Mirrors ``Recorder.Eventf``.
        """
        self.observer.event(str(key_of(obj)), kind, reason, message)

    def random_name(self, prefix: str) -> str:
        """``prefix`` with a dash and five random characters (apimachinery's ``rand.String(5)``).

        Mirrors ``util.go: GenerateRayClusterName``, ``GenerateRayJobId`` and
        ``GenerateRayWorkerReplicaGroupName``.
        """
        draw = self.sim.stream("kuberay/names").choices
        return f"{prefix}-{''.join(draw('bcdfghjklmnpqrstvwxz2456789', k=5))}"
