"""JupyterLab on a port of its own, with nothing of the person who runs it and nothing to phone."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"
_TOKEN = "browser"
_QUIET = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
}


@contextmanager
def serve(folder: Path) -> Iterator[tuple[str, Path]]:
    """Serve a copy of the notebooks: the address to open one at, and the folder of the copies."""
    served = folder / "notebooks"
    shutil.copytree(NOTEBOOKS, served)
    settings = folder / "config" / "labconfig"
    settings.mkdir(parents=True)
    (settings / "default_setting_overrides.json").write_text(json.dumps(_QUIET))
    port = _free_port()
    with (folder / "jupyter.log").open("wb") as log:
        server = subprocess.Popen(
            _command(served, port), env=_environment(folder), stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}/lab/tree/{{}}?reset&token={_TOKEN}"
            _wait_for(f"http://127.0.0.1:{port}/api?token={_TOKEN}", server, folder)
            yield address, served
        finally:
            server.terminate()
            server.wait()


def _command(served: Path, port: int) -> list[str]:
    return [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
        "--expose-app-in-browser", f"--port={port}", "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={_TOKEN}", f"--ServerApp.root_dir={served}",
    ]  # fmt: skip


def _environment(folder: Path) -> dict[str, str]:
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
    }
    return {**os.environ, **{name: str(folder / part) for name, part in own.items()}}


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(address: str, server: subprocess.Popen[bytes], folder: Path) -> None:
    for _ in range(600):
        assert server.poll() is None, (folder / "jupyter.log").read_text()
        try:
            with urllib.request.urlopen(address, timeout=10):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("JupyterLab did not answer")
