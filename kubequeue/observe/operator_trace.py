"""What the parts of an operator around its queues do: its client, its cache, its manager."""

from __future__ import annotations

from typing import Any

from simpy import Environment

Record = tuple[Any, ...]


class ClientTrace:
    """Writes down the calls of one client; its methods are hooks of ``ClientObserver``."""

    def __init__(self, env: Environment, name: str, records: list[Record]) -> None:
        self._env = env
        self._name = name or "client"
        self._append = records.append

    def sent(self, verb: str, kind: str, key: str, throttled_ns: int) -> None:
        call = f"{verb} {kind}"
        self._append((self._env.now, "sent", self._name, call, key, throttled_ns))

    def answered(
        self, verb: str, _method: str, kind: str, key: str, code: int, took_ns: int, error: str
    ) -> None:
        call = f"{verb} {kind}"
        self._append((self._env.now, "answered", self._name, call, key, code, took_ns, error))


class CacheTrace:
    """Writes down what a cache learns; its methods are hooks of ``CacheObserver``."""

    def __init__(self, env: Environment, name: str, records: list[Record]) -> None:
        self._env = env
        self._name = name or "cache"
        self._append = records.append

    def listed(self, kind: str, namespace: str, count: int) -> None:
        self._append((self._env.now, "listed", self._name, kind, None, namespace, count))

    def cached(self, kind: str, change: str, key: str, resource_version: str) -> None:
        self._append((self._env.now, "cached", self._name, kind, key, change, resource_version))

    def watch_ended(self, kind: str, namespace: str, why: str) -> None:
        self._append((self._env.now, "watch_ended", self._name, kind, None, namespace, why))


class ManagerTrace:
    """Writes down the life of a manager; its methods are hooks of ``ManagerObserver``."""

    def __init__(self, env: Environment, name: str, records: list[Record]) -> None:
        self._env = env
        self._name = name or "manager"
        self._append = records.append

    def lived(self, step: str, why: str) -> None:
        self._append((self._env.now, "lived", self._name, self._name, None, step, why))

    def crashed(self, controllers: tuple[str, ...]) -> None:
        for source in controllers:
            self._append((self._env.now, "crashed", source, self._name, None))
