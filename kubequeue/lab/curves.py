"""One number against another, a line for each case."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kubequeue.lab import style
from kubequeue.lab.picture import Picture, figure_of, new_figure

_MARKS = "osD^vP"
_COLOURS = (style.INK, style.SOFT_INK)


def curves(
    lines: Mapping[str, Mapping[float, float]],
    *,
    x: str,
    y: str,
    title: str,
    ax: Axes | None = None,
) -> Picture:
    """A line for each name, through its points ``{x: y}``; the name stands at its end.

    ``x`` and ``y`` label the axes and must carry units. Lines differ by mark and dash, so that
    they can be told apart in grey.
    """
    ax = ax or new_figure(10, 3.6).add_subplot()
    for number, (name, points) in enumerate(lines.items()):
        ax.plot(
            list(points), list(points.values()), marker=_MARKS[number % len(_MARKS)],
            linestyle="--" if number else "-", color=_COLOURS[number % 2], linewidth=2,
        )  # fmt: skip
        last = max(points)
        ax.annotate(
            name, (last, points[last]), (8, 0), textcoords="offset points", va="center",
            fontsize=11, color=style.INK,
        )  # fmt: skip
    style.quiet(ax)
    ax.grid(axis="y", color=style.LINES, linewidth=0.7)
    ax.set_ylim(bottom=0)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel(x, color=style.SOFT_INK, fontsize=11)
    ax.set_ylabel(y, color=style.SOFT_INK, fontsize=11)
    style.title(ax, title)
    return Picture(figure_of(ax), _alt(lines, x, y, title))


def _alt(lines: Mapping[str, Mapping[float, float]], x: str, y: str, title: str) -> str:
    told = [f"Line chart: {title}. Across: {x}. Up: {y}."]
    for name, points in lines.items():
        first, last = min(points), max(points)
        told.append(
            f"{name}: {points[first]:g} at {first:g}, {points[last]:g} at {last:g} "
            f"({'flat' if points[first] == points[last] else 'changing'})."
        )
    return " ".join(told)
