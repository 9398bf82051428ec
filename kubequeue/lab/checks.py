"""Checks that answer in a sentence and never stop a lesson."""

from __future__ import annotations

from typing import Any


def check(sentence: str, seen: Any, expected: Any = True) -> None:
    """Print whether what was computed is what the lesson says, in one line.

    A difference is no error: it shows what your own change did.

    >>> check("two workers were started", 2, 2)
    ✓ two workers were started
    >>> check("two workers were started", 3, 2)
    ✗ two workers were started: this run has 3, the lesson expects 2
    """
    if seen == expected:
        print(f"✓ {sentence}")
    else:
        print(f"✗ {sentence}: this run has {seen!r}, the lesson expects {expected!r}")
