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


class ClientObserver(Protocol):
    """The hooks of a client; an observer may leave any of them out. Durations in nanoseconds."""

    def throttled(self, method: str, waited_ns: int) -> None:
        """A call has its token; it waited so long for it, which may be no time at all."""

    def sent(self, verb: str, kind: str, key: str, throttled_ns: int) -> None:
        """A call goes out to the server."""

    def answered(
        self, verb: str, method: str, kind: str, key: str, code: int, took_ns: int, error: str
    ) -> None:
        """The server answered; ``took_ns`` includes the wait for the token."""


class CacheObserver(Protocol):
    """The hooks of a cache; an observer may leave any of them out."""

    def listed(self, kind: str, namespace: str, count: int) -> None:
        """The answer to a list is about to be taken over."""

    def cached(self, kind: str, change: str, key: str, resource_version: str) -> None:
        """The cache has a change: ``ADDED``, ``MODIFIED`` or ``DELETED``."""

    def watch_ended(self, kind: str, namespace: str, why: str) -> None:
        """A list failed or a watch is over."""


class ManagerObserver(Protocol):
    """The hooks of a manager; an observer may leave any of them out."""

    def lived(self, step: str, why: str) -> None:
        """A step in its life: ``starts``, ``leads``, ``works``, ``stops``, ``ended``."""

    def crashed(self, controllers: tuple[str, ...]) -> None:
        """Everything in its memory is lost; these controllers were in it."""
