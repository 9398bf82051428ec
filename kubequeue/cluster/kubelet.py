"""What happens to Pods: they are given a node, started, found ready, and stopped when deleted.

Scheduler, kubelets and node controller in one, for all Pods; each step is one write to the store.
Mirrors what pkg/kubelet and pkg/controller/nodelifecycle of kubernetes v1.36 write, no more:
no probes, no back-off between restarts, no eviction from a lost node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from ipaddress import IPv4Address
from itertools import count
from typing import Any

from kubequeue.cluster.apiserver import APIServer, Key
from kubequeue.cluster.duration import Seconds, after_ns, drawn_ns
from kubequeue.cluster.metadata import NamespacedName, ObjectMeta
from kubequeue.cluster.nodes import Nodes
from kubequeue.cluster.objects import Node, NodeStatus, Pod, PodStatus, key_of
from kubequeue.cluster.watch import DELETED, WatchEvent
from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import Simulation, to_ns

_FIRST_IP = IPv4Address("10.244.0.1")


class Kubelet:
    """Runs every Pod of a server: Pending, on a node, Running, ready; after a deletion: gone.

    Args:
        sim, server: where the Pods are.
        nodes: the names of the nodes; Pods go to them in turn.
        scheduling: seconds until a new Pod has its node.
        start: seconds from there until its containers run, images pulled.
        ready: seconds from there until it is ready; with 0 it is ready as soon as it runs.
        termination: seconds from a deletion until the containers have stopped; when the grace
            period is over they are killed.
        lost_after: seconds until the Pods of a node that is down count as not ready.

    Each of them is a number or a range ``(low, high)``, drawn from ``sim.stream("kubelet/start")``
    and so on. Raises `InvalidArgumentError` for a time below zero or nodes that are none.

    >>> sim = Simulation()
    >>> server = APIServer(sim)
    >>> kubelet = Kubelet(sim, server, scheduling=0.1, start=2, ready=1)
    >>> pod = server.store.create(Pod(ObjectMeta("a", "team-a")))
    >>> sim.run(until=3.1)
    >>> status = server.store.get(Pod, "team-a/a").status
    >>> status.phase, status.ready, status.pod_ip
    ('Running', True, '10.244.0.1')
    """

    def __init__(
        self,
        sim: Simulation,
        server: APIServer,
        *,
        nodes: Iterable[str] = ("node-1",),
        scheduling: Seconds = 0.005,
        start: Seconds = 1.0,
        ready: Seconds = 0.0,
        termination: Seconds = 1.0,
        lost_after: Seconds = 40.0,
    ) -> None:
        self._sim = sim
        self._store = server.store
        self._nodes = Nodes(nodes)
        self._scheduling = drawn_ns(sim, scheduling, "kubelet/scheduling")
        self._start = drawn_ns(sim, start, "kubelet/start")
        self._ready = drawn_ns(sim, ready, "kubelet/ready")
        self._termination = drawn_ns(sim, termination, "kubelet/termination")
        self._lost_after = drawn_ns(sim, lost_after, "kubelet/lost_after")
        self._ips = count()
        self._ready_at_once = ready == 0
        self._next: dict[str, tuple[object]] = {}
        self._endless: set[str] = set()
        if Node in self._store.kinds:
            self._register_nodes()
        self._store.watch(Pod).receive(self._on_event)

    def fail(self, key: Key) -> None:
        """The Pod fails as a whole, as by an eviction: no restart policy helps.

        Raises `NotFoundError`, as everything that takes a key does.
        """
        self._write_status(self._store.get(Pod, key), phase="Failed", ready=False, terminated=True)

    def succeed(self, key: Key) -> None:
        """All containers of the Pod end well, and it is over."""
        pod = self._store.get(Pod, key)
        self._write_status(pod, phase="Succeeded", ready=False, terminated=True)

    def end_container(self, key: Key) -> None:
        """The main container ends, another goes on: the Pod stays Running and is not ready.

        With the restart policy Always the container is started again, and is ready in time. Raises
        `InvalidArgumentError` when the Pod is not Running.
        """
        pod = self._store.get(Pod, key)
        if pod.status.phase != "Running":
            phase = f"the phase of {key_of(pod)}"
            raise InvalidArgumentError(phase, pod.status.phase, "Running: only that can end")
        restarts = pod.spec.restart_policy == "Always"
        if restarts and pod.metadata.deletion_timestamp is None:
            self._next.pop(pod.metadata.uid, None)
            self._begin(pod, "ready", lambda: self._start() + self._ready(), self._make_ready)
        count = pod.status.restart_count + restarts
        self._write_status(pod, ready=False, terminated=not restarts, restart_count=count)

    def never_finish(self, key: Key) -> None:
        """Once deleted, the Pod stays Terminating, until `finish`."""
        self._endless.add(self._store.get(Pod, key).metadata.uid)

    def finish(self, key: Key) -> None:
        """Takes `never_finish` back: a deletion under way begins anew."""
        pod = self._store.get(Pod, key)
        self._endless.discard(pod.metadata.uid)
        self._begin_anew(pod)

    def node_down(self, node: str) -> None:
        """Nothing is heard of the node: its Pods stay as they are, later they are not ready.

        Deleted ones stay Terminating, and no new ones come. Raises `InvalidArgumentError` for a
        node that there is not.
        """
        since = self._nodes.take_down(node)
        self._set_node_ready(node, False)
        after_ns(self._sim, self._lost_after(), lambda: self._lose(node, since))

    def node_up(self, node: str) -> None:
        """The node is back: what it has to do it begins anew. Costs O(Pods)."""
        self._nodes.bring_up(node)
        self._set_node_ready(node, True)
        for pod in self._store.list(Pod).items:
            if pod.spec.node_name in ("", node):
                self._begin_anew(pod)

    def _on_event(self, event: WatchEvent) -> None:
        if event.type == DELETED:
            self._next.pop(event.object.metadata.uid, None)
            self._endless.discard(event.object.metadata.uid)
        else:
            self._look(event.object)

    def _look(self, pod: Pod) -> None:
        """Begin the step that is next for the Pod, unless it has begun already."""
        status = pod.status
        if pod.metadata.deletion_timestamp is not None:
            self._terminate(pod)
        elif not pod.spec.node_name:
            self._begin(pod, "schedule", self._scheduling, self._bind)
        elif status.phase == "Pending":
            self._begin(pod, "start", self._start, self._run)
        elif status.phase == "Running" and not (status.ready or status.terminated):
            self._begin(pod, "ready", self._ready, self._make_ready)
        else:
            self._next.pop(pod.metadata.uid, None)

    def _terminate(self, pod: Pod) -> None:
        """Stop the containers within the grace period; a shorter one begins anew."""
        meta = pod.metadata
        if meta.deletion_grace_period_seconds:  # without one, only a finalizer holds it
            grace = to_ns(meta.deletion_grace_period_seconds, "grace_period_seconds")
            step = ("terminate", meta.deletion_timestamp)
            self._begin(pod, step, lambda: min(self._termination(), grace), self._remove)
        else:
            self._next.pop(meta.uid, None)

    def _begin(
        self, pod: Pod, step: object, takes: Callable[[], int], end: Callable[[Pod], object]
    ) -> None:
        """Let a step take its time.

        It comes to nothing when the Pod has gone another way by then, or its node is down.
        """
        uid, key = pod.metadata.uid, key_of(pod)
        if self._next.get(uid, (None,)) == (step,):
            return
        begun = self._next[uid] = (step,)

        def finish() -> None:
            if self._next.get(uid) is begun:
                present = self._store.get(Pod, key)
                if present.spec.node_name not in self._nodes.down:
                    end(present)

        after_ns(self._sim, takes(), finish)

    def _begin_anew(self, pod: Pod) -> None:
        self._next.pop(pod.metadata.uid, None)
        self._look(pod)

    def _bind(self, pod: Pod) -> None:
        node = self._nodes.choose()
        if node:
            self._store.bind(key_of(pod), node)

    def _run(self, pod: Pod) -> None:
        ip = str(_FIRST_IP + next(self._ips))
        self._write_status(pod, phase="Running", ready=self._ready_at_once, pod_ip=ip)

    def _make_ready(self, pod: Pod) -> None:
        self._write_status(pod, ready=True)

    def _remove(self, pod: Pod) -> None:
        if pod.metadata.uid not in self._endless:
            self._store.delete(Pod, key_of(pod), grace_period_seconds=0)

    def _write_status(self, pod: Pod, **changes: Any) -> None:
        status: PodStatus = replace(pod.status, **changes)
        self._store.update_status(replace(pod, status=status))

    def _lose(self, node: str, since: int) -> None:
        """The node controller finds that a node has been silent for too long."""
        if self._nodes.down.get(node) == since:
            for pod in self._store.list(Pod).items:
                if pod.spec.node_name == node and pod.status.ready:
                    self._write_status(pod, ready=False)

    def _register_nodes(self) -> None:
        present = {node.metadata.name for node in self._store.list(Node).items}
        for name in self._nodes.names:
            if name not in present:
                self._store.create(Node(ObjectMeta(name)))

    def _set_node_ready(self, node: str, ready: bool) -> None:
        if Node in self._store.kinds:
            present = self._store.get(Node, NamespacedName("", node))
            self._store.update_status(replace(present, status=NodeStatus(ready)))
