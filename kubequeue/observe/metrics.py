"""The metrics that controller-runtime exposes, with its names, labels, buckets and zero starts.

Hooks change plain numbers; one prometheus_client Collector for each simulation reads them when
asked. (prometheus_client's own counters stamp wall time, so that no two runs would be equal.)
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from simpy import Environment

from kubequeue.errors import InvalidArgumentError
from kubequeue.observe.client_metrics import ClientMetrics, client_families
from kubequeue.observe.families import families
from kubequeue.observe.instruments import ControllerMetrics, QueueMetrics
from kubequeue.observe.kuberay import KubeRayMetrics, kuberay_families


class Metrics:
    """All metrics of one simulation: a prometheus_client Collector with a registry of its own.

    >>> from kubequeue import PriorityQueue, Simulation
    >>> sim = Simulation()
    >>> PriorityQueue(sim, "raycluster").add("default/a")
    >>> sim.settle()
    >>> sim.metrics.value("workqueue_depth", name="raycluster", priority="0")
    1.0
    """

    def __init__(self, env: Environment) -> None:
        self._env = env
        self.queues: dict[str, QueueMetrics] = {}
        self.controllers: dict[str, ControllerMetrics] = {}
        self.clients = ClientMetrics()
        self.kuberays = KubeRayMetrics()
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def queue(self, name: str, by_priority: bool) -> QueueMetrics:
        """The observer of one queue; one without a name is not exposed, as in Go."""
        metrics = QueueMetrics(self._env, by_priority)
        if name:
            self.queues[name] = metrics
        return metrics

    def controller(self, name: str) -> ControllerMetrics:
        """The observer of one controller; one of a new process starts from zero, as in Go."""
        self.controllers[name] = ControllerMetrics()
        return self.controllers[name]

    def client(self, _name: str) -> ClientMetrics:
        """The observer of one client; all of them count together, because no label tells them."""
        return self.clients

    def cache(self, _name: str) -> None:
        """A cache has no metrics."""

    def manager(self, _name: str) -> None:
        """A manager has no metrics but those of its controllers."""

    def kuberay(self, _name: str) -> KubeRayMetrics:
        """The observer of the operator; all operators of a simulation share its one family."""
        return self.kuberays

    def collect(self) -> Iterable[Metric]:
        """Every family with its samples as of now. Called by prometheus_client."""
        for queue in self.queues.values():
            queue.update_unfinished_work()
        found = [
            *families(self.queues, self.controllers),
            *client_families(self.clients),
            *kuberay_families(self.kuberays),
        ]
        return sorted(found, key=lambda family: family.name)

    def exposition(self) -> str:
        """The text that a scrape of ``/metrics`` gets. Equal runs give equal text."""
        return generate_latest(self.registry).decode()

    def value(self, sample: str, **labels: str) -> float:
        """The value of the samples of that name whose labels include ``labels``, added up.

        Raises `InvalidArgumentError` when there is no such sample.
        """
        found = [
            s.value
            for family in self.registry.collect()
            for s in family.samples
            if s.name == sample and labels.items() <= s.labels.items()
        ]
        if not found:
            raise InvalidArgumentError("sample", sample, f"a sample with labels {labels}")
        return float(sum(found))
