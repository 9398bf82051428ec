"""Whether what a call was given is of the shape that it expects; if not, a sentence about it."""

from __future__ import annotations

from typing import Any

from kubequeue.errors import InvalidArgumentError


def several(what: str, given: Any, expected: str) -> tuple[Any, ...]:
    """What was given, as a tuple. Raises `InvalidArgumentError` for one thing, or a text.

    >>> several("nodes", ["a", "b"], "a list of names")
    ('a', 'b')
    """
    try:
        found = None if isinstance(given, str) else tuple(given)
    except TypeError:
        found = None
    if found is None:
        raise InvalidArgumentError(what, given, expected)
    return found


def a_kind(what: str, kind: Any) -> Any:
    """``kind`` itself. Raises `InvalidArgumentError` for what is no class of objects."""
    if not (isinstance(kind, type) and isinstance(getattr(kind, "kind", None), str)):
        raise InvalidArgumentError(what, kind, "a class of objects, such as Pod")
    return kind
