"""The objects of one kind in memory, found by key, by namespace, by label and by owner."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from kubequeue.cluster.objects import NamespacedName, key_of
from kubequeue.errors import InvalidArgumentError

IndexFunction = Callable[[Any], Iterable[Hashable]]
"""The values under which an object is to be found in one index."""

NAMESPACE, LABEL, OWNER = "namespace", "label", "owner"


def _by_namespace(obj: Any) -> Iterable[Hashable]:
    return (obj.metadata.namespace,)


def _by_label(obj: Any) -> Iterable[Hashable]:
    namespace = obj.metadata.namespace
    return ((namespace, name, value) for name, value in obj.metadata.labels.items())


def _by_owner(obj: Any) -> Iterable[Hashable]:
    return (owner.uid for owner in obj.metadata.owner_references)


_FROM_METADATA: dict[str, IndexFunction] = {
    NAMESPACE: _by_namespace,
    LABEL: _by_label,
    OWNER: _by_owner,
}


class _Bucket:
    """The keys that share one value; put in order when somebody looks after a change."""

    __slots__ = ("_keys", "_ordered")

    def __init__(self) -> None:
        self._keys: set[NamespacedName] = set()
        self._ordered: tuple[NamespacedName, ...] | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: NamespacedName) -> None:
        self._keys.add(key)
        self._ordered = None

    def discard(self, key: NamespacedName) -> None:
        self._keys.discard(key)
        self._ordered = None

    def in_order(self) -> tuple[NamespacedName, ...]:
        if self._ordered is None:
            self._ordered = tuple(sorted(self._keys))
        return self._ordered


class Indexer:
    """Objects by key, and indices kept up to date with every change.

    Objects are frozen, so what is held is handed out as it is. Every answer is in order of the
    keys. ``namespace``, ``label`` and ``owner`` are indexed from the start.
    Mirrors ``thread_safe_store.go: threadSafeMap`` and ``storeIndex`` (client-go v0.36).
    """

    def __init__(self) -> None:
        self._objects: dict[NamespacedName, Any] = {}
        self._buckets: dict[str, dict[Hashable, _Bucket]] = {name: {} for name in _FROM_METADATA}
        self._functions: dict[str, IndexFunction] = {}
        self._all = _Bucket()

    def __len__(self) -> int:
        """How many objects there are. Costs O(1)."""
        return len(self._objects)

    def __iter__(self) -> Iterator[Any]:
        """Every object, in order of the keys. Costs O(n), and O(n log n) after an add or delete."""
        return map(self._objects.__getitem__, self._all.in_order())

    def add_index(self, name: str, function: IndexFunction) -> None:
        """Index by what ``function`` makes of an object. Costs O(n). Mirrors ``AddIndexers``.

        Raises `InvalidArgumentError` when there is an index of that name.
        """
        if name in self._buckets:
            raise InvalidArgumentError("the index", name, "a name that no index has yet")
        self._functions[name] = function
        self._buckets[name] = {}
        for key, obj in self._objects.items():
            self._insert(name, function(obj), key)

    def get(self, key: NamespacedName) -> Any | None:
        """The object of that key, or None. Costs O(1)."""
        return self._objects.get(key)

    def put(self, obj: Any) -> Any | None:
        """Add or replace an object; the one that was there before. Costs O(its index values)."""
        key = key_of(obj)
        old = self._objects.get(key)
        self._objects[key] = obj
        if old is None:
            self._all.add(key)
        self._update(key, old, obj)
        return old

    def delete(self, key: NamespacedName) -> Any | None:
        """Take an object out; the one that was there, or None. Costs O(its index values)."""
        old = self._objects.pop(key, None)
        if old is not None:
            self._all.discard(key)
            self._update(key, old, None)
        return old

    def by_index(self, name: str, value: Hashable) -> list[Any]:
        """The objects under ``value`` in one index. Costs O(result). Mirrors ``ByIndex``.

        Raises `InvalidArgumentError` for an index that does not exist.
        """
        if name not in self._buckets:
            raise InvalidArgumentError("the index", name, f"one of {sorted(self._buckets)}")
        bucket = self._buckets[name].get(value)
        return [] if bucket is None else [self._objects[key] for key in bucket.in_order()]

    def select(
        self, namespace: str = "", labels: Mapping[str, str] | None = None, owner_uid: str = ""
    ) -> list[Any]:
        """The objects that fit everything asked for; empty means any.

        Costs O(objects of the owner) when there is one, else O(objects with the rarest label),
        for each namespace, else O(objects of the namespace).
        """
        wanted = labels or {}
        if owner_uid:
            found = self.by_index(OWNER, owner_uid)
            return [obj for obj in found if _fits(obj, namespace, wanted)]
        if wanted:
            return self._by_labels(namespace, wanted)
        return self.by_index(NAMESPACE, namespace) if namespace else list(self)

    def _by_labels(self, namespace: str, wanted: Mapping[str, str]) -> list[Any]:
        namespaces = [namespace] if namespace else sorted(map(str, self._buckets[NAMESPACE]))
        found: list[Any] = []
        for place in namespaces:
            rarest = min(
                (self._buckets[LABEL].get((place, *label), _NOTHING) for label in wanted.items()),
                key=len,
            )
            here = map(self._objects.__getitem__, rarest.in_order())
            found += here if len(wanted) == 1 else (o for o in here if _fits(o, "", wanted))
        return found

    def _update(self, key: NamespacedName, old: Any, new: Any) -> None:
        """Mirrors ``thread_safe_store.go: updateIndices``."""
        if old is None or new is None or not _same_place(old.metadata, new.metadata):
            for name, function in _FROM_METADATA.items():
                self._move(name, function, key, old, new)
        for name, function in self._functions.items():
            self._move(name, function, key, old, new)

    def _move(self, name: str, function: IndexFunction, key: NamespacedName, *pair: Any) -> None:
        before, after = (() if obj is None else tuple(function(obj)) for obj in pair)
        if before != after:
            self._remove(name, before, key)
            self._insert(name, after, key)

    def _insert(self, name: str, values: Iterable[Hashable], key: NamespacedName) -> None:
        buckets = self._buckets[name]
        for value in values:
            if value not in buckets:
                buckets[value] = _Bucket()
            buckets[value].add(key)

    def _remove(self, name: str, values: Iterable[Hashable], key: NamespacedName) -> None:
        buckets = self._buckets[name]
        for value in values:
            bucket = buckets.get(value)
            if bucket is not None:
                bucket.discard(key)
                if not bucket:
                    del buckets[value]

    def _check(self) -> None:
        """Raise AssertionError when an index and the objects do not agree. Costs O(n)."""
        for name, function in {**_FROM_METADATA, **self._functions}.items():
            told = {(value, key) for key, obj in self._objects.items() for value in function(obj)}
            held = {(value, k) for value, b in self._buckets[name].items() for k in b.in_order()}
            assert told == held, f"index {name}"
        assert set(self._all.in_order()) == set(self._objects), "keys"


_NOTHING = _Bucket()


def _same_place(old: Any, new: Any) -> bool:
    """Most updates leave labels and owners alone, and then the indices that go by them."""
    return bool(
        (old.labels is new.labels or old.labels == new.labels)
        and (
            old.owner_references is new.owner_references
            or old.owner_references == new.owner_references
        )
    )


def _fits(obj: Any, namespace: str, labels: Mapping[str, str]) -> bool:
    has = obj.metadata.labels
    return (not namespace or obj.metadata.namespace == namespace) and all(
        has.get(name) == value for name, value in labels.items()
    )
