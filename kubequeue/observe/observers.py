"""One observer out of many: what a producer calls, joined from those who listen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any


def join(protocol: type[Any], parts: Iterable[object]) -> Any:
    """An observer whose hooks call those parts that have them; with no part they do nothing.

    ``protocol`` names the hooks. A hook that one part has is that part's own method, so that a run
    pays for what listens and for nothing else.
    """
    listeners = list(parts)
    joined = SimpleNamespace()
    for hook in (name for name in vars(protocol) if not name.startswith("_")):
        setattr(joined, hook, _each([getattr(p, hook) for p in listeners if hasattr(p, hook)]))
    return joined


def _each(calls: list[Callable[..., None]]) -> Callable[..., None]:
    if len(calls) < 2:
        return calls[0] if calls else _nothing
    first, rest = calls[0], _each(calls[1:])

    def call_each(*args: object) -> None:
        first(*args)
        rest(*args)

    return call_each


def _nothing(*_: object) -> None:
    pass
