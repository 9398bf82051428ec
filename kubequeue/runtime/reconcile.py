"""What a reconciler is given, what it answers, and how its generator is driven.

A reconciler is a generator function of a `Request`. It yields events for what costs time, such as
``sim.sleep(1.5)``, and returns a `Result`, or None for "nothing more to do".
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from types import GeneratorType
from typing import Any

from simpy.events import Event

from kubequeue.errors import InvalidArgumentError, ReconcilerContractError
from kubequeue.sim import Simulation, to_ns
from kubequeue.workqueue.queue import whole_priority


class Request(str):
    """The name of one object: ``namespace/name`` and nothing else, least of all the object.

    It is a string, so a key added as ``"default/a"`` and one added as a request are one key.
    Mirrors ``reconcile.go: Request`` (controller-runtime v0.24.1, pkg/reconcile).

    >>> request = Request("default", "a")
    >>> request, request.namespace, request.name
    ('default/a', 'default', 'a')
    """

    __slots__ = ()

    def __new__(cls, namespace: str, name: str) -> Request:
        """From its two halves; the namespace of a cluster-wide object is empty."""
        return super().__new__(cls, f"{namespace}/{name}")

    @classmethod
    def parse(cls, text: str) -> Request:
        """From ``namespace/name``; a text without a slash is a name without a namespace."""
        return super().__new__(cls, text)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied as its text, because `__new__` takes two halves."""
        return Request.parse, (str(self),)

    @property
    def namespace(self) -> str:
        """The part before the slash, empty when there is none."""
        return self.rpartition("/")[0]

    @property
    def name(self) -> str:
        """The part after the slash."""
        return self.rpartition("/")[2]


Reconciler = Callable[[Any], Generator[Event, Any, "Result | None"]]
"""A generator function of a request."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a round ended, and when its key should come back.

    Attributes:
        requeue: come back after back-off (deprecated upstream).
        requeue_after: come back in so many seconds; zero or less means unset.
        priority: the priority to come back at; None keeps the one that the key came with.
        error: what went wrong; then the key comes back after back-off, and ``requeue`` and
            ``requeue_after`` count for nothing. A `TerminalError` does not come back.

    Raises `InvalidArgumentError` for a delay that is no finite number, a priority that is no
    integer or an error that is no exception.
    Mirrors ``reconcile.go: Result`` (controller-runtime v0.24.1) and the error beside it.
    """

    requeue: bool = False
    requeue_after: float = 0.0
    priority: int | None = None
    error: Exception | None = None

    def __post_init__(self) -> None:
        to_ns(self.requeue_after, "requeue_after")
        whole_priority(self.priority)
        if not (self.error is None or isinstance(self.error, Exception)):
            raise InvalidArgumentError("error", self.error, 'an exception: ReconcileError("...")')


NOTHING_MORE = Result()


def drive(sim: Simulation, reconcile: Reconciler, request: Any) -> Generator[Event, Any, Result]:
    """Run one round to its end, handing its events on; what it raises comes out here.

    Raises `ReconcilerContractError` for what is no reconciler: so that a wrong yield ends the
    round, not the worker that runs it.
    """
    steps = reconcile(request)
    if not isinstance(steps, GeneratorType):
        raise _broken(request, f"returned {steps!r} at once", "a generator: yield what costs time")
    resume: Callable[[Any], Any] = steps.send
    value: Any = None
    while True:
        try:
            event = resume(value)
        except StopIteration as stop:
            return _result(request, stop.value)
        if not isinstance(event, Event) or event.env is not sim.env:
            with suppress(Exception):  # a reconciler may refuse to be closed
                steps.close()
            raise _broken(request, f"yielded {event!r}", "an event of this simulation")
        try:
            value, resume = (yield event), steps.send
        except Exception as failure:  # an event that failed: the reconciler may handle it
            value, resume = failure, steps.throw
        except GeneratorExit:  # the process is gone
            with suppress(Exception):
                steps.close()
            raise


def _result(request: Any, returned: Any) -> Result:
    if returned is None:
        return NOTHING_MORE
    if not isinstance(returned, Result):
        raise _broken(request, f"returned {returned!r}", "a Result, or None for success")
    return returned


def _broken(request: Any, did: str, expected: str) -> ReconcilerContractError:
    return ReconcilerContractError(request, did, expected)
