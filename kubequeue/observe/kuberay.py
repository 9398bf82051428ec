"""What the KubeRay operator does, written down; and the metric of its own.

Mirrors controllers/ray/metrics/ray_cluster_metrics.go (KubeRay v1.7.0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from simpy import Environment

from kubequeue.observe.families import make_family

Record = tuple[Any, ...]
_SOURCE = "kuberay"


class KubeRayTrace:
    """Writes down the operator's memory and Events, from the hooks of ``KubeRayObserver``."""

    def __init__(self, env: Environment, records: list[Record]) -> None:
        self._env = env
        self._append = records.append

    def event(self, key: str, kind: str, reason: str, message: str) -> None:
        self._append((self._env.now, "event", _SOURCE, kind, key, reason, message))

    def expected(self, key: str, group: str, pod: str, action: str) -> None:
        self._append((self._env.now, "expected", _SOURCE, "", key, group, pod, action))

    def met(self, key: str, group: str, pod: str, action: str, timed_out: bool) -> None:
        self._append((self._env.now, "met", _SOURCE, "", key, group, pod, action, timed_out))

    def unsatisfied(self, key: str, group: str, pod: str, action: str) -> None:
        self._append((self._env.now, "unsatisfied", _SOURCE, "", key, group, pod, action))

    def expectations_deleted(self, key: str, records: int) -> None:
        self._append((self._env.now, "expectations_deleted", _SOURCE, "", key, records))

    def provisioned(self, name: str, namespace: str, _uid: str, seconds: float) -> None:
        key = f"{namespace}/{name}"
        self._append((self._env.now, "provisioned", _SOURCE, "", key, seconds))


class KubeRayMetrics:
    """How long each RayCluster took to be ready the first time, until it is gone."""

    def __init__(self) -> None:
        self.provisioned_duration: dict[tuple[str, str], dict[str, float]] = {}

    def provisioned(self, name: str, namespace: str, uid: str, seconds: float) -> None:
        self.provisioned_duration.setdefault((name, namespace), {})[uid] = seconds

    def cluster_gone(self, name: str, namespace: str) -> None:
        self.provisioned_duration.pop((name, namespace), None)


def kuberay_families(kuberay: KubeRayMetrics) -> Iterator[Metric]:
    """The family of the operator, as far as it has samples."""
    samples = [
        ([*key, uid], seconds)
        for key, clusters in sorted(kuberay.provisioned_duration.items())
        for uid, seconds in clusters.items()
    ]
    if samples:
        yield make_family(
            GaugeMetricFamily,
            "kuberay_cluster_provisioned_duration_seconds",
            "The time, in seconds, when a RayCluster's `RayClusterProvisioned` status transitions "
            "from false (or unset) to true",
            ["name", "namespace", "uid"],
            samples,
        )


def _group(group: str) -> str:
    return f"group {group}" if group else "the head"


def _met(_: str, key: Any, group: str, pod: str, action: str, timed_out: bool) -> str:
    why = "it is past its time-out" if timed_out else "the cache shows it"
    return f"{key} forgets the {action} of {pod} for {_group(group)}: {why}."


KUBERAY_SENTENCES: dict[str, Callable[..., str]] = {
    "event": lambda kind, key, reason, message: f"{kind} Event of {key}: {reason}: {message}",
    "expected": lambda _, key, group, pod, action: (
        f"{key} remembers the {action} of {pod} for {_group(group)}."
    ),
    "met": _met,
    "unsatisfied": lambda _, key, group, pod, action: (
        f"{key} leaves {_group(group)} for later: the cache does not show the {action} of {pod}."
    ),
    "expectations_deleted": lambda _, key, records: f"{key} forgets all its {records} records.",
    "provisioned": lambda _, key, seconds: (
        f"{key} has all Pods ready for the first time, {seconds:g} s after its creation."
    ),
}
"""The sentence of each kind of step."""
