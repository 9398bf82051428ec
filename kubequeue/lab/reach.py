"""How far the limits of a running operator reach, at any moment of a run.

Read from the managers (who watches what, with how many workers) and from the trace (who leads, what
is in line, which rounds run). The pictures of it are in ``topology`` and ``topology_svg``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kubequeue.observe.trace import Span, Trace
from kubequeue.runtime.manager import Manager

LEADS, STANDS_BY, ENDED = "leads", "stands by", "ended"
NO_LEASE = "works (no lease)"
_STATE_AFTER = {"starts": STANDS_BY, "leads": LEADS, "works": LEADS, "stops": LEADS, "ended": ENDED}


@dataclass(frozen=True, slots=True)
class Pool:
    """One controller at one moment.

    Attributes:
        name: of the controller, without its manager's.
        workers: each worker, and the key of the round it runs; None while it runs none.
        ready, later: the keys in its queue that are due, and those that are not.
    """

    name: str
    workers: tuple[tuple[str, Any], ...]
    ready: tuple[Any, ...] = ()
    later: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Process:
    """One manager at one moment; ``watches`` is empty for every namespace."""

    name: str
    state: str
    watches: tuple[str, ...]
    pools: tuple[Pool, ...]

    @property
    def works(self) -> bool:
        """Whether its controllers are on: it leads, or it needs no lease for that."""
        return self.state in (LEADS, NO_LEASE)


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything at one moment."""

    at: float
    namespaces: tuple[str, ...]
    processes: tuple[Process, ...]

    @property
    def rounds(self) -> list[tuple[str, str, str, Any]]:
        """The rounds under way: process, controller, worker, key."""
        return [
            (process.name, pool.name, worker, key)
            for process in self.processes
            for pool in process.pools
            for worker, key in pool.workers
            if key is not None
        ]

    @property
    def twice(self) -> list[tuple[str, Any]]:
        """What two rounds look after at one time: a controller's name and a key."""
        seen = [(controller, key) for _, controller, _, key in self.rounds]
        return sorted({each for each in seen if seen.count(each) > 1}, key=str)

    def watched(self, namespace: str) -> bool:
        """Whether somebody watches it."""
        return any(not each.watches or namespace in each.watches for each in self.processes)


class Reach:
    """The moments of a run of some managers.

    Args:
        trace: of the simulation that they are in.
        managers: one or more; several of a simulation have a name each.
        namespaces: to show besides those that are watched by name or have had a round.

    Made once, in O(n log n); a scene costs O(n) in the spans of the trace.
    """

    def __init__(self, trace: Trace, *managers: Manager, namespaces: Iterable[str] = ()) -> None:
        self._managers = managers
        self._spans = [span for span in trace.spans if span.end != span.start]
        self._lives = [each for each in trace.instants if each.kind == "lived"]
        self.keys = sorted({span.key for span in self._spans if span.kind == "round"}, key=str)
        """Every key that had a round."""
        named = {str(key).rpartition("/")[0] for key in self.keys}
        for manager in managers:
            named.update(manager.cache.namespaces)
        self._namespaces = tuple(sorted((named | set(namespaces)) - {""}))

    @property
    def moments(self) -> list[float]:
        """When a round began or ended, when a key got into line, when a manager led or ended."""
        times = {0.0} | {each.at for each in self._lives}
        for span in self._spans:
            if span.kind in ("round", "ready"):
                times |= {span.start} if span.end is None else {span.start, span.end}
        return sorted(times)

    @property
    def busiest(self) -> float:
        """The first moment at which the most rounds run."""
        return max(self.moments, key=lambda at: (len(self._at(at, "round")), -at))

    def scene(self, at: float) -> Scene:
        """The moment ``at``, in seconds, after everything that happened at it."""
        rounds = {(span.source, span.worker): span.key for span in self._at(at, "round")}
        line: dict[tuple[str, str], list[Any]] = {}
        for kind in ("ready", "waiting"):
            for span in self._at(at, kind):
                line.setdefault((span.source, kind), []).append(span.key)
        processes = [self._process(each, at, rounds, line) for each in self._managers]
        return Scene(at, self._namespaces, tuple(processes))

    def _at(self, at: float, kind: str) -> list[Span]:
        return [
            span
            for span in self._spans
            if span.kind == kind and span.start <= at and (span.end is None or at < span.end)
        ]

    def _process(
        self,
        manager: Manager,
        at: float,
        rounds: dict[tuple[str, str], Any],
        line: dict[tuple[str, str], list[Any]],
    ) -> Process:
        pools = []
        for short, each in manager.controllers.items():
            count = max(each.max_concurrent_reconciles, 1)
            names = [f"worker-{number}" for number in range(1, count + 1)]
            pools.append(
                Pool(
                    short,
                    tuple((name, rounds.get((each.name, name))) for name in names),
                    tuple(line.get((each.name, "ready"), ())),
                    tuple(line.get((each.name, "waiting"), ())),
                )
            )
        watches = tuple(name for name in manager.cache.namespaces if name)
        name = manager.name or "operator"
        return Process(name, self._state(manager, at), watches, tuple(pools))

    def _state(self, manager: Manager, at: float) -> str:
        source = manager.name or "manager"
        steps = [
            str(each.values[0]) for each in self._lives if each.source == source and each.at <= at
        ]
        state = _STATE_AFTER[steps[-1]] if steps else STANDS_BY
        return NO_LEASE if state == LEADS and manager.elector is None else state
