"""What plays: one step after another, until the end or until somebody stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Player:
    """Calls ``advance`` again and again until it returns False.

    Args:
        advance: one step; False when there is none left.
        pause: asked before each step for the seconds to wait.
        changed: told whenever playing has begun or ended, and why if something was raised.
    """

    def __init__(
        self,
        advance: Callable[[], bool],
        pause: Callable[[], float],
        changed: Callable[[BaseException | None], None],
    ) -> None:
        self._advance = advance
        self._pause = pause
        self._changed = changed
        self._task: asyncio.Task[None] | None = None

    @property
    def playing(self) -> bool:
        """Whether it plays now."""
        return self._task is not None

    def start(self) -> None:
        """Begin, in the event loop that runs; nothing when it plays already."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._play())
            self._task.add_done_callback(self._ended)
            self._changed(None)

    def stop(self) -> None:
        """End before the next step; nothing when it does not play."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            self._changed(None)

    async def _play(self) -> None:
        while self._advance():
            await asyncio.sleep(self._pause())

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A task keeps its error to itself; this hands it on."""
        if task is self._task:
            self._task = None
            self._changed(None if task.cancelled() else task.exception())
