"""A RayCluster's round: the order of acts, what ends it, its status and when it comes back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from kuberay_rig import Rig

from kubequeue.cluster.objects import ObjectMeta, Pod, Service
from kubequeue.errors import NotFoundError
from kubequeue.kuberay.api import RayCluster, WorkerGroupSpec
from kubequeue.kuberay.conditions import find_status_condition, is_status_condition_true
from kubequeue.kuberay.operator import RULES
from kubequeue.kuberay.pods import generate_hash_without_replicas_and_workers_to_delete
from kubequeue.kuberay.raycluster_types import (
    HEAD_POD_READY,
    PROVISIONED,
    REPLICA_FAILURE,
    SUSPENDED_CONDITION,
    SUSPENDING_CONDITION,
)
from kubequeue.kuberay.tools import Options


def ready(*groups: WorkerGroupSpec, until: float = 10.0, spec: Any = None, **more: Any) -> Rig:
    """The RayCluster default/a of these groups, ready."""
    rig = Rig(**more)
    rig.create("a", *(groups or (WorkerGroupSpec("small", replicas=2),)), **(spec or {}))
    rig.run(until)
    assert rig.cluster().status.state == "ready"
    return rig


def holds(rig: Rig, type_: str) -> bool:
    """Whether a condition of default/a is true."""
    return is_status_condition_true(rig.cluster().status.conditions, type_)


# --- From nothing to ready ----------------------------------------------------------------------


def test_what_is_written_and_in_which_order() -> None:
    """The Service, the head, the workers group by group, then the status."""
    rig = Rig(latency=0.01)
    rig.create("a", WorkerGroupSpec("small", replicas=2), WorkerGroupSpec("big", replicas=1))
    rig.run(0.08)
    calls = [i for i in rig.sim.trace.instants if i.kind == "sent" and i.actor[:4] != "list"]
    writes = [
        (i.actor, str(i.key).removeprefix("default/")) for i in calls if i.actor[:5] != "watch"
    ]
    assert writes == [
        ("create Service", "a-head-svc"),
        ("create Pod", "a-head-"),
        ("create Pod", "a-small-worker-"),
        ("create Pod", "a-small-worker-"),
        ("create Pod", "a-big-worker-"),
        ("update_status RayCluster", "a"),
    ]


def test_the_status_of_a_cluster_that_is_ready() -> None:
    """Numbers, the head's names, and conditions that stay once they are true."""
    rig = ready(WorkerGroupSpec("small", replicas=2, min_replicas=1, max_replicas=5))
    status = rig.cluster().status
    assert (status.ready_worker_replicas, status.desired_worker_replicas) == (2, 2)
    assert (status.min_worker_replicas, status.max_worker_replicas) == (1, 5)
    assert status.head.pod_name == rig.pods("headgroup")[0].metadata.name
    assert status.head.service_name == "a-head-svc"
    assert holds(rig, PROVISIONED)
    assert holds(rig, HEAD_POD_READY)


def test_a_status_is_written_when_the_head_starts_to_run() -> None:
    """It has its address then; it is ready later, and that is another write."""
    rig = Rig(kubelet={"start": 1.0, "ready": 5.0})
    heads = rig.record(RayCluster, lambda cluster: cluster.status.head.pod_ip)
    rig.create("a")
    rig.run(3)
    written = len(heads)
    assert heads[written - 2 :] == ["", "10.244.0.1"]
    rig.run(10)
    assert len(heads) == written + 1


def test_provisioned_stays_when_a_worker_is_lost() -> None:
    """It says "once", not "now"; the head's condition says "now"."""
    rig = ready()
    rig.kubelet.fail(rig.names("headgroup")[0])
    rig.run(10.5)
    assert holds(rig, PROVISIONED)
    assert not holds(rig, HEAD_POD_READY)


def test_the_provisioned_metric_is_the_time_from_creation_to_the_first_time_all_are_ready() -> None:
    """One gauge for each RayCluster, which goes with it."""
    rig = Rig(kubelet={"start": 4.0})
    rig.run(5)
    rig.create("a", WorkerGroupSpec("small", replicas=2))
    rig.run(20)
    sample = "kuberay_cluster_provisioned_duration_seconds"
    value = rig.sim.metrics.value(sample, name="a", namespace="default")
    assert value == pytest.approx(4.0, abs=0.1)
    rig.store.delete(RayCluster, "default/a")
    rig.run(30)
    assert sample not in rig.sim.metrics.exposition()


def test_a_steady_cluster_comes_back_each_300_s_and_writes_nothing() -> None:
    """The same version of the object after an hour, and a dozen rounds."""
    rig = ready()
    before, rounds = rig.cluster().metadata.resource_version, len(rig.rounds())
    rig.run(10 + 3_600)
    assert rig.cluster().metadata.resource_version == before
    assert len(rig.rounds()) - rounds == 12


def test_a_change_of_status_asks_for_another_round_in_2_s() -> None:
    """Because suspending and the like go in steps, and a status write wakes nobody."""
    rig = ready()
    last, before = [start for start, _ in rig.rounds()][:-3:-1]
    assert last - before == pytest.approx(2.0)


def test_a_cache_behind_gives_errors_that_back_off_cures() -> None:
    """The head Service is not in the cache: no status can be made, and its name is taken."""
    rig = Rig(lag=0.5)
    rig.create("a")
    rig.run(0.9)
    outcomes = [outcome for _, outcome in rig.rounds()]
    assert set(outcomes) == {"error"}
    assert "FailedToCreateService" in rig.events()
    rig.run(30)
    assert rig.cluster().status.state == "ready"
    assert rig.pods_created["headgroup"] == 1


def test_its_own_status_writes_do_not_wake_it() -> None:
    """Only changes of generation, labels or annotations do; the lag of Pods is left out."""
    rig = ready()
    rounds = len(rig.rounds())
    rig.store.update_status(
        replace(rig.cluster(), status=replace(rig.cluster().status, reason="somebody's"))
    )
    rig.run(11)
    assert len(rig.rounds()) == rounds
    rig.touch()
    rig.run(11.1)
    assert len(rig.rounds()) == rounds + 1


# --- Replacing and scaling ----------------------------------------------------------------------


def test_a_failed_head_is_replaced_and_the_workers_stay() -> None:
    """Deleted, then made anew when it is gone."""
    rig = ready()
    workers = rig.names()
    rig.kubelet.fail(rig.names("headgroup")[0])
    rig.run(30)
    assert rig.pods_created["headgroup"] == 2
    assert rig.names() == workers
    assert rig.cluster().status.state == "ready"


def test_unhealthy_workers_end_the_round_with_an_error() -> None:
    """All of the group are deleted, nothing is created in that round."""
    rig = ready(WorkerGroupSpec("small", replicas=3))
    for name in rig.names()[:2]:
        rig.kubelet.fail(name)
    rig.run(10.1)
    deleted, created = ["DeletedWorkerPod"] * 2, ["CreatedWorkerPod"] * 2
    assert rig.events()[-4:] == [*deleted, *created]
    errors = [i for i in rig.sim.trace.instants if i.kind == "round_ended" and i.at == 10.0]
    assert any("delete 2 unhealthy worker Pods" in str(i) for i in errors)
    rig.run(40)
    assert len(rig.pods()) == 3


@pytest.mark.parametrize(("policy", "deleted"), [("Never", 1), ("OnFailure", 0)])
def test_a_worker_whose_container_ended_goes_only_if_it_cannot_restart(
    policy: str, deleted: int
) -> None:
    """With restartPolicy Never KubeRay deletes it; otherwise it is the kubelet's turn."""
    rig = ready(WorkerGroupSpec("small", replicas=1, restart_policy=policy))
    rig.kubelet.end_container(rig.names()[0])
    rig.run(12)
    assert len(rig.pods_marked) == deleted


def test_replicas_are_kept_between_their_bounds() -> None:
    """What is asked for below the minimum or above the maximum is not made."""
    rig = ready(WorkerGroupSpec("small", replicas=9, min_replicas=2, max_replicas=4))
    assert len(rig.pods()) == 4
    rig.scale("a", 0)
    rig.run(30)
    assert len(rig.pods()) == 2


def test_the_autoscaler_alone_decides_which_workers_go() -> None:
    """Fewer replicas delete nothing; the names that it gives are deleted."""
    rig = ready(WorkerGroupSpec("small", replicas=3), spec={"enable_in_tree_autoscaling": True})
    rig.scale("a", 1)
    rig.run(20)
    assert len(rig.pods()) == 3
    chosen = rig.pods()[2].metadata.name
    rig.set_group("a", "small", scale_strategy_workers_to_delete=(chosen, "gone-already"))
    rig.run(30)
    assert rig.pods_marked == {chosen}


def test_enable_random_pod_delete_takes_that_away() -> None:
    """The environment variable gives the operator its say again."""
    rig = ready(
        WorkerGroupSpec("small", replicas=3),
        spec={"enable_in_tree_autoscaling": True},
        options=Options(enable_random_pod_delete=True),
    )
    rig.scale("a", 1)
    rig.run(20)
    assert len(rig.pods()) == 1


def test_a_write_that_fails_ends_the_round_and_what_was_written_stays() -> None:
    """The third of five creates fails: two Pods, a condition, and the rest after back-off."""
    rig = ready(WorkerGroupSpec("small"), latency=0.01)
    rig.scale("a", 5)
    rig.run(10.015)
    fault = rig.server.fail("create", Pod, times=1)
    rig.run(10.03)
    assert fault.struck == 1
    assert rig.pods_created["small"] == 2
    failure = None
    for step in range(100):
        rig.run(10.03 + step / 100)
        failure = failure or find_status_condition(rig.cluster().status.conditions, REPLICA_FAILURE)
    assert failure is not None
    assert failure.reason == "FailedCreateWorkerPod"
    rig.run(60)
    assert len(rig.pods()) == 5
    assert find_status_condition(rig.cluster().status.conditions, REPLICA_FAILURE) is None


def test_replicas_of_several_hosts_come_and_go_as_a_whole() -> None:
    """Two replicas of four hosts; one host fails, and its replica is made anew."""
    rig = ready(WorkerGroupSpec("small", replicas=2, num_of_hosts=4))
    assert len(rig.pods()) == 8
    label = "ray.io/worker-group-replica-name"
    assert sorted(
        [pod.metadata.labels[label] for pod in rig.pods()].count(name)
        for name in {pod.metadata.labels[label] for pod in rig.pods()}
    ) == [4, 4]
    rig.kubelet.fail(rig.names()[0])
    rig.run(60)
    assert len(rig.pods()) == 8
    assert rig.pods_created["small"] == 12
    rig.scale("a", 1)
    rig.run(90)
    assert len(rig.pods()) == 4
    assert rig.store.get(Service, "default/a-headless")


# --- Suspend and Recreate -----------------------------------------------------------------------


def test_suspend_goes_in_steps_and_back() -> None:
    """Suspending is set, Pods are deleted, suspended is set; then all is made anew."""
    rig = ready()
    rig.change("a", lambda spec: replace(spec, suspend=True))
    rig.run(10.5)
    assert holds(rig, SUSPENDING_CONDITION)
    assert rig.pods_marked == set()
    rig.run(20)
    assert holds(rig, SUSPENDED_CONDITION)
    assert not holds(rig, SUSPENDING_CONDITION)
    assert rig.cluster().status.state == "suspended"
    assert rig.pods() == rig.pods("headgroup") == []
    rig.change("a", lambda spec: replace(spec, suspend=False))
    rig.run(60)
    assert rig.cluster().status.state == "ready"
    assert not holds(rig, SUSPENDED_CONDITION)


def test_a_suspended_group_has_no_pods_and_the_others_have() -> None:
    """One group's ``suspend`` is its own."""
    rig = ready(WorkerGroupSpec("small", replicas=2), WorkerGroupSpec("big", replicas=1))
    rig.set_group("a", "small", suspend=True)
    rig.run(30)
    assert (len(rig.pods()), len(rig.pods("big"))) == (0, 1)


def test_recreate_deletes_all_pods_and_forgets_all_records() -> None:
    """A new template, with the strategy: everything goes, and comes back made from it."""
    rig = ready(spec={"upgrade_strategy": "Recreate"})
    rig.operator.expectations.expect_scale_pod(
        "default",
        "a",
        "small",
        "not-there-yet",
        "create",  # type: ignore[arg-type]
    )
    rig.set_group("a", "small", template="another image")
    rig.run(10.0)
    assert len(rig.pods_marked) == 3
    assert len(rig.operator.expectations) == 0
    rig.run(60)
    assert rig.cluster().status.state == "ready"
    assert (rig.pods_created["headgroup"], rig.pods_created["small"]) == (2, 4)


def test_recreate_also_deletes_pods_that_the_cache_does_not_show_yet() -> None:
    """Go deletes by label on the server; the cache only says whether there is anything to do."""
    rig = ready(spec={"upgrade_strategy": "Recreate"})
    rig.operator.cache.informer(Pod).lag = 5.0
    rig.scale("a", 4)
    rig.run(10.5)
    rig.set_group("a", "small", template="another image")
    rig.run(10.6)
    assert len(rig.pods_marked) == 5


@pytest.mark.parametrize("strategy", ["", "None"])
def test_without_the_strategy_a_new_template_changes_nothing(strategy: str) -> None:
    """The Pods that are there are good enough."""
    rig = ready(spec={"upgrade_strategy": strategy})
    rig.set_group("a", "small", template="another image")
    rig.run(60)
    assert rig.pods_marked == set()


def test_scaling_is_no_change_of_the_spec_for_recreate() -> None:
    """The hash leaves out what the autoscaler writes."""
    rig = ready(spec={"upgrade_strategy": "Recreate"})
    before = rig.cluster().spec
    rig.set_group("a", "small", replicas=4, scale_strategy_workers_to_delete=("x",))
    after = rig.cluster().spec
    hash_of = generate_hash_without_replicas_and_workers_to_delete
    assert hash_of(before) == hash_of(after)
    rig.run(60)
    assert rig.pods_marked == set()


def test_another_version_of_the_operator_does_not_recreate() -> None:
    """It notes its own hash on the head instead."""
    rig = ready(spec={"upgrade_strategy": "Recreate"})
    rig.operator.stop()
    rig.run(11)
    rig.set_group("a", "small", template="another image")
    rig.start(options=Options(version="v1.8.0"))
    rig.run(60)
    assert rig.pods_marked == set()
    (head,) = rig.pods("headgroup")
    assert head.metadata.annotations["ray.io/kuberay-version"] == "v1.8.0"


# --- What is left alone -------------------------------------------------------------------------


def test_a_cluster_that_is_being_deleted_is_ignored() -> None:
    """Its Pods go with it, by the garbage collector; none is made."""
    rig = ready()
    rig.store.patch(
        RayCluster,
        "default/a",
        lambda old: replace(old, metadata=replace(old.metadata, finalizers=("somebody's",))),
    )
    rig.store.delete(RayCluster, "default/a")
    rig.store.delete(Pod, rig.names()[0])
    rig.run(60)
    assert len(rig.pods()) == 1
    assert rig.pods_created["small"] == 2


def test_owned_pods_go_with_their_cluster() -> None:
    """The references that the operator writes are what the garbage collector goes by."""
    rig = ready()
    rig.store.delete(RayCluster, "default/a")
    rig.run(30)
    assert not rig.store.list(Pod).items
    assert not rig.store.list(Service).items


INVALID = {
    "minimum above maximum": (
        WorkerGroupSpec("small", 1, 3, 2),
        "worker group small has minReplicas 3 greater than maxReplicas 2",
    ),
    "negative minimum": (WorkerGroupSpec("small", 1, -1, 2), "negative minReplicas -1"),
    "negative maximum": (WorkerGroupSpec("small", 1, 0, -2), "negative maxReplicas -2"),
}


@pytest.mark.parametrize(("group", "problem"), INVALID.values(), ids=INVALID.keys())
def test_an_invalid_spec_gets_an_event_and_no_pod(group: WorkerGroupSpec, problem: str) -> None:
    """It is not an error: nothing is tried again until the spec changes."""
    rig = Rig()
    rig.create("a", group)
    rig.run(1_000)
    assert rig.events() == ["InvalidRayClusterSpec"]
    assert problem in rig.sim.trace.story("default/a")
    assert [outcome for _, outcome in rig.rounds()] == ["success"]
    assert rig.pods_created.total() == 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [("x" * 54, "no more than 53 characters"), ("1a", "valid DNS1035 label")],
)
def test_a_name_that_its_pods_could_not_carry_is_refused(name: str, problem: str) -> None:
    """Too long for the Services, or no label."""
    rig = Rig()
    rig.store.create(RayCluster(ObjectMeta(name, "default")))
    rig.run(10)
    assert rig.events(f"default/{name}") == ["InvalidRayClusterMetadata"]
    assert problem in rig.sim.trace.story(f"default/{name}")


def test_two_heads_are_an_error_for_somebody_to_see_to() -> None:
    """Somebody made one by hand; the operator deletes neither."""
    rig = ready()
    (head,) = rig.pods("headgroup")
    more = ObjectMeta("a-head-by-hand", "default", labels=head.metadata.labels)
    rig.store.create(Pod(more))
    rig.touch()
    rig.run(11)
    assert rig.rounds()[-1][1] == "error"
    assert len(rig.pods("headgroup")) == 2


def test_a_provisioned_cluster_may_ask_not_to_get_another_head() -> None:
    """The annotation that RayJobs in sidecar mode set."""
    rig = ready()
    note = {"ray.io/disable-provisioned-head-restart": "true"}
    rig.store.patch(
        RayCluster,
        "default/a",
        lambda old: replace(old, metadata=replace(old.metadata, annotations=note)),
    )
    rig.store.delete(Pod, rig.names("headgroup")[0])
    rig.run(60)
    assert rig.pods_created["headgroup"] == 1


def test_the_memory_off_is_the_same_operator() -> None:
    """With a cache that does not lag there is nothing to remember."""
    for rules in (None, RULES):
        rig = ready(expectations=rules)
        assert (rig.pods_created["headgroup"], rig.pods_created["small"]) == (1, 2)


def test_a_head_with_a_fixed_name() -> None:
    """ENABLE_DETERMINISTIC_HEAD_POD_NAME: no random characters, so no second one either."""
    rig = ready(options=Options(deterministic_head_pod_name=True))
    assert rig.names("headgroup") == ["default/a-head"]
    with pytest.raises(NotFoundError):
        rig.store.get(Pod, "default/a-head-")
