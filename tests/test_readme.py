"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import kubequeue

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_operator_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Who copies the program with the whole operator gets a head, three workers and some rounds."""
    _, program = re.findall(r"```python\n(.*?)```", README, re.S)
    exec(program, {})
    assert re.fullmatch(r"4 Pods, by \d+ rounds\n", capsys.readouterr().out)


def test_the_example_runs() -> None:
    """Who copies the README's program gets the rounds that it promises."""
    program, _ = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict[str, Any] = {}
    exec(program, names)
    rounds = names["sim"].trace.rounds()
    assert [(r.key, r.start) for r in rounds] == [
        ("default/a", 0.0),
        ("default/b", 0.0),
        ("default/c", 1.5),
    ]


def test_files_and_names_of_the_tables_exist() -> None:
    """A reader who looks for a Go function's counterpart finds it where the table says."""
    rows = [line for line in README.split("## Where is")[1].splitlines() if line.startswith("| `")]
    assert len(rows) >= 8
    package = Path(kubequeue.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    for cell in (row.split("|")[2] for row in rows):
        for name in re.findall(r"`([^`]+)`", cell):
            last = name.rpartition(".")[2]
            found = (package / name).is_file() or re.search(rf"(def|class) {last}\b", source)
            assert found, name


def test_relative_links_exist() -> None:
    """No link of the README is dead."""
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert link.startswith("https://") or (ROOT / link).exists(), link


@pytest.fixture
def lab_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def test_make_lab_opens_the_contents(lab_port: int) -> None:
    """``make lab`` serves JupyterLab with the contents page open."""
    arguments = f"--no-browser --allow-root --port={lab_port} --IdentityProvider.token=secret"
    make = subprocess.Popen(
        ["make", "lab", f"LAB_ARGS={arguments}"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{lab_port}/api/contents/index.ipynb?content=0&token=secret"
        assert b'"index.ipynb"' in _wait_for(address, make)
    finally:
        os.killpg(make.pid, signal.SIGKILL)
        make.wait()


def _wait_for(address: str, server: subprocess.Popen[bytes]) -> bytes:
    for _ in range(600):
        assert server.poll() is None, "make lab ended by itself"
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                page: bytes = answer.read()
                return page
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    raise AssertionError("make lab did not answer")
