"""What users, reconcilers and administrators get wrong, in a whole operator."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest
from kuberay_rig import Rig
from operators import Set, World
from simpy.events import Event

from kubequeue import Request
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import KINDS, NamespacedName, ObjectMeta, Pod
from kubequeue.cluster.rbac import RBAC, Rule
from kubequeue.errors import NoKindMatchError, NotFoundError, UnknownNamespaceError
from kubequeue.kuberay import api
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, WorkerGroupSpec
from kubequeue.kuberay.operator import USER, start_operator
from kubequeue.runtime.manager import NOT_SYNCED, Manager

Steps = Generator[Event, Any, None]


# --- Users ---------------------------------------------------------------------------------------


def test_two_groups_of_one_name_never_rest() -> None:
    """The operator itself does not notice: each group finds the other's Pods and corrects them."""
    rig = Rig(latency=0.01)
    rig.create("a", WorkerGroupSpec("small", replicas=1), WorkerGroupSpec("small", replicas=3))
    rig.run(100)
    before = rig.pods_created["small"]
    rig.run(200)
    assert rig.pods_created["small"] - before > 20
    assert 1 <= len(rig.pods()) <= 3


@pytest.mark.parametrize(("low", "there"), [(0, 0), (2, 2)])
def test_negative_replicas_are_the_minimum(low: int, there: int) -> None:
    """Not refused, as in Go: what is below the minimum counts as the minimum."""
    rig = Rig()
    rig.create("a", WorkerGroupSpec("small", replicas=-3, min_replicas=low))
    rig.run(30)
    assert len(rig.pods()) == there
    assert rig.cluster().status.state == "ready"


def test_a_spec_that_becomes_invalid_is_left_as_it_is_until_it_is_mended() -> None:
    """Nothing is deleted; a lost worker is not replaced before somebody mends the bounds."""
    rig = Rig()
    rig.create("a", WorkerGroupSpec("small", replicas=2))
    rig.run(30)
    rig.set_group("a", "small", min_replicas=5, max_replicas=3)
    rig.store.delete(Pod, rig.names()[0])
    rig.run(1_000)
    assert len(rig.pods()) == 1
    rig.set_group("a", "small", min_replicas=0)
    rig.run(1_010)
    assert len(rig.pods()) == 2


def test_a_cluster_deleted_in_the_middle_of_a_round() -> None:
    """The status write finds nobody, which is an error; the next round finds nobody, and rests."""
    rig = Rig(latency=0.1)
    rig.create("a", WorkerGroupSpec("small", replicas=2))
    rig.run(0.25)
    rig.store.delete(RayCluster, "default/a")
    rig.run(60)
    outcomes = [outcome for _, outcome in rig.rounds()]
    assert "error" in outcomes
    assert outcomes[-1] == "success"
    assert not rig.store.list(Pod).items
    assert len(rig.operator.expectations) == 0


# --- Kinds and namespaces ------------------------------------------------------------------------


def test_an_operator_whose_kinds_are_not_installed_gives_up_after_two_minutes() -> None:
    """No workers without a first list; the process ends, for its deployment to start it again."""
    world = World()
    server = APIServer(world.sim, KINDS)
    operator = start_operator(world.sim, server, leader_election=False)
    world.sim.run(until=119.0)
    assert (operator.end_reason, operator.leads) == ("", True)
    assert 'no matches for kind "RayCluster"' in world.sim.trace.story()
    world.sim.run(until=121.0)
    assert operator.end_reason == NOT_SYNCED
    assert world.sim.trace.rounds() == []


def test_a_kind_that_nobody_watches_is_no_match_for_a_write() -> None:
    """A server without the kind says which ones it has."""
    world = World()
    with pytest.raises(NoKindMatchError, match="RayCluster"):
        world.store.create(RayCluster(ObjectMeta("a", "default")))


def test_another_namespace_is_not_served() -> None:
    """What is there wakes nobody, and a read of it is told from one that finds nothing."""
    rig = Rig(watch_namespace="mine,yours")
    for namespace in ("mine", "yours", "theirs"):
        rig.store.create(RayCluster(ObjectMeta("a", namespace), RayClusterSpec()))
    rig.run(30)
    assert {pod.metadata.namespace for pod in rig.store.list(Pod).items} == {"mine", "yours"}
    with pytest.raises(UnknownNamespaceError, match="theirs"):
        rig.operator.client.get(RayCluster, "theirs/a")
    with pytest.raises(NotFoundError):
        rig.operator.client.get(RayCluster, "mine/b")


def test_a_namespace_that_may_not_be_watched_keeps_all_others_waiting() -> None:
    """One forbidden list, and the cache is never in step: the operator gives up."""
    world = World()
    mine = Rule(("*",), ("*",), ("mine", "ray-system"))
    server = APIServer(world.sim, (*KINDS, *api.KINDS), rbac=RBAC({USER: [mine]}))
    server.store.create(RayCluster(ObjectMeta("a", "mine"), RayClusterSpec()))
    alone = start_operator(
        world.sim, server, leader_election=False, watch_namespace="mine", name="alone"
    )
    both = start_operator(
        world.sim, server, leader_election=False, watch_namespace="mine,theirs", name="both"
    )
    world.sim.run(until=121.0)
    assert (alone.end_reason, both.end_reason) == ("", NOT_SYNCED)
    assert {span.source for span in world.sim.trace.rounds()} == {"alone/raycluster"}


# --- Reconcilers ---------------------------------------------------------------------------------


def _change_status(wanted: Any) -> None:
    wanted.status = 7


def _change_meta(wanted: Any) -> None:
    wanted.metadata.labels = {"mine": "yes"}


def _change_labels(wanted: Any) -> None:
    wanted.metadata.labels["mine"] = "yes"


@pytest.mark.parametrize("change", [_change_status, _change_meta, _change_labels])
def test_an_object_from_the_cache_cannot_be_changed(change: Any) -> None:
    """An error at the place, in that round alone; the cache and the next key are as before."""
    world = World()
    manager = Manager(world.sim, world.server)
    seen: list[str] = []

    def reconcile(request: Request) -> Steps:
        yield world.sim.sleep(0)
        wanted = manager.client.get(Set, request)
        if request.name == "a":
            change(wanted)
        seen.append(request.name)

    manager.controller("set", for_=Set, reconcile=reconcile)
    world.add_set("a")
    world.add_set("b")
    manager.start()
    world.advance(0.5)
    assert seen == ["b"]
    kept = manager.client.get(Set, "default/a")
    assert kept == world.store.get(Set, "default/a")
    assert (kept.status, dict(kept.metadata.labels)) == (0, {})
    panics = world.sim.metrics.value("controller_runtime_reconcile_panics_total", controller="set")
    assert panics > 1
    told = world.sim.trace.story("default/a")
    assert "FrozenInstanceError" in told or "objects are frozen" in told


def test_an_object_that_was_kept_is_old_and_the_server_says_so() -> None:
    """A reconciler that remembers an object writes it once, and is refused from then on."""
    world = World()
    manager = Manager(world.sim, world.server)
    kept: dict[str, Set] = {}

    def reconcile(request: Request) -> Steps:
        mine = kept.setdefault(request, manager.client.get(Set, request))
        yield from manager.client.update_status(replace(mine, status=int(world.sim.now) + 1))

    manager.controller("set", for_=Set, reconcile=reconcile)
    world.add_set("a")
    manager.start()
    world.advance(5)
    outcomes = [span.outcome for span in world.sim.trace.rounds()]
    assert outcomes[0] == "success"
    assert set(outcomes[1:]) == {"error"}
    assert "the object has been modified" in world.sim.trace.story()
    assert world.store.get(Set, NamespacedName("default", "a")).status == 1
