"""Run every notebook from top to bottom and store it with its outputs.

    python tests/store_notebooks.py [NOTEBOOK...]

Two runs differ in nothing: no timings, no widget state, no random ids.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from pathlib import Path

import nbformat
from exercises import put_into
from lesson_pages import README, readme, write_pages
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parent.parent / "notebooks"
COVER = NOTEBOOKS / "images" / "figure-1.png"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def store(path: Path) -> None:
    """Execute one notebook where it lies and write it back."""
    notebook = nbformat.read(path, as_version=4)
    write_pages(notebook, path)
    put_into(notebook, path.name[:2])
    NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(path.parent)}},
    ).execute()
    forget_this_run(notebook)
    nbformat.write(notebook, path)


def forget_this_run(notebook: NotebookNode) -> None:
    """Drop what is different from run to run or from machine to machine."""
    notebook.metadata.pop("widgets", None)
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_VIEW, None)


def cover() -> bytes:
    """The picture of the README: Figure 1, as lesson 01 stores it."""
    lesson = nbformat.read(next(NOTEBOOKS.glob("01-*.ipynb")), as_version=4)
    figure = next(cell for cell in lesson.cells if cell.id == "fig1")
    return b64decode(figure.outputs[0].data["image/png"])


if __name__ == "__main__":
    for chosen in [Path(name).resolve() for name in sys.argv[1:]] or sorted(
        NOTEBOOKS.glob("*.ipynb")
    ):
        store(chosen)
        print(f"stored {chosen.name}")
    README.write_text(readme(), encoding="utf-8")
    COVER.parent.mkdir(exist_ok=True)
    COVER.write_bytes(cover())
