"""The garbage collector: what is owned goes when its owners have gone."""

from __future__ import annotations

from typing import Any

import pytest
from clusters import Toy, pod, server, toy, with_meta

from kubequeue import InvalidArgumentError, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.objects import Object, OwnerReference, Pod


def _ref(owner: Object) -> OwnerReference:
    return OwnerReference(owner.kind, owner.metadata.name, owner.metadata.uid)


def _collected(**options: Any) -> tuple[Simulation, APIServer]:
    sim, api = server()
    GarbageCollector(sim, api, **options)
    return sim, api


def _names(api: APIServer, kind: type[Any]) -> list[str]:
    return [obj.metadata.name for obj in api.store.list(kind).items]


def test_what_is_owned_goes_after_its_owner() -> None:
    """In its own time, gracefully; what somebody else owns stays."""
    sim, api = _collected(delay=2)
    first, second = (api.store.create(toy(name)) for name in "xy")
    api.store.create(pod("a", node="node-1", owner_references=[_ref(first)]))
    api.store.create(pod("b", owner_references=[_ref(first)]))
    api.store.create(pod("c", owner_references=[_ref(second)]))
    api.store.create(pod("d"))
    sim.run(until=10)
    api.store.delete(Toy, "team-a/x")
    sim.run(until=11.9)
    assert _names(api, Pod) == ["a", "b", "c", "d"]
    sim.run()
    assert _names(api, Pod) == ["a", "c", "d"]
    assert api.store.get(Pod, "team-a/a").metadata.deletion_timestamp == 42.0


def test_owners_of_owners() -> None:
    """A chain goes link by link."""
    sim, api = _collected(delay=1)
    top = api.store.create(toy("x"))
    middle = api.store.create(toy("y", owner_references=[_ref(top)]))
    api.store.create(pod(owner_references=[_ref(middle)]))
    api.store.delete(Toy, "team-a/x")
    sim.run()
    assert (_names(api, Toy), _names(api, Pod), sim.now) == ([], [], 2.0)


def test_an_owner_that_a_finalizer_holds_is_still_there() -> None:
    """Marked is not gone."""
    sim, api = _collected()
    owner = api.store.create(toy("x", finalizers=["one"]))
    api.store.create(pod(owner_references=[_ref(owner)]))
    held = api.store.delete(Toy, "team-a/x")
    sim.run()
    assert _names(api, Pod) == ["a"]
    api.store.update(with_meta(held, finalizers=()))
    sim.run()
    assert _names(api, Pod) == []


def test_what_names_an_owner_that_was_never_there_goes() -> None:
    """Also an owner of the same name with another uid: made too late, after a restart perhaps."""
    sim, api = _collected()
    gone = api.store.create(toy("x"))
    api.store.delete(Toy, "team-a/x")
    api.store.create(toy("x"))
    api.store.create(pod(owner_references=[_ref(gone)]))
    sim.run()
    assert _names(api, Pod) == []


def test_with_one_of_two_owners_left_it_stays_and_forgets_the_other() -> None:
    """It goes with the last."""
    sim, api = _collected()
    first, second = (api.store.create(toy(name)) for name in "xy")
    api.store.create(pod(owner_references=[_ref(first), _ref(second)]))
    api.store.delete(Toy, "team-a/x")
    sim.run()
    assert api.store.get(Pod, "team-a/a").metadata.owner_references == (_ref(second),)
    api.store.delete(Toy, "team-a/y")
    sim.run()
    assert _names(api, Pod) == []


def test_an_owner_can_be_given_up() -> None:
    """What is no longer owned stays, before and after the owner's end."""
    sim, api = _collected(delay=1)
    owner = api.store.create(toy("x"))
    made = [api.store.create(pod(name, owner_references=[_ref(owner)])) for name in "ab"]
    api.store.update(with_meta(made[0], owner_references=()))
    api.store.delete(Toy, "team-a/x")
    sim.run(until=0.5)
    api.store.update(with_meta(made[1], owner_references=()))
    sim.run()
    assert _names(api, Pod) == ["a", "b"]


def test_what_is_being_deleted_already_is_left_alone() -> None:
    """No second delete, no shorter grace period."""
    sim, api = _collected()
    owner = api.store.create(toy("x"))
    api.store.create(pod(node="node-1", owner_references=[_ref(owner)]))
    marked = api.store.delete(Pod, "team-a/a")
    api.store.delete(Toy, "team-a/x")
    sim.run()
    assert api.store.get(Pod, "team-a/a") is marked


def test_what_has_gone_by_itself_is_no_trouble() -> None:
    """Nor is a new object of its name."""
    sim, api = _collected(delay=1)
    owner = api.store.create(toy("x"))
    api.store.create(pod(owner_references=[_ref(owner)]))
    api.store.delete(Toy, "team-a/x")
    api.store.delete(Pod, "team-a/a")
    api.store.create(pod())
    sim.run()
    assert _names(api, Pod) == ["a"]


def test_it_begins_with_what_there_is() -> None:
    """Whichever of owner and owned is listed first."""
    sim, api = server()
    owner = api.store.create(toy("x"))
    api.store.create(pod("a", owner_references=[_ref(owner)]))
    api.store.create(pod("b", owner_references=[OwnerReference("Toy", "y", "nobody")]))
    GarbageCollector(sim, api)
    sim.run()
    assert _names(api, Pod) == ["a"]


def test_it_remembers_nothing_of_what_has_gone() -> None:
    """Long runs do not grow."""
    sim, api = server()
    collector = GarbageCollector(sim, api)
    for _ in range(3):
        owner = api.store.create(toy("x"))
        made = [api.store.create(pod(name, owner_references=[_ref(owner)])) for name in "ab"]
        api.store.update(with_meta(made[1], owner_references=()))
        api.store.delete(Toy, "team-a/x")
        api.store.delete(Pod, "team-a/b")
        sim.run()
    assert (collector._present, collector._owners, collector._dependents) == (set(), {}, {})


@pytest.mark.parametrize("delay", [-1, "late", (2, 1)])
def test_a_delay_that_is_none_is_refused(delay: Any) -> None:
    """At once."""
    with pytest.raises(InvalidArgumentError, match="delay"):
        _collected(delay=delay)
