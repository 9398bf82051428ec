"""A cache that has only a part of a kind: what its list, its watch and its handlers are about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kubequeue import InvalidArgumentError, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import ObjectMeta, Pod, Service
from kubequeue.errors import InternalError
from kubequeue.runtime.cache import Cache

MINE, OTHERS = {"team": "a"}, {"team": "b"}


class Rig:
    """A server without latency, a cache that has the Pods of team a, and what its handler hears."""

    def __init__(self, selector: Any = MINE) -> None:
        self.sim = Simulation()
        server = APIServer(self.sim, latency=0)
        self.store = server.store
        self.cache = Cache(self.sim, server, "operator", selectors={Pod: selector})
        self.told: list[str] = []
        self.pods = self.cache.informer(Pod)
        self.pods.add_event_handler(self)

    def on_add(self, obj: Pod, is_in_initial_list: bool) -> None:
        self.told.append(f"add {obj.metadata.name}")

    def on_update(self, old: Pod, new: Pod) -> None:
        self.told.append(f"update {new.metadata.name}")

    def on_delete(self, obj: Pod) -> None:
        self.told.append(f"delete {obj.metadata.name} of {obj.metadata.labels['team']}")

    def start(self) -> None:
        self.cache.start()
        self.sim.settle()

    def create(self, name: str, labels: dict[str, str]) -> None:
        self.store.create(Pod(ObjectMeta(name, "default", labels=labels)))

    def label(self, name: str, labels: dict[str, str]) -> None:
        self.store.patch(
            Pod,
            f"default/{name}",
            lambda old: replace(old, metadata=replace(old.metadata, labels=labels)),
        )

    def names(self) -> list[str]:
        self.sim.settle()
        return [pod.metadata.name for pod in self.cache.list(Pod)]


@pytest.mark.parametrize("selector", [MINE, lambda pod: pod.metadata.labels.get("team") == "a"])
def test_only_what_is_selected_is_listed_and_heard_of(selector: Any) -> None:
    """By labels or by a function; the rest costs no event and is not found."""
    rig = Rig(selector)
    rig.create("a", MINE)
    rig.create("b", OTHERS)
    rig.start()
    rig.create("c", MINE)
    rig.create("d", OTHERS)
    rig.store.delete(Pod, "default/b")
    assert rig.names() == ["a", "c"]
    assert rig.told == ["add a", "add c"]


def test_what_enters_is_added_and_what_leaves_is_deleted() -> None:
    """The object that left is told as it was before it did, with the version of the change."""
    rig = Rig()
    rig.create("a", OTHERS)
    rig.start()
    rig.label("a", MINE)
    rig.label("a", {**MINE, "x": "1"})
    rig.label("a", OTHERS)
    rig.label("a", {**OTHERS, "x": "1"})
    assert rig.names() == []
    assert rig.told == ["add a", "update a", "delete a of a"]


@pytest.mark.parametrize("error", [None, InternalError("the server is on its way out")])
def test_a_broken_watch_loses_no_change_of_the_selection(error: Exception | None) -> None:
    """What left while the news of it were on their way is gone once they come again."""
    rig = Rig()
    rig.create("a", MINE)
    rig.create("b", OTHERS)
    rig.start()
    rig.pods.lag = 5.0
    rig.label("a", OTHERS)
    rig.label("b", MINE)
    rig.sim.run(until=1.0)
    rig.pods.break_watch(error)
    rig.sim.run(until=20.0)
    assert rig.names() == ["b"]
    assert sorted(rig.told) == ["add a", "add b", "delete a of a"]


def test_other_kinds_are_there_as_a_whole() -> None:
    """A selector is of one kind."""
    rig = Rig()
    rig.cache.informer(Service)
    rig.start()
    rig.store.create(Service(ObjectMeta("s", "default")))
    rig.sim.settle()
    assert len(rig.cache.list(Service)) == 1


def test_a_selector_that_is_none_is_told() -> None:
    """Before anything is listed."""
    with pytest.raises(InvalidArgumentError, match="labels, or a function of the object"):
        Rig("team=a")
