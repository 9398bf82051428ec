"""Running what a learner wrote: it may raise, wait, run for ever or change what it is given."""

from __future__ import annotations

import gc
import io
import re
import signal
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from copy import deepcopy
from types import CodeType, FrameType, FunctionType
from typing import Any

MAX_LINES = 1_000_000
"""How many lines of a learner's code may run in one check."""

MAX_WORDS = 120
"""How many characters of a learner's value or error go into a sentence."""

_NET_SECONDS, _NET_AGAIN = 10.0, 0.05
_MAX_PRINTED = 2_000
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]*")
_LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")} | {"<frozen"}
)
_PACKAGE = __file__.partition("/lab/checks/")[0]


class Complaint(Exception):  # noqa: N818 - it is an answer, no error
    """What is wrong with an answer, in a sentence; ``hints`` are for just this mistake."""

    def __init__(self, sentence: str, hints: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.hints = hints


class WrongFormError(Complaint):
    """The answer has a form that cannot be judged; a hint on its content would not help."""


class NotAnsweredError(Exception):
    """The answer is still the three dots that the exercise came with."""


class TookTooLongError(BaseException):
    """The answer ran for so long that it would never have ended."""


def attempt(judge: Callable[[], str]) -> str:
    """What ``judge`` returns; whatever goes wrong in it comes out as a `Complaint`.

    Afterwards the interpreter is as it was: its tracing, its signals, its timers; what the answer
    left unfinished has been ended. A `NotAnsweredError` passes through. One thing cannot be helped:
    a single call into a library written in C that never returns, such as ``max`` of an endless
    iterator, holds the kernel until it is restarted.
    """
    try:
        with _line_budget(), _time_net(), _quiet_ends(), redirect_stdout(_Shortened()):
            try:
                return judge()
            except Exception as error:
                trouble = _told(error)
            finally:
                gc.collect()  # ends suspended rounds here, where they can do no harm
            raise trouble
    except TookTooLongError:
        raise Complaint("it never came to an end; look for a loop that cannot stop") from None
    except KeyboardInterrupt:
        raise NotAnsweredError from None
    except (Complaint, NotAnsweredError):
        raise
    except BaseException as error:
        raise Complaint(f"it raised {named(error)}{_where(error)}") from None


def call(function: Callable[..., Any], *given: Any) -> Any:
    """What a learner's function returns for copies of ``given``.

    Raises `Complaint` when it cannot be called, raises, or changes what it was given, and
    `NotAnsweredError` when it returns the three dots.
    """
    if not callable(function):
        raise Complaint(f"{shown(function)} was given, and a function was expected")
    copies = deepcopy(given)
    told = ", ".join(map(_given, given))
    try:
        answer = function(*copies)
    except Exception as error:
        raise Complaint(f"given ({told}) it raised {named(error)}{_where(error)}") from None
    if answer is ...:
        raise NotAnsweredError
    if copies != given:
        raise Complaint(f"given ({told}) it changed what it was given; work on a copy")
    return answer


def shown(value: Any) -> str:
    """A learner's value in one short line, whatever its own ``repr`` does."""
    try:
        return _line(repr(value))
    except Exception:
        return f"something of type {type(value).__name__}"


def named(error: BaseException) -> str:
    """An error's type and words in one short line, whatever its own ``str`` does."""
    try:
        words = _line(str(error))
    except Exception:
        words = ""
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def _given(value: Any) -> str:
    """What a learner's function was given: a function by its name, as the task calls it."""
    return str(value.__name__) if isinstance(value, FunctionType) else repr(value)


def _line(words: str) -> str:
    """The words on one short line, without the addresses of objects, which say nothing."""
    whole = _ADDRESS.sub("", " ".join(words[: 2 * MAX_WORDS].split()))
    return whole if len(whole) <= MAX_WORDS else f"{whole[:MAX_WORDS]}…"


def _told(error: Exception) -> Exception:
    if isinstance(error, Complaint | NotAnsweredError):
        return error.with_traceback(None)
    return Complaint(f"it raised {named(error)}{_where(error)}")


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
    return code.co_filename.startswith((_PACKAGE, *_LIBRARIES))


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
    """Catch what runs no lines: an answer that waits, or a loop that swallows errors."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGALRM, stop)
    timer = signal.setitimer(signal.ITIMER_REAL, _NET_SECONDS, _NET_AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *timer)


@contextmanager
def _quiet_ends() -> Iterator[None]:
    """What goes wrong while leftovers of an answer end is no news for the learner."""
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = before


class _Shortened(io.TextIOBase):
    """Where an answer prints to: the page, up to so many characters in one check."""

    def __init__(self) -> None:
        self._page, self._left = sys.stdout, _MAX_PRINTED

    def write(self, words: str) -> int:
        if self._left > 0:
            self._page.write(words[: self._left])
            if len(words) > self._left:
                self._page.write("\n(more was printed than fits here)\n")
        self._left -= len(words)
        return len(words)
