"""Equal seeds give equal clusters, in every process."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from clusters import pod, server, toy
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.garbage_collector import GarbageCollector
from kubequeue.cluster.kubelet import Kubelet
from kubequeue.cluster.objects import OwnerReference
from kubequeue.errors import APIError

sim, api = server(latency=(0.001, 0.1))
Kubelet(sim, api, nodes=["x", "y"], start=(1.0, 5.0), ready=(0.1, 1.0), termination=(0.5, 2.0))
GarbageCollector(sim, api, delay=(0.0, 1.0))
watches = [api.store.watch(kind) for kind in api.store.kinds]
faulty = FaultyServer(sim, api)
faulty.fail("create", share=0.2)
faulty.lose_answer("create", share=0.1)

def program(team):
    for number in range(5):
        try:
            owner = yield from faulty.create("me", toy(f"t{number}", team))
            ref = OwnerReference("Toy", owner.metadata.name, owner.metadata.uid)
            for _ in range(4):
                made = pod("", team, generate_name="p-", owner_references=[ref])
                yield from faulty.create("me", made)
            yield sim.sleep(1.5)
            yield from faulty.delete("me", type(owner), f"{team}/t{number}")
        except APIError as error:
            print(sim.now_ns, error)

for team in ("a", "b", "c"):
    sim.process(program(team))
sim.run()
for watch in watches:
    for event in watch.take():
        print(event)
"""


def _said(hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=True,
        capture_output=True,
        text=True,
        cwd=os.path.dirname(__file__),
        env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    return done.stdout


def test_a_run_repeats_in_another_process() -> None:
    """Uids, names, times and the order of events, whatever the hashes of texts are there."""
    first, second = _said("1"), _said("2")
    assert first == second
    assert "currently unable" in first
    assert "Timeout" in first
    assert first.count("DELETED") > 10
