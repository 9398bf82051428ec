"""What a run leaves behind: steps that say themselves, spans, tables and Perfetto's JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from driving import NAME, answering, fifo_rig, priority_rig

from kubequeue import (
    Controller,
    PriorityQueue,
    ReconcileError,
    Result,
    Simulation,
    TerminalError,
    to_perfetto,
)
from kubequeue.observe.sentences import sentence
from kubequeue.observe.trace import Trace
from kubequeue.runtime.observer import ControllerObserver
from kubequeue.workqueue.observer import QueueObserver

COUNTED_ONLY = {"retried", "depth_moved", "started"}
"""Hooks for the metrics and the number of workers, which are no steps of the story."""


def _a_bit_of_everything(seed: int = 0) -> Simulation:
    """A run with every kind of step; at its end one round and one delay are under way."""
    sim = Simulation(seed)
    queue = PriorityQueue(sim, NAME)
    rounds = answering(sim, ReconcileError("no"), Result(requeue_after=60), seconds=1.5)
    Controller(sim, queue, rounds, max_concurrent_reconciles=2).start()
    queue.add("a")
    queue.add_after("b", 1.0)
    queue.add_with_opts("b", after=2.0, priority=3)
    sim.run(until=0.5)
    queue.add("a")
    sim.run(until=3.0)
    queue.add("c")
    assert len(queue) > 0
    queue.shut_down()  # before the ready loop ran: a hand-over to a worker that has left
    sim.run(until=3.2)
    return sim


# --- Steps ------------------------------------------------------------------------------------


def test_every_kind_of_step_says_itself() -> None:
    """Each hook of a queue and a controller leaves a sentence that names its key."""
    hooks = {name for p in (QueueObserver, ControllerObserver) for name in vars(p)}
    kinds = {name for name in hooks if not name.startswith("_")} - COUNTED_ONLY
    instants = _a_bit_of_everything().trace.instants
    assert {instant.kind for instant in instants} == kinds
    for instant in instants:
        text = str(instant)
        assert text.endswith(".")
        assert "\n" not in text
        assert instant.key is None or str(instant.key) in text
        assert instant.actor in text


@pytest.mark.parametrize(
    ("kind", "actor", "key", "values", "expected"),
    [
        ("buffered", "", "a", (0, False, None), "a enters the add buffer."),
        ("buffered", "", "a", (0, False, 0), "a enters the add buffer at priority 0."),
        (
            "buffered",
            "",
            "a",
            (1_500_000_000, True, -100),
            "a enters the add buffer after 1.5 s, rate-limited, at priority -100.",
        ),
        ("woke", "the loop", None, (), "the loop wakes."),
        ("delayed", "the loop", "a", (10**9,), "the loop puts a among the waiting, due at 1 s."),
        (
            "merged",
            "the loop",
            "a",
            (2, None),
            "the loop merges a request into the record of a: due now at priority 2.",
        ),
        (
            "merged",
            "the loop",
            "a",
            (0, 5_000_000),
            "the loop merges a request into the record of a: due at 0.005 s.",
        ),
        ("added", "the loop", "a", (-100,), "the loop makes a ready at priority -100."),
        ("added", "the loop", "a", (None,), "the loop makes a ready."),
        ("passed_over", "the loop", "a", (), "the loop passes over a, which is locked."),
        ("waited", "worker-1", None, (), "worker-1 asks for a key."),
        ("got", "worker-1", "a", (0, True), "worker-1 takes a, which is now locked."),
        (
            "got",
            "worker-1",
            "a",
            (5, False),
            "worker-1 takes a at priority 5, which is not locked.",
        ),
        (
            "abandoned",
            "the loop",
            "a",
            ("worker-1",),
            "the loop hands a to worker-1, which has left because the queue shut down.",
        ),
        ("done", "worker-1", "a", (), "worker-1 is done with a, which is unlocked."),
        ("done", "", "a", (), "the work on a is called done; the queue held no lock for it."),
        ("shut_down", "", None, (), "the queue shuts down."),
        ("round_started", "worker-1", "a", (0,), "worker-1 starts a round of a."),
    ],
)
def test_the_sentence_of_a_step(
    kind: str, actor: str, key: Any, values: tuple[Any, ...], expected: str
) -> None:
    """Who did what to which key, with the numbers that matter and no others."""
    assert sentence(kind, actor, key, values) == expected


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        (None, "nothing more to do."),
        (Result(requeue=True), "come back with back-off."),
        (Result(requeue_after=60), "come back in 60 s."),
        (ReconcileError("no Pods"), "error no Pods, tried again with back-off."),
        (TerminalError("no spec"), "terminal error no spec, not tried again."),
        (KeyError("spec"), "the reconciler raised KeyError('spec'), tried again with back-off."),
    ],
)
def test_the_sentence_of_the_end_of_a_round(answer: Any, ending: str) -> None:
    """Each way for a round to end has words of its own."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim, answer, seconds=1.5)).start()
    rig.queue.add("a")
    rig.sim.run(until=1.5)
    (end,) = [str(i) for i in rig.sim.trace.instants if i.kind == "round_ended"]
    assert end == f"worker-1 ends its round of a after 1.5 s: {ending}"


def test_a_step_is_told_at_its_time_by_its_source() -> None:
    """When, where and by whom: what a step carries beside its sentence."""
    rig = fifo_rig()
    rig.queue.add_after("a", 1.5)
    rig.sim.run()
    last = rig.sim.trace.instants[-1]
    told = (last.at, last.kind, last.source, last.actor, last.key, last.values)
    assert told == (1.5, "added", NAME, "waiting_loop", "a", (None,))


def test_the_steps_are_in_the_order_of_time() -> None:
    """The trace is a story: nothing is told before what came before it."""
    times = [instant.at for instant in _a_bit_of_everything().trace.instants]
    assert times == sorted(times)
    assert len(times) == len(_a_bit_of_everything().trace)


def test_the_story_is_a_line_for_each_step() -> None:
    """With the time before each sentence."""
    trace = _a_bit_of_everything().trace
    lines = trace.story().splitlines()
    assert len(lines) == len(trace)
    assert lines[0] == "     0.000 s  a enters the add buffer."
    assert [line.partition(" s  ")[2] for line in lines] == [str(i) for i in trace.instants]


def test_the_story_of_a_key_leaves_out_the_others() -> None:
    """About that key alone, and everything about it; of a key never seen there is none."""
    trace = _a_bit_of_everything().trace
    told = trace.story("b").splitlines()
    assert len(told) == len([i for i in trace.instants if i.key == "b"]) > 5
    assert all(" b" in line for line in told)
    assert trace.story("never seen") == ""


# --- Spans ------------------------------------------------------------------------------------


def test_spans_pair_what_opens_with_what_closes() -> None:
    """Every stretch of a key, in order: it waits, is ready, is out, and has its round."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim, TerminalError("no"), seconds=2)).start()
    rig.queue.add_after("a", 1.0)
    rig.sim.run(until=10)
    spans = [(s.kind, s.worker, s.start, s.end, s.outcome) for s in rig.sim.trace.spans]
    assert sorted(spans, key=lambda span: (span[3], span[0])) == [
        ("ready", "", 1, 1, ""),
        ("waiting", "", 0, 1, ""),
        ("locked", "worker-1", 1, 3, ""),
        ("round", "worker-1", 1, 3, "error"),
    ]
    starts = [span[2] for span in spans]
    assert starts == sorted(starts)
    assert {(span.key, span.source) for span in rig.sim.trace.spans} == {("a", NAME)}


def test_what_still_lasts_has_no_end() -> None:
    """A run that stops in the middle leaves open spans, and closes them when it goes on."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim, seconds=2)).start()
    rig.queue.add_with_opts("a", "b")
    rig.queue.add_after("c", 60)
    rig.sim.run(until=1)
    still = {(s.kind, s.key) for s in rig.sim.trace.spans if s.end is None}
    assert still == {("round", "a"), ("locked", "a"), ("ready", "b"), ("waiting", "c")}
    rig.sim.run()
    assert all(span.end is not None for span in rig.sim.trace.spans)


def test_a_key_pending_while_it_is_out_has_both_spans() -> None:
    """Added during its round, it is ready from then until the next worker takes it."""
    rig = priority_rig()
    Controller(rig.sim, rig.queue, answering(rig.sim, seconds=2)).start()
    rig.queue.add("a")
    rig.sim.run(until=1)
    rig.queue.add("a")
    rig.sim.run()
    spans = [(s.start, s.end) for s in rig.sim.trace.spans if s.kind == "ready"]
    assert spans == [(0, 0), (1, 2)]
    assert [(s.start, s.end) for s in rig.sim.trace.rounds()] == [(0, 2), (2, 4)]


def test_rounds_of_one_key_that_overlap_keep_their_workers() -> None:
    """Without locks the shorter round may begin last and end first: each worker has its own."""
    sim = Simulation()
    queue = PriorityQueue(sim, NAME, lock_keys=False)
    lengths = iter((3, 1))

    def reconcile(_: Any) -> Any:
        yield sim.sleep(next(lengths))

    Controller(sim, queue, reconcile, max_concurrent_reconciles=2).start()
    queue.add("a")
    sim.run(until=1)
    queue.add("a")
    sim.run()
    rounds = [(span.worker, span.start, span.end) for span in sim.trace.rounds()]
    assert rounds == [("worker-1", 0, 3), ("worker-2", 1, 2)]


def test_of_two_entries_of_a_key_the_first_is_closed_first() -> None:
    """Without merging a key may be in line twice: the one taken is the one that came first."""
    rig = priority_rig(merge=False)
    for _ in range(2):
        rig.queue.add("a")
        rig.advance(1)
    rig.take()
    ready = [(span.start, span.end) for span in rig.sim.trace.spans if span.kind == "ready"]
    assert ready == [(0, 2), (1, None)]


def test_two_queues_do_not_mix_their_spans() -> None:
    """The same key in two queues is two keys."""
    sim = Simulation()
    for name, after in (("long", 5.0), ("short", 1.0)):
        PriorityQueue(sim, name).add_after("a", after)
    sim.run()
    waited = {span.source: span.end for span in sim.trace.spans if span.kind == "waiting"}
    assert waited == {"long": 5.0, "short": 1.0}


def test_the_trace_knows_how_many_workers_there_are() -> None:
    """Idle ones too, for each controller by its name."""
    rig = priority_rig()
    for name, workers in (("some", 3), ("none", 0)):
        Controller(
            rig.sim, rig.queue, answering(rig.sim), name=name, max_concurrent_reconciles=workers
        ).start()
    assert rig.sim.trace.workers == {"some": 3, "none": 1}


# --- Tables -----------------------------------------------------------------------------------


def test_the_table_of_steps() -> None:
    """A row for each step, with the columns that the lessons filter by."""
    trace = _a_bit_of_everything().trace
    table = trace.to_pandas()
    assert list(table.columns) == ["at_s", "kind", "source", "actor", "key", "sentence"]
    assert table["sentence"].tolist() == [str(instant) for instant in trace.instants]
    assert set(table["key"]) == {"", "a", "b", "c"}
    assert table["at_s"].is_monotonic_increasing


def test_the_table_of_spans() -> None:
    """A row for each span; an end that has not come is missing, not zero."""
    trace = _a_bit_of_everything().trace
    table = trace.spans_to_pandas()
    columns = ["kind", "source", "worker", "key", "start_s", "end_s", "outcome"]
    assert list(table.columns) == columns
    assert len(table) == len(trace.spans)
    assert int(table["end_s"].isna().sum()) == len([s for s in trace.spans if s.end is None]) > 0


def test_an_empty_trace_has_empty_tables() -> None:
    """No steps: no rows, the same columns, no story."""
    trace = Simulation().trace
    assert (len(trace), trace.spans, trace.rounds(), trace.story()) == (0, [], [], "")
    assert (len(trace.to_pandas()), len(trace.to_pandas().columns)) == (0, 6)
    assert (len(trace.spans_to_pandas()), len(trace.spans_to_pandas().columns)) == (0, 7)


# --- Perfetto ---------------------------------------------------------------------------------


def _events(trace: Trace, phase: str) -> list[dict[str, Any]]:
    loaded = json.loads(to_perfetto(trace))
    return [event for event in loaded["traceEvents"] if event["ph"] == phase]


def test_perfetto_has_a_complete_event_for_each_span() -> None:
    """With start and length in microseconds; what still lasts ends with the run."""
    trace = _a_bit_of_everything().trace
    events = _events(trace, "X")
    assert len(events) == len(trace.spans)
    for event, span in zip(events, trace.spans, strict=True):
        end = trace.now if span.end is None else span.end
        assert event["ts"] == pytest.approx(span.start * 1e6)
        assert event["dur"] == pytest.approx((end - span.start) * 1e6)
        assert event["dur"] >= 0
        assert (event["cat"], event["args"]["key"]) == (span.kind, span.key)


def test_perfetto_has_a_sentence_for_each_step() -> None:
    """Every step but the mere waking of a loop."""
    trace = _a_bit_of_everything().trace
    told = [event["args"]["sentence"] for event in _events(trace, "i")]
    assert told == [str(instant) for instant in trace.instants if instant.kind != "woke"]


def test_perfetto_names_every_track() -> None:
    """Each event is on a track of a process that both have names; workers have their own."""
    trace = _a_bit_of_everything().trace
    names = _events(trace, "M")
    threads = {(n["pid"], n["tid"]): n["args"]["name"] for n in names if "tid" in n}
    processes = {n["pid"]: n["args"]["name"] for n in names if "tid" not in n}
    for event in [*_events(trace, "X"), *_events(trace, "i")]:
        assert (event["pid"], event["tid"]) in threads
        assert event["pid"] in processes
    assert set(processes.values()) == {NAME}
    rounds = {threads[e["pid"], e["tid"]] for e in _events(trace, "X") if e["cat"] == "round"}
    assert rounds == {"worker-1", "worker-2"}


def test_perfetto_of_equal_runs_is_equal() -> None:
    """The very same text, and another one when something else happened."""
    one, same = _a_bit_of_everything(), _a_bit_of_everything()
    assert to_perfetto(one.trace) == to_perfetto(same.trace)
    same.run(until=10)
    assert to_perfetto(one.trace) != to_perfetto(same.trace)


def test_perfetto_of_nothing_loads() -> None:
    """An empty trace is a file without events, with keys of any kind it is still JSON."""
    assert json.loads(to_perfetto(Simulation().trace))["traceEvents"] == []
    rig = priority_rig()
    rig.queue.add_with_opts(("default", "a"), 7, 'quote "', "line\nbreak")
    rig.take_all()
    assert {e["args"]["key"] for e in _events(rig.sim.trace, "X")} == {
        "('default', 'a')",
        "7",
        'quote "',
        "line\nbreak",
    }
