"""What the operator tells whoever observes it, besides what its queues and controllers tell."""

from __future__ import annotations

from typing import Protocol


class KubeRayObserver(Protocol):
    """The hooks of the operator; an observer may leave any of them out.

    ``key`` is ``namespace/name`` of the object that the step belongs to.
    """

    def event(self, key: str, kind: str, reason: str, message: str) -> None:
        """A Kubernetes Event was recorded; ``kind`` is ``Normal`` or ``Warning``."""

    def expected(self, key: str, group: str, pod: str, action: str) -> None:
        """A write of a Pod succeeded, and the cache is expected to show it."""

    def met(self, key: str, group: str, pod: str, action: str, timed_out: bool) -> None:
        """A check found an expectation met and dropped its record."""

    def unsatisfied(self, key: str, group: str, pod: str, action: str) -> None:
        """A check stopped at this expectation, which is not met: the group is left for later."""

    def expectations_deleted(self, key: str, records: int) -> None:
        """All records of a RayCluster were dropped, so many of them."""

    def provisioned(self, name: str, namespace: str, uid: str, seconds: float) -> None:
        """All Pods of a RayCluster are ready for the first time, so long after its creation."""

    def cluster_gone(self, name: str, namespace: str) -> None:
        """A round found that its RayCluster is no more; its metrics are dropped."""
