"""Bad input of the cluster and of managers is answered in a sentence, at the call that makes it."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
from operators import Set, World
from simpy.events import Event

from kubequeue import InvalidArgumentError, PriorityQueue, Request
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import ObjectMeta, OwnerReference, Pod
from kubequeue.cluster.rbac import RBAC, Rule
from kubequeue.runtime.builder import Watches
from kubequeue.runtime.cache import Cache
from kubequeue.runtime.handler import enqueue_request_for_object
from kubequeue.runtime.leaderelection import LeaderElection
from kubequeue.runtime.manager import Manager

NOTHING: Any = None
"""None where something belongs, whatever its type."""


def reconcile(_: Request) -> Generator[Event, Any, None]:
    yield from ()


def _controller(world: World, **wrong: Any) -> None:
    given: dict[str, Any] = {"for_": Set, "reconcile": reconcile, **wrong}
    given.setdefault("name", "set")
    Manager(world.sim, world.server).controller(**given)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"owns": Pod}, r"owns was .*; expected a list of kinds"),
        ({"owns": "Pod"}, "owns was 'Pod'; expected a list of kinds"),
        ({"owns": None}, "owns was None; expected a list of kinds"),
        ({"reads": Pod}, r"reads was .*; expected a list of kinds"),
        ({"watches": [Pod]}, r"watches was .*; expected a list of Watches"),
        ({"watches": Watches(Pod, enqueue_request_for_object)}, "expected a list of Watches"),
        ({"watches": [(Pod, enqueue_request_for_object)]}, "expected a list of Watches"),
        ({"watches": [Watches(Pod, NOTHING)]}, "expected a list of Watches"),
        ({"watches": [Watches(NOTHING, enqueue_request_for_object)]}, "a class of objects"),
        (
            {"watches": [Watches(Pod, enqueue_request_for_object, reconcile)]},  # type: ignore[arg-type]
            "the predicate of Watches was",
        ),
        ({"predicates": 5}, "predicates was 5; expected a Predicate"),
        ({"predicates": lambda obj: True}, r"predicates was .*; expected a Predicate"),
        ({"predicates": [lambda obj: True]}, r"predicates was .*; expected one Predicate"),
        ({"for_": "Set"}, "a class of objects"),
        ({"name": 5}, "name was 5"),
        ({"reconcile": None}, "reconcile was None; expected a generator function"),
        ({"max_concurrent_reconciles": "2"}, "expected a whole number of workers"),
        ({"queue": "x"}, "queue was 'x'; expected what makes one"),
    ],
)
def test_a_controller_that_cannot_be_made(wrong: dict[str, Any], sentence: str) -> None:
    """Not only once it is started."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        _controller(World(), **wrong)


def test_a_queue_is_made_by_the_manager() -> None:
    """One that is there already is in no process that could end."""
    world = World()
    with pytest.raises(InvalidArgumentError, match="expected what makes one"):
        _controller(world, queue=PriorityQueue(world.sim))


def _handler(world: World) -> None:
    Cache(world.sim, world.server, "u").informer(Pod).add_event_handler(NOTHING)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda w: Manager(w.sim, w.server, leader_election=True), "expected a LeaderElection"),  # type: ignore[arg-type]
        (lambda w: LeaderElection(name=5), "expected texts"),  # type: ignore[arg-type]
        (lambda w: LeaderElection(identity=5), "expected texts"),  # type: ignore[arg-type]
        (lambda w: Cache(w.sim, w.server, "u").informer("Set"), "a class of objects"),  # type: ignore[arg-type]
        (lambda w: Cache(w.sim, w.server, "u").get("Set", "a/b"), "a class of objects"),  # type: ignore[arg-type]
        (_handler, "handler was None; expected an EventHandler"),
        (lambda w: Manager(w.sim, w.server).client.create(NOTHING), "the object was None"),
        (lambda w: Manager(w.sim, w.server).client.create(Pod), "the object was <class"),  # type: ignore[type-var]
        (lambda w: APIServer(w.sim, kinds=Pod), "expected a list of kinds"),  # type: ignore[arg-type]
        (lambda w: Kubelet(w.sim, w.server, nodes=5), "nodes was 5"),  # type: ignore[arg-type]
        (lambda w: Kubelet(w.sim, w.server, nodes=[1]), r"nodes was \[1\]"),  # type: ignore[list-item]
        (lambda w: FaultyServer(w.sim, w.server).fail("create", Pod, share="x"), "share was 'x'"),  # type: ignore[arg-type]
        (lambda w: FaultyServer(w.sim, w.server).fail("create", "Pod"), "kind of a fault was"),  # type: ignore[arg-type]
        (lambda w: RBAC({"u": Rule(["get"], ["Pod"])}), "expected a list of Rule"),  # type: ignore[dict-item]
        (lambda w: RBAC(NOTHING), "roles was None"),
        (lambda w: Rule(5, ["Pod"]), "verbs was 5"),  # type: ignore[arg-type]
        (
            lambda w: ObjectMeta("a", owner_references=OwnerReference("Set", "a", "1")),  # type: ignore[arg-type]
            "expected a list of OwnerReference",
        ),
        (lambda w: ObjectMeta("a", labels="a=b"), "labels was 'a=b'; expected a mapping"),  # type: ignore[arg-type]
        (lambda w: ObjectMeta("a", annotations=5), "annotations was 5"),  # type: ignore[arg-type]
        (lambda w: ObjectMeta("a", finalizers="abc"), "finalizers was 'abc'"),  # type: ignore[arg-type]
    ],
)
def test_what_is_given_wrong(call: Callable[[World], object], sentence: str) -> None:
    """One thing instead of several, a text instead of a class, nothing instead of an object."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        call(World())
