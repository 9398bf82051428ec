"""The parts of a widget, as a page and a test of it find them: by their class."""

from __future__ import annotations

from typing import Any


def find(widget: Any, name: str) -> Any:
    """The one widget inside of ``widget`` that has this class."""
    inside = [widget]
    for each in inside:
        inside.extend(getattr(each, "children", ()))
    (found,) = [each for each in inside if name in getattr(each, "_dom_classes", ())]
    return found


def press(widget: Any, name: str) -> None:
    """Click a button as the browser does."""
    find(widget, name).click()
