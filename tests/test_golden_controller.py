"""The model's controller does what controller-runtime's did, step by step and field by field."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from replay_controller import NAME, ControllerReplay

from kubequeue import Simulation

FOLDER = Path(__file__).parent / "golden" / "controller"
SCENARIOS: list[dict[str, Any]] = [
    {**scenario, "file": path.name}
    for path in sorted(FOLDER.glob("*.json"))
    for scenario in json.loads(path.read_text(encoding="utf-8"))
]


def test_there_are_recordings() -> None:
    """Without files every scenario below would pass, because there would be none."""
    assert len(SCENARIOS) > 200
    assert {scenario.get("queue", "priority") for scenario in SCENARIOS} == {"priority", "fifo"}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: f"{s['file'][:-5]}-{s['name']}")
def test_the_controller_agrees_with_go(scenario: dict[str, Any]) -> None:
    """Who starts and ends when, each call on the queue in order, and every metric."""
    replay = ControllerReplay(scenario)
    for number, (op, expected) in enumerate(zip(scenario["ops"], scenario["steps"], strict=True)):
        assert replay.step(op) == expected, f"step {number}: {op}"


CHANGES: list[tuple[str, Any]] = [
    ("started", []),
    ("ended", []),
    ("calls", []),
    ("len", 99),
    ("metrics", {}),
]


@pytest.mark.parametrize(("field", "value"), CHANGES, ids=lambda value: str(value))
def test_a_difference_in_any_field_would_be_seen(field: str, value: Any) -> None:
    """A recording that is changed in one field of one step no longer agrees."""
    scenario = next(
        s
        for s in SCENARIOS
        if any({"started", "ended", "calls"} <= set(step) for step in s["steps"])
    )
    number = next(
        n for n, step in enumerate(scenario["steps"]) if {"started", "ended", "calls"} <= set(step)
    )
    replay = ControllerReplay(scenario)
    seen = [replay.step(op) for op in scenario["ops"]]
    assert seen == scenario["steps"]
    assert seen[number] != {**scenario["steps"][number], field: value}


@pytest.mark.parametrize("scenario", SCENARIOS[::4], ids=lambda s: f"{s['file'][:-5]}-{s['name']}")
def test_another_order_of_one_instant_breaks_no_rule(scenario: dict[str, Any]) -> None:
    """Ties drawn from a seed: no two rounds of a key overlap, and every round is counted once."""
    replay = ControllerReplay(scenario, Simulation(7, shuffle_ties=True))
    for op in scenario["ops"]:
        replay.step(op)
    rounds = replay.sim.trace.rounds()
    for key in {span.key for span in rounds}:
        mine = [span for span in rounds if span.key == key]
        assert all(a.end is not None and a.end <= b.start for a, b in pairwise(mine))
    ended = [span.outcome for span in rounds if span.end is not None]
    counted = replay.sim.metrics.controllers[NAME].total
    assert counted == {result: ended.count(result) for result in counted}
