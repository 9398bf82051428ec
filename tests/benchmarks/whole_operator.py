"""How fast a whole operator is: RayClusters from nothing to ready, and then an hour of rest.

    python tests/benchmarks/whole_operator.py [--repeats 3]

Processor time, the least of several repeats. Bare SimPy timeouts are counted in the same run, and
"scaled" is what the run would take on a machine that does a million of them a second. The large
runs have a process of their own each, for their memory; every RayCluster has a head and 10 workers.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from functools import partial

import simpy
from simpy.events import Event

from kubequeue import Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import KINDS, ObjectMeta
from kubequeue.kuberay import api
from kubequeue.kuberay.api import RayCluster, RayClusterSpec, WorkerGroupSpec
from kubequeue.kuberay.operator import start_operator
from kubequeue.kuberay.raycluster_types import READY

WORKERS, HOUR = 10, 3600.0
REFERENCE = 1_000_000  # bare timeouts a second


def fill(clusters: int, *, trace: bool = False, metrics: bool = True) -> Simulation:
    """So many RayClusters, each of ten workers, asked for at once and served for an hour."""
    sim = Simulation(trace=trace, metrics=metrics)
    server = APIServer(sim, (*KINDS, *api.KINDS))
    Kubelet(sim, server)
    GarbageCollector(sim, server)
    start_operator(sim, server)
    spec = RayClusterSpec(worker_group_specs=(WorkerGroupSpec("workers", replicas=WORKERS),))
    for number in range(clusters):
        server.store.create(RayCluster(ObjectMeta(f"cluster-{number:04}", "default"), spec))
    ready = 0
    while ready < clusters:
        sim.run(until=sim.now + 60)
        ready = sum(each.status.state == READY for each in server.store.list(RayCluster).items)
    sim.run(until=sim.now + HOUR)
    return sim


def bare_timeouts(number: int = 300_000) -> None:
    """One process that sleeps so many times."""
    env = simpy.Environment()

    def sleeper() -> Generator[Event, object, None]:
        for _ in range(number):
            yield env.timeout(1)

    env.process(sleeper())
    env.run()


def seconds(run: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    gc.collect()
    started = time.process_time()
    run()
    return time.process_time() - started


def speed(repeats: int) -> None:
    """A hundred RayClusters, beside what SimPy alone does."""
    runs: dict[str, Callable[[], object]] = {
        "bare": bare_timeouts,
        "no observer": partial(fill, 100, metrics=False),
        "metrics": partial(fill, 100),
        "metrics and trace": partial(fill, 100, trace=True),
    }
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for name, run in runs.items():
            best[name] = min(best[name], seconds(run))
    rate = 300_000 / best.pop("bare")
    print(f"SimPy alone: {rate:,.0f} timeouts a second")
    print(f"100 RayClusters of {WORKERS} workers, from nothing and an hour on, least of {repeats}")
    for name, taken in best.items():
        print(f"  {name:20} {taken:6.2f} s   scaled {taken * rate / REFERENCE:6.2f} s")


def growth(counts: tuple[int, ...]) -> None:
    """Time and memory of ever more RayClusters; ten times as many should cost ten times as much."""
    print("With metrics, each in a process of its own")
    for clusters in counts:
        told = subprocess.run(
            [sys.executable, __file__, "--one", str(clusters)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        taken, ready, megabytes = map(float, told)
        each = taken / clusters * 1e3
        print(
            f"  {clusters:>6,} clusters {taken:7.2f} s, {each:5.2f} ms each, {megabytes:5.0f} MB; "
            f"ready and an hour later at t = {ready:,.0f} s"
        )


def one(clusters: int) -> None:
    """One run, for `growth`: processor seconds, the clock at its end, megabytes at most."""
    ends: list[float] = []
    taken = seconds(lambda: ends.append(fill(clusters).now))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(taken, ends[0], peak)


def main() -> None:
    """Everything, in about a minute."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        one(chosen.one)
        return
    speed(chosen.repeats)
    growth((100, 1_000, 5_000))


if __name__ == "__main__":
    main()
