"""The set-up: what a fresh machine, Binder and CI are told fits together."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


PYPROJECT: dict[str, Any] = tomllib.loads(read("pyproject.toml"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
ENVIRONMENT = read("environment.yml")
LOCK = read("requirements.lock")
PYTHONS = [
    f"3.{minor}"
    for minor in range(40)
    if SpecifierSet(PROJECT["requires-python"]).contains(f"3.{minor}")
]
PLATFORMS = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}


class BinderBuild(NamedTuple):
    """What repo2docker, the tool behind Binder, makes of a folder."""

    python: str
    environment_file: str
    checkout_comes_first: bool
    """Whether the checkout is there when the environment is made, as ``-e .`` needs it."""


def binder_build(folder: Path) -> BinderBuild:
    """Let repo2docker plan its build of ``folder``; no Docker is needed for that."""
    plan = subprocess.run(
        [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    python = re.findall(r"Building conda environment for python=(\S+)$", plan.stderr, re.M)
    steps = re.split(r"env update .*--file \"(.+)\"", plan.stdout)
    assert (len(python), len(steps)) == (1, 3), f"no conda environment is made:\n{plan.stdout}"
    return BinderBuild(python[0], steps[1], " src/ ${REPO_DIR}" in steps[0])


def conda_requirements() -> tuple[list[str], list[str]]:
    """The conda and the pip requirements of environment.yml."""
    dependencies = yaml.safe_load(ENVIRONMENT)["dependencies"]
    conda = [line for line in dependencies if isinstance(line, str)]
    (pip,) = (line["pip"] for line in dependencies if isinstance(line, dict))
    return conda, pip


def locked() -> list[tuple[Requirement, list[str]]]:
    """Each requirement of the lock file with its hashes."""
    lines = [line for line in LOCK.replace("\\\n", " ").splitlines() if not line.startswith("#")]
    split = [re.split(r"\s+--hash=", line.strip()) for line in lines]
    return [(Requirement(requirement), hashes) for requirement, *hashes in split]


def declared() -> list[Requirement]:
    """Everything that pyproject.toml asks for: to run, to learn, to test, to measure, to build."""
    lists = [
        PROJECT["dependencies"],
        PYPROJECT["build-system"]["requires"],
        *PROJECT["optional-dependencies"].values(),
        *PYPROJECT["dependency-groups"].values(),
    ]
    return [Requirement(line) for lines in lists for line in lines]


def test_binder_builds_a_python_that_the_package_supports() -> None:
    """Binder makes the Python that environment.yml names, and pip accepts the package there."""
    conda, _ = conda_requirements()
    (python,) = (line.removeprefix("python=") for line in conda if line.startswith("python"))
    assert binder_build(ROOT) == BinderBuild(python, "environment.yml", True)
    assert python in PYTHONS


@pytest.mark.parametrize(
    ("good", "bad", "build"),
    [
        ("python=3.12", "python>=3.12", BinderBuild("3.10", "environment.yml", True)),
        ("python=3.12", "pandas", BinderBuild("3.10", "environment.yml", True)),
        ("-e .[lab]", "matplotlib", BinderBuild("3.12", "environment.yml", False)),
    ],
)
def test_binder_swallows_a_mistake_and_we_see_it(
    tmp_path: Path, good: str, bad: str, build: BinderBuild
) -> None:
    """A loose or missing Python, or a package that is not installed, shows in Binder's plan."""
    assert good in ENVIRONMENT
    (tmp_path / "environment.yml").write_text(ENVIRONMENT.replace(good, bad))
    assert binder_build(tmp_path) == build


def test_binder_would_pass_over_the_root_and_we_see_it(tmp_path: Path) -> None:
    """A binder folder hides the environment.yml beside it, and that shows in Binder's plan."""
    (tmp_path / "environment.yml").write_text(ENVIRONMENT)
    (tmp_path / "binder").mkdir()
    (tmp_path / "binder/environment.yml").write_text(ENVIRONMENT)
    assert binder_build(tmp_path).environment_file == "binder/environment.yml"


def test_the_conda_environment_has_what_the_notebooks_need() -> None:
    """conda and Binder install the package itself, with the extra that the notebooks run on."""
    _, pip = conda_requirements()
    assert pip == ["-e .[lab]"]
    assert "lab" in PROJECT["optional-dependencies"]


def test_the_lock_pins_and_hashes_everything() -> None:
    """Two set-ups of one commit install the same files, whichever mirror serves them."""
    assert len(locked()) > 100
    for requirement, hashes in locked():
        assert re.fullmatch(r"==[\w.!+]+", str(requirement.specifier)), requirement
        assert hashes, requirement
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes), requirement


def test_the_lock_names_no_place() -> None:
    """The lock has neither URLs nor options, so that each machine uses its own index."""
    assert "://" not in LOCK
    assert not re.findall(r"^-.*|^\S+ @ .*", LOCK, re.M)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_satisfies_pyproject(python: str, platform: str) -> None:
    """On each Python and platform every declared dependency is locked once, within its bounds."""
    machine: dict[str, str] = {
        **{name: str(value) for name, value in default_environment().items()},
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": platform,
        "platform_system": PLATFORMS[platform],
        "os_name": "nt" if platform == "win32" else "posix",
    }
    versions: dict[str, list[str]] = {}
    for requirement, _ in locked():
        if requirement.marker is None or requirement.marker.evaluate(machine):
            pin = str(requirement.specifier).removeprefix("==")
            versions.setdefault(canonicalize_name(requirement.name), []).append(pin)
    assert {name: pins for name, pins in versions.items() if len(pins) > 1} == {}
    for wanted in declared():
        pins = versions.get(canonicalize_name(wanted.name), [])
        assert [pin for pin in pins if wanted.specifier.contains(pin)], f"{wanted} but {pins}"


def test_every_make_command_in_the_readme_works() -> None:
    """What the README tells a reader to type is a target of the Makefile, and listed by help."""
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", read("README.md"), re.S))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", code, re.M))
    assert {"lab", "test"} <= named
    listed = subprocess.run(
        ["make", "help"], cwd=ROOT, env=_without_make(), check=True, capture_output=True, text=True
    )
    assert named <= set(re.findall(r"^make (\w+)", listed.stdout, re.M))


def _without_make() -> dict[str, str]:
    """The environment, without what a make that runs these tests hands to another make."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}


class CI:
    """Runs .ci/run on a machine where each command only writes down that it was called."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls = folder / "calls"
        self._commands = folder / "commands"
        self._commands.mkdir()
        for name in ("dirname", "env"):
            (self._commands / name).symlink_to(str(shutil.which(name)))
        self.has("id", prints="0")
        for name in ("make", "python3", "apt-get", "google-chrome"):
            self.has(name)

    def has(self, name: str, prints: str = "", exits: int = 0) -> None:
        """The machine has a command of this name."""
        lines = [
            "#!/bin/sh",
            f'echo "{name} $*" >>"{self._calls}"',
            f"echo {prints}",
            f"exit {exits}",
        ]
        (self._commands / name).write_text("\n".join(lines))
        (self._commands / name).chmod(0o755)

    def lacks(self, name: str) -> None:
        """The machine has no command of this name."""
        (self._commands / name).unlink()

    def run(self) -> tuple[bool, list[str]]:
        """Whether .ci/run passes, and what it called to build and to install."""
        done = subprocess.run(
            [str(shutil.which("bash")), str(ROOT / ".ci/run")],
            cwd=self._folder,
            env={"PATH": str(self._commands)},
            stdin=subprocess.DEVNULL,
            check=False,
            capture_output=True,
        )
        calls = self._calls.read_text().splitlines()
        return done.returncode == 0, [c for c in calls if c.startswith(("make", "apt-get"))]


@pytest.fixture
def ci(tmp_path: Path) -> CI:
    return CI(tmp_path)


def test_ci_runs_the_tests(ci: CI) -> None:
    """CI runs what a developer and a reader run, and installs nothing that is there."""
    assert ci.run() == (True, ["make test", "make readme"])


def test_ci_asks_the_real_queues_where_it_can(ci: CI) -> None:
    """Where Go is installed, CI also compares the recordings with the real Go queues."""
    ci.has("go")
    assert ci.run() == (True, ["make test", "make readme", "make oracle"])


def test_ci_installs_what_a_bare_machine_lacks(ci: CI) -> None:
    """On a Debian machine whose Python cannot make a venv, CI installs that first."""
    ci.has("python3", exits=1)
    installs = ["apt-get update -q", "apt-get install -y -q python3-venv"]
    assert ci.run() == (True, [*installs, "make test", "make readme"])


def test_ci_installs_a_browser_where_there_is_none(ci: CI) -> None:
    """The browser tests run in CI always: where no Chromium is found, CI installs Debian's."""
    ci.lacks("google-chrome")
    installs = ["apt-get update -q", "apt-get install -y -q chromium fonts-noto-cjk"]
    assert ci.run() == (True, [*installs, "make test", "make readme"])


def test_ci_fails_with_the_tests(ci: CI) -> None:
    """A failing test makes CI fail, at once."""
    ci.has("make", exits=1)
    ci.has("go")
    assert ci.run() == (False, ["make test"])


def test_the_workflow_runs_ci_on_every_supported_python() -> None:
    """Pushes, pull requests and a weekly run go through .ci/run on each Python that pip accepts."""
    # This loader keeps `on` and 3.10 as they are written.
    workflow = yaml.load(read(".github/workflows/ci.yml"), Loader=yaml.BaseLoader)
    job = workflow["jobs"]["test"]
    assert set(workflow["on"]) == {"push", "pull_request", "schedule"}
    assert job["strategy"]["matrix"]["python"] == PYTHONS
    assert "bash .ci/run" in [step.get("run") for step in job["steps"]]


def test_the_wheel_has_the_whole_package_and_its_licences(tmp_path: Path) -> None:
    """Whoever installs the wheel gets every module, the types and both licences."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*command, "--directory", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "kubequeue").rglob("*.py")}
    assert names >= modules | {"kubequeue/py.typed"}
    info = f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info/licenses"
    assert names >= {f"{info}/LICENSE", f"{info}/notebooks/LICENSE"}


def test_the_licences_are_named() -> None:
    """The code is MIT and the text CC BY 4.0, in the files and in the package's metadata."""
    assert PROJECT["license"] == "MIT AND CC-BY-4.0"
    assert PROJECT["license-files"] == ["LICENSE", "notebooks/LICENSE"]
    code, text = (read(name) for name in PROJECT["license-files"])
    assert code.startswith("MIT License\n\nCopyright (c) 2026 The kubequeue authors\n")
    assert "Creative Commons Attribution 4.0 International License (CC BY 4.0)" in text
