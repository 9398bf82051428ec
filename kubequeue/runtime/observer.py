"""What a controller tells whoever observes it."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from kubequeue.workqueue.queue import Key


class Outcome(NamedTuple):
    """How a round ended.

    ``result`` is the label of ``controller_runtime_reconcile_total``: ``success``, ``error``,
    ``requeue`` or ``requeue_after``. ``error`` is its text, empty when there was none.
    """

    result: str
    took_ns: int
    error: str = ""
    panicked: bool = False
    terminal: bool = False
    requeue_after_ns: int = 0


class ControllerObserver(Protocol):
    """The hooks of a controller; an observer may leave any of them out."""

    def started(self, workers: int) -> None:
        """The worker loops were started."""

    def round_started(self, worker: str, key: Key, priority: int) -> None:
        """A worker has a key and calls the reconciler."""

    def round_ended(self, worker: str, key: Key, outcome: Outcome) -> None:
        """The reconciler returned or raised; the key is still out."""
