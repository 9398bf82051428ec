"""One JupyterLab and one browser for all tests of this folder."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from labserver import serve
from lesson import Lesson, Open
from playwright.sync_api import Browser, sync_playwright

SCREENSHOTS = Path(__file__).parent.parent.parent / "build" / "screenshots"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip

Served = tuple[str, Path]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The address of a notebook, and the folder that notebooks are served from."""
    with serve(tmp_path_factory.mktemp("jupyter")) as (address, folder):
        yield address, folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    path = next(found for name in _BROWSERS if (found := shutil.which(name)))
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def open_lesson(served: Served, browser: Browser) -> Iterator[Open]:
    """Open a notebook by its name in a page that knows nothing of other pages."""
    address, _ = served
    context = browser.new_context(viewport={"width": 1400, "height": 1000})

    def opened(name: str) -> Lesson:
        page = context.new_page()
        page.set_default_timeout(60_000)
        return Lesson(page, address.format(name), SCREENSHOTS)

    yield opened
    context.close()
