"""The model's controller does what controller-runtime's did, step by step and field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from replay_controller import ControllerReplay

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
