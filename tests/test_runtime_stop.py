"""What an end of a process does to what runs in it: side by side, in calls, in the last rounds."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from operators import Set, World
from simpy.events import Event

from kubequeue import Request
from kubequeue.cluster.objects import ObjectMeta, Pod
from kubequeue.errors import APIError, ForbiddenError
from kubequeue.runtime.limits import KUBERAY, RateLimits
from kubequeue.runtime.manager import Manager

Steps = Generator[Event, Any, Any]


def pod(name: str) -> Pod:
    return Pod(ObjectMeta(name, "default"))


def side_by_side(world: World, limits: RateLimits = KUBERAY) -> Manager:
    """A manager whose round creates three Pods side by side; not started."""
    manager = Manager(world.sim, world.server, limits=limits)

    def reconcile(_: Request) -> Steps:
        calls = [manager.process(manager.client.create(pod(f"p{n}"))) for n in range(3)]
        yield from calls

    manager.controller("set", for_=Set, reconcile=reconcile)
    world.add_set("a", 0)
    return manager


def test_writes_can_go_out_side_by_side() -> None:
    """Three calls of a second each take one second."""
    world = World(latency=1.0)
    side_by_side(world).start()
    world.advance(2.1)
    assert world.names() == ["p0", "p1", "p2"]


@pytest.mark.parametrize("limits", [KUBERAY, RateLimits(1, 1)])
def test_what_runs_beside_a_round_is_gone_with_the_process(limits: RateLimits) -> None:
    """Neither a call on its way there nor one that waits for a token is done."""
    world = World(latency=1.0)
    manager = side_by_side(world, limits)
    manager.start()
    world.advance(1.2)
    manager.crash()
    late = manager.process(manager.client.create(pod("late")))
    world.advance(100)
    assert world.names() == []
    assert not late.triggered


def test_an_error_that_nobody_waits_for_is_dropped() -> None:
    """Whoever waits gets it; the round that did not goes on."""
    world = World()
    manager = side_by_side(world)
    seen: list[str] = []

    def fail() -> Steps:
        yield world.sim.sleep(1)
        raise ForbiddenError("operator", "create", "pods", "", "a", "default")

    def wait() -> Steps:
        try:
            yield manager.process(fail())
        except APIError as error:
            seen.append(error.reason)

    manager.process(fail())
    manager.process(wait())
    world.advance(5)
    assert seen == ["Forbidden"]


def test_a_cleanup_that_calls_does_not_keep_a_process_from_its_end() -> None:
    """A deferred call of Go does not run either when its process is killed."""
    world = World()
    world.add_set("a", 0)
    manager = Manager(world.sim, world.server)

    def reconcile(_: Request) -> Steps:
        try:
            yield world.sim.sleep(100)
        finally:
            yield from manager.client.create(pod("cleanup"))

    manager.controller("set", for_=Set, reconcile=reconcile)
    manager.start()
    world.advance(5)
    manager.crash()
    world.advance(100)
    assert manager.end_reason == "crashed"
    assert world.names() == []
