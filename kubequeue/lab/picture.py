"""A figure that comes with its own words."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
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
    does. JupyterLab drops the alt text of a PNG, so the words stand below it too, folded away. The
    figure belongs to nobody else, so nothing is left open.
    """

    figure: Figure
    alt: str

    def __repr__(self) -> str:
        return self.alt

    def bundles(self) -> Iterator[tuple[dict[str, str], dict[str, dict[str, str]]]]:
        """What a notebook shows, one after the other: data by MIME type, and its metadata."""
        picture = {"image/png": b64encode(self.png()).decode(), "text/plain": self.alt}
        yield picture, {"image/png": {"alt": self.alt}}
        words = f"<details><summary>The picture in words</summary>{escape(self.alt)}</details>"
        yield {"text/html": words, "text/plain": self.alt}, {}

    def _ipython_display_(self) -> None:
        from IPython.display import display

        show: Any = display  # IPython types it in part
        for data, metadata in self.bundles():
            show(data, raw=True, metadata=metadata)

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
