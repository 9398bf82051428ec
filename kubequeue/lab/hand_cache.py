"""A cache that is filled by hand, to ask the memory questions without a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kubequeue.cluster.objects import NamespacedName, ObjectMeta, Pod
from kubequeue.errors import NotFoundError


class HandCache:
    """Shows the Pods of one namespace that somebody put here; ``asked`` is who was looked for.

    >>> cache = HandCache()
    >>> cache.show("x")
    >>> cache.get(Pod, NamespacedName("default", "x")).status.phase
    'Pending'
    """

    def __init__(self, namespace: str = "default") -> None:
        self._namespace = namespace
        self._pods: dict[str, Pod] = {}
        self.asked: list[str] = []

    @property
    def pods(self) -> Mapping[str, Pod]:
        """What it shows, by name."""
        return dict(self._pods)

    def show(self, name: str) -> None:
        """From now on it shows this Pod, which is Pending."""
        self._pods[name] = Pod(ObjectMeta(name, self._namespace))

    def mark(self, name: str) -> None:
        """It shows this Pod as one that is being deleted."""
        meta = ObjectMeta(name, self._namespace, deletion_timestamp=0.0)
        self._pods[name] = replace(self._pods.get(name, Pod(meta)), metadata=meta)

    def hide(self, name: str) -> None:
        """It no longer shows this Pod."""
        self._pods.pop(name, None)

    def get(self, _: type[Any], key: NamespacedName, /) -> Pod:
        """What the memory asks. Raises `NotFoundError`."""
        self.asked.append(key.name)
        if key.namespace != self._namespace or key.name not in self._pods:
            raise NotFoundError("pods", key.name)
        return self._pods[key.name]
