"""How everything looks: one colour for each key, quiet axes, ink that can be read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

KEY_COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#8C6D31", "#7B8794",
)  # fmt: skip
"""Told apart by the colour-blind: Okabe and Ito's, and two more."""

OTHER = "#B8C2CC"
INK = "#1F2933"
SOFT_INK = "#52606D"
LINES = "#CBD2D9"
PANEL = "#F5F7FA"
ACCENT = "#B44D12"
"""For what is happening now and for the gap to look at, and for nothing else."""

_LETTERS = list("ABCDEFGH")
_DARK = {"#0072B2", "#8C6D31"}
_INK_ON_COLOUR = "#0E1318"  # INK is too pale on the darker half of the colours


def short(key: Any) -> str:
    """The name a bar has room for: the last part of the key, a single letter as a capital."""
    name = str(key).rpartition("/")[2]
    return name.upper() if len(name) == 1 else name


def key_colours(keys: Iterable[Any]) -> dict[Any, str]:
    """A colour for each key: the letters a to h have theirs in every picture of the course.

    Other names, and a letter's second owner, take what is left in sorted order; when nothing is
    left, a key is grey.
    """
    named = sorted(set(keys), key=str)
    owners: dict[str, Any] = {}
    for key in named:
        if short(key) in _LETTERS:
            owners.setdefault(KEY_COLOURS[_LETTERS.index(short(key))], key)
    found = {key: colour for colour, key in owners.items()}
    left = iter(colour for colour in KEY_COLOURS if colour not in owners)
    return {key: found.get(key) or next(left, OTHER) for key in named}


def text_colour(colour: str) -> str:
    """White on a dark colour, nearly black on the others: contrast 4.5 or more on each."""
    return "white" if colour in _DARK else _INK_ON_COLOUR


def pale(colour: str, strength: float) -> str:
    """The colour on white paper at a strength from 0 to 1, without letting anything through."""
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + (part - 255) * strength):02X}" for part in parts)


def title(ax: Axes, sentence: str, above_marks: bool = False) -> None:
    """A sentence above the plot, at the left, that says what to see."""
    pad = 24 if above_marks else 9
    ax.set_title(sentence, loc="left", fontsize=12, fontweight="bold", color=INK, pad=pad)


def quiet(ax: Axes) -> None:
    """No box, thin vertical lines behind, soft labels."""
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.spines["bottom"].set_color(LINES)
    ax.tick_params(colors=SOFT_INK, labelsize=11, length=0)
    ax.grid(axis="x", color=LINES, linewidth=0.7)
    ax.set_axisbelow(True)


def time_axis(ax: Axes, start: float, end: float) -> None:
    """Virtual seconds from left to right."""
    ax.xaxis.set_major_locator(MaxNLocator(nbins=10, steps=[1, 2, 5, 10]))
    ax.set_xlim(start, end if end > start else start + 1)
    ax.set_xlabel("virtual time (s)", color=SOFT_INK, fontsize=11)


def lanes(ax: Axes, names: list[str]) -> None:
    """One horizontal lane for each name, the first on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.tick_params(axis="y", labelcolor=INK)
