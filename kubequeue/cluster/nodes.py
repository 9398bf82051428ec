"""The nodes of a cluster: which are up, and which one is next to get a Pod."""

from __future__ import annotations

from collections.abc import Iterable

from kubequeue.errors import InvalidArgumentError


class Nodes:
    """Some nodes, served in turn; those that are down are passed over.

    >>> nodes = Nodes(["a", "b", "c"])
    >>> nodes.take_down("b")
    >>> [nodes.choose() for _ in range(3)]
    ['a', 'c', 'a']
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        if isinstance(names, str) or not self.names or len(set(self.names)) < len(self.names):
            raise InvalidArgumentError("nodes", names, "one name or more, each once")
        self.down: set[str] = set()
        self._turn = 0

    def take_down(self, name: str) -> None:
        """The node is down from now on. Raises `InvalidArgumentError` for no node of these."""
        self._check(name)
        self.down.add(name)

    def bring_up(self, name: str) -> None:
        """The node is up from now on. Raises `InvalidArgumentError` for no node of these."""
        self._check(name)
        self.down.discard(name)

    def choose(self) -> str:
        """The next node that is up; empty when none is. Costs O(nodes)."""
        for _ in self.names:
            name = self.names[self._turn]
            self._turn = (self._turn + 1) % len(self.names)
            if name not in self.down:
                return name
        return ""

    def _check(self, name: str) -> None:
        if name not in self.names:
            raise InvalidArgumentError("node", name, f"one of {', '.join(self.names)}")
