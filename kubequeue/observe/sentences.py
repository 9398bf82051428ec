"""Each kind of step in one sentence: who did what to which key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kubequeue.observe.kuberay import KUBERAY_SENTENCES

NANOSECONDS = 1_000_000_000
_CALLER = "the caller"


def sentence(kind: str, actor: str, key: Any, values: tuple[Any, ...]) -> str:
    """The sentence for one step of ``Trace``; ``values`` are what its hook was given besides."""
    return _SENTENCES[kind](actor, key, *values)


def _buffered(_: str, key: Any, after_ns: int, rate_limited: bool, priority: int | None) -> str:
    asks = []
    if after_ns:
        asks.append(f"after {_seconds(after_ns)}")
    if rate_limited:
        asks.append("rate-limited")
    if priority is not None:
        asks.append(f"at priority {priority}")
    return f"{key} enters the add buffer{' ' * bool(asks)}{', '.join(asks)}."


def _delayed(loop: str, key: Any, ready_at_ns: int) -> str:
    return f"{loop or _CALLER} puts {key} among the waiting, due at {_seconds(ready_at_ns)}."


def _merged(loop: str, key: Any, priority: int | None, ready_at_ns: int | None) -> str:
    when = "now" if ready_at_ns is None else f"at {_seconds(ready_at_ns)}"
    return (
        f"{loop or _CALLER} merges a request into the record of {key}: due {when}{_at(priority)}."
    )


def _added(loop: str, key: Any, priority: int | None) -> str:
    return f"{loop or _CALLER} makes {key} ready{_at(priority)}."


def _got(worker: str, key: Any, priority: int | None, locked: bool) -> str:
    return f"{worker} takes {key}{_at(priority)}, which is {'now' if locked else 'not'} locked."


def _done(worker: str, key: Any) -> str:
    if worker:
        return f"{worker} is done with {key}, which is unlocked."
    return f"the work on {key} is called done; the queue held no lock for it."


def _round_ended(
    worker: str,
    key: Any,
    result: str,
    took_ns: int,
    error: str,
    panicked: bool,
    terminal: bool,
    requeue_after_ns: int,
) -> str:
    told = f"{worker} ends its round of {key} after {_seconds(took_ns)}: "
    if result == "error":
        kind = "the reconciler raised" if panicked else "terminal error" if terminal else "error"
        then = "not tried again" if terminal else "tried again with back-off"
        return f"{told}{kind} {error}, {then}."
    if result == "requeue_after":
        return f"{told}come back in {_seconds(requeue_after_ns)}."
    return f"{told}{'come back with back-off' if result == 'requeue' else 'nothing more to do'}."


def _sent(call: str, key: Any, throttled_ns: int) -> str:
    waited = f", after {_seconds(throttled_ns)} for a token" if throttled_ns else ""
    return f"the client asks the server to {call} {key}{waited}."


def _answered(call: str, key: Any, code: int, _took_ns: int, error: str) -> str:
    if not code:
        return f"the client gives up {call} {key}: {error}."
    return f"the server answers {call} {key} with {code}{': ' * bool(error)}{error}."


_CHANGED = {"ADDED": "has", "MODIFIED": "has anew", "DELETED": "no longer has"}


def _cached(kind: str, key: Any, change: str, resource_version: str) -> str:
    return f"the cache {_CHANGED[change]} {kind} {key}, at version {resource_version}."


def _in(namespace: str) -> str:
    return f" in {namespace}" if namespace else ""


def _at(priority: int | None) -> str:
    return f" at priority {priority}" if priority else ""


def _seconds(ns: int) -> str:
    return f"{ns / NANOSECONDS:g} s"


_SENTENCES: dict[str, Callable[..., str]] = {
    "buffered": _buffered,
    "woke": lambda loop, _: f"{loop} wakes.",
    "delayed": _delayed,
    "merged": _merged,
    "added": _added,
    "passed_over": lambda loop, key: f"{loop} passes over {key}, which is locked.",
    "waited": lambda worker, _: f"{worker} asks for a key.",
    "got": _got,
    "abandoned": lambda loop, key, worker: (
        f"{loop} hands {key} to {worker}, which has left because the queue shut down."
    ),
    "done": _done,
    "shut_down": lambda *_: "the queue shuts down.",
    "round_started": lambda worker, key, _: f"{worker} starts a round of {key}.",
    "round_ended": _round_ended,
    "crashed": lambda manager, _: f"{manager} crashes: what it had in memory is lost.",
    "sent": _sent,
    "answered": _answered,
    "listed": lambda kind, _, namespace, count: (
        f"the cache takes over a list of {kind}{_in(namespace)}: {count} there."
    ),
    "cached": _cached,
    "watch_ended": lambda kind, _, namespace, why: (
        f"the cache no longer watches {kind}{_in(namespace)}: {why}."
    ),
    **KUBERAY_SENTENCES,
    "lived": lambda manager, _, step, why: f"{manager} {step}{': ' * bool(why)}{why}.",
}
