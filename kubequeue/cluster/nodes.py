"""The nodes of a cluster: which are up, and which one is next to get a Pod."""

from __future__ import annotations

from collections.abc import Iterable

from kubequeue.cluster.given import several
from kubequeue.errors import InvalidArgumentError

_NAMES = "a list of one name or more, each once"


class Nodes:
    """Some nodes, served in turn; those that are down are passed over.

    >>> nodes = Nodes(["a", "b", "c"])
    >>> _ = nodes.take_down("b")
    >>> [nodes.choose() for _ in range(3)]
    ['a', 'c', 'a']
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names: tuple[str, ...] = several("nodes", names, _NAMES)
        texts = all(isinstance(name, str) for name in self.names)
        if not (texts and self.names) or len(set(self.names)) < len(self.names):
            raise InvalidArgumentError("nodes", names, _NAMES)
        self.down: dict[str, int] = {}
        self._times_down = 0
        self._turn = 0

    def take_down(self, name: str) -> int:
        """The node is down from now on; gives a number that tells this time from others.

        Raises `InvalidArgumentError` for no node of these.
        """
        self._check(name)
        self._times_down += 1
        return self.down.setdefault(name, self._times_down)

    def bring_up(self, name: str) -> None:
        """The node is up from now on. Raises `InvalidArgumentError` for no node of these."""
        self._check(name)
        self.down.pop(name, None)

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
