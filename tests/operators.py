"""What the tests of managers run: an operator with three small controllers over two kinds."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from simpy.events import Event

from kubequeue import Request, Result, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import KINDS, ObjectMeta, OwnerReference, Pod
from kubequeue.errors import AlreadyExistsError, NotFoundError
from kubequeue.runtime.manager import Manager

Round = Generator[Event, Any, Result | None]


@dataclass(frozen=True, slots=True)
class Set:
    """So many Pods of one owner; the status says how many there were."""

    kind: ClassVar[str] = "Set"
    metadata: ObjectMeta
    spec: int = 1
    status: int = 0


class World:
    """A simulation and a server that knows the Set."""

    def __init__(self, seed: int = 0, latency: float = 0.01, **options: Any) -> None:
        self.sim = Simulation(seed)
        self.server = APIServer(self.sim, (*KINDS, Set), latency=latency, **options)
        self.store = self.server.store
        self.rounds: list[tuple[str, str, float]] = []

    def advance(self, seconds: float) -> None:
        self.sim.run(until=self.sim.now + seconds)

    def names(self) -> list[str]:
        return [pod.metadata.name for pod in self.store.list(Pod).items]

    def add_set(self, name: str, size: int = 2, namespace: str = "default") -> Set:
        return self.store.create(Set(ObjectMeta(name, namespace), size))

    def operator(self, seconds: float = 0.0, workers: int = 1, **options: Any) -> Manager:
        """A manager that creates the Pods of each Set under fixed names; not started."""
        manager = Manager(self.sim, self.server, **options)

        def reconcile(request: Request) -> Round:
            self.rounds.append((manager.name, request, self.sim.now))
            return (yield from self._reconcile(manager, request, seconds))

        manager.controller(
            "set", for_=Set, owns=[Pod], reconcile=reconcile, max_concurrent_reconciles=workers
        )
        return manager

    def _reconcile(self, manager: Manager, request: Request, seconds: float) -> Round:
        try:
            wanted = manager.client.get(Set, request)
        except NotFoundError:
            return None
        yield self.sim.sleep(seconds)
        there = manager.client.list(Pod, owner_uid=wanted.metadata.uid)
        have = {each.metadata.name for each in there}
        for number in range(wanted.spec):
            name = f"{wanted.metadata.name}-{number}"
            if name not in have:
                owner = OwnerReference("Set", wanted.metadata.name, wanted.metadata.uid)
                meta = ObjectMeta(name, request.namespace, owner_references=(owner,))
                with contextlib.suppress(AlreadyExistsError):  # an earlier life did it
                    yield from manager.client.create(Pod(meta))
        if wanted.status != len(there):
            yield from manager.client.update_status(replace(wanted, status=len(there)))
        return None
