"""Reconcilers for lessons that are about something else."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from simpy.events import Event

from kubequeue.runtime.reconcile import Reconciler
from kubequeue.sim import Simulation


def takes(sim: Simulation, seconds: float | Mapping[Any, float]) -> Reconciler:
    """A reconciler whose rounds take so many seconds each, by key if a mapping says so.

    >>> sim = Simulation()
    >>> reconcile = takes(sim, {"default/a": 2, "default/b": 3})
    """

    def reconcile(request: Any) -> Generator[Event, Any, None]:
        yield sim.sleep(seconds[request] if isinstance(seconds, Mapping) else seconds)

    return reconcile
