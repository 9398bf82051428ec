"""Two writers of one object, run in the model: the second has read before the first wrote."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

from simpy.events import Event

from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import KINDS, NamespacedName, ObjectMeta
from kubequeue.errors import ConflictError, InvalidArgumentError, TerminalError
from kubequeue.kuberay import api
from kubequeue.kuberay.api import HeadGroupSpec, RayCluster, RayClusterSpec, WorkerGroupSpec
from kubequeue.runtime.limits import OFF
from kubequeue.runtime.manager import Manager
from kubequeue.runtime.predicates import generation_changed
from kubequeue.sim import Simulation

USER, OPERATOR, CACHE, SERVER = "user", "operator", "cache", "server"
WRITERS = (USER, OPERATOR)
TRIES = 4
"""How often the second writer tries before the run ends."""

_KEY = NamespacedName("default", "a")
_QUICK, _SLOW, _PATIENCE = 0.010, 0.040, 0.050
Way = tuple[str, str] | tuple[()]
Steps = Generator[Event, Any, None]


@dataclass(frozen=True, slots=True)
class Moment:
    """One step of the run.

    Attributes:
        at: seconds.
        sentence: what happened.
        way: from whom to whom, of `USER`, `OPERATOR`, `CACHE` and `SERVER`; empty for nobody.
        versions: who has which version of the object; 0 for none.
        outcome: of a write: ``written`` or ``Conflict``; empty otherwise.
    """

    at: float
    sentence: str
    way: Way
    versions: dict[str, int]
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One write: who sent which version when, what the server had, and what it answered.

    ``cache_had`` is the version in the operator's cache at that moment.
    """

    at: float
    writer: str
    sent: int
    server_had: int
    answer: str
    cache_had: int


class ConflictRun:
    """A user changes the spec of RayCluster a while the operator writes its status.

    Args:
        first: who writes first, "user" or "operator"; both have read by then.
        rereads: whether the second one reads again before it tries again.
        lag: seconds until the operator's cache learns of a write.

    ``moments`` and ``attempts`` are what happened, ``trace`` is every step of it.

    Raises `InvalidArgumentError` for another ``first``.

    >>> [(each.writer, each.sent, each.answer) for each in ConflictRun().attempts]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('user', 1, 'written'), ('operator', 1, 'Conflict'), ('operator', 1, 'Conflict'),
     ('operator', 2, 'written')]
    """

    def __init__(self, first: str = USER, *, rereads: bool = True, lag: float = 0.067) -> None:
        if first not in WRITERS:
            raise InvalidArgumentError("first", first, '"user" or "operator"')
        self.first, self.rereads = first, rereads
        self.second = OPERATOR if first == USER else USER
        self.moments: list[Moment] = []
        self.attempts: list[Attempt] = []
        self._held: dict[str, RayCluster] = {}
        self._cached = 0
        self._left = set(WRITERS)
        self._sim = sim = Simulation(metrics=False)
        self.trace = sim.trace
        self._server = APIServer(sim, (*KINDS, *api.KINDS))
        groups = (WorkerGroupSpec("workers", replicas=1),)
        self._server.store.create(
            RayCluster(
                ObjectMeta(_KEY.name, _KEY.namespace), RayClusterSpec(HeadGroupSpec(), groups)
            )
        )
        self._manager = Manager(sim, self._server, limits=OFF, lag=lag)
        self._manager.cache.informer(RayCluster).add_event_handler(self)
        self._manager.controller(
            "raycluster", for_=RayCluster, reconcile=self._round, predicates=generation_changed
        )
        self._note("RayCluster a is on the server. Nobody has read it yet.")
        self._manager.start()
        sim.process(self._user())
        sim.run(until=2.0)

    # What the cache tells.

    def on_add(self, obj: Any, is_in_initial_list: bool) -> None:
        """The first list is in the cache."""
        self._cached = int(obj.metadata.resource_version)
        self._note("the operator's cache has its first list.", (SERVER, CACHE))

    def on_update(self, _: Any, new: Any) -> None:
        """The cache has a newer version."""
        self._cached = int(new.metadata.resource_version)
        self._note(f"the operator's cache learns of version {self._cached}.", (SERVER, CACHE))

    def on_delete(self, _: Any) -> None:
        """Nothing is deleted here."""

    # The two writers.

    def _round(self, _: Any) -> Steps:
        """One round of the operator: read from the cache, work it out, write the status."""
        if OPERATOR not in self._left:
            return
        if self.rereads or OPERATOR not in self._held:
            self._held[OPERATOR] = self._manager.client.get(RayCluster, _KEY)
            self._note(
                f"the operator reads version {self._version(OPERATOR)} from its cache.",
                (CACHE, OPERATOR),
            )
        else:
            self._note("the operator takes the object that it read before.")
        yield self._sim.sleep(self._pause(OPERATOR))
        mine = self._held[OPERATOR]
        wanted = sum(group.replicas or 0 for group in mine.spec.worker_group_specs)
        status = replace(mine.status, desired_worker_replicas=wanted)
        refused = yield from self._write(
            OPERATOR, self._manager.client.update_status(replace(mine, status=status))
        )
        if refused is not None and OPERATOR in self._left:
            raise refused
        if refused is not None:
            raise TerminalError("tried often enough")

    def _user(self) -> Steps:
        """A user: read from the server, change the spec, write it."""
        while USER in self._left:
            if self.rereads or USER not in self._held:
                self._held[USER] = yield from self._server.get(USER, RayCluster, _KEY)
                self._note(
                    f"the user reads version {self._version(USER)} from the server.", (SERVER, USER)
                )
            else:
                self._note("the user takes the object that was read before.")
            yield self._sim.sleep(self._pause(USER))
            mine = self._held[USER]
            groups = tuple(replace(group, replicas=2) for group in mine.spec.worker_group_specs)
            changed = replace(mine, spec=replace(mine.spec, worker_group_specs=groups))
            yield from self._write(USER, self._server.update(USER, changed))
            yield self._sim.sleep(_PATIENCE)

    def _write(self, writer: str, call: Any) -> Generator[Event, Any, ConflictError | None]:
        """Write, and note the answer; the refusal, if it was one."""
        sent, part = self._version(writer), "status" if writer == OPERATOR else "spec"
        try:
            new = yield from call
        except ConflictError as refusal:
            tries = sum(each.writer == writer for each in self.attempts) + 1
            self._answer(writer, sent, "Conflict")
            more = self._and_then(writer) if tries < TRIES else "That makes four; it gives up."
            words = f"the server refuses the {writer}'s {part}: Conflict. It was sent as version "
            self._note(
                f"{words}{sent}, and the server has {self._now()}. {more}",
                (writer, SERVER),
                "Conflict",
            )
            if tries >= TRIES:
                self._left.clear()
            return refusal
        self._answer(writer, sent, "written")
        version = new.metadata.resource_version
        words = f"the server takes the {writer}'s {part}: version {sent} becomes {version}."
        self._held[writer] = new
        self._note(words, (writer, SERVER), "written")
        self._left.discard(writer)
        return None

    def _and_then(self, writer: str) -> str:
        if writer == OPERATOR:
            return "The round ends in an error, and the key waits for its back-off."
        return "The user waits a little."

    def _answer(self, writer: str, sent: int, answer: str) -> None:
        had = self._now() - (answer == "written")
        self.attempts.append(Attempt(self._sim.now, writer, sent, had, answer, self._cached))

    def _pause(self, writer: str) -> float:
        """The first one is quick the first time, so that it writes first."""
        fresh = not any(each.writer == writer for each in self.attempts)
        return _SLOW if fresh and writer == self.second else _QUICK

    def _version(self, writer: str) -> int:
        held = self._held.get(writer)
        return int(held.metadata.resource_version) if held else 0

    def _now(self) -> int:
        return int(self._server.store.get(RayCluster, _KEY).metadata.resource_version)

    def _note(
        self, sentence: str, way: tuple[str, str] | tuple[()] = (), outcome: str = ""
    ) -> None:
        if not self._left:
            return
        versions = {
            USER: self._version(USER),
            SERVER: self._now(),
            CACHE: self._cached,
            OPERATOR: self._version(OPERATOR),
        }
        sentence = sentence[0].upper() + sentence[1:]
        self.moments.append(Moment(self._sim.now, sentence, way, versions, outcome))
