"""The few shapes that the live pictures are made of, as SVG text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from kubequeue.lab import style

Point = tuple[float, float]


class Box(NamedTuple):
    """A rectangle, in the units of its picture."""

    x: float
    y: float
    width: float
    height: float


def rectangle(
    box: Box, fill: str, edge: str = style.LINES, width: float = 1, dash: str = ""
) -> str:
    """A rounded rectangle."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}" rx="8" '
        f'fill="{fill}" stroke="{edge}" stroke-width="{width:g}"{dashes}/>'
    )


def text(
    x: float, y: float, words: str, size: int, colour: str, anchor: str = "start", *,
    bold: bool = False,
) -> str:  # fmt: skip
    """One line of text; ``anchor`` is "start", "middle" or "end"."""
    weight = ' font-weight="700"' if bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" '
        f'text-anchor="{anchor}"{weight}>{escape(words)}</text>'
    )


def arrow(way: Sequence[Point], colour: str, width: float) -> str:
    """A line through points that ends in a head.

    An SVG marker would need an id, and all pictures of a page share their ids.
    """
    (x1, y1), (x, y) = way[-2:]
    length = ((x - x1) ** 2 + (y - y1) ** 2) ** 0.5
    dx, dy = (x - x1) / length * 10, (y - y1) / length * 10
    head = [(x, y), (x - dx - dy / 2, y - dy + dx / 2), (x - dx + dy / 2, y - dy - dx / 2)]
    points, corners = (" ".join(f"{a:.1f},{b:.1f}" for a, b in each) for each in (way, head))
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
        f'<polygon points="{corners}" fill="{colour}"/>'
    )
