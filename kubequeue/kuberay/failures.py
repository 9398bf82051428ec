"""How a round of the operator fails: Go's returned errors, as exceptions."""

from __future__ import annotations

from kubequeue.errors import APIError, ReconcileError

FAILURES = (ReconcileError, APIError)
"""What Go's reconcilers return as an error; anything else is a panic."""


class ReplicaFailureError(ReconcileError):
    """A Pod could not be written; the reason goes into the ``ReplicaFailure`` condition.

    Mirrors ``constant.go: errRayClusterReplicaFailure`` (controllers/ray/utils), joined with its
    cause.
    """

    def __init__(self, reason: str, cause: Exception) -> None:
        super().__init__(reason, cause)

    @property
    def reason(self) -> str:
        """``FailedCreateHeadPod``, ``FailedDeleteWorkerPod`` and so on."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.args[0]}: {self.args[1]}"


def replica_failure_reason(error: Exception | None) -> str:
    """The reason for the condition; empty for another error.

    Mirrors ``constant.go: RayClusterReplicaFailureReason``.
    """
    return error.reason if isinstance(error, ReplicaFailureError) else ""
