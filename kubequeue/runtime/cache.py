"""The local copy of the cluster: one informer for each kind, shared by all controllers.

Mirrors pkg/cache/informer_cache.go and multi_namespace_cache.go of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kubequeue.cluster.duration import Seconds
from kubequeue.cluster.objects import NamespacedName, T
from kubequeue.errors import (
    CacheNotSyncedError,
    InvalidArgumentError,
    NotFoundError,
    UnknownNamespaceError,
)
from kubequeue.runtime.indexer import Indexer
from kubequeue.runtime.informer import Informer
from kubequeue.runtime.lifetime import Lifetime
from kubequeue.runtime.limits import OFF, RateLimits
from kubequeue.runtime.observer import CacheObserver, ClientObserver
from kubequeue.runtime.restclient import Buckets, RESTClient
from kubequeue.runtime.selection import Selectors
from kubequeue.sim import Simulation

ALL_NAMESPACES = ""


class Cache:
    """What reads are answered from; it is behind the server by the lag of its watches.

    Args:
        sim, server, user: what it lives in, and whom it asks as whom.
        namespaces: which to watch: one, or several; empty for all.
        lag: seconds from the server's event to the cache, or (lowest, highest); each informer's
            can be set later.
        resync_period: tell handlers of every object again each so many seconds; 0 for never.
        selectors: for kinds of which only a part is to be here: labels, or a function of an object;
            what leaves the selection is deleted to the handlers (``cache.Options.ByObject``).
        limits: of its lists and watches; each kind has a bucket of its own here too.
        buckets, name: what several clients share, and what the observers call it.

    Objects are frozen, and handed out as they are. Reads are plain calls and take no time.
    """

    def __init__(
        self,
        sim: Simulation,
        server: Any,
        user: str,
        *,
        namespaces: str | Iterable[str] = (),
        lag: Seconds = 0.0,
        resync_period: float = 0.0,
        selectors: Selectors | None = None,
        limits: RateLimits = OFF,
        buckets: Buckets | None = None,
        name: str = "",
        observers: tuple[CacheObserver, ClientObserver] | None = None,
    ) -> None:
        self.namespaces = watched_namespaces(namespaces)
        self._sim = sim
        self._options = {"lag": lag, "resync_period": resync_period}
        self._selectors = dict(selectors or {})
        told, called = observers or (
            sim.observe(CacheObserver, "cache", name),
            sim.observe(ClientObserver, "client", name and f"{name}/cache"),
        )
        self._observer = told
        self._client = RESTClient(sim, server, user, buckets or Buckets(sim, limits), called)
        self._informers: dict[type[Any], Informer] = {}
        self._synced: dict[type[Any], Indexer] = {}
        self._lifetime: Lifetime | None = None

    def informer(self, kind: type[Any]) -> Informer:
        """The one informer of that kind, made at the first call, and started if the cache is.

        Mirrors ``informer_cache.go: GetInformer``.
        """
        if kind not in self._informers:
            namespaced = getattr(kind, "namespaced", True)
            informer = self._informers[kind] = Informer(
                self._sim,
                self._client,
                kind,
                namespaces=self.namespaces if namespaced else (ALL_NAMESPACES,),
                selector=self._selectors.get(kind),
                observer=self._observer,
                **self._options,  # type: ignore[arg-type]
            )
            if self._lifetime is not None:
                informer.start(self._lifetime)
        return self._informers[kind]

    def start(self, lifetime: Lifetime | None = None) -> Lifetime:
        """Start every informer, and each later one as it is made; they end with ``lifetime``."""
        self._lifetime = lifetime = lifetime or self._lifetime or Lifetime(self._sim)
        lifetime.at_end(self._client.close)
        for informer in self._informers.values():
            informer.start(lifetime)
        return lifetime

    @property
    def has_synced(self) -> bool:
        """Whether every informer has its first list. Mirrors ``WaitForCacheSync``."""
        return all(informer.has_synced for informer in self._informers.values())

    def get(self, kind: type[T], key: NamespacedName | str) -> T:
        """The object of that key, as the cache has it. Costs O(1).

        Raises `NotFoundError`, `UnknownNamespaceError` for a namespace that is not watched, and
        `CacheNotSyncedError` before the first list is there.
        """
        name = key if isinstance(key, NamespacedName) else NamespacedName.parse(key)
        found = self._served(kind, name.namespace).get(name)
        if found is None:
            raise NotFoundError(resource_of(kind), name.name)
        result: T = found
        return result

    def list(
        self,
        kind: type[T],
        namespace: str = "",
        labels: Mapping[str, str] | None = None,
        owner_uid: str = "",
    ) -> Sequence[T]:
        """The objects that fit, in order of their keys; without a namespace from all watched ones.

        Costs O(result) by owner or by one label. Raises as `get` does.
        """
        return self._served(kind, namespace).select(namespace, labels, owner_uid)

    def index(self, kind: type[T], name: str, value: Any) -> Sequence[T]:
        """The objects under ``value`` in an index added to the informer. Costs O(result)."""
        return self._served(kind, ALL_NAMESPACES).by_index(name, value)

    def _served(self, kind: type[Any], namespace: str) -> Indexer:
        indexer = self._synced.get(kind)
        if indexer is None:
            informer = self._informers.get(kind)
            if informer is None or not informer.has_synced:
                raise CacheNotSyncedError(kind.kind, informer is not None)
            indexer = self._synced[kind] = informer.indexer
        if namespace and namespace not in self.namespaces and ALL_NAMESPACES not in self.namespaces:
            raise UnknownNamespaceError(kind.kind, namespace, self.namespaces)
        return indexer


def watched_namespaces(namespaces: str | Iterable[str]) -> tuple[str, ...]:
    """Which namespaces to watch, each once and in order; ``("",)`` stands for all.

    Raises `InvalidArgumentError` for what are no names.

    >>> watched_namespaces(["b", "a", "b"]), watched_namespaces("")
    (('a', 'b'), ('',))
    """
    try:
        names = {namespaces} if isinstance(namespaces, str) else set(namespaces)
    except TypeError:
        names = {None}  # type: ignore[arg-type]
    if not all(isinstance(name, str) for name in names):
        raise InvalidArgumentError("namespaces", namespaces, "names; none at all for every one")
    return (ALL_NAMESPACES,) if not names or ALL_NAMESPACES in names else tuple(sorted(names))


def resource_of(kind: type[Any]) -> str:
    """A kind as messages call it, such as ``pods`` or ``rayclusters.ray.io``."""
    plural = getattr(kind, "plural", "") or f"{kind.kind.lower()}s"
    group = getattr(kind, "group", "")
    return f"{plural}.{group}" if group else plural
