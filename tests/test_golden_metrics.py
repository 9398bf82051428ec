"""What a scrape of the model gets is what a scrape of the real controller gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from replay_controller import NAME, ControllerReplay

from kubequeue import Simulation
from kubequeue.observe.families import families
from kubequeue.observe.instruments import (
    QUEUE_BOUNDS,
    RECONCILE_BOUNDS,
    ControllerMetrics,
    QueueMetrics,
)

FOLDER = Path(__file__).parent / "golden" / "metrics"
FAMILIES: list[dict[str, Any]] = json.loads((FOLDER / "families.json").read_text(encoding="utf-8"))


def parsed(text: str) -> dict[str, Metric]:
    """The families of an exposition by name."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def samples(family: Metric) -> list[tuple[str, list[tuple[str, str]], float]]:
    """Name, labels and value of each sample, in an order that does not matter to Prometheus."""
    return sorted((s.name, sorted(s.labels.items()), s.value) for s in family.samples)


@pytest.fixture(scope="module")
def small_run() -> dict[str, Metric]:
    """The exposition of the model after the recorded short run."""
    (scenario,) = json.loads((FOLDER / "small_run.json").read_text(encoding="utf-8"))
    replay = ControllerReplay(scenario)
    for op, expected in zip(scenario["ops"], scenario["steps"], strict=True):
        assert replay.step(op) == expected
    return parsed(replay.sim.metrics.exposition())


RECORDED = parsed((FOLDER / "small_run.prom").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_each_family_of_the_short_run_agrees(name: str, small_run: dict[str, Metric]) -> None:
    """Every sample of Go's exposition is in ours with the same value, and none besides."""
    ours, theirs = small_run[name], RECORDED[name]
    assert samples(ours) == samples(theirs)
    assert (ours.type, ours.documentation) == (theirs.type, theirs.documentation)


def test_no_family_is_missing_or_invented(small_run: dict[str, Metric]) -> None:
    """A dashboard made for the real thing finds its families here, and only those."""
    assert sorted(small_run) == sorted(RECORDED)


@pytest.mark.parametrize("recorded", FAMILIES, ids=lambda family: str(family["name"]))
def test_each_family_is_declared_as_in_go(recorded: dict[str, Any]) -> None:
    """Name, help, type and label names, also of the families that start without a series."""
    queues = {NAME: QueueMetrics(Simulation().env, by_priority=True)}
    queues[NAME].added("a", 0)
    controllers = {NAME: ControllerMetrics()}
    controllers[NAME].reconcile_time.observe(1)
    (ours,) = (
        family
        for family in families(queues, controllers)
        if family.name == recorded["name"].removesuffix("_total")
    )
    assert (ours.documentation, ours.type) == (recorded["help"], recorded["type"])
    for sample in ours.samples:
        assert sorted(set(sample.labels) - {"le"}) == sorted(recorded["labels"])


@pytest.mark.parametrize("queue", ["priority", "fifo"])
def test_zero_starts(queue: str) -> None:
    """Before the first add, exactly the series exist that Go has then, at the values Go has."""
    replay = ControllerReplay({"workers": 1, "queue": queue})
    ours = parsed(replay.sim.metrics.exposition())
    start = "start_fifo" if queue == "fifo" else "start"
    for family in FAMILIES:
        found = ours.get(family["name"].removesuffix("_total"))
        series = [] if found is None else _series(found, family["type"])
        assert series == [(s["labels"], s["value"]) for s in family[start]], family["name"]
    assert set(ours) <= {family["name"].removesuffix("_total") for family in FAMILIES}


def test_bounds_of_the_buckets() -> None:
    """The histograms have Go's bounds to the last digit."""
    bounds = {family["name"]: family["buckets"] for family in FAMILIES if "buckets" in family}
    assert list(QUEUE_BOUNDS) == bounds["workqueue_queue_duration_seconds"]
    assert list(QUEUE_BOUNDS) == bounds["workqueue_work_duration_seconds"]
    assert list(RECONCILE_BOUNDS) == bounds["controller_runtime_reconcile_time_seconds"]


def _series(family: Metric, kind: str) -> list[tuple[dict[str, str], float]]:
    wanted = f"{family.name}_count" if kind == "histogram" else family.name
    total = f"{family.name}_total"
    return [(s.labels, s.value) for s in family.samples if s.name in (wanted, total)]
