"""What a delete does to an object: nothing, a mark that it is to go, or its end.

Mirrors ``delete.go: BeforeDelete`` and ``store.go: markAsDeleting`` (apiserver v0.36), and
``strategy.go: CheckGracefulDelete`` of Pods (kubernetes v1.36, pkg/registry/core/pod). Only Pods
are deleted gracefully: their node has to stop them first.
"""

from __future__ import annotations

from typing import Any

from kubequeue.cluster.objects import Object, Pod

Mark = dict[str, Any]
"""What a delete writes into the metadata."""

PENDING: Mark = {"pending": True}
"""The mark of an object that is deleted already: there is nothing to write and nothing to do."""


def graceful_mark(obj: Object, grace: float | None, now: float) -> Mark | None:
    """What to write for a graceful deletion; `PENDING`; or None when it is not graceful.

    ``grace`` is what the caller asks for, in seconds: None is the Pod's own, less than zero
    counts as 1. A second delete can only shorten the grace period.
    """
    if not isinstance(obj, Pod):
        return None
    if obj.metadata.deletion_timestamp is not None:
        return _shortened(obj, grace, now)
    period = _period(obj, grace)
    return {
        "deletion_timestamp": now + period,
        "deletion_grace_period_seconds": period,
        "generation": obj.metadata.generation + 1,
    }


def _period(pod: Pod, grace: float | None) -> float:
    """A Pod without a node, or one that has ended, has nothing to stop."""
    if not pod.spec.node_name or pod.status.phase in ("Failed", "Succeeded"):
        return 0.0
    asked = pod.spec.termination_grace_period_seconds if grace is None else grace
    return 1.0 if asked < 0 else asked


def _shortened(pod: Pod, grace: float | None, now: float) -> Mark:
    meta = pod.metadata
    period = meta.deletion_grace_period_seconds or 0.0
    asked = period if grace is None else 1.0 if grace < 0 else grace
    if asked >= period:
        return PENDING
    due = (meta.deletion_timestamp or 0.0) - period + asked
    if due < now:
        due, asked = now, min(asked, 1.0)
    return {"deletion_timestamp": due, "deletion_grace_period_seconds": asked}


def mark_as_deleting(obj: Object, now: float) -> Mark:
    """What to write when only finalizers keep an object; empty when it is marked already."""
    if obj.metadata.deletion_timestamp is not None:
        return {}
    return {
        "deletion_timestamp": now,
        "deletion_grace_period_seconds": 0.0,
        "generation": obj.metadata.generation + 1,
    }


def ends_with_update(old: Object, finalizers: tuple[str, ...]) -> bool:
    """Whether an update takes the last finalizer of an object that waits for nothing else.

    Mirrors ``store.go: ShouldDeleteDuringUpdate``.
    """
    meta = old.metadata
    deleting = meta.deletion_timestamp is not None
    return deleting and not finalizers and not meta.deletion_grace_period_seconds
