"""Trouble on purpose: a server in front of the server, that refuses, dawdles or loses answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from simpy.events import Timeout

from kubequeue.cluster.apiserver import A, APIServer, Call, Key
from kubequeue.cluster.fault import Fault, check_verb
from kubequeue.cluster.watch import Watch
from kubequeue.errors import APIError, InvalidArgumentError, ServerTimeoutError, UnavailableError
from kubequeue.sim import Simulation, to_ns

WRITES = ("create", "update", "update_status", "patch", "delete")


class FaultyServer(APIServer):
    """A server in front of another: it hands every call on, but for the faults it is given.

    Args:
        sim: the simulation; what strikes only a share of the calls draws from a stream named after
            the fault, ``sim.stream("faults/fail/create/Pod")``.
        server: the server that does the work, perhaps a faulty one too.

    Faults strike a call when it goes out, in the order they were made: delays add up, the first
    failure ends the call after its usual latency. Each is a `Fault`: it counts how often it
    ``struck``, and ends by ``stop()``, by the end of a ``with`` block, or after ``times``.

    >>> from kubequeue.cluster.objects import ObjectMeta, Pod
    >>> sim = Simulation()
    >>> server = FaultyServer(sim, APIServer(sim))
    >>> fault = server.fail("create", Pod, times=1)
    >>> def program():
    ...     for _ in range(2):
    ...         try:
    ...             yield from server.create("me", Pod(ObjectMeta("a", "team-a")))
    ...         except APIError as error:
    ...             print(error)
    >>> _ = sim.process(program()); sim.run()
    the server is currently unable to handle the request
    >>> fault.struck, len(server.store.list(Pod).items)
    (1, 1)
    """

    def __init__(self, sim: Simulation, server: APIServer) -> None:
        self.store = server.store
        self._sim = sim
        self._server = server
        self._faults: list[Fault] = []

    def fail(
        self,
        verb: str,
        kind: type[Any] | None = None,
        *,
        times: int | None = None,
        share: float | None = None,
        key: Key | None = None,
        error: APIError | None = None,
    ) -> Fault:
        """Calls of a verb fail with ``error``, by default `UnavailableError`, and do nothing.

        ``kind``: of this kind only. ``key``: for this object only. ``share``: each with this
        probability. ``times``: so often at most; by default once, with a share without end. The
        verb is one of the server's calls, or ``watch``. Raises `InvalidArgumentError` for a verb
        that there is not, what is no kind, a share not above 0 and up to 1, or times below 1.
        """
        check_verb("fail", verb, ("get", "list", "watch", *WRITES))
        error = UnavailableError() if error is None else error
        if not isinstance(error, APIError):
            raise InvalidArgumentError("error", error, "an APIError, as a server would answer")
        return self._add("fail", verb, kind, _once(times, share), share, key, error=error)

    def slow(
        self,
        verb: str,
        kind: type[Any] | None = None,
        seconds: float = 1.0,
        *,
        times: int | None = None,
        share: float | None = None,
        key: Key | None = None,
    ) -> Fault:
        """Calls of a verb take so many seconds more on their way there; by default all of them.

        The rest is as in `fail`; a watch cannot be slow.
        """
        check_verb("slow", verb, ("get", "list", *WRITES))
        delay_ns = to_ns(seconds, "seconds")
        if delay_ns < 0:
            raise InvalidArgumentError("seconds", seconds, "zero seconds or more")
        return self._add("slow", verb, kind, times, share, key, delay_ns=delay_ns)

    def lose_answer(
        self,
        verb: str,
        kind: type[Any] | None = None,
        *,
        times: int | None = None,
        share: float | None = None,
        key: Key | None = None,
    ) -> Fault:
        """The write happens, and its caller gets `ServerTimeoutError` instead of the answer.

        The rest is as in `fail`; a read or a watch has no answer worth losing.
        """
        check_verb("lose_answer", verb, WRITES)
        times = _once(times, share)
        return self._add("lose_answer", verb, kind, times, share, key, loses_answer=True)

    def watch(
        self, user: str, kind: type[Any], namespace: str = "", resource_version: str = ""
    ) -> Watch:
        """As `APIServer.watch`."""
        for fault in tuple(self._striking("watch", kind, None)):
            raise fault.fresh_error()
        return self._server.watch(user, kind, namespace, resource_version)

    def break_watches(self, kind: type[Any] | None = None, error: APIError | None = None) -> None:
        """As `APIServer.break_watches`."""
        self._server.break_watches(kind, error)

    def latency_ns(self, verb: str) -> int:
        """As `APIServer.latency_ns`."""
        return self._server.latency_ns(verb)

    def _add(
        self,
        what: str,
        verb: str,
        kind: type[Any] | None,
        times: int | None,
        share: float | None,
        key: Key | None,
        **effect: Any,
    ) -> Fault:
        stream = self._sim.stream(f"faults/{what}/{verb}/{getattr(kind, 'kind', '*')}")
        fault = Fault(verb, kind, times, share, key, stream, **effect)
        self._faults.append(fault)
        return fault

    def _striking(self, verb: str, kind: type[Any], key: Key | None) -> Iterator[Fault]:
        """The faults that strike a call, up to the first that ends it. Costs O(faults)."""
        for fault in self._faults:
            if fault.strikes(verb, kind, key):
                yield fault
                if fault.error is not None:
                    break
        if any(not fault.active for fault in self._faults):
            self._faults = [fault for fault in self._faults if fault.active]

    def _call(
        self, verb: str, user: str, kind: type[Any], key: Key, act: Callable[[], A]
    ) -> Call[A]:
        """The call of the server behind, with what strikes it."""
        lost = False
        for fault in tuple(self._striking(verb, kind, key)) if self._faults else ():
            lost = lost or fault.loses_answer
            if fault.delay_ns:
                yield Timeout(self._sim.env, fault.delay_ns)
            if fault.error is not None:
                yield Timeout(self._sim.env, self.latency_ns(verb))
                raise fault.fresh_error()
        answer = yield from self._server._call(verb, user, kind, key, act)
        if lost:
            raise ServerTimeoutError()
        return answer


def _once(times: int | None, share: float | None) -> int | None:
    """How often a fault strikes that was given neither: once."""
    return 1 if times is None and share is None else times
