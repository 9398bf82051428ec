"""What ``import kubequeue`` brings, and what it leaves until somebody draws."""

from __future__ import annotations

import subprocess
import sys

import pytest

import kubequeue


def loaded_after(program: str) -> set[str]:
    """The modules that a fresh Python has after running a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    return set(done.stdout.split())


def test_importing_loads_no_heavy_library() -> None:
    """A program that only counts or scrapes does not wait for what draws."""
    loaded = loaded_after("import kubequeue")
    assert "simpy" in loaded
    assert not loaded & {"matplotlib", "pandas", "numpy", "ipywidgets", "IPython", "networkx"}


def test_plots_are_there_when_asked_for() -> None:
    """``from kubequeue import plots`` works, and is what brings matplotlib."""
    assert "matplotlib" in loaded_after("from kubequeue import plots; plots.gantt")


def test_the_names_are_sorted_and_all_there() -> None:
    """What the package promises can be imported, and is found by tab completion."""
    assert kubequeue.__all__ == sorted(kubequeue.__all__)
    assert all(getattr(kubequeue, name) is not None for name in kubequeue.__all__)
    assert set(kubequeue.__all__) <= set(dir(kubequeue))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A typing mistake is told as for any other module."""
    with pytest.raises(AttributeError, match="no attribute 'PriorityQeue'"):
        _ = kubequeue.PriorityQeue
