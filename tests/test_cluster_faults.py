"""Faults: a call fails, takes long, or loses its answer, and the server behind knows of nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from clusters import Toy, ToyStatus, answer, pod, server, toy

from kubequeue import InvalidArgumentError, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.objects import Pod
from kubequeue.errors import (
    APIError,
    ConflictError,
    ExpiredError,
    InternalError,
    NotFoundError,
    ServerTimeoutError,
    UnavailableError,
)

KEY = "team-a/a"


def _faulty(seed: int = 0) -> tuple[Simulation, FaultyServer]:
    sim = Simulation(seed)
    return sim, FaultyServer(sim, APIServer(sim, (Pod, Toy), latency=1.0))


def _made(sim: Simulation, api: APIServer, *names: str) -> list[str]:
    """Which of these names could be made; a + or the error's reason for each."""
    said = []
    for name in names:
        try:
            answer(sim, api.create("me", toy(name)))
            said.append("+")
        except APIError as error:
            said.append(error.reason)
    return said


def test_without_faults_it_is_the_server_behind() -> None:
    """Every verb, and the same store."""
    sim, api = _faulty()
    made = answer(sim, api.create("me", toy()))
    assert sim.now == 1.0
    answer(sim, api.update_status("me", replace(made, status=ToyStatus(1))))
    answer(sim, api.patch("me", Toy, KEY, lambda t: t))
    assert answer(sim, api.get("me", Toy, KEY)) in answer(sim, api.list("me", Toy)).items
    answer(sim, api.delete("me", Toy, KEY, grace_period_seconds=0))
    assert [event.type for event in api.watch("me", Toy, "", "1").take()] == ["MODIFIED", "DELETED"]
    with pytest.raises(NotFoundError):
        answer(sim, api.update("me", made))


def test_a_call_fails_once_and_does_nothing() -> None:
    """With the default error, after the usual time; the next one goes through."""
    sim, api = _faulty()
    fault = api.fail("create", Toy)
    assert _made(sim, api, "a", "b") == ["ServiceUnavailable", "+"]
    assert (fault.struck, fault.active, sim.now) == (1, False, 2.0)
    assert [obj.metadata.name for obj in api.store.list(Toy).items] == ["b"]


def test_a_fault_strikes_only_what_it_is_for() -> None:
    """Its verb, its kind, its object; without a kind all of them."""
    sim, api = _faulty()
    one = api.fail("create", Toy, times=9, key="team-a/b", error=InternalError("disk full"))
    other = api.fail("get", times=9)
    assert _made(sim, api, "a", "b") == ["+", "InternalError"]
    answer(sim, api.create("me", pod("b")))
    for kind in (Toy, Pod):
        with pytest.raises(UnavailableError):
            answer(sim, api.get("me", kind, KEY))
    assert len(answer(sim, api.list("me", Toy)).items) == 1
    assert (one.struck, other.struck) == (1, 2)


def test_a_fault_ends_with_its_block() -> None:
    """Or when it is stopped, which may be said twice."""
    sim, api = _faulty()
    with api.fail("create", Toy, share=1.0) as fault:
        assert _made(sim, api, "a", "b") == ["ServiceUnavailable"] * 2
    assert _made(sim, api, "a") == ["+"]
    fault.stop()
    assert (fault.struck, fault.active) == (2, False)


def test_a_share_is_drawn_from_its_own_stream() -> None:
    """About so many calls fail, the same ones in every run of a seed."""

    def struck(seed: int) -> list[str]:
        sim, api = _faulty(seed)
        api.fail("create", Toy, share=0.25)
        return _made(sim, api, *(f"a{number}" for number in range(200)))

    assert struck(1) == struck(1) != struck(2)
    assert 30 <= 200 - struck(1).count("+") <= 70


def test_a_share_can_be_limited() -> None:
    """So often at most."""
    sim, api = _faulty()
    fault = api.fail("create", Toy, share=1.0, times=2)
    assert _made(sim, api, "a", "b", "c") == ["ServiceUnavailable"] * 2 + ["+"]
    assert fault.struck == 2


def test_a_slow_server_takes_longer_on_the_way_there() -> None:
    """The write is late by so much; several delays add up."""
    sim, api = _faulty()
    api.slow("create", Toy, 3.0)
    with api.slow("create", Toy, 2.0, times=1):
        made = answer(sim, api.create("me", toy("a")))
    assert (made.metadata.creation_timestamp, sim.now) == (5.5, 6.0)
    answer(sim, api.create("me", toy("b")))
    answer(sim, api.create("me", pod("c")))
    assert sim.now == 6.0 + 4.0 + 1.0


def test_a_lost_answer_leaves_the_write() -> None:
    """The caller gets a time-out, and finds the object when it looks."""
    sim, api = _faulty()
    fault = api.lose_answer("create", Toy)
    with pytest.raises(ServerTimeoutError) as caught:
        answer(sim, api.create("me", toy()))
    assert str(caught.value) == "Timeout: request did not complete within the allotted timeout"
    assert (fault.struck, answer(sim, api.get("me", Toy, KEY)).metadata.name) == (1, "a")
    assert _made(sim, api, "a") == ["AlreadyExists"]


def test_faults_of_different_sorts_strike_one_call() -> None:
    """A call can be slow and lose its answer; after the first failure nothing more strikes it."""
    sim, api = _faulty()
    api.lose_answer("create", Toy)
    api.slow("create", Toy, 2.0)
    assert _made(sim, api, "a") == ["Timeout"]
    assert sim.now == 3.0
    first, second = api.fail("create", Toy), api.fail("create", Toy)
    assert _made(sim, api, "b") == ["ServiceUnavailable"]
    assert (first.struck, second.struck, sim.now) == (1, 0, 6.0)


def test_a_refusal_is_no_answer_to_lose() -> None:
    """What the server refused, the caller is told."""
    sim, api = _faulty()
    api.lose_answer("update_status", Toy)
    made = api.store.create(toy())
    api.store.update_status(replace(made, status=ToyStatus(1)))
    with pytest.raises(ConflictError):
        answer(sim, api.update_status("me", replace(made, status=ToyStatus(2))))


def test_a_watch_can_be_refused() -> None:
    """With the error that a reflector has to cope with."""
    sim, api = _faulty()
    api.fail("watch", Toy, error=ExpiredError(1, 2))
    with pytest.raises(ExpiredError, match=r"too old resource version: 1 \(2\)"):
        api.watch("me", Toy)
    watch = api.watch("me", Toy)
    api.break_watches(Toy)
    assert (watch.stopped, sim.now) == (True, 0.0)


def test_each_failure_is_an_error_of_its_own() -> None:
    """An error that were raised twice would collect the traces of both."""
    sim, api = _faulty()
    given = InternalError("disk full")
    api.fail("create", Toy, times=2, error=given)
    caught = []
    for _ in range(2):
        with pytest.raises(InternalError) as info:
            answer(sim, api.create("me", toy()))
        caught.append(info.value)
    assert caught[0] is not caught[1]
    assert given not in caught
    assert str(caught[1]) == "Internal error occurred: disk full"


def test_faults_can_be_put_in_front_of_faults() -> None:
    """Both strike, the outer one first."""
    sim, inner = _faulty()
    outer = FaultyServer(sim, inner)
    inner.fail("create", Toy, error=InternalError("inside"))
    outer.fail("create", Toy, error=InternalError("outside"))
    said = []
    for _ in range(2):
        with pytest.raises(InternalError) as caught:
            answer(sim, outer.create("me", toy()))
        said.append(caught.value.args[0])
    assert said == ["outside", "inside"]


def test_a_fault_strikes_when_the_call_goes_out() -> None:
    """Not when its generator is made, and not what is under way already."""
    sim, api = _faulty()
    call = api.create("me", toy())
    api.fail("create", Toy)
    with pytest.raises(UnavailableError):
        answer(sim, call)


WRONG: dict[str, tuple[Callable[[FaultyServer], object], str]] = {
    "no verb": (lambda api: api.fail("remove", Toy), "remove"),
    "times": (lambda api: api.fail("get", Toy, times=-1), "times"),
    "half a time": (lambda api: api.fail("get", Toy, times=0.5), "times"),  # type: ignore[arg-type]
    "no share": (lambda api: api.fail("get", Toy, share=0), "share"),
    "too much": (lambda api: api.fail("get", Toy, share=1.5), "share"),
    "error": (lambda api: api.fail("get", Toy, error=OSError()), "error"),  # type: ignore[arg-type]
    "slow watch": (lambda api: api.slow("watch", Toy, 1.0), "watch"),
    "too fast": (lambda api: api.slow("get", Toy, -1.0), "seconds"),
    "lost read": (lambda api: api.lose_answer("get", Toy), "get"),
    "lost never": (lambda api: api.lose_answer("create", Toy, times=0), "times"),
}


@pytest.mark.parametrize(("make", "named"), WRONG.values(), ids=WRONG.keys())
def test_a_fault_that_cannot_be_is_refused(
    make: Callable[[FaultyServer], object], named: str
) -> None:
    """At once, with the name of what is wrong; nothing is injected."""
    sim, api = _faulty()
    with pytest.raises(InvalidArgumentError, match=named):
        make(api)
    assert _made(sim, api, "a") == ["+"]


def test_a_server_keeps_no_trace_of_what_is_in_front_of_it() -> None:
    """Who calls it directly is not struck."""
    sim, api = server()
    FaultyServer(sim, api).fail("create", Toy, share=1.0)
    assert answer(sim, api.create("me", toy())).metadata.name == "a"


@pytest.mark.parametrize("key", [7, ["team-a", "a"]])
def test_a_fault_for_what_is_no_key_is_refused(key: Any) -> None:
    """It would never strike."""
    _, api = _faulty()
    with pytest.raises(InvalidArgumentError, match="key"):
        api.fail("get", Toy, key=key)
