"""One thing that goes wrong: which calls it strikes, how often, and what it does to them."""

from __future__ import annotations

import random
from types import TracebackType
from typing import Any

from kubequeue.cluster.given import a_kind
from kubequeue.cluster.metadata import NamespacedName, as_key
from kubequeue.errors import APIError, InvalidArgumentError


class Fault:
    """A fault that `FaultyServer` made; ``struck`` is how often it has struck.

    It is ``active`` until it has struck as often as it may, or until `stop`. In a ``with`` block
    it stops at the end.
    """

    def __init__(
        self,
        verb: str,
        kind: type[Any] | None,
        times: int | None,
        share: float | None,
        key: NamespacedName | str | None,
        stream: random.Random,
        *,
        delay_ns: int = 0,
        error: APIError | None = None,
        loses_answer: bool = False,
    ) -> None:
        if times is not None and (not isinstance(times, int) or times < 1):
            raise InvalidArgumentError("times", times, "a whole number of calls, 1 or more")
        if kind is not None:
            a_kind("the kind of a fault", kind)
        if share is not None and not (isinstance(share, int | float) and 0 < share <= 1):
            raise InvalidArgumentError("share", share, "a part of the calls, above 0 and up to 1")
        self.verb = verb
        self.kind = kind
        self.key = None if key is None else as_key(key)
        self.delay_ns = delay_ns
        self.error = error
        self.loses_answer = loses_answer
        self.struck = 0
        self._left = times
        self._share = share
        self._draw = stream.random
        self._stopped = False

    @property
    def active(self) -> bool:
        """Whether it may strike again."""
        return not self._stopped and self._left != 0

    def stop(self) -> None:
        """It strikes no more. A second call does nothing."""
        self._stopped = True

    def __enter__(self) -> Fault:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def strikes(self, verb: str, kind: type[Any], key: NamespacedName | str | None) -> bool:
        """Whether it strikes this call, and if so, count it."""
        if not (self.active and verb == self.verb and self.kind in (None, kind)):
            return False
        if self.key is not None and (key is None or as_key(key) != self.key):
            return False
        if self._share is not None and self._draw() >= self._share:
            return False
        self.struck += 1
        if self._left is not None:
            self._left -= 1
        return True

    def fresh_error(self) -> APIError:
        """The error, made anew, so that no traceback grows from call to call."""
        error = self.error or APIError()
        return type(error)(*error.args)


def check_verb(what: str, verb: str, verbs: tuple[str, ...]) -> None:
    """Raise `InvalidArgumentError` for a verb that a fault of this sort cannot strike."""
    if verb not in verbs:
        raise InvalidArgumentError(f"the verb of {what}()", verb, f"one of {', '.join(verbs)}")
