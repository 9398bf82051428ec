"""The topology of an operator at one moment, as SVG that can be drawn anew at every touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from kubequeue.lab import style
from kubequeue.lab.reach import Scene
from kubequeue.lab.svg import Box, rectangle, text
from kubequeue.lab.topology_layout import Layout, Node, is_quiet, key_at, layout, runs_twice, told

WIDTH = 1100
_LEFT, _TOP, _ROW = 95, 62, 38
_COLUMN = 100.0
_SIZES = {
    "namespace": (150, 42),
    "api": (150, 46),
    "cache": (190, 46),
    "queue": (150, 46),
    "worker": (220, 30),
}


def topology_svg(scene: Scene, colours: Mapping[Any, str], words: str) -> str:
    """The SVG of a scene; ``words`` are its text for those who cannot see it. Costs O(nodes)."""
    drawn = layout(scene)
    low = min(y for _, y in drawn.frames.values())
    height = _y(low) + 46
    parts = [
        f'<svg class="kq-svg" viewBox="0 0 {WIDTH} {height:g}" width="100%" role="img" '
        f'xmlns="http://www.w3.org/2000/svg" aria-label="{escape(words)}">',
        *(part for each in _frames(drawn, scene) for part in each),
        *(_way(drawn, *way) for way in drawn.graph.edges),
        *(part for node in drawn.graph for part in _node(drawn, node, scene, colours)),
        "</svg>",
    ]
    return "".join(parts)


def _x(x: float) -> float:
    return _LEFT + _COLUMN * x - (24 if x > 8 else 0)


def _y(y: float) -> float:
    return _TOP - _ROW * y


def _frames(drawn: Layout, scene: Scene) -> Iterator[tuple[str, str]]:
    for process in scene.processes:
        top, bottom = drawn.frames[process.name]
        box = Box(_x(3.1), _y(top) - 48, WIDTH - _x(3.1) - 6, _y(bottom) - _y(top) + 76)
        edge = style.SOFT_INK if process.works else style.LINES
        words = f"{process.name}: {process.state}"
        yield (
            rectangle(box, style.PANEL, edge, 1.5, "" if process.works else "6 4"),
            text(box.x + 12, box.y + 22, words, 15, style.INK, bold=True),
        )


def _way(drawn: Layout, start: Node, end: Node) -> str:
    (x, y), (to_x, to_y) = drawn.places[start], drawn.places[end]
    dash = "" if drawn.graph.edges[start, end]["watched"] else ' stroke-dasharray="2 5"'
    return (
        f'<path d="M{_x(x):.0f} {_y(y):.0f} L{_x(to_x):.0f} {_y(to_y):.0f}" '
        f'stroke="{style.OTHER}" stroke-width="1.5"{dash}/>'
    )


def _node(drawn: Layout, node: Node, scene: Scene, colours: Mapping[Any, str]) -> Iterator[str]:
    (x, y), (width, height) = drawn.places[node], _SIZES[node[0]]
    name, more = told(node, scene)
    key = key_at(node, scene)
    fill, ink, edge, dash = "white", style.INK, style.SOFT_INK, ""
    width_of_edge = 1.5
    if key is not None:
        fill = edge = colours.get(key, style.OTHER)
        ink = style.text_colour(fill)
        if runs_twice(node, scene):
            edge, width_of_edge = style.ACCENT, 4.0
    elif is_quiet(node, scene):
        edge, ink, dash = style.OTHER, style.SOFT_INK, "5 3"
    elif node[0] == "api":
        fill, ink = style.INK, "white"
    box = Box(_x(x) - width / 2, _y(y) - height / 2, width, height)
    yield rectangle(box, fill, edge, width_of_edge, dash)
    if node[0] == "worker":
        yield text(_x(x), _y(y) + 5, f"{name}: {more}", 13, ink, "middle", bold=key is not None)
        return
    yield text(_x(x), _y(y) - (4 if more else -5), name, 14, ink, "middle", bold=True)
    if more:
        yield text(_x(x), _y(y) + 14, more, 12, ink, "middle")
