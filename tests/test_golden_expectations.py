"""The model's expectations do what KubeRay's did, as recorded in ``golden/expectations``."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from replay_expectations import ExpectationsReplay, Memory, differences

from kubequeue.cluster.objects import Pod
from kubequeue.errors import APIError, NotFoundError
from kubequeue.kuberay.expectations import (
    ExpectationRules,
    RayClusterScaleExpectation,
    RayPod,
    ScaleAction,
)
from kubequeue.sim import NANOSECONDS

FOLDER = Path(__file__).parent / "golden" / "expectations"
FILES = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.json"))
}
NAMED = {scenario["name"]: scenario for scenario in FILES["named"]}
SCENARIOS = [scenario for scenarios in FILES.values() for scenario in scenarios]
CHECKS = [step for scenario in SCENARIOS for step in scenario["steps"] if step]


def test_there_are_recordings() -> None:
    """Of each kind of step that the replay tells apart, there are many."""
    assert set(FILES) == {"named", "random"}
    assert len(FILES["random"]) >= 200
    assert {op["op"] for scenario in FILES["random"] for op in scenario["ops"]} == {
        "expect", "check", "delete_all", "appear", "terminate", "vanish", "fail", "recover",
        "advance",
    }  # fmt: skip
    assert sum(step["satisfied"] for step in CHECKS) > 500
    assert sum(not step["satisfied"] for step in CHECKS) > 500
    for field, value in [("reads", 0), ("reads", 2)]:
        assert sum(step.get(field) == value for step in CHECKS) > 20
    for field in "read", "kept", "maybe":
        assert sum(field in step for step in CHECKS) > 100
    assert sum(len(step.get("kept", [])) > 1 for step in CHECKS) > 100


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario["name"])
def test_the_expectations_agree_with_go(scenario: dict[str, Any]) -> None:
    """Each answer, the Pods read for it, and what is still recorded, as far as Go determines it."""
    assert list(differences(scenario)) == []


CHANGES: list[tuple[str, Any]] = [
    ("satisfied", True),
    ("reads", 3),
    ("read", ["default/other"]),
    ("kept", []),
    ("kept", ["default/p", "default/other"]),
]


@pytest.mark.parametrize(("field", "value"), CHANGES, ids=lambda value: str(value))
def test_a_difference_in_any_field_is_told(field: str, value: Any) -> None:
    """A replay that could not fail would prove nothing."""
    scenario = copy.deepcopy(NAMED["a-create-waits-for-its-pod"])
    assert scenario["steps"][1] == {
        "satisfied": False, "reads": 1, "read": ["default/p"], "kept": ["default/p"],
    }  # fmt: skip
    scenario["steps"][1][field] = value
    (told,) = differences(scenario)
    assert told.startswith("a-create-waits-for-its-pod, step 1 ")


# --- A changed rule is seen ---------------------------------------------------------------------


class Changed(RayClusterScaleExpectation):
    """The model, with a judgement of each record in which a rule can be changed."""

    def _is_pod_scaled(self, item: RayPod) -> tuple[bool, bool]:
        try:
            self._reader.get(Pod, item.key)
        except APIError as error:
            return self.judge(item, error), False
        return item.action is ScaleAction.CREATE, False

    def judge(self, item: RayPod, error: APIError) -> bool:
        """Whether a record is met whose Pod was not read."""
        if item.action is ScaleAction.DELETE:
            return isinstance(error, NotFoundError)
        return self.age_ns(item) > self._timeout_ns

    def age_ns(self, item: RayPod) -> int:
        """Since the record was made."""
        return self._sim.now_ns - item.recorded_at_ns


class NotStrict(Changed):
    """At 30 s a create is met."""

    def judge(self, item: RayPod, error: APIError) -> bool:
        return super().judge(item, error) or self.age_ns(item) == 30 * NANOSECONDS


class FailingMeetsCreate(Changed):
    """A read that fails meets a create."""

    def judge(self, item: RayPod, error: APIError) -> bool:
        meets = item.action is ScaleAction.CREATE and not isinstance(error, NotFoundError)
        return meets or super().judge(item, error)


class FailingMeetsDelete(Changed):
    """A read that fails meets a delete."""

    def judge(self, item: RayPod, error: APIError) -> bool:
        return item.action is ScaleAction.DELETE or super().judge(item, error)


class FailingStopsTheClock(Changed):
    """A create times out only when its Pod is not found."""

    def judge(self, item: RayPod, error: APIError) -> bool:
        return isinstance(error, NotFoundError) and super().judge(item, error)


class DeletesTimeOut(Changed):
    """A delete whose read fails is met after 30 s, as a create is."""

    def judge(self, item: RayPod, error: APIError) -> bool:
        return super().judge(item, error) or self.age_ns(item) > self._timeout_ns


class ForgetsNoCluster(Changed):
    """The records of a RayCluster outlive it."""

    def delete(self, ray_cluster_name: str, namespace: str) -> None: ...


def by(**rules: Any) -> Memory:
    """The model with other rules."""
    return lambda sim, reader: RayClusterScaleExpectation(sim, reader, ExpectationRules(**rules))


RULES: dict[str, tuple[Memory, str]] = {
    "30 s not strict": (NotStrict, "a-create-is-not-met-at-30-s"),
    "a time-out longer by 1 ns": (by(timeout=30.000000001), "a-create-is-met-just-after-30-s"),
    "a terminating Pod meets a delete": (
        by(delete_until_not_found=False),
        "a-delete-is-not-met-by-a-pod-that-terminates",
    ),
    "a failing read meets a create": (FailingMeetsCreate, "a-read-that-fails-meets-no-create"),
    "a failing read meets a delete": (FailingMeetsDelete, "a-read-that-fails-meets-no-delete"),
    "a failing read stops the clock": (
        FailingStopsTheClock,
        "a-read-that-fails-and-a-create-past-30-s",
    ),
    "a delete times out": (DeletesTimeOut, "a-read-that-fails-meets-no-delete"),
    "a check looks at every record": (
        by(stop_at_first_unmet=False),
        "a-check-stops-at-an-unmet-record",
    ),
    "a cluster is not forgotten": (ForgetsNoCluster, "deleting-a-cluster-forgets-all-its-groups"),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_changed_rule_is_seen(rule: str) -> None:
    """In the scenario that is about the rule, and in some of the random ones."""
    memory, name = RULES[rule]
    assert list(differences(NAMED[name], memory))
    assert any(list(differences(scenario, memory)) for scenario in FILES["random"])


def test_the_judgement_is_changed_in_nothing_else() -> None:
    """The class that the changed rules are made from agrees, so it is the change that is seen."""
    assert [told for scenario in SCENARIOS for told in differences(scenario, Changed)] == []


# --- The order of a walk ------------------------------------------------------------------------

DRAWN = by(drawn_order=True)


@pytest.mark.parametrize("seed", range(10))
def test_a_drawn_order_agrees_with_go_too(seed: int) -> None:
    """Whichever record comes first: the same answers, and nothing that Go rules out is kept."""
    told = [told for scenario in SCENARIOS for told in differences(scenario, DRAWN, seed)]
    assert told == []


def answers_and_rest(
    scenario: dict[str, Any], seed: int
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What the checks of a run answer, and which records each leaves."""
    replay = ExpectationsReplay(DRAWN, seed)
    seen = [step for step in map(replay.step, scenario["ops"]) if step]
    return tuple(step["satisfied"] for step in seen), tuple(
        frozenset(step["left"]) for step in seen
    )


def test_the_order_shows_in_what_is_kept_and_in_no_answer() -> None:
    """The order really differs: all that may be kept is kept in some run and dropped in another."""
    scenario = NAMED["met-records-beside-an-unmet-one-may-be-forgotten"]
    runs = [answers_and_rest(scenario, seed) for seed in range(20)]
    assert {answers for answers, _ in runs} == {(False, True, True)}
    assert {rest[0] for _, rest in runs} == {
        frozenset({"default/q"}),
        frozenset({"default/p", "default/q"}),
    }


def test_an_answer_can_depend_on_the_order() -> None:
    """Why such runs are not recorded: a record that is met once may count again later, or not."""
    ops = [
        {"op": "appear", "namespace": "default", "pod": "p"},
        {"op": "expect", "namespace": "default", "cluster": "a", "pod": "p", "action": "create"},
        {"op": "expect", "namespace": "default", "cluster": "a", "pod": "q", "action": "create"},
        {"op": "check", "namespace": "default", "cluster": "a"},
        {"op": "vanish", "namespace": "default", "pod": "p"},
        {"op": "appear", "namespace": "default", "pod": "q"},
        {"op": "check", "namespace": "default", "cluster": "a"},
    ]
    assert {answers_and_rest({"ops": ops}, seed)[0] for seed in range(20)} == {
        (False, False),
        (False, True),
    }
