"""One line for each number of a lesson: what a run gave, beside what the lesson says."""

from __future__ import annotations

from typing import Any


def compare(sentence: str, seen: Any, expected: Any = True) -> None:
    """Print whether what was computed is what the lesson says, in one line.

    A difference is no error: it shows what your own change did.

    >>> compare("A and B overlap", True)
    ✓ A and B overlap
    >>> compare("workers started", 2, 2)
    ✓ workers started: 2
    >>> compare("workers started", 3, 2)
    ✗ workers started: 3 in this run; the lesson expects 2
    """
    if seen != expected:
        print(f"✗ {sentence}: {seen!r} in this run; the lesson expects {expected!r}")
    else:
        print(f"✓ {sentence}" if seen is True else f"✓ {sentence}: {seen!r}")
