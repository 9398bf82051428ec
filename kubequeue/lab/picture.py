"""A figure that comes with its own words."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

PIXELS_PER_INCH = 110


@dataclass(frozen=True, slots=True)
class Picture:
    """A matplotlib figure and the text for those who cannot see it.

    At the end of a cell it shows as a PNG with that alt text; where no picture shows, the text
    does. The figure belongs to nobody else, so nothing is left open.
    """

    figure: Figure
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data = {"image/png": self.png(), "text/plain": self.alt}
        return data, {"image/png": {"alt": self.alt}}

    def png(self) -> bytes:
        """The picture as PNG; equal runs give equal bytes."""
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", dpi=PIXELS_PER_INCH)
        return buffer.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the PNG to a file."""
        Path(path).write_bytes(self.png())


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of so many inches, outside of pyplot."""
    return Figure(figsize=(width, height), layout="constrained")


def figure_of(ax: Axes) -> Figure:
    """The figure that an axes belongs to."""
    figure = ax.get_figure(root=True)
    assert figure is not None, "an axes without a figure cannot be drawn"
    return figure
