"""Play a recorded run of KubeRay's expectations on the model; the format is in ``golden``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Pod
from kubequeue.errors import APIError, InternalError, NotFoundError, ServerTimeoutError
from kubequeue.kuberay.expectations import PodReader, RayClusterScaleExpectation, ScaleAction
from kubequeue.sim import Simulation

MILLISECOND = 1_000_000
FAILURES: dict[str, APIError] = {
    "internal": InternalError("etcd"),
    "server_timeout": ServerTimeoutError(),
}
Step = dict[str, Any]
Memory = Callable[[Simulation, PodReader], RayClusterScaleExpectation]


class Pods:
    """The Pods of a scenario; notes which are read, and can fail. The key of every Pod is None."""

    def __init__(self) -> None:
        self.there: dict[NamespacedName, Pod] = {}
        self.failing: dict[NamespacedName | None, APIError] = {}
        self.read: list[str] = []

    def get(self, kind: type[Any], key: NamespacedName) -> Any:
        """The Pod, or how its read ends."""
        assert kind is Pod
        self.read.append(str(key))
        failure = self.failing.get(None) or self.failing.get(key)
        if failure is not None:
            raise failure
        if key not in self.there:
            raise NotFoundError("pods", key.name)
        return self.there[key]

    def terminate(self, key: NamespacedName) -> None:
        """The Pod is marked for deletion and held by a finalizer."""
        pod = self.there[key]
        self.there[key] = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=0.0))


class ExpectationsReplay:
    """The model's expectations, and the ops of a scenario done to them."""

    def __init__(self, memory: Memory = RayClusterScaleExpectation, seed: int = 0) -> None:
        self.sim = Simulation(seed, trace=False)
        self.pods = Pods()
        self.memory = memory(self.sim, self.pods)

    def step(self, op: Step) -> Step:
        """Do one op; of a check, the answer, the Pods read, and the records of the group left."""
        namespace, pod = op.get("namespace", ""), op.get("pod", "")
        cluster, group = op.get("cluster", ""), op.get("group", "")
        key = NamespacedName(namespace, pod)
        match op["op"]:
            case "expect":
                action = ScaleAction(op["action"])
                self.memory.expect_scale_pod(namespace, cluster, group, pod, action)
            case "check":
                return self._check(namespace, cluster, group)
            case "delete_all":
                self.memory.delete(cluster, namespace)
            case "appear":
                self.pods.there[key] = Pod(ObjectMeta(pod, namespace))
            case "terminate":
                self.pods.terminate(key)
            case "vanish":
                del self.pods.there[key]
            case "fail":
                self.pods.failing[key if pod else None] = FAILURES[op["error"]]
            case "recover":
                self.pods.failing.clear()
            case "advance":
                ns = op.get("ms", 0) * MILLISECOND + op.get("ns", 0)
                self.sim.run(until=(self.sim.now_ns + ns) / 1e9)
            case other:
                raise AssertionError(f"the op {other!r} is none of the ops of the format")
        return {}

    def _check(self, namespace: str, cluster: str, group: str) -> Step:
        self.pods.read.clear()
        satisfied = self.memory.is_satisfied(namespace, cluster, group)
        self.memory._check()
        left = self.memory.records(namespace, cluster)
        return {
            "satisfied": satisfied,
            "read": sorted(self.pods.read),
            "left": {str(record.key) for record in left if record.group == group},
        }


def disagreements(seen: Step, recorded: Step) -> Iterator[str]:
    """A sentence for each thing that the recording determines and that came out otherwise."""
    if seen.get("satisfied") != recorded.get("satisfied"):
        yield f"satisfied is {seen.get('satisfied')}; Go had {recorded.get('satisfied')}"
    if not seen:
        return
    if "reads" in recorded and len(seen["read"]) != recorded["reads"]:
        yield f"it reads {seen['read']}; Go did {recorded['reads']} reads"
    if "read" in recorded and seen["read"] != recorded["read"]:
        yield f"it reads {seen['read']}; Go read {recorded['read']}"
    kept, maybe = set(recorded.get("kept", [])), set(recorded.get("maybe", []))
    if not kept <= seen["left"] <= kept | maybe:
        yield f"it keeps {seen['left']}; Go kept {kept}, and maybe of {maybe}"


def differences(
    scenario: Step, memory: Memory = RayClusterScaleExpectation, seed: int = 0
) -> Iterator[str]:
    """A sentence for each difference in each step between the model and the recording."""
    replay = ExpectationsReplay(memory, seed)
    for number, (op, recorded) in enumerate(zip(scenario["ops"], scenario["steps"], strict=True)):
        for text in disagreements(replay.step(op), recorded):
            yield f"{scenario['name']}, step {number} {op}: {text}"
