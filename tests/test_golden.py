"""The model's queues and limiters do what the real ones did, as recorded in ``golden/``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from replay import main

from kubequeue import ItemExponentialFailureRateLimiter, Simulation, TokenBucket

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted([*GOLDEN.glob("priorityqueue/*.json"), *GOLDEN.glob("fifoqueue/*.json")])
MILLISECOND = 1_000_000


def read(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    assert found
    return found


def test_there_are_recordings() -> None:
    """Without files the replay below would have nothing to disagree with."""
    assert len(FILES) >= 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recorded_file_agrees(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every step of every scenario, every field, without tolerance."""
    scenarios = json.loads(path.read_text(encoding="utf-8"))
    steps = sum(len(scenario["steps"]) for scenario in scenarios)
    assert main([str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"scenarios {len(scenarios)} steps {steps} mismatches 0"


@pytest.mark.parametrize("field", ["len", "adds", "got"])
def test_a_difference_is_told(
    field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replay that could not fail would prove nothing."""
    scenario = next(s for s in read("priorityqueue/named.json") if s["steps"][-1].get("got"))
    scenario["steps"][-1][field] = [] if field == "got" else 99
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps([scenario]), encoding="utf-8")
    assert main([str(changed)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert f"{field} is" in told[0]
    assert told[-1] == f"scenarios 1 steps {len(scenario['steps'])} mismatches 1"


@pytest.mark.parametrize("field", ["len", "got"])
def test_a_difference_in_the_older_queue_is_told(
    field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder says which queue it is, and a changed copy there does not agree either."""
    scenario = next(s for s in read("fifoqueue/named.json") if s["steps"][-1].get("got"))
    scenario["steps"][-1][field] = [] if field == "got" else 99
    changed = tmp_path / "fifoqueue" / "changed.json"
    changed.parent.mkdir()
    changed.write_text(json.dumps([scenario]), encoding="utf-8")
    assert main([str(changed)]) == 1
    told = capsys.readouterr().out.splitlines()
    assert f"{field} is" in told[0]
    assert told[-1] == f"scenarios 1 steps {len(scenario['steps'])} mismatches 1"


def test_the_choice_of_queue_matters(tmp_path: Path) -> None:
    """``--queue`` really replays on the other queue: priorities are lost on it."""
    by_priority = [s for s in read("priorityqueue/named.json") if "priority" in str(s["ops"])]
    path = tmp_path / "named.json"
    path.write_text(json.dumps(by_priority), encoding="utf-8")
    assert main([str(path)]) == 0
    assert main([str(path), "--queue", "fifo"]) == 1


@pytest.mark.parametrize("case", read("ratelimit/exponential.json"), ids=lambda c: str(c["BaseMS"]))
def test_exponential_delays_agree(case: dict[str, Any]) -> None:
    """Each of many failures of one key waits exactly as long as in Go."""
    limiter = ItemExponentialFailureRateLimiter(case["BaseMS"] / 1000, case["MaxMS"] / 1000)
    delays = [limiter.when("a") for _ in case["DelaysMS"]]
    assert delays == [round(ms * MILLISECOND) for ms in case["DelaysMS"]]


@pytest.mark.parametrize("case", read("ratelimit/token_bucket.json"), ids=lambda c: f"{c['qps']}")
def test_token_bucket_delays_agree(case: dict[str, Any]) -> None:
    """Each reservation waits as long as in Go, which rounds to nanoseconds by way of floats."""
    sim = Simulation()
    bucket = TokenBucket(sim, case["qps"], case["burst"])
    for at_ms, delay_ms in zip(case["at_ms"], case["delay_ms"], strict=True):
        sim.run(until=at_ms / 1000)
        assert bucket.reserve() / MILLISECOND == pytest.approx(delay_ms, abs=1e-5, rel=0)
