"""What can be asked of a cluster, and everything that can go wrong with it, for Hypothesis."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kubequeue.kuberay.api import HeadGroupSpec, RayClusterSpec, WorkerGroupSpec

settings.register_profile("few", derandomize=True, deadline=None, max_examples=150)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=2_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
PROFILE = settings.get_profile(os.environ.get("HYPOTHESIS_PROFILE", "few"))
"""Few cases, always the same; or with HYPOTHESIS_PROFILE=thorough 2,000, each time others."""

QUIET_AT = 100.0
"""Seconds: no act is later, and what lasts ends here."""


@dataclass(frozen=True)
class Act:
    """Something that is done to the world, ``steps`` events after the time ``at``."""

    at: float
    steps: int
    do: str
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Case:
    """One run: what is asked for at the start, who serves it, and what goes wrong."""

    seed: int
    clusters: dict[str, RayClusterSpec]
    acts: tuple[Act, ...] = ()
    replicas: int = 1
    workers: int = 1
    lag: float | tuple[float, float] = 0.0
    history: int = 10_000


LAGS: st.SearchStrategy[float | tuple[float, float]] = st.sampled_from([0.0, 0.2, (0.0, 2.0)])
PICK = st.integers(0, 9)
FEW = st.integers(0, 4)
TIMES = st.sampled_from([0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 10.5, 12.0, 15.0, 30.0, 31.0, 60.0])
POLICY = st.sampled_from(["Always", "Always", "Never"])
KINDS_READ = st.sampled_from(["RayCluster", "Pod", "Pod", "Service"])
CALLS = st.sampled_from(
    [
        ("create", "Pod"),
        ("delete", "Pod"),
        ("update_status", "RayCluster"),
        ("create", "Service"),
        ("list", "Pod"),
        ("list", "RayCluster"),
        ("watch", "Pod"),
        ("update", "Lease"),
    ]
)


@st.composite
def groups(draw: st.DrawFn, name: str) -> WorkerGroupSpec:
    """A worker group; one in four has replicas of two hosts."""
    low = draw(st.sampled_from([0, 0, 0, 1, 2]))
    return WorkerGroupSpec(
        name,
        replicas=draw(FEW),
        min_replicas=low,
        max_replicas=low + draw(st.integers(1, 4)),
        num_of_hosts=draw(st.sampled_from([1, 1, 1, 2])),
        restart_policy=draw(POLICY),
    )


@st.composite
def specs(draw: st.DrawFn) -> RayClusterSpec:
    """A RayCluster of up to two groups."""
    names = ["small", "large"][: draw(st.integers(0, 2))]
    return RayClusterSpec(
        HeadGroupSpec(restart_policy=draw(POLICY)),
        tuple(draw(groups(name)) for name in names),
        suspend=draw(st.sampled_from([False] * 7 + [True])),
        enable_in_tree_autoscaling=draw(st.sampled_from([False] * 5 + [True])),
    )


def _act(do: str, *args: st.SearchStrategy[Any]) -> st.SearchStrategy[Act]:
    return st.builds(Act, TIMES, st.integers(0, 12), st.just(do), st.tuples(*args))


def _trouble() -> st.SearchStrategy[Act]:
    seconds = st.sampled_from([1.0, 10.0, 30.0])
    share = st.sampled_from([0.3, 1.0])
    call = st.one_of(
        st.tuples(st.just("fail"), CALLS),
        st.tuples(st.just("slow"), CALLS.filter(lambda call: call[0] != "watch")),
        st.tuples(
            st.just("lose_answer"), CALLS.filter(lambda call: call[0] not in ("watch", "list"))
        ),
    )
    args = st.tuples(call, share, seconds).map(lambda a: (a[0][0], *a[0][1], a[1], a[2]))
    return st.builds(Act, TIMES, st.integers(0, 12), st.just("trouble"), args)


def acts(cluster: st.SearchStrategy[str]) -> st.SearchStrategy[Act]:
    """Everything that can be done to the world."""
    node = st.sampled_from(["node-1", "node-2"])
    lag = st.sampled_from([0.0, 0.5, (0.0, 3.0), 10.0, 40.0])
    ends = st.sampled_from(["fail", "succeed", "end_container"])
    picks = st.lists(PICK, max_size=2).map(tuple)
    return st.one_of(
        _act("scale", cluster, PICK, FEW),
        _act("suspend", cluster, st.booleans()),
        _act("suspend_group", cluster, PICK, st.booleans()),
        _act("workers_to_delete", cluster, PICK, picks),
        _act("upgrade", cluster, st.sampled_from("xyz"), st.sampled_from(["Recreate", "None"])),
        _act("remove", cluster),
        _act("replace", cluster),
        _act("delete_pod", PICK, st.booleans()),
        _act("pod_ends", PICK, ends),
        _act("hold_pod", PICK, st.booleans()),
        _act("node_down", node),
        _act("node_up", node),
        _trouble(),
        _act("lose_lease"),
        _act("lag", KINDS_READ, lag),
        _act("pause", KINDS_READ, st.sampled_from([1.0, 8.0, 35.0])),
        _act("gap", KINDS_READ, st.booleans(), st.sampled_from([0.0, 4.0, 20.0])),
        _act("crash", PICK),
        _act("stop", PICK),
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A run: one or two RayClusters and operators, and up to ten acts, several at a time."""
    names = ["a", "b"][: draw(st.integers(1, 2))]
    return Case(
        seed=draw(st.integers(0, 999)),
        clusters={name: draw(specs()) for name in names},
        acts=tuple(draw(st.lists(acts(st.sampled_from(names)), max_size=10))),
        replicas=draw(st.sampled_from([1, 1, 2])),
        workers=draw(st.sampled_from([1, 2])),
        lag=draw(LAGS),
        history=draw(st.sampled_from([5, 10_000])),
    )
