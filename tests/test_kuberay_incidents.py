"""Public incidents of KubeRay, as checks of the model: the numbers of each are the incident's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kuberay_rig import Rig

from kubequeue.cluster.objects import ObjectMeta, Pod
from kubequeue.kuberay.api import RayClusterSpec, RayJob, RayJobSpec, WorkerGroupSpec
from kubequeue.kuberay.dashboard import Dashboards
from kubequeue.kuberay.expectations import ExpectationRules
from kubequeue.kuberay.operator import RULES
from kubequeue.kuberay.rayjob_types import RUNNING
from kubequeue.kuberay.tools import Options

WORKERS_READY = 10.0


def ready(replicas: int = 0, **options: Any) -> Rig:
    """The RayCluster default/a with so many workers, ready at 10 s."""
    rig = Rig(**options)
    rig.create("a", WorkerGroupSpec("small", replicas=replicas))
    rig.run(WORKERS_READY)
    assert rig.cluster().status.state == "ready"
    return rig


# --- KR-704, KR-715: extra Pods from a stale Pod cache ------------------------------------------

LAG = 1.0


@pytest.mark.parametrize("d", [0.1, 0.5, 0.9, 1.0, 1.5])
@pytest.mark.parametrize(("rules", "inside"), [(None, (2, 1)), (RULES, (1, 0))])
def test_kr_704_a_second_event_inside_the_lag(
    d: float, rules: ExpectationRules | None, inside: tuple[int, int]
) -> None:
    """Desired 1, an event d after the create: 2 creates and 1 delete, unless it is remembered."""
    rig = ready(expectations=rules)
    rig.operator.cache.informer(Pod).lag = LAG
    rig.scale("a", 1)
    rig.touch_at(WORKERS_READY + d)
    rig.run(60)
    expected = inside if d < LAG else (1, 0)
    assert (rig.pods_created["small"], len(rig.pods_marked)) == expected
    assert len(rig.pods()) == 1


# --- KR-2150: expectations, and how far they reach ----------------------------------------------


@pytest.mark.parametrize(("lag", "surplus"), [(5.0, 0), (29.0, 0), (31.0, 3), (45.0, 3)])
def test_kr_2150_a_lag_beyond_30_s_brings_the_surplus_back(lag: float, surplus: int) -> None:
    """With an event each second: none up to 30 s, all again at the first round after."""
    rig = ready()
    rig.operator.cache.informer(Pod).lag = lag
    rig.scale("a", 3)
    rig.touch_at(*(WORKERS_READY + 0.5 + second for second in range(50)))
    rig.run(WORKERS_READY + 30)
    assert rig.pods_created["small"] == 3
    rig.run(WORKERS_READY + 50)
    assert rig.pods_created["small"] == 3 + surplus


def test_kr_2150_records_peak_at_the_pods_in_flight() -> None:
    """One record for each Pod that the cache does not show yet, and none in the steady state."""
    rig = ready()
    rig.operator.cache.informer(Pod).lag = LAG
    rig.scale("a", 40)
    rig.run(WORKERS_READY + 0.5)
    assert len(rig.operator.expectations) == 40
    rig.run(WORKERS_READY + 20)
    assert len(rig.operator.expectations) == 0


# --- KR-3520: a delete met too early ------------------------------------------------------------


def marked_after_scaling_down(**rules: bool) -> Rig:
    """Five workers whose deletion never finishes, target 4, an event each second for 20 s."""
    options = Options(drawn_list_order=True)
    rig = ready(5, expectations=ExpectationRules(**rules), options=options)
    for name in rig.names():
        rig.kubelet.never_finish(name)
    rig.scale("a", 4)
    rig.touch_at(*(WORKERS_READY + second for second in range(1, 21)))
    rig.run(WORKERS_READY + 20)
    return rig


def test_kr_3520_the_old_rule_marks_one_pod_after_another() -> None:
    """A marked Pod met the record, so each round marked one more, drawn from all five."""
    assert len(marked_after_scaling_down(delete_until_not_found=False).pods_marked) > 1


def test_kr_3520_the_new_rule_marks_one() -> None:
    """And then the group does nothing more, for ever: 4 -> 8 later gives no create."""
    rig = marked_after_scaling_down()
    assert len(rig.pods_marked) == 1
    created = rig.pods_created["small"]
    rig.scale("a", 8)
    rig.run(86_400)
    assert rig.pods_created["small"] == created


# --- KR-2646: a hundred RayJobs block the operator ----------------------------------------------


def jobs(number: int, latency: float = 0.0, timeout: float = 2.0, **options: Any) -> Rig:
    """So many RayJobs that run for ever, all of them Running, on clusters of a head alone.

    Dashboards answer at once while the jobs start; then after ``latency``.
    """
    rig = Rig(options=Options(job_status_check_timeout_seconds=1e9), starts=False, **options)
    dashboards = Dashboards(rig.sim, latency=0.0, timeout=timeout, job_seconds=None)
    rig.start(dashboards=dashboards)
    for i in range(number):
        meta = ObjectMeta(f"job-{i:03d}", "default")
        rig.store.create(RayJob(meta, RayJobSpec(RayClusterSpec())))
    rig.run(60)
    found = rig.store.list(RayJob).items
    assert {job.status.job_deployment_status for job in found} == {RUNNING}
    dashboards.set_latency(latency)
    return rig


def waits(rig: Rig, source: str, after: float) -> list[float]:
    """How long each key that was handed out after that time had been ready."""
    return sorted(
        span.end - span.start
        for span in rig.sim.trace.spans
        if (span.kind, span.source) == ("ready", source) and span.end and span.end > after
    )


@pytest.mark.parametrize(
    ("latency", "until", "lowest", "highest"),
    [(0.02, 150, 0.0, 0.5), (0.035, 150, 0.3, 1.0), (2.5, 600, 190.0, 200.0)],
)
def test_kr_2646_the_wait_follows_from_the_dashboards(
    latency: float, until: float, lowest: float, highest: float
) -> None:
    """100 jobs each 3 s: a load of 0.67 at 20 ms, too much from 30 ms on, 200 s at the time-out."""
    rig = jobs(100, latency)
    rig.run(until)
    found = waits(rig, "rayjob", 60 + (until - 60) / 2)
    assert lowest <= found[len(found) // 2] <= highest


def test_kr_2646_rayclusters_do_not_wait_for_rayjobs() -> None:
    """They have a queue and workers of their own."""
    rig = jobs(100, 2.5)
    rig.create("a", WorkerGroupSpec("small", replicas=3))
    rig.run(500)
    assert rig.cluster().status.state == "ready"
    assert waits(rig, "raycluster", 60)[-1] < 1.0 < waits(rig, "rayjob", 60)[-1]


def calls_within_100_s(replicas: int) -> int:
    """Requests to dashboards that slow down the one leader of so many operators."""
    rig = jobs(20, 0.5, leader_election=True)
    for i in range(1, replicas):
        rig.start(dashboards=rig.operator.dashboards, name=f"standby-{i}")
    before = rig.operator.dashboards.calls
    rig.run(160)
    return rig.operator.dashboards.calls - before


def test_kr_2646_replicas_that_stand_by_do_not_help() -> None:
    """Three operators under one lease get as much done as one."""
    assert calls_within_100_s(1) == calls_within_100_s(3) == pytest.approx(200, rel=0.02)


# --- KR-1910: the dashboard's time-out, 2 min and 2 s -------------------------------------------


def worst_wait(timeout: float) -> float:
    """Of 24 keys behind one whose dashboard is dead."""
    rig = jobs(25, timeout=timeout)
    rig.operator.dashboards.kill(f"default/{cluster_of(rig, 'job-000')}")
    rig.run(1_000)
    return waits(rig, "rayjob", 60)[-1]


def cluster_of(rig: Rig, job: str) -> str:
    """The name of the RayCluster of a job."""
    return rig.store.get(RayJob, f"default/{job}").status.ray_cluster_name


def test_kr_1910_one_dead_dashboard() -> None:
    """Every other key waits for up to the time-out each time it comes round."""
    two_minutes, two_seconds = worst_wait(120.0), worst_wait(2.0)
    assert two_minutes == pytest.approx(120, rel=0.03)
    assert two_seconds == pytest.approx(2, rel=0.03)


# --- KR-3909: one scale-up blocks another for 10 min --------------------------------------------


def scale_two(workers: int) -> tuple[Rig, float]:
    """A gets 500 workers in 645 s, one create after another; B asks for 500 at 92.5 s."""
    rig = Rig(latency={"create": 1.29}, reconcile_concurrency=workers)
    for name in "ab":
        rig.create(name, WorkerGroupSpec("small"))
    rig.run(1_000)
    rig.scale("a", 500)
    rig.sim.call_at(1_092.5, lambda: rig.scale("b", 500))
    return rig, 1_000.0


def first_round(rig: Rig, key: str, after: float) -> float:
    """When the next round of a key began."""
    spans: Iterator[float] = (
        span.start
        for span in rig.sim.trace.rounds()
        if span.key == key and span.source == "raycluster" and span.start >= after
    )
    return next(spans)


def test_kr_3909_b_waits_for_a() -> None:
    """One worker: 552.5 s, while the depth looks healthy and the longest running climbs to 645."""
    rig, start = scale_two(1)
    rig.run(start + 640)
    value = rig.sim.metrics.value
    # Two are ready: B, and A itself, whose own Pods have woken it again; it waits for its lock.
    assert value("workqueue_depth", name="raycluster") == 2
    longest = value("workqueue_longest_running_processor_seconds", name="raycluster")
    assert longest == pytest.approx(640, abs=0.5)
    rig.run(start + 700)
    waited = first_round(rig, "default/b", start + 92.5) - (start + 92.5)
    assert waited == pytest.approx(552.5, abs=0.02)


def test_kr_3909_two_workers_and_b_does_not_wait() -> None:
    """The advice that was given: more workers."""
    rig, start = scale_two(2)
    rig.run(start + 100)
    assert first_round(rig, "default/b", start + 92.5) == start + 92.5
