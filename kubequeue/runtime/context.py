"""What the calls of a client are made under: it is cancelled for all of them, or they are gone.

Mirrors ``context.Context`` of Go as a manager hands it to its controllers
(controller-runtime v0.24.1, pkg/manager/runnable_group.go).
"""

from __future__ import annotations

from simpy.events import Process

from kubequeue.errors import ContextCanceledError
from kubequeue.runtime.lifetime import kill, soon, throw
from kubequeue.sim import Simulation


class Context:
    """Knows the calls under way, so that it can end them."""

    def __init__(self, sim: Simulation) -> None:
        self._env = sim.env
        self._calls: dict[Process, None] = {}
        self.cancelled = False
        self.closed = False

    def begin(self) -> Process | None:
        """A call begins in the process at work. Raises `ContextCanceledError`. Costs O(1)."""
        if self.cancelled:
            raise ContextCanceledError()
        process = self._env.active_process
        if process is not None:
            self._calls[process] = None
        return process

    def end(self, process: Process | None) -> None:
        """The call is over, in whichever way."""
        if process is not None:
            self._calls.pop(process, None)

    def cancel(self) -> None:
        """Let every call under way raise `ContextCanceledError` in this instant."""
        self.cancelled = True
        soon(self._env, self._cancel_all)

    def close(self) -> None:
        """The process is gone: whoever is in a call takes no further step."""
        self.closed = True
        for process in list(self._calls):
            kill(self._env, process)

    def _cancel_all(self) -> None:
        for process in list(self._calls):
            throw(self._env, process, ContextCanceledError())
