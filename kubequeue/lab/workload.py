"""Clusters that are created all at once, and what their rounds are made of."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from simpy.events import Event

from kubequeue.runtime.controller import Controller
from kubequeue.runtime.reconcile import Result
from kubequeue.sim import Simulation
from kubequeue.workqueue.priorityqueue import PriorityQueue

WAITS = ("has nothing to wait for", "waits inside", "returns requeue_after")
"""What a round does about Pods that are not there yet."""


def create_clusters(
    clusters: int, workers: int, round_seconds: float, waits: str, wait_seconds: float = 5.0
) -> Simulation:
    """A finished run: each cluster is looked at, and again when its Pods are there.

    ``waits`` is one of `WAITS`: whether a round stays until the Pods are there, returns and comes
    back, or has nothing to wait for. Costs O(clusters log clusters).
    """
    sim, looked_at = Simulation(), set()

    def reconcile(request: Any) -> Generator[Event, Any, Result]:
        yield sim.sleep(round_seconds)
        if waits == WAITS[1]:
            yield sim.sleep(wait_seconds)
            yield sim.sleep(round_seconds)
        elif waits == WAITS[2] and request not in looked_at:
            looked_at.add(request)
            return Result(requeue_after=wait_seconds)
        return Result()

    queue = PriorityQueue(sim, name="raycluster")
    Controller(sim, queue, reconcile, max_concurrent_reconciles=workers).start()
    queue.add_with_opts(*names(clusters))
    sim.run()
    return sim


def names(clusters: int) -> list[str]:
    """The keys of so many clusters: letters while there are letters that have a colour."""
    if clusters <= 8:
        return [f"default/{letter}" for letter in "abcdefgh"[:clusters]]
    return [f"default/cluster-{number:02}" for number in range(clusters)]
