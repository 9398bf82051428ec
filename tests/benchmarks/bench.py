"""How fast the model is, beside what else could have been used, and what it costs when it is full.

    python tests/benchmarks/bench.py [--customers 100000] [--repeats 5]

Processor time of this process, the least of several repeats. The contestants take turns, so that a
slow moment of the machine hits them all; read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Generator
from functools import partial
from typing import Any

import ciw
import simpy
from simpy.events import Event

from kubequeue import Controller, PriorityQueue, Simulation

SERVERS = 4
ARRIVALS, SERVICE = 3.2, 1.0  # a second: four servers that are busy for 80 % of the time


def kubequeue_run(customers: int, *, trace: bool = False, metrics: bool = False) -> None:
    """M/M/4 through queue and workers, one key for each customer."""
    sim = Simulation(trace=trace, metrics=metrics)
    queue = PriorityQueue(sim, name="bench")
    arrivals, service = sim.stream("arrivals"), sim.stream("service")

    def reconcile(_: str) -> Generator[Event, Any, None]:
        yield sim.sleep(service.expovariate(SERVICE))

    def source() -> Generator[Event, Any, None]:
        for number in range(customers):
            yield sim.sleep(arrivals.expovariate(ARRIVALS))
            queue.add(f"default/{number}")

    Controller(sim, queue, reconcile, max_concurrent_reconciles=SERVERS).start()
    sim.process(source())
    sim.run()


def simpy_run(customers: int) -> None:
    """M/M/4 with a bare SimPy Resource, a process for each customer."""
    env = simpy.Environment()
    servers = simpy.Resource(env, SERVERS)
    arrivals, service = random.Random(1), random.Random(2)

    def customer() -> Generator[Event, Any, None]:
        with servers.request() as turn:
            yield turn
            yield env.timeout(service.expovariate(SERVICE))

    def source() -> Generator[Event, Any, None]:
        for _ in range(customers):
            yield env.timeout(arrivals.expovariate(ARRIVALS))
            env.process(customer())

    env.process(source())
    env.run()


def ciw_run(customers: int) -> None:
    """M/M/4 with Ciw, until so many customers have arrived."""
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(ARRIVALS)],
        service_distributions=[ciw.dists.Exponential(SERVICE)],
        number_of_servers=[SERVERS],
    )
    ciw.seed(1)
    ciw.Simulation(network).simulate_until_max_customers(customers)


def seconds(run: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    gc.collect()
    started = time.process_time()
    run()
    return time.process_time() - started


def compare(customers: int, repeats: int) -> None:
    """The M/M/4 run of all contestants in turn."""
    contestants: dict[str, Callable[[], object]] = {
        "kubequeue": partial(kubequeue_run, customers),
        "kubequeue, metrics": partial(kubequeue_run, customers, metrics=True),
        "kubequeue, metrics and trace": partial(kubequeue_run, customers, metrics=True, trace=True),
        "SimPy Resource": partial(simpy_run, customers),
        "Ciw": partial(ciw_run, customers),
    }
    best = dict.fromkeys(contestants, float("inf"))
    for _ in range(repeats):
        for name, run in contestants.items():
            best[name] = min(best[name], seconds(run))
    base = best["kubequeue"]
    print(f"M/M/{SERVERS}, {customers:,} keys, least of {repeats}")
    for name, taken in best.items():
        print(f"  {name:30} {taken:7.2f} s   {taken / base:5.2f} times kubequeue")


class Full:
    """A queue with so many keys pending, and workers that put back each key they took."""

    def __init__(self, pending: int) -> None:
        self.sim = Simulation(trace=False)
        self.queue = PriorityQueue(self.sim, name="bench")
        self.queue.add_with_opts(*(f"default/{number}" for number in range(pending)))
        Controller(self.sim, self.queue, self.reconcile, max_concurrent_reconciles=SERVERS).start()
        self.sim.settle()

    def reconcile(self, request: str) -> Generator[Event, Any, None]:
        """One round of one second; the key stays in line."""
        yield self.sim.sleep(1)
        self.queue.add(request)

    def run(self, rounds: int) -> None:
        """So many rounds, shared by the workers."""
        self.sim.run(until=self.sim.now + rounds / SERVERS)


def cost_of_a_round(rounds: int, repeats: int) -> None:
    """What one reconcile costs while few or many keys are pending."""
    full = {pending: Full(pending) for pending in (100, 10_000, 100_000)}
    best = dict.fromkeys(full, float("inf"))
    for _ in range(repeats):
        for pending, model in full.items():
            best[pending] = min(best[pending], seconds(partial(model.run, rounds)))
    print(f"One reconcile, {rounds:,} of them, least of {repeats}")
    for pending, taken in best.items():
        micro = taken / rounds * 1e6
        print(
            f"  {pending:>9,} pending {micro:6.1f} µs   {taken / best[100]:5.2f} times 100 pending"
        )


def memory() -> None:
    """The most memory that a queue needs for its keys, all of them pending."""
    print("Peak memory while all keys are added and merged")
    for pending in (1_000, 10_000, 100_000):
        gc.collect()
        tracemalloc.start()
        full = Full(pending)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(full.queue) >= pending - SERVERS
        print(f"  {pending:>9,} pending {peak / 1e6:7.2f} MB   {peak / pending:6.0f} bytes a key")


def main() -> None:
    """Everything, in about a minute."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--customers", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=5)
    chosen = parser.parse_args()
    compare(chosen.customers, chosen.repeats)
    cost_of_a_round(20_000, chosen.repeats)
    memory()


if __name__ == "__main__":
    main()
