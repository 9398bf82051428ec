"""Two ways to use a control: by mouse, and by keyboard alone."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

_BETWEEN_KEYS = 150
"""Milliseconds: faster than fingers, slower than the page's own bundling of what it sends."""


class Mouse:
    """Clicks, and picks from what a click opens."""

    def press(self, button: Locator) -> None:
        """Press a button."""
        button.click()

    def choose(self, control: Locator, option: str) -> None:
        """Choose from a drop-down."""
        control.locator("select").select_option(option)

    def slide(self, control: Locator, value: float) -> None:
        """Bring a slider to a value, by dragging its handle."""
        least, _, most = _range(control)
        handle, mouse = control.get_by_role("slider"), control.page.mouse
        handle.hover()
        mouse.down()
        box = control.locator(".noUi-base").bounding_box()
        assert box is not None
        across = box["x"] + (value - least) / (most - least) * box["width"]
        mouse.move(across, box["y"] + box["height"] / 2)
        mouse.up()
        expect(handle).to_have_attribute("aria-valuenow", f"{value:.1f}")


class Keyboard:
    """Keys alone, on the control that has the focus."""

    def press(self, button: Locator) -> None:
        """Press a button."""
        button.press("Enter")

    def choose(self, control: Locator, option: str) -> None:
        """Choose from a drop-down, by arrows."""
        select = control.locator("select")
        options = select.locator("option").evaluate_all("all => all.map((each) => each.value)")
        for key, times in (("ArrowUp", len(options)), ("ArrowDown", options.index(option))):
            for _ in range(times):
                select.press(key)
                select.page.wait_for_timeout(_BETWEEN_KEYS)

    def slide(self, control: Locator, value: float) -> None:
        """Bring a slider to a value, by arrows, or at once when it is the last."""
        least, _, most = _range(control)
        handle = control.get_by_role("slider")
        if value in (least, most):
            handle.press("Home" if value == least else "End")
            return
        while (now := _range(control)[1]) != value:
            handle.press("ArrowRight" if now < value else "ArrowLeft")


Hand = Mouse | Keyboard


def _range(control: Locator) -> tuple[float, float, float]:
    """The least value of a slider, the present one, and the most."""
    handle = control.get_by_role("slider")
    least, now, most = (
        float(handle.get_attribute(f"aria-value{which}") or 0) for which in ("min", "now", "max")
    )
    return least, now, most


def last(control: Locator) -> float:
    """The most that a slider can say."""
    return _range(control)[2]
