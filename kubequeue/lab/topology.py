"""Controllers, their queues and workers, the namespaces they watch, and the API behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from kubequeue.errors import InvalidArgumentError
from kubequeue.lab import style
from kubequeue.lab.picture import Picture, figure_of, new_figure
from kubequeue.lab.reach import Reach, Scene
from kubequeue.lab.topology_layout import Layout, is_quiet, key_at, layout, runs_twice, told
from kubequeue.observe.trace import Trace
from kubequeue.runtime.manager import Manager

_LEFT, _RIGHT = 3.2, 10.15


def topology(
    trace: Trace,
    *managers: Manager,
    at: float | None = None,
    namespaces: Iterable[str] = (),
    title: str,
    ax: Axes | None = None,
) -> Picture:
    """How far each limit reaches: a frame for each process, in it a queue for each controller.

    Args:
        trace: of the simulation that the managers are in.
        managers: one or more.
        at: the moment to show, in seconds; by default the first at which the most rounds run.
        namespaces: to show besides those that are watched by name or have had a round.
        title: a sentence that says what to see.
        ax: where to draw; by default a figure of its own.

    Raises `InvalidArgumentError` without a manager.
    """
    if not managers:
        raise InvalidArgumentError("managers", managers, "one manager or more")
    reach = Reach(trace, *managers, namespaces=namespaces)
    scene = reach.scene(reach.busiest if at is None else at)
    drawn = layout(scene)
    low, high = min(y for _, y in drawn.frames.values()), 0.0
    ax = ax or new_figure(10, max(3.4, 0.43 * (high - low + 3.4))).add_subplot()
    _draw_frames(ax, drawn, scene)
    _draw_ways(ax, drawn)
    _draw_nodes(ax, drawn, scene, style.key_colours([key for *_, key in scene.rounds]))
    ax.set_xlim(-0.85, _RIGHT + 0.1)
    ax.set_ylim(low - 1.2, high + 1.75)
    ax.axis("off")
    style.title(ax, title)
    return Picture(figure_of(ax), _alt(scene, title))


def _draw_frames(ax: Axes, drawn: Layout, scene: Scene) -> None:
    """One frame for each process, with its name and whether it leads."""
    for process in scene.processes:
        top, bottom = drawn.frames[process.name]
        ax.add_patch(
            FancyBboxPatch(
                (_LEFT, bottom - 0.45), _RIGHT - _LEFT - 0.15, top - bottom + 1.5,
                boxstyle="round,pad=0.1", facecolor=style.PANEL, zorder=0,
                edgecolor=style.SOFT_INK if process.works else style.LINES,
                linestyle="-" if process.works else "--",
            )
        )  # fmt: skip
        ax.text(
            _LEFT + 0.05, top + 0.68, f"{process.name}: {process.state}",
            fontsize=11, fontweight="bold", color=style.INK,
        )  # fmt: skip


def _draw_ways(ax: Axes, drawn: Layout) -> None:
    graph = drawn.graph
    for watched, line in ((True, "-"), (False, ":")):
        ways = [way for way in graph.edges if graph.edges[way]["watched"] is watched]
        nx.draw_networkx_edges(
            graph, drawn.places, edgelist=ways, style=line, edge_color=style.OTHER, arrows=True,
            arrowstyle="-", node_size=10, width=1.3, ax=ax,
        )  # fmt: skip


def _draw_nodes(ax: Axes, drawn: Layout, scene: Scene, colours: Mapping[Any, str]) -> None:
    for node in drawn.graph:
        name, more = told(node, scene)
        key = key_at(node, scene)
        fill, ink, edge, line = "white", style.INK, style.SOFT_INK, "-"
        width = 1.0
        if key is not None:
            fill = edge = colours.get(key, style.OTHER)
            ink = style.text_colour(fill)
            if runs_twice(node, scene):
                edge, width = style.ACCENT, 3.0
        elif is_quiet(node, scene):
            edge, line, ink = style.OTHER, "--", style.SOFT_INK
        elif node[0] == "api":
            fill, ink = style.INK, "white"
        words = f"{name}: {more}" if node[0] == "worker" else f"{name}\n{more}".strip()
        nx.draw_networkx_labels(
            drawn.graph, drawn.places, {node: words}, font_size=10, font_color=ink, ax=ax,
            bbox={"boxstyle": "round,pad=0.4", "fc": fill, "ec": edge, "ls": line, "lw": width},
        )  # fmt: skip


def _alt(scene: Scene, title: str) -> str:
    names = [
        name if scene.watched(name) else f"{name} (nobody watches)" for name in scene.namespaces
    ]
    count = f"{len(names)} namespace{'s' * (len(names) != 1)}"
    named = f" ({', '.join(names)})" if names else ""
    return (
        f"Diagram: {title}. Across: from {count}{named} over one Kubernetes API and "
        f"a cache for each process to queues and workers, at {scene.at:g} s. "
        + " ".join(spoken(scene) + [f"Two rounds of {key} at one time." for _, key in scene.twice])
    )


def spoken(scene: Scene) -> list[str]:
    """A sentence for each process: what it watches, and what runs in each of its controllers."""
    sentences = []
    for process in scene.processes:
        pools = []
        for pool in process.pools if process.works else ():
            running = [f"{worker} {key}" for worker, key in pool.workers if key is not None]
            pools.append(
                f"{pool.name}, {len(pool.workers)} workers, {len(pool.ready)} in line, "
                f"running {', '.join(running) or 'nothing'}"
            )
        where = ", ".join(process.watches) or "all namespaces"
        told_of = "; ".join(pools) or "no queue and no worker runs"
        sentences.append(f"{process.name} {process.state}, watches {where}: {told_of}.")
    return sentences
