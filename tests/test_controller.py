"""The worker pool: what it makes of a round's end, and how it starts and stops."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Generator
from typing import Any

import pytest
from driving import NAME, Answer, Rig, answering, fifo_rig, priority_rig
from simpy.events import Event

from kubequeue import (
    Controller,
    InvalidArgumentError,
    PriorityQueue,
    ReconcileError,
    ReconcilerContractError,
    Request,
    Result,
    Simulation,
    TerminalError,
)

Reconcile = Callable[[Any], Generator[Event, Any, Result | None]]
both_queues = pytest.mark.parametrize("make", [priority_rig, fifo_rig], ids=["priority", "fifo"])


def _started(rig: Rig[Any], reconcile: Reconcile, workers: int = 1) -> Controller:
    controller = Controller(rig.sim, rig.queue, reconcile, max_concurrent_reconciles=workers)
    controller.start()
    return controller


def _value(rig: Rig[Any], sample: str, **labels: str) -> float:
    return rig.sim.metrics.value(f"controller_runtime_{sample}", controller=NAME, **labels)


# --- Results ----------------------------------------------------------------------------------

RESULTS: dict[str, tuple[Answer, str, float | None, int]] = {
    # how the second round ends: (answer, its label, when the key comes back, failures then)
    "nothing": (None, "success", None, 0),
    "a result": (Result(), "success", None, 0),
    "a priority alone": (Result(priority=5), "success", None, 0),
    "requeue": (Result(requeue=True), "requeue", 0.010, 2),
    "requeue_after": (Result(requeue_after=2), "requeue_after", 2.0, 0),
    "less than zero": (Result(requeue_after=-2), "success", None, 0),
    "both": (Result(requeue=True, requeue_after=2), "requeue_after", 2.0, 0),
    "error raised": (ReconcileError("no"), "error", 0.010, 2),
    "error returned": (Result(error=ReconcileError("no")), "error", 0.010, 2),
    "another error returned": (Result(error=OSError("no")), "error", 0.010, 2),
    "error and more": (
        Result(error=ReconcileError("no"), requeue_after=60, requeue=True),
        "error",
        0.010,
        2,
    ),
    "panic": (KeyError("no"), "error", 0.010, 2),
    "terminal raised": (TerminalError("no"), "error", None, 1),
    "terminal returned": (Result(error=TerminalError("no")), "error", None, 1),
    "terminal and more": (Result(error=TerminalError("no"), requeue_after=60), "error", None, 1),
}


@both_queues
@pytest.mark.parametrize(
    ("answer", "label", "back_in", "failures"), RESULTS.values(), ids=RESULTS.keys()
)
def test_what_becomes_of_a_key(
    make: Callable[[], Rig[Any]],
    answer: Answer,
    label: str,
    back_in: float | None,
    failures: int,
) -> None:
    """After one failure, a round ends in each way: its label, its return and its failures."""
    rig = make()
    seen: list[int] = []
    rounds = answering(rig.sim, ReconcileError("first"), answer)

    def reconcile(request: Request) -> Generator[Event, Any, Result | None]:
        seen.append(rig.queue.num_requeues(request))
        return (yield from rounds(request))

    _started(rig, reconcile)
    rig.queue.add("a")
    rig.sim.run(until=0.006)
    seen.append(rig.queue.num_requeues("a"))
    rig.sim.run(until=100)
    first, second, *third = rig.sim.trace.rounds()
    assert (first.outcome, first.start) == ("error", 0.0)
    assert (second.outcome, second.start) == (label, 0.005)
    came_back = None if not third else third[0].start
    assert came_back == (None if back_in is None else pytest.approx(0.005 + back_in, abs=1e-9))
    assert seen[2] == failures


@both_queues
@pytest.mark.parametrize("raised", [True, False])
def test_a_terminal_error_counts_as_an_error_too(
    make: Callable[[], Rig[Any]], raised: bool
) -> None:
    """Raised or returned: in the errors, in the terminal errors, and never in the panics."""
    rig = make()
    error = TerminalError("no")
    _started(rig, answering(rig.sim, error if raised else Result(error=error)))
    rig.queue.add("a")
    rig.sim.run()
    assert _value(rig, "reconcile_errors_total") == 1
    assert _value(rig, "terminal_reconcile_errors_total") == 1
    assert _value(rig, "reconcile_panics_total") == 0
    assert _value(rig, "reconcile_total", result="error") == 1
    assert rig.metrics.retries == 0


def test_the_four_results_are_counted_from_zero() -> None:
    """Every label is there before the first round, so that a rate can be taken of it."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, Result(requeue=True), Result(requeue_after=1), OSError()))
    results = ("success", "error", "requeue", "requeue_after")
    assert [_value(rig, "reconcile_total", result=result) for result in results] == [0] * 4
    rig.queue.add("a")
    rig.sim.run()
    assert [_value(rig, "reconcile_total", result=result) for result in results] == [1] * 4


def test_a_panic_is_logged_once_and_the_worker_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """A reconciler that raises anything else: one record, one panic, one error, and a retry."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, ZeroDivisionError("oh")))
    rig.queue.add("default/a")
    rig.sim.run()
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("kubequeue", "ERROR")
    assert record.getMessage() == (
        f"{NAME}: the reconciler raised ZeroDivisionError('oh') for default/a"
    )
    assert _value(rig, "reconcile_panics_total") == _value(rig, "reconcile_errors_total") == 1
    assert [span.outcome for span in rig.sim.trace.rounds()] == ["error", "success"]


@pytest.mark.parametrize(
    "answer", [ReconcileError("no"), TerminalError("no"), Result(requeue=True)]
)
def test_what_is_no_panic_is_not_logged(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    """Errors are part of the work of a reconciler; the log is for mistakes in it."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, answer))
    rig.queue.add("a")
    rig.sim.run()
    assert caplog.records == []
    assert _value(rig, "reconcile_panics_total") == 0


@pytest.mark.parametrize(
    "answer", [ReconcileError("no"), Result(requeue=True), Result(requeue_after=1)]
)
def test_a_key_that_comes_back_keeps_its_priority(answer: Answer) -> None:
    """However it comes back, what was added at -100 comes back at -100."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, answer))
    rig.queue.add_with_opts("a", priority=-100)
    rig.sim.run()
    started = [i.values[0] for i in rig.sim.trace.instants if i.kind == "round_started"]
    assert started == [-100, -100]


@pytest.mark.parametrize("priority", [-7, 0, 7])
@pytest.mark.parametrize(
    "more", [{"error": ReconcileError("no")}, {"requeue": True}, {"requeue_after": 1}]
)
def test_a_result_can_replace_the_priority(priority: int, more: dict[str, Any]) -> None:
    """The priority of the result counts, be it higher, lower or zero, with an error too."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, Result(priority=priority, **more)))
    rig.queue.add_with_opts("a", priority=-1)
    rig.sim.run()
    started = [i.values[0] for i in rig.sim.trace.instants if i.kind == "round_started"]
    assert started == [-1, priority]


def test_a_key_is_added_again_before_it_is_unlocked() -> None:
    """Done comes after the re-add, so a key due at once is merged, not lost and not doubled."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, ReconcileError("no"), seconds=1))
    rig.queue.add("a")
    rig.sim.run()
    kinds = [i.kind for i in rig.sim.trace.instants if i.at == 1.0 and i.key == "a"]
    assert kinds.index("buffered") < kinds.index("done")


@pytest.mark.parametrize(
    "bad",
    [
        {"requeue_after": float("nan")},
        {"requeue_after": "soon"},
        {"priority": 0.5},
        {"error": "it broke"},
        {"error": KeyboardInterrupt()},
    ],
)
def test_a_result_that_means_nothing_is_refused(bad: dict[str, Any]) -> None:
    """The mistake shows where the result is made."""
    with pytest.raises(InvalidArgumentError):
        Result(**bad)


# --- Requests ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "namespace", "name"),
    [
        (Request("default", "a"), "default", "a"),
        (Request("", "node-1"), "", "node-1"),
        (Request.parse("default/a"), "default", "a"),
        (Request.parse("node-1"), "", "node-1"),
    ],
)
def test_a_request_has_two_halves(request_: Request, namespace: str, name: str) -> None:
    """Namespace and name; the namespace of a cluster-wide object is empty."""
    assert (request_.namespace, request_.name) == (namespace, name)


def test_a_request_and_its_text_are_one_key() -> None:
    """Added as text and as a request, it is one entry; the reconciler is given a request."""
    rig = priority_rig()
    seen: list[Any] = []

    def reconcile(request: Request) -> Generator[Event, Any, None]:
        seen.append((type(request), request.namespace, request.name))
        yield rig.sim.sleep(0)

    _started(rig, reconcile)
    rig.queue.add("default/a")
    rig.queue.add(Request("default", "a"))
    rig.sim.run()
    assert seen == [(Request, "default", "a")]


@pytest.mark.parametrize("key", [("default", "a"), 7, None])
def test_another_key_reaches_the_reconciler_as_it_is(key: Any) -> None:
    """A key that is no text is handed on unchanged."""
    rig = priority_rig()
    seen: list[Any] = []

    def reconcile(request: Any) -> Generator[Event, Any, None]:
        seen.append(request)
        yield rig.sim.sleep(0)

    _started(rig, reconcile)
    rig.queue.add(key)
    rig.sim.run()
    assert seen == [key]


@pytest.mark.parametrize("request_", [Request("default", "a"), Request.parse("node-1")])
def test_a_request_survives_copying_and_pickling(request_: Request) -> None:
    """Runs are sent between processes, and errors carry their requests."""
    for again in (pickle.loads(pickle.dumps(request_)), copy.deepcopy(request_)):
        assert (type(again), again) == (Request, request_)


# --- Workers ----------------------------------------------------------------------------------


@both_queues
def test_so_many_workers_work_at_once(make: Callable[[], Rig[Any]]) -> None:
    """The gauge of active workers goes up with each round and down with its end."""
    rig = make()
    _started(rig, answering(rig.sim, seconds=1), workers=2)
    rig.queue.add_with_opts("a", "b", "c")
    assert _value(rig, "max_concurrent_reconciles") == 2
    active = [_value(rig, "active_workers")]
    for until in (0.5, 1.5, 2.5):
        rig.sim.run(until=until)
        active.append(_value(rig, "active_workers"))
    assert active == [0, 2, 1, 0]


@both_queues
@pytest.mark.parametrize("answer", [ReconcileError("no"), KeyError("no"), TerminalError("no")])
def test_a_failed_round_leaves_no_worker_active(
    make: Callable[[], Rig[Any]], answer: Answer
) -> None:
    """However a round ends, its worker is free again and its key unlocked."""
    rig = make()
    _started(rig, answering(rig.sim, answer, seconds=1))
    rig.queue.add("a")
    rig.sim.run(until=1.001)
    assert _value(rig, "active_workers") == 0
    assert rig.queue.snapshot().locked == ()


@pytest.mark.parametrize("workers", [0, -3])
def test_no_workers_means_one(workers: int) -> None:
    """Zero or less is taken as unset."""
    rig = priority_rig()
    controller = _started(rig, answering(rig.sim), workers=workers)
    rig.settle()
    assert controller.max_concurrent_reconciles == 1
    assert rig.queue.snapshot().waiters == ("worker-1",)


@both_queues
def test_two_workers_never_have_one_key(make: Callable[[], Rig[Any]]) -> None:
    """A key added during its round waits for it, though another worker is idle."""
    rig = make()
    _started(rig, answering(rig.sim, seconds=1), workers=2)
    rig.queue.add("a")
    rig.sim.run(until=0.5)
    rig.queue.add("a")
    rig.sim.run()
    assert [(span.start, span.end) for span in rig.sim.trace.rounds()] == [(0, 1), (1, 2)]


def test_reconcile_time_is_observed_for_every_round() -> None:
    """Failed or not, a round's length goes into the histogram."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, TerminalError("no"), None, seconds=1.5))
    rig.queue.add_with_opts("a", "b")
    rig.sim.run()
    assert _value(rig, "reconcile_time_seconds_count") == 2
    assert _value(rig, "reconcile_time_seconds_sum") == 3.0


# --- Starting and stopping --------------------------------------------------------------------


def test_the_first_worker_asks_first() -> None:
    """Workers are started in order, and keys go to them in that order."""
    rig = priority_rig()
    _started(rig, answering(rig.sim, seconds=1), workers=3)
    rig.queue.add_with_opts("a", "b", "c")
    rig.sim.run()
    rounds = {span.key: span.worker for span in rig.sim.trace.rounds()}
    assert rounds == {"a": "worker-1", "b": "worker-2", "c": "worker-3"}


def test_stop_finishes_the_round_it_is_in() -> None:
    """The round ends and its key is unlocked; what was pending is left, and no re-add is taken."""
    rig = priority_rig()
    controller = _started(rig, answering(rig.sim, ReconcileError("no"), seconds=1))
    rig.queue.add_with_opts("a", "b")
    rig.sim.run(until=0.5)
    controller.stop()
    rig.sim.run()
    assert [(s.key, s.end, s.outcome) for s in rig.sim.trace.rounds()] == [("a", 1.0, "error")]
    seen = rig.queue.snapshot()
    assert ([entry.key for entry in seen.items], seen.locked, seen.buffer) == (["b"], (), ())
    assert _value(rig, "active_workers") == 0


def test_stop_with_the_older_queue_works_off_the_line() -> None:
    """It gives out what is in line before it says shutdown, so those rounds are run too."""
    rig = fifo_rig()
    controller = _started(rig, answering(rig.sim, seconds=1))
    rig.queue.add_with_opts("a", "b")
    rig.sim.run(until=0.5)
    controller.stop()
    rig.queue.add("c")
    rig.sim.run()
    assert [(span.key, span.end) for span in rig.sim.trace.rounds()] == [("a", 1), ("b", 2)]


@both_queues
def test_stop_ends_idle_workers(make: Callable[[], Rig[Any]]) -> None:
    """Nobody waits any more, and the run ends."""
    rig = make()
    controller = _started(rig, answering(rig.sim), workers=3)
    rig.settle()
    controller.stop()
    controller.stop()
    rig.sim.run()
    assert not rig.sim.step()
    assert rig.sim.trace.rounds() == []


def test_a_second_start_is_an_error() -> None:
    """A controller is started once, and the error starts no further workers."""
    rig = priority_rig()
    controller = _started(rig, answering(rig.sim))
    with pytest.raises(InvalidArgumentError, match="second call"):
        controller.start()
    rig.settle()
    assert rig.queue.snapshot().waiters == ("worker-1",)


def test_two_controllers_of_one_name_are_an_error() -> None:
    """Their metrics would run into each other; another name will do."""
    rig = priority_rig()
    _started(rig, answering(rig.sim))
    with pytest.raises(InvalidArgumentError, match="no other controller"):
        Controller(rig.sim, rig.queue, answering(rig.sim)).start()
    Controller(rig.sim, rig.queue, answering(rig.sim), name="another").start()
    rig.settle()
    assert len(rig.queue.snapshot().waiters) == 2


@pytest.mark.parametrize(("name", "expected"), [(None, NAME), ("mine", "mine"), ("", "")])
def test_the_name_is_the_queues_unless_given(name: str | None, expected: str) -> None:
    """What traces and metrics call a controller."""
    rig = priority_rig()
    assert Controller(rig.sim, rig.queue, answering(rig.sim), name=name).name == expected


@pytest.mark.parametrize("workers", [1.5, "2", None])
def test_workers_that_are_no_number_are_refused(workers: Any) -> None:
    """The error names the argument."""
    rig = priority_rig()
    with pytest.raises(InvalidArgumentError, match="max_concurrent_reconciles"):
        Controller(rig.sim, rig.queue, answering(rig.sim), max_concurrent_reconciles=workers)


def test_what_cannot_be_called_is_no_reconciler() -> None:
    """The error comes from the constructor, not from the first round."""
    rig = priority_rig()
    bad: Any = "not a function"
    with pytest.raises(InvalidArgumentError, match="reconcile"):
        Controller(rig.sim, rig.queue, bad)


# --- The contract of a reconciler -------------------------------------------------------------


def _returns_text(sim: Simulation) -> Reconcile:
    return answering(sim, "done")  # type: ignore[arg-type]


def _is_no_generator(_: Simulation) -> Any:
    return lambda request: None


def _yields_a_number(_: Simulation) -> Any:
    def reconcile(request: Any) -> Generator[Any, Any, None]:
        yield 1.5

    return reconcile


def _yields_a_strangers_event(_: Simulation) -> Reconcile:
    return answering(Simulation())


@pytest.mark.parametrize(
    ("make", "did"),
    [
        (_returns_text, "returned 'done'"),
        (_is_no_generator, "returned None at once"),
        (_yields_a_number, "yielded 1.5"),
        (_yields_a_strangers_event, "yielded <Timeout"),
    ],
)
def test_a_broken_reconciler_comes_out_of_the_run(
    make: Callable[[Simulation], Any], did: str
) -> None:
    """A mistake in the program is told at once, with the request it happened for."""
    sim = Simulation()
    queue = PriorityQueue(sim, NAME)
    Controller(sim, queue, make(sim)).start()
    queue.add("default/a")
    with pytest.raises(ReconcilerContractError, match=f"{did}.* for default/a"):
        sim.run()
    assert queue.snapshot().locked == ()


def test_a_reconciler_may_handle_an_event_that_failed() -> None:
    """What an event failed with is raised at its yield, and can be caught there."""
    rig = priority_rig()

    def reconcile(_: Any) -> Generator[Event, Any, Result]:
        try:
            yield rig.sim.event().fail(OSError("the write failed"))
        except OSError as error:
            return Result(error=error)
        return Result()

    _started(rig, reconcile)
    rig.queue.add("a")
    rig.sim.run(until=0.001)
    (first,) = rig.sim.trace.rounds()
    assert first.outcome == "error"
    assert _value(rig, "reconcile_panics_total") == 0


def test_a_reconciler_is_given_the_value_of_its_event() -> None:
    """What somebody else puts into an event comes back from the yield."""
    rig = priority_rig()
    seen: list[Any] = []
    answer = rig.sim.event()

    def reconcile(_: Any) -> Generator[Event, Any, None]:
        seen.append((yield answer))

    _started(rig, reconcile)
    rig.queue.add("a")
    rig.sim.call_at(2.0, lambda: answer.succeed("a reply"))
    rig.sim.run()
    assert seen == ["a reply"]
    assert [span.end for span in rig.sim.trace.rounds()] == [2.0]


class _MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")

    __repr__ = __str__


@pytest.mark.parametrize("trouble", [_MuteError, KeyboardInterrupt, SystemExit])
def test_a_worker_outlives_whatever_a_round_raises(trouble: type[BaseException]) -> None:
    """An error without words is a panic; what stops a program stops the run, and no worker."""
    sim, first = Simulation(), [trouble]

    def reconcile(_: Any) -> Generator[Event, Any, None]:
        if first:
            raise first.pop()
        yield sim.sleep(1)

    queue = PriorityQueue(sim, NAME)
    Controller(sim, queue, reconcile).start()
    queue.add_with_opts("default/a", "default/b")
    if issubclass(trouble, Exception):
        sim.run(until=9)
    else:
        with pytest.raises(trouble):
            sim.run(until=9)
        sim.run(until=9)
    ended = [(span.key, span.outcome) for span in sim.trace.rounds()]
    assert sorted(ended) == [
        ("default/a", "error"),
        ("default/a", "success"),
        ("default/b", "success"),
    ]
    assert queue.snapshot().waiters == ("worker-1",)
