"""A RayService that may take only so long to get ready."""

from __future__ import annotations

from typing import Any

import pytest
from kuberay_rig import GROUP, Rig

from kubequeue.cluster.objects import ObjectMeta
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, RayService, RayServiceSpec
from kubequeue.kuberay.rayservice_initializing import (
    get_initializing_timeout,
    validate_initializing_timeout,
)

ANNOTATION = "ray.io/initializing-timeout"
SPEC = RayServiceSpec(
    RayClusterSpec(worker_group_specs=(GROUP,)), ray_cluster_deletion_delay_seconds=20.0
)


def rig_with(timeout: str, **options: Any) -> Rig:
    """A RayService default/s with that annotation."""
    rig = Rig(**options)
    meta = ObjectMeta("s", "default", annotations={ANNOTATION: timeout})
    rig.store.create(RayService(meta, SPEC))
    return rig


def ready_of(rig: Rig) -> tuple[str, str]:
    """Status and reason of its condition Ready."""
    status = rig.store.get(RayService, "default/s").status
    return status.conditions[0].status, status.conditions[0].reason


@pytest.mark.parametrize("timeout", ["30", "30s", "0.5m"])
def test_a_service_that_takes_too_long_has_failed(timeout: str) -> None:
    """Its clusters are deleted, after their delay; then nobody looks at it any more."""
    rig = rig_with(timeout, kubelet={"start": 1e6})
    rig.run(29)
    assert ready_of(rig) == ("False", "Initializing")
    rig.run(35)
    assert ready_of(rig) == ("False", "InitializingTimeout")
    assert rig.events("default/s")[-1] == "RayServiceInitializingTimeout"
    assert len(rig.store.list(RayCluster).items) == 1
    rig.run(70)
    assert len(rig.store.list(RayCluster).items) == 0
    rounds = len(rig.rounds("rayservice"))
    rig.run(1_000)
    assert len(rig.rounds("rayservice")) == rounds


def test_a_service_that_is_ready_in_time_has_no_time_out_later() -> None:
    """Losing all endpoints is not initializing."""
    rig = rig_with("30s")
    rig.run(60)
    assert ready_of(rig)[0] == "True"
    rig.kubelet.node_down("node-1")
    rig.run(200)
    assert ready_of(rig) == ("False", "ZeroServeEndpoints")


VALUES = {
    "": (None, None),
    "5m": (300.0, None),
    "1h30m": (5400.0, None),
    "-1.5h": (-5400.0, "must be a positive duration, got: -1.5h"),
    "0": (0.0, "must be a positive duration, got: 0"),
    "-5": (-5.0, "must be a positive integer (seconds), got: -5"),
    "+7": (7.0, None),
    "1.5": (None, "has invalid format: 1.5"),
    "soon": (None, "has invalid format: soon"),
    "1d": (None, "has invalid format: 1d"),
    "5 m": (None, "has invalid format: 5 m"),
}


@pytest.mark.parametrize(("text", "expected"), VALUES.items(), ids=repr)
def test_a_time_out_is_a_go_duration_or_whole_seconds(
    text: str, expected: tuple[float | None, str | None]
) -> None:
    """Anything else, and what is not above zero, is refused."""
    seconds, problem = expected
    annotations = {ANNOTATION: text}
    assert get_initializing_timeout(annotations) == seconds
    told = validate_initializing_timeout(annotations)
    assert (told is None) == (problem is None)
    assert (problem or "") in (told or "")


def test_an_invalid_time_out_is_a_metadata_problem() -> None:
    """Nothing is made."""
    rig = rig_with("soon")
    rig.run(20)
    assert rig.events("default/s") == ["InvalidRayServiceMetadata"]
    assert not rig.store.list(RayCluster).items
