"""How objects go: grace periods, finalizers and preconditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from clusters import Toy, ToySpec, pod, store, toy, with_meta

from kubequeue.cluster.objects import Pod, PodStatus
from kubequeue.cluster.store import Store
from kubequeue.cluster.watch import WatchEvent
from kubequeue.errors import ConflictError, InvalidArgumentError, InvalidError, NotFoundError

KEY = "team-a/a"


def _watched(kept: Store, kind: type[Pod] | type[Toy]) -> list[str]:
    """The events that came of everything since the store was made, in words."""
    said = []
    for event in kept.watch(kind, "", "1").take():
        meta = event.object.metadata
        said.append(f"{event.type} {meta.deletion_timestamp} {meta.deletion_grace_period_seconds}")
    return said


def _on_a_node(kept: Store) -> Pod:
    return kept.create(pod(node="node-1"))


def test_a_pod_is_marked_and_stays_until_its_kubelet_removes_it() -> None:
    """The mark says when the grace period is over, and counts as a generation; then it is gone."""
    kept = store()
    _on_a_node(kept)
    marked = kept.delete(Pod, KEY)
    meta = marked.metadata
    assert (meta.deletion_timestamp, meta.deletion_grace_period_seconds) == (30.0, 30.0)
    assert meta.generation == 2
    assert kept.get(Pod, KEY) == marked
    kept.delete(Pod, KEY, grace_period_seconds=0)
    assert _watched(kept, Pod) == ["MODIFIED 30.0 30.0", "MODIFIED 0.0 0.0", "DELETED 0.0 0.0"]
    with pytest.raises(NotFoundError):
        kept.get(Pod, KEY)


def test_deleting_again_changes_nothing_unless_it_is_sooner() -> None:
    """A grace period can be shortened, not extended, and never into the past."""
    kept = store()
    _on_a_node(kept)
    first = kept.delete(Pod, KEY)
    assert kept.delete(Pod, KEY) is first
    assert kept.delete(Pod, KEY, grace_period_seconds=60) is first
    kept._sim.run(until=4.0)
    meta = kept.delete(Pod, KEY, grace_period_seconds=10).metadata
    assert (meta.deletion_timestamp, meta.deletion_grace_period_seconds) == (10.0, 10.0)
    assert meta.generation == 2
    meta = kept.delete(Pod, KEY, grace_period_seconds=3).metadata
    assert (meta.deletion_timestamp, meta.deletion_grace_period_seconds) == (4.0, 1.0)


def test_less_than_no_grace_is_one_second() -> None:
    """As in Kubernetes."""
    kept = store()
    _on_a_node(kept)
    assert kept.delete(Pod, KEY, grace_period_seconds=-5).metadata.deletion_timestamp == 1.0


def test_a_pod_that_runs_nowhere_goes_at_once() -> None:
    """It has no node, or it has ended: there is nothing to stop."""
    for phase in ("Pending", "Failed", "Succeeded"):
        kept = store()
        made = kept.create(pod(node="" if phase == "Pending" else "node-1"))
        kept.update_status(replace(made, status=PodStatus(phase)))
        kept.delete(Pod, KEY)
        assert kept.list(Pod).items == ()
        assert _watched(kept, Pod)[-2:] == ["MODIFIED 0.0 0.0", "DELETED 0.0 0.0"]


def test_a_custom_resource_goes_at_once() -> None:
    """It has no grace period; its last event carries the version of its end."""
    kept = store()
    kept.create(toy())
    last = kept.delete(Toy, KEY, grace_period_seconds=30)
    assert (last.metadata.resource_version, kept.resource_version) == ("2", "2")
    assert _watched(kept, Toy) == ["DELETED None None"]


def test_a_finalizer_holds_a_custom_resource() -> None:
    """It is marked, as a change of generation, and goes with the update that empties the list."""
    kept = store()
    kept.create(toy(finalizers=["one", "two"]))
    marked = kept.delete(Toy, KEY)
    assert (marked.metadata.deletion_timestamp, marked.metadata.generation) == (0.0, 2)
    assert kept.delete(Toy, KEY) is marked
    fewer = kept.update(with_meta(marked, finalizers=("two",)))
    assert kept.get(Toy, KEY) is fewer
    last = kept.update(with_meta(fewer, finalizers=()))
    assert last.metadata.finalizers == ()
    assert [said.split()[0] for said in _watched(kept, Toy)] == ["MODIFIED", "MODIFIED", "DELETED"]


def test_a_patch_can_take_the_last_finalizer() -> None:
    """Then it is the patch that removes the object."""
    kept = store()
    kept.create(toy(finalizers=["one"]))
    kept.delete(Toy, KEY)
    kept.patch(Toy, KEY, lambda t: with_meta(t, finalizers=()))
    assert kept.list(Toy).items == ()


def test_a_finalizer_holds_a_pod_past_its_grace_period() -> None:
    """The kubelet's delete leaves it with a grace period of 0; the finalizer's end removes it."""
    kept = store()
    kept.create(pod(node="node-1", finalizers=["one"]))
    kept.delete(Pod, KEY)
    held = kept.delete(Pod, KEY, grace_period_seconds=0)
    assert held.metadata.deletion_grace_period_seconds == 0
    assert kept.delete(Pod, KEY, grace_period_seconds=0) is held
    kept.update(with_meta(held, finalizers=()))
    assert kept.list(Pod).items == ()


def test_taking_the_finalizer_early_leaves_the_grace_period() -> None:
    """A Pod that its kubelet has not stopped yet stays, finalizer or not."""
    kept = store()
    kept.create(pod(node="node-1", finalizers=["one"]))
    marked = kept.delete(Pod, KEY)
    kept.update(with_meta(marked, finalizers=()))
    assert kept.get(Pod, KEY).metadata.deletion_timestamp == 30.0


def test_finalizers_come_and_go_while_nobody_deletes() -> None:
    """Emptying the list removes nothing then."""
    kept = store()
    made = kept.create(toy(finalizers=["one"]))
    emptied = kept.update(with_meta(made, finalizers=()))
    kept.update(with_meta(emptied, finalizers=("two",)))
    assert kept.get(Toy, KEY).metadata.finalizers == ("two",)


def test_a_deleted_object_takes_no_new_finalizer() -> None:
    """It would never go; what it has may stay, and the spec may still change."""
    kept = store()
    kept.create(toy(finalizers=["one"]))
    marked = kept.delete(Toy, KEY)
    with pytest.raises(InvalidError) as caught:
        kept.update(with_meta(marked, finalizers=("one", "two")))
    assert str(caught.value) == (
        'Toy.example.com "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be '
        'added if the object is being deleted, found new finalizers []string{"two"}'
    )
    assert kept.update(replace(marked, spec=ToySpec(2))).metadata.generation == 3


def test_the_mark_of_deletion_cannot_be_taken_off() -> None:
    """An update that leaves it out leaves it there."""
    kept = store()
    kept.create(toy(finalizers=["one"]))
    marked = kept.delete(Toy, KEY)
    kept.update(with_meta(marked, deletion_timestamp=None, labels={"a": "b"}))
    assert kept.get(Toy, KEY).metadata.deletion_timestamp == 0.0


def test_only_the_object_that_was_meant_is_deleted() -> None:
    """A uid or a version that is not its own is a Conflict, and nothing happens."""
    kept = store()
    first = kept.create(toy())
    kept.delete(Toy, KEY, uid=first.metadata.uid)
    second = kept.create(toy())
    with pytest.raises(ConflictError, match="might have been deleted and then recreated"):
        kept.delete(Toy, KEY, uid=first.metadata.uid)
    with pytest.raises(ConflictError, match=r"ResourceVersion in the precondition \(1\)"):
        kept.delete(Toy, KEY, resource_version="1")
    kept.delete(Toy, KEY, uid=second.metadata.uid, resource_version="3")
    assert kept.list(Toy).items == ()


def test_a_removal_is_whole_before_anybody_hears_of_it() -> None:
    """Who answers the mark with a delete of its own finds nothing there any more."""
    kept = store()
    _on_a_node(kept)
    said: list[str] = []

    def on_event(event: WatchEvent) -> None:
        said.append(event.type)
        if event.type == "MODIFIED":
            with pytest.raises(NotFoundError):
                kept.delete(Pod, KEY, grace_period_seconds=0)

    kept.watch(Pod).receive(on_event)
    kept.delete(Pod, KEY, grace_period_seconds=0)
    assert said == ["ADDED", "MODIFIED", "DELETED"]


@pytest.mark.parametrize("grace", ["now", float("nan"), float("inf")])
def test_a_grace_period_that_is_no_time_is_refused(grace: Any) -> None:
    """And the Pod is not touched."""
    kept = store()
    made = _on_a_node(kept)
    with pytest.raises(InvalidArgumentError, match="grace_period_seconds"):
        kept.delete(Pod, KEY, grace_period_seconds=grace)
    assert kept.get(Pod, KEY) is made
