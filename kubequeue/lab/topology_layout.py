"""Where the parts of an operator stand in its picture, and the ways between them."""

from __future__ import annotations

from typing import NamedTuple

import networkx as nx

from kubequeue.lab.reach import Process, Scene
from kubequeue.lab.style import short

Node = tuple[str, ...]
"""``("namespace", name)``, ``("api",)``, ``("cache", process)``, ``("queue", process, controller)``
or ``("worker", process, controller, worker)``."""

API: Node = ("api",)
COLUMNS = {"namespace": 0.0, "api": 2.0, "cache": 4.2, "queue": 6.6, "worker": 9.0}
IDLE, UNWATCHED = "idle", "nobody watches"
_GAP = {"pool": 0.55, "process": 1.5}
_LONGEST = 18


class Layout(NamedTuple):
    """Nodes and ways with what is said at each, and where each node stands; y grows upwards."""

    graph: nx.DiGraph[Node]
    places: dict[Node, tuple[float, float]]
    frames: dict[str, tuple[float, float]]
    """Of each process: its highest and its lowest row."""


def layout(scene: Scene) -> Layout:
    """The layout of a scene. Costs O(nodes)."""
    graph: nx.DiGraph[Node] = nx.DiGraph()
    places: dict[Node, tuple[float, float]] = {}
    frames: dict[str, tuple[float, float]] = {}
    y = 0.0
    for process in scene.processes:
        top = y
        y = _put_process(graph, places, process, y)
        frames[process.name] = top, y + 1 + _GAP["pool"]
        y -= _GAP["process"] - _GAP["pool"]
    middle = (next(iter(frames.values()))[0] + list(frames.values())[-1][1]) / 2
    places[API] = COLUMNS["api"], middle
    for number, name in enumerate(scene.namespaces):
        node = "namespace", name
        graph.add_edge(node, API, watched=scene.watched(name))
        places[node] = (
            COLUMNS["namespace"],
            middle + 1.3 * ((len(scene.namespaces) - 1) / 2 - number),
        )
    return Layout(graph, places, frames)


def _put_process(
    graph: nx.DiGraph[Node],
    places: dict[Node, tuple[float, float]],
    process: Process,
    y: float,
) -> float:
    """Put the nodes of one process, from row ``y`` downwards; the row after its last."""
    cache, top = ("cache", process.name), y
    graph.add_edge(API, cache, watched=True)
    for pool in process.pools:
        queue = "queue", process.name, pool.name
        graph.add_edge(cache, queue, watched=True)
        first = y
        for worker, _ in pool.workers:
            node = "worker", process.name, pool.name, worker
            graph.add_edge(queue, node, watched=True)
            places[node] = COLUMNS["worker"], y
            y -= 1
        places[queue] = COLUMNS["queue"], (first + y + 1) / 2
        y -= _GAP["pool"]
    places[cache] = COLUMNS["cache"], (top + y + 1 + _GAP["pool"]) / 2
    return y


def told(node: Node, scene: Scene) -> tuple[str, str]:
    """What stands at a node: its name, and a second line."""
    kind, *names = node
    if kind == "api":
        return "Kubernetes API", "one cluster"
    if kind == "namespace":
        return names[0], "" if scene.watched(names[0]) else UNWATCHED
    process = next(each for each in scene.processes if each.name == names[0])
    if kind == "cache":
        return "cache", f"of {', '.join(process.watches) or 'all namespaces'}"
    pool = next(each for each in process.pools if each.name == names[1])
    if kind == "queue" and not process.works:
        return pool.name, "no queue"
    if kind == "queue":
        later = f", {len(pool.later)} later" if pool.later else ""
        return pool.name, f"in line: {len(pool.ready)}{later}"
    if not process.works:
        return names[2], "not running"
    key = dict(pool.workers)[names[2]]
    return names[2], fitting(str(key)) if key is not None else IDLE


def key_at(node: Node, scene: Scene) -> object:
    """The key of the round that runs at a node; None where none runs."""
    return next((key for *where, key in scene.rounds if node == ("worker", *where)), None)


def runs_twice(node: Node, scene: Scene) -> bool:
    """Whether another worker of a controller of this name runs a round of the same key."""
    return node[0] == "worker" and (node[2], key_at(node, scene)) in scene.twice


def is_quiet(node: Node, scene: Scene) -> bool:
    """Whether nothing goes on there: nobody watches it, it runs no round, or it does not run."""
    kind, *names = node
    if kind == "namespace":
        return not scene.watched(names[0])
    if kind == "api":
        return False
    process = next(each for each in scene.processes if each.name == names[0])
    return not process.works or (kind == "worker" and key_at(node, scene) is None)


def fitting(key: str) -> str:
    """A key that fits into a box: without the namespace ``default``, cut when it is long."""
    name = short(key) if key.startswith("default/") else key
    return name if len(name) <= _LONGEST else f"…{name[-_LONGEST + 1 :]}"
