"""Objects that are somebody else's to look after, and those that are ours by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from kuberay_rig import Rig

from kubequeue.cluster.objects import ObjectMeta, Pod
from kubequeue.kuberay.api import (
    RayCluster,
    RayClusterSpec,
    RayJob,
    RayJobSpec,
    RayService,
    RayServiceSpec,
)

KINDS: dict[str, tuple[Any, Any]] = {
    "raycluster": (RayCluster, RayClusterSpec()),
    "rayjob": (RayJob, RayJobSpec(RayClusterSpec())),
    "rayservice": (RayService, RayServiceSpec()),
}
KUEUE = "kueue.x-k8s.io/multikueue"


def rig_with(controller: str, managed_by: str, **metadata: Any) -> Rig:
    """A rig with one object of a kind."""
    rig = Rig()
    kind, spec = KINDS[controller]
    meta = ObjectMeta("a", "default", **metadata)
    rig.store.create(kind(meta, replace(spec, managed_by=managed_by)))
    return rig


@pytest.mark.parametrize("controller", KINDS)
def test_what_another_controller_manages_is_left_alone(controller: str) -> None:
    """One round, which writes nothing and asks for no other."""
    rig = rig_with(controller, KUEUE)
    rig.run(1_000)
    assert rig.rounds(controller) == [(0.0, "success")]
    assert not [i for i in rig.sim.trace.instants if i.kind == "sent" and "create" in i.actor]


@pytest.mark.parametrize("controller", KINDS)
def test_what_names_the_operator_is_its_own(controller: str) -> None:
    """As if nothing were said."""
    rig = rig_with(controller, "ray.io/kuberay-operator")
    rig.run(20)
    assert rig.store.list(Pod).items


@pytest.mark.parametrize("controller", ["rayjob", "rayservice"])
def test_it_is_left_alone_also_when_it_is_deleted(controller: str) -> None:
    """The finalizer is the other controller's to take."""
    finalizer = (
        "ray.io/rayjob-finalizer" if controller == "rayjob" else "ray.io/rayservice-finalizer"
    )
    rig = rig_with(controller, KUEUE, finalizers=(finalizer,))
    rig.store.delete(KINDS[controller][0], "default/a")
    rig.run(100)
    assert rig.store.get(KINDS[controller][0], "default/a").metadata.finalizers == (finalizer,)
