"""What the tests of the cluster are made of: a server, some kinds, and calls run to their end."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from simpy.events import Event

from kubequeue import Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import KINDS, ObjectMeta, Pod, PodSpec
from kubequeue.cluster.store import Store

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class ToySpec:
    """What a Toy should be."""

    size: int = 1


@dataclass(frozen=True, slots=True)
class ToyStatus:
    """How a Toy is."""

    seen: int = 0


@dataclass(frozen=True, slots=True)
class Toy:
    """A custom resource, as an operator brings one."""

    kind: ClassVar[str] = "Toy"
    group: ClassVar[str] = "example.com"
    metadata: ObjectMeta
    spec: ToySpec = ToySpec()
    status: ToyStatus = ToyStatus()


def store(**options: Any) -> Store:
    """An empty store that has Toys too."""
    return Store(Simulation(), (*KINDS, Toy), **options)


def toy(name: str = "a", namespace: str = "team-a", size: int = 1, **metadata: Any) -> Toy:
    """A Toy that nobody has stored yet."""
    return Toy(ObjectMeta(name, namespace, **metadata), ToySpec(size))


def pod(name: str = "a", namespace: str = "team-a", node: str = "", **metadata: Any) -> Pod:
    """A Pod that nobody has stored yet, on a node or on none."""
    return Pod(ObjectMeta(name, namespace, **metadata), PodSpec(node_name=node))


def with_meta(obj: A, **metadata: Any) -> A:
    """The object with other metadata."""
    changed: Any = obj
    changed = replace(changed, metadata=replace(changed.metadata, **metadata))
    answer: A = changed
    return answer


def answer(sim: Simulation, call: Generator[Event, Any, A]) -> A:
    """Run the simulation until a call has its answer; what the call raises comes out here."""
    outcome: list[A | Exception] = []

    def wait() -> Generator[Event, Any, None]:
        try:
            outcome.append((yield from call))
        except Exception as error:
            outcome.append(error)

    sim.process(wait())
    while not outcome:
        assert sim.step(), "the call has no answer"
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def server(**options: Any) -> tuple[Simulation, APIServer]:
    """A simulation and a server that has Toys too."""
    sim = Simulation()
    return sim, APIServer(sim, (*KINDS, Toy), **options)
