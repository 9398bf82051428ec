"""The loops of a queue and its workers, and who wakes whom, as a graph."""

from __future__ import annotations

import networkx as nx
from matplotlib.axes import Axes

from kubequeue.lab import style
from kubequeue.lab.picture import Picture, figure_of, new_figure

SIGNALS = {
    ("callers", "handle_add_buffer"): "item added\nto add buffer",
    ("handle_add_buffer", "handle_waiting_items"): "waiting item added\nor updated",
    ("handle_add_buffer", "handle_ready_items"): "ready item\nadded",
    ("handle_waiting_items", "handle_ready_items"): "ready item\nadded",
}
"""Who wakes whom inside of the queue, and why."""

_PLACES = {
    "callers": (0.0, 1.0),
    "handle_add_buffer": (2.3, 1.0),
    "handle_waiting_items": (5.0, 2.0),
    "handle_ready_items": (5.0, 0.0),
}
_SHORT = {
    "callers": "whoever\nadds",
    "handle_add_buffer": "add-buffer\nloop",
    "handle_waiting_items": "delay\nloop",
    "handle_ready_items": "dis-\npatcher",
}


def loops(workers: int, *, title: str, ax: Axes | None = None) -> Picture:
    """The loops of one queue with so many workers: dashed, a signal; solid, a key is handed over.

    ``title`` is a sentence that says what to see.
    """
    graph = _graph(workers)
    places = dict(_PLACES) | {
        name: (8.0, 2.0 * (workers - 1 - number) / max(workers - 1, 1) if workers > 1 else 0.0)
        for number, name in enumerate(_names(workers))
    }
    ax = ax or new_figure(10, 3.8).add_subplot()
    ours = [name for name in graph if str(name).startswith("handle_")]
    others = [name for name in graph if name not in ours]
    for names, fill in ((ours, style.INK), (others, style.PANEL)):
        nx.draw_networkx_nodes(
            graph, places, nodelist=names, node_size=3600, node_color=fill,
            edgecolors=style.SOFT_INK, ax=ax,
        )  # fmt: skip
    for names, ink in ((ours, "white"), (others, style.INK)):
        words = {name: _SHORT.get(name, name) for name in names}
        nx.draw_networkx_labels(graph, places, words, font_size=10, font_color=ink, ax=ax)
    _draw_ways(graph, places, ax)
    ax.set_xlim(-0.9, 8.9)
    ax.set_ylim(-0.75, 2.75)
    ax.axis("off")
    style.title(ax, title)
    return Picture(figure_of(ax), _alt(graph, workers, title))


def _names(workers: int) -> list[str]:
    return [f"worker-{number}" for number in range(1, workers + 1)]


def _graph(workers: int) -> nx.DiGraph[str]:
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(_PLACES)
    for (waker, woken), signal in SIGNALS.items():
        graph.add_edge(waker, woken, signal=signal)
    for name in _names(workers):
        graph.add_edge(name, "handle_ready_items", signal="asks; done")
        graph.add_edge("handle_ready_items", name, signal="")
    return graph


def _draw_ways(graph: nx.DiGraph[str], places: dict[str, tuple[float, float]], ax: Axes) -> None:
    asking = [way for way in graph.edges if way not in SIGNALS and graph.edges[way]["signal"]]
    giving = [way for way in graph.edges if not graph.edges[way]["signal"]]
    for ways, line, bend in ((list(SIGNALS), "--", 0.0), (asking, "--", 0.16), (giving, "-", 0.16)):
        nx.draw_networkx_edges(
            graph, places, edgelist=ways, style=line, edge_color=style.SOFT_INK,
            connectionstyle=f"arc3,rad={bend}", node_size=3600, arrowsize=16, width=1.6, ax=ax,
        )  # fmt: skip
    words = SIGNALS | {("worker-1", "handle_ready_items"): "asks; done"}
    nx.draw_networkx_edge_labels(
        graph, places, words, font_size=9, font_color=style.SOFT_INK, rotate=False, ax=ax
    )


def _alt(graph: nx.DiGraph[str], workers: int, title: str) -> str:
    told = [
        f"{waker} wakes {woken} ({' '.join(signal.split())})"
        for (waker, woken), signal in SIGNALS.items()
    ]
    return (
        f"Diagram: {title}. Across: from whoever adds, over 3 loops of the queue, to {workers} "
        f"workers. {'; '.join(told)}; each worker wakes handle_ready_items when it asks and when "
        "it is done, and handle_ready_items hands it a key."
    )
