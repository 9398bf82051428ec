"""One notebook in a browser: run it, touch it, and say what must not have happened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

_RUN_ALL = """async () => {
  const rest = (ms) => new Promise((done) => setTimeout(done, ms));
  while (!window.jupyterapp) await rest(50);
  const app = window.jupyterapp;
  await app.restored;
  while (!app.shell.currentWidget?.sessionContext) await rest(50);
  const notebook = app.shell.currentWidget;
  await notebook.sessionContext.ready;
  await notebook.sessionContext.session.kernel.info;
  await app.commands.execute('notebook:run-all-cells');
  return notebook.content.widgets
    .filter((cell) => cell.model.type === 'code')
    .map((cell) => ({
      id: cell.model.id,
      count: cell.model.sharedModel.execution_count,
      outputs: cell.model.sharedModel.getOutputs(),
    }));
}"""

_PAINT = """(button) => new Promise((done, failed) => {
  setTimeout(() => failed(new Error('nothing changed in ' + button.dataset.watch)), 5000);
  const start = performance.now();
  const seen = new MutationObserver(() => {
    seen.disconnect();
    requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
  });
  seen.observe(document.querySelector(button.dataset.watch), {childList: true, subtree: true});
  button.click();
})"""


class Lesson:
    """A notebook that is open in JupyterLab; every request and every error is kept."""

    def __init__(self, page: Page, address: str, screenshots: Path) -> None:
        self.page = page
        self._screenshots = screenshots
        self._home = address.split("/lab/")[0]
        self.errors: list[str] = []
        self.strangers: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._asked(request.url))
        page.goto(address)

    def run_all(self) -> list[dict[str, Any]]:
        """Run every cell; for each code cell its id, execution count and outputs."""
        ran: list[dict[str, Any]] = self.page.evaluate(_RUN_ALL)
        return ran

    def find(self, name: str) -> Locator:
        """What has this class, inside of the notebook."""
        return self.page.locator(f".jp-Notebook .{name}")

    def screenshot(self, name: str, of: Locator | None = None) -> None:
        """Keep a picture of the page, or of a part of it."""
        self._screenshots.mkdir(parents=True, exist_ok=True)
        whole = self._screenshots / f"{name}.png"
        (of or self.page).screenshot(path=whole, animations="disabled")

    def note(self, name: str, words: str) -> None:
        """Keep a few words with the pictures."""
        self._screenshots.mkdir(parents=True, exist_ok=True)
        (self._screenshots / f"{name}.txt").write_text(words, encoding="utf-8")

    def seconds_to_paint(self, button: Locator, watched: str) -> float:
        """From a click to the frame after the change that it makes in ``watched``, a selector."""
        button.evaluate("(button, watched) => { button.dataset.watch = watched; }", watched)
        milliseconds: float = button.evaluate(_PAINT)
        return milliseconds / 1000

    def assert_clean(self) -> None:
        """No error on the page, no request to another host, no error or warning in an output."""
        assert self.errors == []
        assert self.strangers == []
        noisy = self.page.locator(
            ".jp-Notebook [data-mime-type='application/vnd.jupyter.stderr'],"
            ".jp-Notebook [data-mime-type='application/vnd.jupyter.error']"
        )
        assert noisy.all_inner_texts() == []

    def _asked(self, url: str) -> None:
        if not url.startswith((self._home, self._home.replace("http", "ws"), "data:", "blob:")):
            self.strangers.append(url)


Open = Callable[[str], Lesson]
"""Opens the notebook of that name."""
