"""Running what a learner wrote: it may raise, run for ever or change what it is given."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from types import CodeType, FrameType
from typing import Any

MAX_LINES = 1_000_000
"""How many lines of a learner's code may run in one check."""

_NET_SECONDS, _NET_AGAIN = 10.0, 0.05
_PACKAGE = __name__.partition(".")[0]


class Complaint(Exception):  # noqa: N818 - it is an answer, no error
    """What is wrong with an answer, in a sentence."""


class NotAnsweredError(Exception):
    """The answer is still the three dots that the exercise came with."""


class TookTooLongError(BaseException):
    """The answer ran for so long that it would never have ended."""


def attempt(judge: Callable[[], str]) -> str:
    """What ``judge`` returns; whatever goes wrong in it comes out as a `Complaint`.

    Afterwards the interpreter is as it was: its tracing, its signals, its timers. A
    `NotAnsweredError` passes through.
    """
    try:
        with _line_budget(), _time_net():
            return judge()
    except (Complaint, NotAnsweredError):
        raise
    except TookTooLongError:
        raise Complaint("it never came to an end; look for a loop that cannot stop") from None
    except BaseException as error:
        raise Complaint(f"it raised {_named(error)}{_where(error)}") from None


def call(function: Callable[..., Any], *given: Any) -> Any:
    """What a learner's function returns for copies of ``given``.

    Raises `Complaint` when it cannot be called, raises, or changes what it was given, and
    `NotAnsweredError` when it returns the three dots.
    """
    if not callable(function):
        raise Complaint(f"{function!r} was given, and a function was expected")
    copies = deepcopy(given)
    told = ", ".join(map(repr, given))
    try:
        answer = function(*copies)
    except Exception as error:
        raise Complaint(f"given ({told}) it raised {_named(error)}{_where(error)}") from None
    if answer is ...:
        raise NotAnsweredError
    if copies != given:
        raise Complaint(f"given ({told}) it changed what it was given; work on a copy")
    return answer


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _where(error: BaseException) -> str:
    """The line of the learner's own code that it came from, if it came from there."""
    lines, trace = [], error.__traceback__
    while trace is not None:
        if not _is_ours(trace.tb_frame.f_code):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f" in line {lines[-1]} of the cell" if lines else ""


def _is_ours(code: CodeType) -> bool:
    """Whether code belongs to a library: the learner's comes from a cell."""
    return f"/{_PACKAGE}/" in code.co_filename or "site-packages" in code.co_filename


@contextmanager
def _line_budget() -> Iterator[None]:
    """Count the lines that run outside of libraries, and stop when there are too many."""
    left, before = MAX_LINES, sys.gettrace()

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if event == "call" and _is_ours(frame.f_code):
            return None
        left -= 1
        if left < 0:
            raise TookTooLongError
        return count

    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)


@contextmanager
def _time_net() -> Iterator[None]:
    """Catch what runs no lines: a call that computes for ever, or a loop that swallows errors."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _NET_SECONDS, _NET_AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
