"""The metrics: names, labels and numbers as a scrape of the original would show them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from driving import NAME, Rig, answering, fifo_rig, priority_rig
from prometheus_client.parser import text_string_to_metric_families

from kubequeue import (
    Controller,
    FIFOQueue,
    InvalidArgumentError,
    PriorityQueue,
    ReconcileError,
    Result,
    Simulation,
    TerminalError,
)

QUEUE = {"name": NAME, "controller": NAME}
EXCEEDED = "exceeded_cardinality_limit"


def _a_run(seed: int = 0) -> Simulation:
    rig = priority_rig(Simulation(seed, shuffle_ties=True))
    answers = ReconcileError("no"), Result(requeue_after=3), TerminalError("no"), KeyError("no")
    rounds = answering(rig.sim, *answers, seconds=0.7)
    Controller(rig.sim, rig.queue, rounds, max_concurrent_reconciles=2).start()
    for place, key in enumerate("abcdef"):
        rig.queue.add_with_opts(key, after=place % 3, priority=place % 2)
    rig.sim.run(until=3.9)
    return rig.sim


def _samples(sim: Simulation) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What a scraper makes of the text: each sample by its name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(sim.metrics.exposition())
        for sample in family.samples
    }


def _unfinished(rig: Rig[Any]) -> tuple[float, float]:
    value = rig.sim.metrics.value
    return (
        value("workqueue_unfinished_work_seconds", **QUEUE),
        value("workqueue_longest_running_processor_seconds", **QUEUE),
    )


# --- The text ---------------------------------------------------------------------------------


def test_a_scraper_reads_the_exposition() -> None:
    """The text parses, every family has a help text, and each value is the one of `value`."""
    sim = _a_run()
    families = list(text_string_to_metric_families(sim.metrics.exposition()))
    assert len(families) >= 14
    assert all(family.documentation and family.samples for family in families)
    for (name, labels), value in _samples(sim).items():
        assert sim.metrics.value(name, **dict(labels)) == value


def test_the_types_of_the_families() -> None:
    """Counters count, gauges go up and down, durations are histograms."""
    text = _a_run().metrics.exposition()
    types = {family.name: family.type for family in text_string_to_metric_families(text)}
    assert types == {
        "workqueue_depth": "gauge",
        "workqueue_adds": "counter",
        "workqueue_retries": "counter",
        "workqueue_queue_duration_seconds": "histogram",
        "workqueue_work_duration_seconds": "histogram",
        "workqueue_unfinished_work_seconds": "gauge",
        "workqueue_longest_running_processor_seconds": "gauge",
        "controller_runtime_reconcile": "counter",
        "controller_runtime_reconcile_errors": "counter",
        "controller_runtime_terminal_reconcile_errors": "counter",
        "controller_runtime_reconcile_panics": "counter",
        "controller_runtime_reconcile_timeouts": "counter",
        "controller_runtime_reconcile_time_seconds": "histogram",
        "controller_runtime_max_concurrent_reconciles": "gauge",
        "controller_runtime_active_workers": "gauge",
    }


def test_histograms_add_up() -> None:
    """Buckets grow up to the count, and the sum is that of the durations."""
    sim = _a_run()
    by_bound: dict[str, dict[float, float]] = {}
    for (name, labels), value in _samples(sim).items():
        if name.endswith("_bucket"):
            by_bound.setdefault(name.removesuffix("_bucket"), {})[float(dict(labels)["le"])] = value
    assert {name: len(bounds) for name, bounds in by_bound.items()} == {
        "workqueue_queue_duration_seconds": 13,
        "workqueue_work_duration_seconds": 13,
        "controller_runtime_reconcile_time_seconds": 41,
    }
    for name, bounds in by_bound.items():
        counts = [bounds[bound] for bound in sorted(bounds)]
        assert counts == sorted(counts)
        assert counts[-1] == sim.metrics.value(f"{name}_count") > 0


def test_the_bounds_are_the_originals() -> None:
    """Dashboards ask for quantiles: the buckets have to be where theirs are."""
    sim = _a_run()

    def bounds(name: str) -> list[float]:
        found = {dict(labels).get("le") for n, labels in _samples(sim) if n == f"{name}_bucket"}
        return sorted(float(bound) for bound in found if bound)[:-1]

    powers = [10.0**k for k in range(-8, 4)]
    for queue_family in ("queue", "work"):
        assert bounds(f"workqueue_{queue_family}_duration_seconds") == pytest.approx(powers)
    assert bounds("controller_runtime_reconcile_time_seconds") == [
        *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
        *(0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5),
        *(6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60),
    ]


def test_a_duration_on_a_bound_is_below_it() -> None:
    """Bounds are inclusive, as `le` says: half a second is in the bucket of half a second."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim, seconds=0.5)).start()
    rig.queue.add("a")
    rig.sim.run()
    count = [
        rig.sim.metrics.value("controller_runtime_reconcile_time_seconds_bucket", le=bound)
        for bound in ("0.45", "0.5")
    ]
    assert count == [0, 1]


def test_two_equal_runs_have_equal_bytes() -> None:
    """No wall time, no order by chance; and another seed may well differ."""
    assert _a_run().metrics.exposition() == _a_run().metrics.exposition()


def test_asking_changes_nothing() -> None:
    """A second scrape of the same moment reads the same."""
    sim = _a_run()
    assert sim.metrics.exposition() == sim.metrics.exposition()


def test_an_empty_run_has_an_empty_exposition() -> None:
    """No queue, no controller: no family without samples."""
    assert Simulation().metrics.exposition() == ""


def test_a_sample_that_is_not_there_is_an_error() -> None:
    """Zero would be a lie: a wrong name or label is told."""
    sim = _a_run()
    with pytest.raises(InvalidArgumentError, match="workqueue_dept"):
        sim.metrics.value("workqueue_dept")
    with pytest.raises(InvalidArgumentError, match="nobody"):
        sim.metrics.value("workqueue_depth", name="nobody")


def test_a_value_adds_up_over_labels_that_are_left_out() -> None:
    """The depth of a queue is the sum over its priorities."""
    rig = priority_rig()
    rig.queue.add_with_opts("a", priority=1)
    rig.queue.add_with_opts("b", "c", priority=2)
    rig.settle()
    value = rig.sim.metrics.value
    assert value("workqueue_depth", name=NAME) == 3
    assert value("workqueue_depth", name=NAME, priority="2") == 2


# --- Depth ------------------------------------------------------------------------------------


def test_the_25th_priority_has_a_label_of_its_own() -> None:
    """Up to 25 distinct priorities each is told apart."""
    rig = priority_rig()
    for priority in range(25):
        rig.queue.add_with_opts(f"key {priority}", priority=priority)
    rig.settle()
    assert rig.depth == {str(priority): 1 for priority in range(25)}


def test_from_the_26th_priority_on_all_share_a_label() -> None:
    """Also those seen before: what was raised under its own label is lowered under the shared."""
    rig = priority_rig()
    for priority in range(26):
        rig.queue.add_with_opts(f"key {priority}", priority=priority)
    rig.settle()
    own = {str(priority): 1 for priority in range(25)}
    assert rig.depth == {**own, EXCEEDED: 1}
    rig.queue.add_with_opts("another", priority=0)
    rig.queue.add_with_opts("one more", priority=99)
    rig.settle()
    assert rig.depth == {**own, EXCEEDED: 3}
    rig.take_all()
    assert rig.depth == {**own, EXCEEDED: -25}
    assert rig.sim.metrics.value("workqueue_depth", name=NAME) == 0


def test_a_raise_beyond_the_limit_moves_depth_as_the_original_does() -> None:
    """Lowered first and raised then: the 26th priority seen by a raise is the shared one."""
    rig = priority_rig()
    for priority in range(25):
        rig.queue.add_with_opts(f"key {priority}", priority=priority)
    rig.queue.add_with_opts("key 0", priority=100)
    rig.settle()
    assert (rig.depth["0"], rig.depth[EXCEEDED]) == (0, 1)


def test_the_older_queue_has_one_depth_without_a_priority() -> None:
    """It is there from the start, at zero, under an empty label."""
    rig = fifo_rig()
    value = rig.sim.metrics.value
    assert value("workqueue_depth", name=NAME, priority="") == 0
    rig.queue.add_with_opts("a", priority=5)
    assert value("workqueue_depth", name=NAME, priority="") == 1


def test_the_priority_queue_has_no_depth_before_its_first_key() -> None:
    """A priority that nobody used has no series."""
    rig = priority_rig()
    with pytest.raises(InvalidArgumentError):
        rig.sim.metrics.value("workqueue_depth", name=NAME)
    assert rig.sim.metrics.value("workqueue_adds_total", name=NAME) == 0


# --- Unfinished work --------------------------------------------------------------------------


def test_unfinished_work_is_as_of_the_last_half_second() -> None:
    """Taken at 0.2 s and scraped at 1.3 s, a key has been out for 0.8 s: the look was at 1.0 s."""
    rig = priority_rig()
    rig.advance(0.2)
    rig.queue.add_with_opts("a", "b")
    rig.take()
    rig.advance(0.2)
    rig.take()
    assert _unfinished(rig) == (0, 0)
    rig.advance(0.9)
    assert _unfinished(rig) == pytest.approx((0.8 + 0.6, 0.8))


def test_unfinished_work_outlives_done_until_the_next_look() -> None:
    """What was seen stays until the next half second, whether or not the work has ended."""
    rig = priority_rig()
    rig.queue.add("a")
    rig.take()
    rig.advance(1.2)
    rig.queue.done("a")
    rig.advance(0.2)
    assert _unfinished(rig) == (1.0, 1.0)
    rig.advance(0.1)
    assert _unfinished(rig) == (0, 0)


def test_the_half_seconds_count_from_the_queues_start() -> None:
    """A queue made at 0.3 s is looked at at 0.8 s, 1.3 s and so on."""
    sim = Simulation()
    sim.run(until=0.3)
    rig = priority_rig(sim)
    rig.queue.add("a")
    rig.take()
    rig.advance(0.9)
    assert _unfinished(rig) == (0.5, 0.5)
    rig.advance(0.1)
    assert _unfinished(rig) == (1.0, 1.0)


def test_scraping_often_reads_the_same_as_scraping_once() -> None:
    """A scrape between two looks changes no later number."""

    def run(scrapes: int) -> tuple[float, float]:
        rig = priority_rig()
        rig.queue.add("a")
        rig.take()
        for _ in range(scrapes):
            rig.advance(2.7 / scrapes)
            rig.sim.metrics.exposition()
        return _unfinished(rig)

    assert run(1) == run(9) == (2.5, 2.5)


def test_after_shutdown_nobody_looks() -> None:
    """The loop that looks ends with the queue: the gauge keeps what it showed last."""
    rig = priority_rig()
    rig.queue.add("a")
    rig.take()
    rig.advance(1.2)
    rig.queue.shut_down()
    rig.advance(5)
    assert _unfinished(rig) == (1.0, 1.0)


# --- Names ------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [PriorityQueue, FIFOQueue])
def test_a_queue_without_a_name_has_no_metrics(make: Callable[..., Any]) -> None:
    """It is counted nowhere, and several may go without a name."""
    sim = Simulation()
    queues = make(sim), make(sim)
    for queue in queues:
        queue.add("a")
    sim.settle()
    assert sim.metrics.exposition() == ""


@pytest.mark.parametrize("first", [PriorityQueue, FIFOQueue])
@pytest.mark.parametrize("second", [PriorityQueue, FIFOQueue])
def test_two_queues_of_one_name_are_an_error(
    first: Callable[..., Any], second: Callable[..., Any]
) -> None:
    """Their numbers would run into each other; in another simulation the name is free."""
    sim = Simulation()
    first(sim, NAME)
    with pytest.raises(InvalidArgumentError, match=NAME):
        second(sim, NAME)
    second(Simulation(), NAME)


def test_two_queues_have_their_own_numbers() -> None:
    """Side by side in one text, told apart by name."""
    sim = Simulation()
    one, two = PriorityQueue(sim, "one"), FIFOQueue(sim, "two")
    one.add("a")
    two.add_with_opts("a", "b")
    sim.settle()
    value = sim.metrics.value
    adds = [value("workqueue_adds_total", name=name, controller=name) for name in ("one", "two")]
    assert adds == [1, 2]


def test_a_controller_of_another_name_is_told_apart_from_its_queue() -> None:
    """Queue metrics carry the queue's name, reconcile metrics the controller's."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim), name="other").start()
    rig.queue.add("a")
    rig.sim.run()
    labels = {"controller": "other", "result": "success"}
    assert rig.sim.metrics.value("controller_runtime_reconcile_total", **labels) == 1
    assert rig.sim.metrics.value("workqueue_adds_total", name=NAME) == 1


def test_reconcile_time_has_no_series_before_the_first_round() -> None:
    """The other families of a controller are there from its start, at zero."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim)).start()
    names = {name for name, _ in _samples(rig.sim)}
    assert "controller_runtime_reconcile_errors_total" in names
    assert "controller_runtime_reconcile_time_seconds_count" not in names
