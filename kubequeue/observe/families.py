"""From numbers to metric families: names, help texts and labels as controller-runtime has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from kubequeue.observe.instruments import ControllerMetrics, QueueMetrics

Sample = tuple[list[str], Any]
"""The values of a family's labels, and a number or a histogram."""

_NANOSECONDS = 1_000_000_000

_QUEUE_HELP = {
    "adds_total": "Total number of adds handled by workqueue",
    "retries_total": (
        "Total number of items added to the workqueue with a non-zero delay "
        "(rate-limited requeues, explicit RequeueAfter or AddAfter calls)"
    ),
    "queue_duration_seconds": (
        "How long in seconds an item stays in workqueue before being requested"
    ),
    "work_duration_seconds": ("How long in seconds processing an item from workqueue takes."),
    "unfinished_work_seconds": (
        "How many seconds of work has been done that is in progress and hasn't been observed by "
        "work_duration. Large values indicate stuck threads. One can deduce the number of stuck "
        "threads by observing the rate at which this increases."
    ),
    "longest_running_processor_seconds": (
        "How many seconds has the longest running processor for workqueue been running."
    ),
}

_CONTROLLER_HELP = {
    "reconcile_errors_total": "Total number of reconciliation errors per controller",
    "terminal_reconcile_errors_total": (
        "Total number of terminal reconciliation errors per controller"
    ),
    "reconcile_panics_total": "Total number of reconciliation panics per controller",
    "reconcile_timeouts_total": "Total number of reconciliation timeouts per controller",
    "reconcile_time_seconds": "Length of time per reconciliation per controller",
    "max_concurrent_reconciles": "Maximum number of concurrent reconciles per controller",
    "active_workers": "Number of currently used workers per controller",
}


def families(
    queues: Mapping[str, QueueMetrics], controllers: Mapping[str, ControllerMetrics]
) -> list[Metric]:
    """Every family that has samples, sorted by name, its samples sorted by label values."""
    found = [
        *_queue_families(sorted(queues.items())),
        *_controller_families(sorted(controllers.items())),
    ]
    return sorted((family for family in found if family.samples), key=lambda family: family.name)


def _queue_families(queues: list[tuple[str, QueueMetrics]]) -> Iterator[Metric]:
    yield make_family(
        GaugeMetricFamily,
        "workqueue_depth",
        "Current depth of workqueue by workqueue and priority",
        ["name", "controller", "priority"],
        [([n, n, label], value) for n, q in queues for label, value in sorted(q.depth.items())],
    )
    read: dict[str, tuple[type[Metric], Callable[[Any], Any]]] = {
        "adds_total": (CounterMetricFamily, lambda q: q.adds),
        "retries_total": (CounterMetricFamily, lambda q: q.retries),
        "queue_duration_seconds": (HistogramMetricFamily, lambda q: q.queue_duration),
        "work_duration_seconds": (HistogramMetricFamily, lambda q: q.work_duration),
        "unfinished_work_seconds": (
            GaugeMetricFamily,
            lambda q: q.unfinished_work / _NANOSECONDS,
        ),
        "longest_running_processor_seconds": (
            GaugeMetricFamily,
            lambda q: q.longest_running_processor / _NANOSECONDS,
        ),
    }
    for name, (kind, value) in read.items():
        samples = [([n, n], value(q)) for n, q in queues]
        yield make_family(
            kind, f"workqueue_{name}", _QUEUE_HELP[name], ["name", "controller"], samples
        )


def _controller_families(controllers: list[tuple[str, ControllerMetrics]]) -> Iterator[Metric]:
    yield make_family(
        CounterMetricFamily,
        "controller_runtime_reconcile_total",
        "Total number of reconciliations per controller",
        ["controller", "result"],
        [([n, result], count) for n, c in controllers for result, count in c.total.items()],
    )
    read: dict[str, tuple[type[Metric], Callable[[Any], Any]]] = {
        "reconcile_errors_total": (CounterMetricFamily, lambda c: c.errors),
        "terminal_reconcile_errors_total": (CounterMetricFamily, lambda c: c.terminal_errors),
        "reconcile_panics_total": (CounterMetricFamily, lambda c: c.panics),
        "reconcile_timeouts_total": (CounterMetricFamily, lambda c: 0),
        "reconcile_time_seconds": (
            HistogramMetricFamily,
            lambda c: c.reconcile_time if c.reconcile_time.count else None,
        ),
        "max_concurrent_reconciles": (GaugeMetricFamily, lambda c: c.max_concurrent_reconciles),
        "active_workers": (GaugeMetricFamily, lambda c: c.active_workers),
    }
    for name, (kind, value) in read.items():
        # Reconcile time has no series before the first round; the others start at 0.
        samples = [([n], value(c)) for n, c in controllers if value(c) is not None]
        yield make_family(
            kind, f"controller_runtime_{name}", _CONTROLLER_HELP[name], ["controller"], samples
        )


def make_family(
    kind: type[Metric], name: str, documentation: str, labels: list[str], samples: Iterable[Sample]
) -> Metric:
    """A family of that kind with these samples."""
    family: Any = kind(name, documentation, labels=labels)  # type: ignore[call-arg]
    for values, value in samples:
        if kind is HistogramMetricFamily:
            family.add_metric(values, value.buckets(), value.sum)
        else:
            family.add_metric(values, value)
    result: Metric = family
    return result
