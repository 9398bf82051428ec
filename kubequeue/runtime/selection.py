"""Which objects of a kind a list and a watch are about, when a selector leaves some of them out.

Mirrors ``cache_watcher.go: convertToWatchEvent`` of apiserver v0.36 (pkg/storage/cacher).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kubequeue.cluster.objects import NamespacedName, key_of
from kubequeue.cluster.watch import ADDED, DELETED, MODIFIED, WatchEvent
from kubequeue.errors import InvalidArgumentError

Selector = Callable[[Any], bool] | Mapping[str, str]
"""Whether an object is selected, or the labels that it has to have."""

Selectors = Mapping[type[Any], Selector]
"""The selector of each kind; a kind without one is there as a whole."""


class Selection:
    """The objects that a selector picks, followed from a list on through a watch.

    Raises `InvalidArgumentError` for a selector that is neither a function nor labels.

    >>> from kubequeue.cluster.objects import ObjectMeta, Pod
    >>> selection = Selection({"team": "a"})
    >>> mine = Pod(ObjectMeta("p", "default", labels={"team": "a"}))
    >>> other = Pod(ObjectMeta("p", "default", labels={"team": "b"}))
    >>> [event.type for pod in (mine, mine, other)
    ...  for event in [selection.of(WatchEvent("MODIFIED", pod, 0))] if event]
    ['ADDED', 'MODIFIED', 'DELETED']
    """

    def __init__(self, selector: Selector) -> None:
        self._selects = _predicate(selector)
        self._there: dict[NamespacedName, Any] = {}

    def begin(self, objects: Iterable[Any]) -> list[Any]:
        """What is selected of all that is there; events are about what follows. Costs O(n)."""
        selected = [obj for obj in objects if self._selects(obj)]
        self._there = {key_of(obj): obj for obj in selected}
        return selected

    def of(self, event: Any) -> Any | None:
        """The event as whoever watches the selection hears of it, or None. Costs O(1).

        An object that comes into the selection is ADDED, and one that leaves it is DELETED, as it
        was before, with the version of the change.
        """
        obj = event.object
        key = key_of(obj)
        if event.type != DELETED and self._selects(obj):
            known = key in self._there
            self._there[key] = obj
            return event._replace(type=MODIFIED if known else ADDED)
        before = self._there.pop(key, None)
        if before is None or event.type == DELETED:
            return None if before is None else event
        version = obj.metadata.resource_version
        left = replace(before, metadata=replace(before.metadata, resource_version=version))
        return WatchEvent(DELETED, left, event.at_ns)


def _predicate(selector: Selector) -> Callable[[Any], bool]:
    if isinstance(selector, Mapping):
        wanted = selector.items()
        return lambda obj: bool(wanted <= obj.metadata.labels.items())
    if not callable(selector):
        raise InvalidArgumentError("a selector", selector, "labels, or a function of the object")
    return selector
