"""A trace as Chrome trace JSON, the format that Perfetto and chrome://tracing open."""

from __future__ import annotations

import json
from typing import Any

from kubequeue.observe.trace import Instant, Span, Trace

_MICROSECONDS = 1_000_000


def to_perfetto(trace: Trace) -> str:
    """One process for each queue and controller, one track for each worker and each pending key.

    Spans are complete events, steps are instants whose ``sentence`` says what happened. A span
    that still lasts ends at the trace's own ``now``. Equal runs give equal text. Costs O(n log n).
    """
    tracks = _Tracks()
    events = [_complete(span, tracks, trace.now) for span in trace.spans]
    events += [_instant(instant, tracks) for instant in trace.instants if instant.kind != "woke"]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": tracks.names() + events})


class _Tracks:
    """Numbers for processes and threads, given in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._processes: dict[str, int] = {}
        self._threads: dict[tuple[int, str], int] = {}

    def place(self, source: str, track: str) -> dict[str, int]:
        pid = self._processes.setdefault(source, len(self._processes) + 1)
        tid = self._threads.setdefault((pid, track), len(self._threads) + 1)
        return {"pid": pid, "tid": tid}

    def names(self) -> list[dict[str, Any]]:
        named = [
            {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": source or "queue"}}
            for source, pid in self._processes.items()
        ]
        named += [
            {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": track}}
            for (pid, track), tid in self._threads.items()
        ]
        return named


def _complete(span: Span, tracks: _Tracks, now: float) -> dict[str, Any]:
    end = now if span.end is None else span.end
    track = span.worker if span.kind == "round" else f"{span.kind} {span.key}"
    return {
        "ph": "X",
        "name": {"round": str(span.key), "call": span.worker}.get(span.kind, span.kind),
        "cat": span.kind,
        "ts": round(span.start * _MICROSECONDS, 3),
        "dur": round((end - span.start) * _MICROSECONDS, 3),
        "args": {"key": str(span.key), "outcome": span.outcome},
        **tracks.place(span.source, track),
    }


def _instant(instant: Instant, tracks: _Tracks) -> dict[str, Any]:
    return {
        "ph": "i",
        "s": "t",
        "name": instant.kind,
        "cat": "step",
        "ts": round(instant.at * _MICROSECONDS, 3),
        "args": {"sentence": str(instant)},
        **tracks.place(instant.source, instant.actor or "callers"),
    }
