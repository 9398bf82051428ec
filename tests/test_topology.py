"""How far limits reach: what is read off a running manager, and the picture of it."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch

from kubequeue import InvalidArgumentError, plots
from kubequeue.kuberay.operator import start_operator
from kubequeue.lab import style
from kubequeue.lab.picture import Picture
from kubequeue.lab.reach import ENDED, LEADS, NO_LEASE, STANDS_BY, Reach
from kubequeue.lab.world import World


def two_teams(**flags: Any) -> World:
    """Six objects of three kinds in two namespaces, and one in a third."""
    world = World(reconcile_concurrency=2, **flags)
    for team, cluster, job, service in (("team-a", *"ace"), ("team-b", *"bdf")):
        world.create(cluster, namespace=team)
        world.create_job(job, namespace=team)
        world.create_service(service, namespace=team)
    world.create("g", namespace="team-c")
    world.run(until=3)
    return world


def pair(*, lock: bool) -> tuple[World, Any]:
    """Two processes of an operator, and four RayClusters from 5 s on."""
    flags: dict[str, Any] = {"reconcile_concurrency": 2, "lag": 0.05, "leader_election": lock}
    world = World(name="one", **flags)
    other = start_operator(world.sim, world.server, name="two", **flags)
    world.run(until=5)
    for name in "abcd":
        world.create(name)
    world.run(until=8)
    return world, other


def words(picture: Picture) -> dict[str, Any]:
    """Every text of a picture, by what it says; several equal ones count as one."""
    (ax,) = picture.figure.axes
    return {text.get_text(): text for text in ax.texts}


def frames(ax: Axes) -> list[FancyBboxPatch]:
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


# --- What is read off ---------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 2, 3])
def test_each_controller_has_its_own_workers(concurrency: int) -> None:
    """The same number for each of three: so many rounds at one time, and three times as many."""
    world = World(reconcile_concurrency=concurrency)
    for number in range(6):
        world.create(f"cluster-{number}")
        world.create_job(f"job-{number}")
        world.create_service(f"service-{number}")
    world.run(until=2)
    reach = Reach(world.sim.trace, world.operator)
    assert max(len(reach.scene(at).rounds) for at in reach.moments) == 3 * concurrency
    scene = reach.scene(reach.busiest)
    assert len(scene.rounds) == 3 * concurrency
    (process,) = scene.processes
    assert [len(pool.workers) for pool in process.pools] == [concurrency] * 3
    assert [len(pool.ready) for pool in process.pools] == [6 - concurrency] * 3


def test_a_scene_has_what_the_trace_has() -> None:
    """At every moment the rounds are those whose stretch covers it, each at its worker."""
    world = two_teams()
    reach = Reach(world.sim.trace, world.operator)
    for at in reach.moments:
        expected = {
            (span.source, span.worker, span.key)
            for span in world.sim.trace.rounds()
            if span.start <= at and (span.end is None or at < span.end)
        }
        assert {each[1:] for each in reach.scene(at).rounds} == expected
        assert reach.scene(at).twice == []


def test_the_keys_of_a_queue_are_due_or_not() -> None:
    """What waits for its time is not in line."""
    world = World()
    world.create("a")
    world.run(until=20)
    pool = Reach(world.sim.trace, world.operator).scene(20).processes[0].pools[0]
    assert (pool.ready, [str(key) for key in pool.later]) == ((), ["default/a"])


def test_a_namespace_is_watched_or_not() -> None:
    """By its name, by a list, or because all of them are."""
    watched = two_teams(watch_namespace="team-a,team-b")
    scene = Reach(watched.sim.trace, watched.operator, namespaces=["team-c"]).scene(0)
    assert scene.namespaces == ("team-a", "team-b", "team-c")
    assert [scene.watched(name) for name in scene.namespaces] == [True, True, False]
    everything = two_teams()
    scene = Reach(everything.sim.trace, everything.operator).scene(3)
    assert all(map(scene.watched, scene.namespaces))
    assert "team-c" in scene.namespaces


def test_who_leads_when() -> None:
    """The first leads; after its crash nobody does, until the other has taken over."""
    world, other = pair(lock=True)
    world.operator.crash()
    world.run(until=60)
    reach = Reach(world.sim.trace, world.operator, other)
    states = {at: [each.state for each in reach.scene(at).processes] for at in (0.01, 7, 9, 60)}
    assert states == {
        0.01: [STANDS_BY, STANDS_BY],
        7: [LEADS, STANDS_BY],
        9: [ENDED, STANDS_BY],
        60: [ENDED, LEADS],
    }


def test_without_a_lease_nobody_leads() -> None:
    """Each works, from the start to its end."""
    world, other = pair(lock=False)
    other.crash()
    reach = Reach(world.sim.trace, world.operator, other)
    states = [[each.state for each in reach.scene(at).processes] for at in (0, world.sim.now)]
    assert states == [[NO_LEASE, NO_LEASE], [NO_LEASE, ENDED]]
    assert [each.works for each in reach.scene(world.sim.now).processes] == [True, False]


@pytest.mark.parametrize(("lock", "most", "shared"), [(True, 2, False), (False, 4, True)])
def test_only_a_common_lock_keeps_rounds_of_one_key_apart(
    lock: bool, most: int, shared: bool
) -> None:
    """Replicas do not add up, and two independent operators meet on one key."""
    world, other = pair(lock=lock)
    reach = Reach(world.sim.trace, world.operator, other)
    scenes = [reach.scene(at) for at in reach.moments]
    assert max(len(scene.rounds) for scene in scenes) == most
    assert any(scene.twice for scene in scenes) is shared
    heads = [pod for pod in world.pods("a") if "head" in pod.metadata.name]
    assert len(heads) == (2 if shared else 1)


def test_a_job_and_a_cluster_of_one_name_are_two() -> None:
    """Each controller has keys of its own; the same name in two of them is nobody twice."""
    world = World()
    world.create("a")
    world.create_job("a")
    world.run(until=2)
    reach = Reach(world.sim.trace, world.operator)
    scene = reach.scene(reach.busiest)
    assert len(scene.rounds) == 2
    assert scene.twice == []


# --- The picture --------------------------------------------------------------------------------


def test_every_part_stands_in_the_picture() -> None:
    """Namespaces, the API, the cache, three queues, six workers with their keys, one frame."""
    world = two_teams(watch_namespace="team-a,team-b")
    picture = plots.topology(
        world.sim.trace, world.operator, namespaces=["team-c"], title="Six at once"
    )
    found = words(picture)
    for expected in (
        "team-a", "team-b", "team-c\nnobody watches", "Kubernetes API\none cluster",
        "cache\nof team-a, team-b", "raycluster\nin line: 0", "worker-1: team-a/a",
        "worker-2: team-b/b", "worker-1: team-a/c", "worker-2: team-b/f",
        "operator: works (no lease)",
    ):  # fmt: skip
        assert expected in found
    (ax,) = picture.figure.axes
    assert len(frames(ax)) == 1
    assert ax.get_title(loc="left") == "Six at once"


def test_a_running_worker_has_the_colour_of_its_key() -> None:
    """An idle one is white with a dashed edge, so that it is told apart in grey too."""
    world, other = pair(lock=False)
    for at, edge in ((5.05, style.ACCENT), (5.065, style.KEY_COLOURS[0])):
        found = words(plots.topology(world.sim.trace, world.operator, other, at=at, title="T"))
        running = found["worker-1: A"].get_bbox_patch()
        assert to_hex(running.get_facecolor()).upper() == style.KEY_COLOURS[0]
        if at == 5.05:
            assert to_hex(running.get_edgecolor()).upper() == edge
    idle = found["worker-1: idle"].get_bbox_patch()
    assert (to_hex(idle.get_facecolor()), idle.get_linestyle()) == ("#ffffff", "--")


def test_who_stands_by_runs_nothing() -> None:
    """Its frame is dashed, its workers are not running, and the words say so."""
    world, other = pair(lock=True)
    picture = plots.topology(world.sim.trace, world.operator, other, title="One leads")
    found = words(picture)
    assert {"one: leads", "two: stands by", "worker-1: not running"} <= set(found)
    (ax,) = picture.figure.axes
    assert [patch.get_linestyle() for patch in frames(ax)] == ["-", "--"]
    assert "two stands by, watches all namespaces: no queue and no worker runs." in picture.alt


def test_the_words_of_a_topology() -> None:
    """The chart, what stands across, when, and what runs where."""
    world = World(reconcile_concurrency=2)
    world.create("a")
    world.run(until=2)
    assert plots.topology(world.sim.trace, world.operator, title="One runs").alt == (
        "Diagram: One runs. Across: from 1 namespace (default) over one Kubernetes API and a cache "
        "for each process to queues and workers, at 0.01 s. operator works (no lease), watches all "
        "namespaces: raycluster, 2 workers, 0 in line, running worker-1 default/a; rayjob, 2 "
        "workers, 0 in line, running nothing; rayservice, 2 workers, 0 in line, running nothing."
    )
    both, other = pair(lock=False)
    alt = plots.topology(both.sim.trace, both.operator, other, at=5.05, title="Both").alt
    assert "Two rounds of default/a at one time." in alt


def test_equal_worlds_give_equal_topologies() -> None:
    """The very same bytes."""
    drawn = [
        plots.topology(world.sim.trace, world.operator, title="T").png()
        for world in (two_teams(), two_teams())
    ]
    assert drawn[0] == drawn[1]


def test_a_topology_before_anything_happened() -> None:
    """Nobody has had a round: the picture has the parts all the same."""
    world = World()
    picture = plots.topology(world.sim.trace, world.operator, title="Nothing yet")
    assert "worker-1: idle" in words(picture)
    assert "from 0 namespaces" in picture.alt
    assert "()" not in picture.alt


def test_a_topology_of_nobody_is_refused() -> None:
    """It says what is needed."""
    world = World()
    with pytest.raises(InvalidArgumentError, match="one manager or more"):
        plots.topology(world.sim.trace, title="Nobody")
