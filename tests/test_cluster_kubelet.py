"""The kubelet: how Pods come up, go wrong and go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from clusters import pod, server, with_meta

from kubequeue import InvalidArgumentError, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import Node, NodeStatus, Pod, PodSpec, PodStatus
from kubequeue.errors import NotFoundError

KEY = "team-a/a"
UP = PodStatus("Running", ready=True, pod_ip="10.244.0.1")


class Cluster:
    """A server with one kubelet that takes 1 s for a node, 2 to start, 4 to be ready, 8 to stop."""

    def __init__(self, **options: Any) -> None:
        self.sim, self.server = server()
        times = {"scheduling": 1, "start": 2, "ready": 4, "termination": 8, "lost_after": 16}
        self.kubelet = Kubelet(self.sim, self.server, **(times | options))
        self.watch = self.server.store.watch(Pod)

    def create(self, name: str = "a", restart_policy: str = "Always", **metadata: Any) -> Pod:
        """A new Pod."""
        made = replace(pod(name, **metadata), spec=PodSpec(restart_policy))
        return self.server.store.create(made)

    def delete(self, **options: Any) -> None:
        """A user deletes the Pod."""
        self.server.store.delete(Pod, KEY, **options)

    def at(self, seconds: float) -> str:
        """How the Pod is at a time: its node, phase and more, in a few words."""
        self.sim.run(until=seconds)
        for found in self.server.store.list(Pod).items:
            if found.metadata.name == "a":
                words = [found.spec.node_name or "nowhere", found.status.phase]
                words += ["ready"] * found.status.ready + ["ended"] * found.status.terminated
                words += ["terminating"] * (found.metadata.deletion_timestamp is not None)
                return " ".join(words)
        return "gone"

    def events(self) -> list[str]:
        """What happened to Pods, with the second."""
        return [f"{e.type} {e.at_ns / 1e9:g}" for e in self.watch.take()]


def test_a_pod_comes_up_step_by_step() -> None:
    """A node, then running, then ready; each is one write."""
    it = Cluster()
    it.create()
    seen = [it.at(seconds) for seconds in (0.9, 1, 2.9, 3, 6.9, 7)]
    assert seen == [
        "nowhere Pending",
        "node-1 Pending",
        "node-1 Pending",
        "node-1 Running",
        "node-1 Running",
        "node-1 Running ready",
    ]
    assert it.events() == ["ADDED 0", "MODIFIED 1", "MODIFIED 3", "MODIFIED 7"]
    assert it.server.store.get(Pod, KEY).metadata.generation == 1


def test_ready_in_no_time_is_one_write() -> None:
    """Running and ready come together."""
    it = Cluster(ready=0)
    it.create()
    it.sim.run()
    assert it.events() == ["ADDED 0", "MODIFIED 1", "MODIFIED 3"]


def test_pods_that_were_there_before_come_up_too() -> None:
    """A kubelet begins with what there is."""
    sim, api = server()
    api.store.create(pod())
    Kubelet(sim, api)
    sim.run()
    assert api.store.get(Pod, KEY).status == UP


def test_other_writes_do_not_begin_a_step_twice() -> None:
    """Labels in the middle of it neither delay nor double anything."""
    it = Cluster()
    made = it.create()
    it.sim.run(until=0.5)
    it.server.store.update(with_meta(made, labels={"a": "b"}))
    it.sim.run()
    assert it.events() == ["ADDED 0", "MODIFIED 0.5", "MODIFIED 1", "MODIFIED 3", "MODIFIED 7"]


def test_a_deleted_pod_goes_when_it_has_stopped() -> None:
    """Marked at once, gone after its containers have stopped."""
    it = Cluster()
    it.create()
    it.at(10)
    it.delete()
    assert it.at(17.9) == "node-1 Running ready terminating"
    assert it.at(18) == "gone"
    assert it.events()[-3:] == ["MODIFIED 10", "MODIFIED 18", "DELETED 18"]


def test_containers_are_killed_when_the_grace_period_is_over() -> None:
    """Slow ones get no longer than that."""
    it = Cluster()
    it.create()
    it.at(10)
    it.delete(grace_period_seconds=3)
    assert it.at(12.9).endswith("terminating")
    assert it.at(13) == "gone"


def test_a_shorter_grace_period_counts_from_when_it_is_given() -> None:
    """The first deletion's time no longer counts, and nothing happens at it."""
    it = Cluster()
    it.create()
    it.at(10)
    it.delete()
    it.at(11)
    it.delete(grace_period_seconds=2)
    assert it.at(13) == "gone"
    it.create()
    assert it.at(19) == "node-1 Running"


@pytest.mark.parametrize("at", [0.5, 2.0, 5.0, 9.0])
def test_a_pod_deleted_on_its_way_up_goes_and_never_comes_up(at: float) -> None:
    """At whatever step it was; one without a node goes at once."""
    it = Cluster()
    it.create()
    before = it.at(at)
    it.delete()
    assert it.at(at + 8) == "gone"
    it.sim.run()
    modified = [event for event in it.events() if event.startswith("MODIFIED")]
    steps = {"nowhere Pending": 0, "node-1 Pending": 1, "node-1 Running": 2}.get(before, 3)
    assert len(modified) == steps + (1 if steps == 0 else 2)


def test_a_new_pod_of_the_same_name_is_another() -> None:
    """The steps of the one that has gone do not reach it."""
    it = Cluster()
    it.create()
    it.at(0.5)
    it.delete()
    it.create()
    assert [it.at(1), it.at(1.5)] == ["nowhere Pending", "node-1 Pending"]


def test_a_finalizer_outlasts_the_kubelet() -> None:
    """The kubelet has done its part, and asks no more."""
    it = Cluster()
    it.create(finalizers=["one"])
    it.at(10)
    it.delete()
    assert it.at(100).endswith("terminating")
    held = it.server.store.get(Pod, KEY)
    it.server.store.update(with_meta(held, finalizers=()))
    assert it.at(100) == "gone"
    assert it.events()[-3:] == ["MODIFIED 10", "MODIFIED 18", "DELETED 100"]


def test_a_failed_pod_stays_failed() -> None:
    """It is over, whatever its restart policy says, and a delete removes it at once."""
    it = Cluster()
    it.create()
    it.at(10)
    it.kubelet.fail(KEY)
    assert it.at(100) == "node-1 Failed ended"
    it.delete()
    assert it.at(100) == "gone"


def test_a_pod_that_fails_on_its_way_up_does_not_come_up() -> None:
    """The step that had begun comes to nothing."""
    it = Cluster()
    it.create()
    it.at(2)
    it.kubelet.fail(KEY)
    assert it.at(100) == "node-1 Failed ended"


def test_a_pod_can_succeed() -> None:
    """The work of a job is done."""
    it = Cluster()
    it.create(restart_policy="Never")
    it.at(10)
    it.kubelet.succeed(KEY)
    assert it.at(100) == "node-1 Succeeded ended"


def test_a_container_is_started_again_under_always() -> None:
    """Not ready, then started and ready once more; a second end counts anew."""
    it = Cluster()
    it.create()
    it.at(10)
    it.kubelet.end_container(KEY)
    assert it.at(12) == "node-1 Running"
    it.kubelet.end_container(KEY)
    assert [it.at(17.9), it.at(18)] == ["node-1 Running", "node-1 Running ready"]


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
def test_a_container_that_ends_for_good_leaves_its_pod_running(policy: str) -> None:
    """Another container goes on, so the phase does not tell."""
    it = Cluster()
    it.create(restart_policy=policy)
    it.at(10)
    it.kubelet.end_container(KEY)
    assert it.at(100) == "node-1 Running ended"


def test_only_what_runs_can_end() -> None:
    """A Pod that is still to start, or has failed, has no container to end."""
    it = Cluster()
    it.create()
    with pytest.raises(InvalidArgumentError, match="the phase of team-a/a was 'Pending'"):
        it.kubelet.end_container(KEY)
    assert it.at(7) == "node-1 Running ready"


def test_a_container_that_ends_while_its_pod_is_stopped_is_not_started_again() -> None:
    """The deletion takes its course."""
    it = Cluster()
    it.create()
    it.at(10)
    it.delete()
    it.at(12)
    it.kubelet.end_container(KEY)
    assert [it.at(17.9), it.at(18)] == ["node-1 Running terminating", "gone"]


def test_a_deletion_that_never_finishes_can_be_finished() -> None:
    """Terminating for as long as wanted, then it stops as any other."""
    it = Cluster()
    it.create()
    it.at(10)
    it.kubelet.never_finish(KEY)
    it.delete()
    assert it.at(1000).endswith("terminating")
    it.kubelet.finish(KEY)
    assert it.at(1007.9).endswith("terminating")
    assert it.at(1008) == "gone"


def test_a_pod_that_never_finishes_runs_as_any_other() -> None:
    """Only its deletion is touched, and a new Pod of that name has nothing to do with it."""
    it = Cluster()
    it.create()
    it.kubelet.never_finish(KEY)
    assert it.at(7) == "node-1 Running ready"
    it.server.store.delete(Pod, KEY, grace_period_seconds=0)
    it.create()
    it.at(20)
    it.delete()
    assert it.at(28) == "gone"
    assert (it.kubelet._next, it.kubelet._endless) == ({}, set())


def test_pods_go_to_the_nodes_in_turn() -> None:
    """And pass over one that is down."""
    it = Cluster(nodes=["x", "y", "z"])
    it.kubelet.node_down("y")
    for name in "abcd":
        it.create(name)
    it.sim.run()
    assert [p.spec.node_name for p in it.server.store.list(Pod).items] == ["x", "z", "x", "z"]


def test_a_node_that_is_down_is_noticed_late() -> None:
    """Its Pods stay as they are; after a while they count as not ready; it comes back so too."""
    it = Cluster()
    it.create()
    it.at(10)
    it.kubelet.node_down("node-1")
    node = it.server.store.get(Node, "node-1")
    assert node.status == NodeStatus(ready=False)
    assert [it.at(25.9), it.at(26)] == ["node-1 Running ready", "node-1 Running"]
    assert it.at(100) == "node-1 Running"
    it.kubelet.node_up("node-1")
    assert [it.at(103.9), it.at(104)] == ["node-1 Running", "node-1 Running ready"]
    assert it.server.store.get(Node, "node-1").status == NodeStatus(ready=True)


def test_a_node_that_is_back_soon_is_not_missed() -> None:
    """Nobody has noticed."""
    it = Cluster()
    it.create()
    it.at(10)
    it.kubelet.node_down("node-1")
    it.at(12)
    it.kubelet.node_up("node-1")
    assert it.at(100) == "node-1 Running ready"
    assert len(it.events()) == 4


def test_each_time_a_node_is_down_counts_for_itself() -> None:
    """The first time's delay does not end the second's; saying it twice changes nothing."""
    it = Cluster()
    it.create()
    it.at(10)
    it.kubelet.node_down("node-1")
    it.at(12)
    it.kubelet.node_up("node-1")
    it.at(20)
    it.kubelet.node_down("node-1")
    it.at(21)
    it.kubelet.node_down("node-1")
    assert [it.at(35.9), it.at(36)] == ["node-1 Running ready", "node-1 Running"]


def test_a_pod_that_only_a_finalizer_holds_does_not_come_up() -> None:
    """Deleted without grace on its way up, it stays what it was."""
    it = Cluster()
    it.create(finalizers=["one"])
    it.at(2)
    it.delete(grace_period_seconds=0)
    assert it.at(100) == "node-1 Pending terminating"


def test_a_deleted_pod_of_a_node_that_is_down_stays() -> None:
    """Nobody there can stop it; when the node is back, it does."""
    it = Cluster()
    it.create()
    it.at(10)
    it.delete()
    it.at(11)
    it.kubelet.node_down("node-1")
    assert it.at(100) == "node-1 Running terminating"
    it.kubelet.node_up("node-1")
    assert it.at(108) == "gone"


def test_without_a_node_that_is_up_pods_wait() -> None:
    """And get one when it is back; what had begun on the lost one begins anew."""
    it = Cluster()
    it.create("b")
    it.at(2)
    it.kubelet.node_down("node-1")
    it.create()
    assert it.at(50) == "nowhere Pending"
    it.kubelet.node_up("node-1")
    assert it.at(51) == "node-1 Pending"
    assert it.server.store.get(Pod, "team-a/b").status.phase == "Pending"
    it.at(52)
    assert it.server.store.get(Pod, "team-a/b").status.phase == "Running"


def test_drawn_times_repeat() -> None:
    """Equal seeds give equal runs; each time has a stream of its own."""

    def ready_at(seed: int, **more: Any) -> list[int]:
        sim = Simulation(seed)
        api = APIServer(sim)
        Kubelet(sim, api, start=(1.0, 9.0), **more)
        watch = api.store.watch(Pod)
        for name in "abc":
            api.store.create(pod(name))
        sim.run()
        return [e.at_ns for e in watch.take() if e.object.status.ready]

    assert ready_at(1) == ready_at(1, termination=(1.0, 2.0)) != ready_at(2)
    assert len(set(ready_at(1))) == 3


def test_a_server_without_nodes_will_do() -> None:
    """A kubelet needs Pods and nothing else."""
    sim = Simulation()
    api = APIServer(sim, (Pod,))
    kubelet = Kubelet(sim, api)
    kubelet.node_down("node-1")
    kubelet.node_up("node-1")
    api.store.create(pod())
    sim.run()
    assert api.store.get(Pod, KEY).status == UP


def test_two_kubelets_share_the_node_objects() -> None:
    """A Node that is there already is not made again."""
    sim, api = server()
    Kubelet(sim, api)
    Kubelet(sim, api, nodes=["node-1", "node-2"])
    names = [node.metadata.name for node in api.store.list(Node).items]
    assert names == ["node-1", "node-2"]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("scheduling", -1),
        ("start", (3, 2)),
        ("ready", "soon"),
        ("termination", float("inf")),
        ("lost_after", None),
        ("nodes", ()),
        ("nodes", "node-1"),
        ("nodes", ["x", "x"]),
    ],
)
def test_times_and_nodes_that_are_none_are_refused(option: str, value: Any) -> None:
    """The error names the argument."""
    with pytest.raises(InvalidArgumentError, match=option):
        Cluster(**{option: value})


@pytest.mark.parametrize(
    "act",
    [
        Kubelet.fail,
        Kubelet.succeed,
        Kubelet.end_container,
        Kubelet.never_finish,
        Kubelet.finish,
    ],
)
def test_a_pod_that_is_not_there_is_not_found(act: Callable[[Kubelet, str], None]) -> None:
    """A typing mistake in a name is no silence."""
    with pytest.raises(NotFoundError, match='pods "a" not found'):
        act(Cluster().kubelet, KEY)


def test_a_node_that_is_not_there_is_refused() -> None:
    """The error says which there are."""
    it = Cluster(nodes=["x", "y"])
    for act in (it.kubelet.node_down, it.kubelet.node_up):
        with pytest.raises(InvalidArgumentError, match="expected one of x, y"):
            act("z")


def test_a_pod_has_an_address_from_when_it_runs_on_and_each_another_one() -> None:
    """It keeps it when its container is started again, which is counted."""
    it = Cluster()
    it.create()
    it.at(1)
    assert it.server.store.get(Pod, KEY).status.pod_ip == ""
    it.at(10)
    ip = it.server.store.get(Pod, KEY).status.pod_ip
    it.kubelet.end_container(KEY)
    it.at(100)
    status = it.server.store.get(Pod, KEY).status
    assert (status.pod_ip, status.restart_count) == (ip, 1)
    it.create("b")
    it.at(200)
    assert it.server.store.get(Pod, "team-a/b").status.pod_ip not in ("", ip)
