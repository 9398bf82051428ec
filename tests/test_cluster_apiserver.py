"""The API server: what calls cost, when their write happens, and who may call."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pytest
from clusters import Toy, ToySpec, ToyStatus, answer, pod, server, toy, with_meta
from simpy.events import Event

from kubequeue import InvalidArgumentError, Simulation
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.objects import NamespacedName, Node, ObjectMeta, Pod
from kubequeue.cluster.rbac import RBAC, Rule
from kubequeue.errors import (
    AlreadyExistsError,
    APIError,
    ForbiddenError,
    NoKindMatchError,
    NotFoundError,
)

KEY = "team-a/a"


def test_every_verb_does_what_the_store_does() -> None:
    """One after another, as a client would call them."""
    sim, api = server()
    made = answer(sim, api.create("me", toy()))
    assert answer(sim, api.get("me", Toy, KEY)) is made
    assert answer(sim, api.list("me", Toy, "team-a", {"a": "b"})).items == ()
    changed = answer(sim, api.update("me", replace(made, spec=ToySpec(2))))
    seen = answer(sim, api.update_status("me", replace(changed, status=ToyStatus(3))))
    label: Callable[[Toy], Toy] = lambda t: with_meta(t, labels={"a": "b"})  # noqa: E731
    patched = answer(sim, api.patch("me", Toy, NamespacedName("team-a", "a"), label))
    assert (patched.spec, patched.status) == (seen.spec, seen.status) == (ToySpec(2), ToyStatus(3))
    assert answer(sim, api.list("me", Toy, "", {"a": "b"})).items == (patched,)
    answer(sim, api.delete("me", Toy, KEY, uid=made.metadata.uid))
    with pytest.raises(NotFoundError):
        answer(sim, api.get("me", Toy, KEY))


def test_the_write_happens_half_way() -> None:
    """At half the latency it is there for all to see; the caller learns of it at the end."""
    sim, api = server(latency=1.0)
    created: list[float] = []

    def program() -> Generator[Event, Any, None]:
        yield from api.create("me", toy())
        created.append(sim.now)

    sim.process(program())
    sim.run(until=0.499)
    assert api.store.list(Toy).items == ()
    sim.run(until=0.5)
    assert (len(api.store.list(Toy).items), created) == (1, [])
    sim.run()
    assert created == [1.0]
    assert api.store.get(Toy, KEY).metadata.creation_timestamp == 0.5


def test_an_error_comes_back_as_late_as_an_answer() -> None:
    """A refusal costs the way there and back too."""
    sim, api = server(latency=1.0)
    with pytest.raises(NotFoundError):
        answer(sim, api.get("me", Toy, KEY))
    assert sim.now == 1.0


@pytest.mark.parametrize(("gone_at", "written"), [(0.4, 0), (0.6, 1)])
def test_a_caller_that_is_gone_by_the_answer_has_written(gone_at: float, written: int) -> None:
    """A process that dies before the middle has written nothing, after it everything."""
    sim, api = server(latency=1.0)
    call = api.create("me", toy())

    def program() -> Generator[Event, Any, None]:
        yield from call

    sim.process(program())
    sim.call_at(gone_at, lambda: call.close())
    sim.run()
    assert len(api.store.list(Toy).items) == written


def test_without_latency_a_call_costs_nothing() -> None:
    """It does not even let others go first."""
    _, api = server(latency=0)
    with pytest.raises(StopIteration) as stop:
        next(api.create("me", toy()))
    assert stop.value.value == api.store.get(Toy, KEY)


def test_each_verb_may_have_its_own_latency() -> None:
    """Those that are left out take the default, 10 ms; an odd number of nanoseconds is not lost."""
    sim, api = server(latency={"create": 3e-9, "list": (2.0, 4.0)})
    answer(sim, api.create("me", toy()))
    assert sim.now_ns == 3
    answer(sim, api.get("me", Toy, KEY))
    assert sim.now_ns == 10_000_003
    before = sim.now
    answer(sim, api.list("me", Toy))
    assert 2.0 <= sim.now - before <= 4.0


def test_a_drawn_latency_repeats_and_moves_no_other_stream() -> None:
    """The same seed gives the same times, whatever else was drawn."""

    def times(seed: int, gets: int) -> list[float]:
        sim = Simulation(seed)
        api = APIServer(sim, (Toy,), latency=(0.0, 1.0))
        answer(sim, api.create("me", toy()))
        for _ in range(gets):
            answer(sim, api.get("me", Toy, KEY))
        begun = sim.now
        answer(sim, api.list("me", Toy))
        return [round(sim.now - begun, 6)]

    assert times(1, 0) == times(1, 5) != times(2, 0)


@pytest.mark.parametrize(
    "latency",
    [-1, (2.0, 1.0), (-1.0, 1.0), float("nan"), "slow", (1.0, 2.0, 3.0), None, {"create": -1}],
)
def test_a_latency_that_is_none_is_refused(latency: Any) -> None:
    """Below zero, the wrong way round, or no number: at once, not at the first call."""
    with pytest.raises(InvalidArgumentError, match="apiserver/latency"):
        server(latency=latency)


def test_a_latency_for_a_verb_that_there_is_not_is_refused() -> None:
    """The error names the verbs that there are."""
    with pytest.raises(InvalidArgumentError, match=r"'remove'.*update_status"):
        server(latency={"remove": 1.0})


# --- Kinds --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stranger:
    """A kind that nobody registered."""

    kind: ClassVar[str] = "Stranger"
    group: ClassVar[str] = "example.com"
    metadata: ObjectMeta
    spec: None = None
    status: None = None


def test_a_kind_that_the_server_does_not_know_is_no_match() -> None:
    """For every verb, with what to do about it."""
    sim, api = server()
    stranger = Stranger(ObjectMeta("a", "team-a"))
    for call in (
        api.create("me", stranger),
        api.get("me", Stranger, KEY),
        api.list("me", Stranger),
        api.update("me", stranger),
        api.update_status("me", stranger),
        api.patch("me", Stranger, KEY, lambda s: s),
        api.delete("me", Stranger, KEY),
    ):
        with pytest.raises(NoKindMatchError) as caught:
            answer(sim, call)
        assert str(caught.value) == (
            'no matches for kind "Stranger" in group "example.com"; this server has Pod, Service, '
            "Secret, Lease, Node, Toy: name every kind in APIServer(sim, kinds=...)."
        )
    with pytest.raises(NoKindMatchError):
        api.watch("me", Stranger)


@pytest.mark.parametrize("thing", [{"kind": "Pod"}, None, "Pod", Pod, 7])
def test_what_is_no_object_is_no_match(thing: Any) -> None:
    """It says what was given instead of failing somewhere inside."""
    sim, api = server(rbac=RBAC({}))
    with pytest.raises(NoKindMatchError, match="no matches for kind"):
        answer(sim, api.create("me", thing))
    with pytest.raises(NoKindMatchError):
        api.store.list(thing if not isinstance(thing, type) else type(thing))


@dataclass(slots=True)
class Changeable:
    """A kind that is not frozen."""

    kind: ClassVar[str] = "Changeable"
    metadata: ObjectMeta
    spec: None = None
    status: None = None


@dataclass(frozen=True)
class Statusless:
    """A kind whose status has no default."""

    kind: ClassVar[str] = "Statusless"
    metadata: ObjectMeta
    spec: None
    status: ToyStatus


@dataclass(frozen=True)
class Incomplete:
    """A kind without a spec."""

    kind: ClassVar[str] = "Incomplete"
    metadata: ObjectMeta
    status: None = None


@pytest.mark.parametrize("kind", [Changeable, Statusless, Incomplete, ToySpec, toy(), "Toy", None])
def test_what_is_no_kind_cannot_be_registered(kind: Any) -> None:
    """The error says which shape a kind has."""
    with pytest.raises(InvalidArgumentError, match="kind was"):
        APIServer(Simulation(), (Pod, kind))


def test_cluster_wide_kinds_have_no_namespace() -> None:
    """A Node in a namespace is refused."""
    sim, api = server()
    answer(sim, api.create("me", Node(ObjectMeta("node-1"))))
    with pytest.raises(APIError, match=r"metadata\.namespace: Forbidden: not allowed on this type"):
        answer(sim, api.create("me", Node(ObjectMeta("node-2", "team-a"))))
    assert answer(sim, api.get("me", Node, "/node-1")).metadata.name == "node-1"
    assert answer(sim, api.get("me", Node, "node-1")).metadata.name == "node-1"


@pytest.mark.parametrize("key", [None, 7, ("team-a", "a")])
def test_what_is_no_key_is_refused(key: Any) -> None:
    """Keys are a NamespacedName or a text."""
    sim, api = server()
    with pytest.raises(InvalidArgumentError, match="key was"):
        answer(sim, api.get("me", Toy, key))


# --- Permission ---------------------------------------------------------------------------------


def _forbidden(call: Callable[[], object]) -> str:
    with pytest.raises(ForbiddenError) as caught:
        call()
    return str(caught.value)


def test_a_user_may_do_what_a_rule_says_and_nothing_else() -> None:
    """The sentence is Kubernetes' own, with or without a name, a group and a namespace."""
    rules = [Rule(["get", "create"], ["Toy"], ["team-a"]), Rule(["watch"], ["Pod"])]
    sim, api = server(rbac=RBAC({"me": rules}))
    made = answer(sim, api.create("me", toy()))
    assert answer(sim, api.get("me", Toy, KEY)) == made
    api.watch("me", Pod)
    said = [
        _forbidden(lambda: answer(sim, api.create("you", pod()))),
        _forbidden(lambda: answer(sim, api.get("me", Toy, "team-b/a"))),
        _forbidden(lambda: answer(sim, api.update_status("me", made))),
        _forbidden(lambda: answer(sim, api.list("me", Toy))),
        _forbidden(lambda: api.watch("me", Toy, "team-a")),
    ]
    assert said == [
        'pods "a" is forbidden: User "you" cannot create resource "pods" in API group "" in the '
        'namespace "team-a"',
        'toys.example.com "a" is forbidden: User "me" cannot get resource "toys" in API group '
        '"example.com" in the namespace "team-b"',
        'toys.example.com "a" is forbidden: User "me" cannot update resource "toys/status" in API '
        'group "example.com" in the namespace "team-a"',
        'toys.example.com is forbidden: User "me" cannot list resource "toys" in API group '
        '"example.com" at the cluster scope',
        'toys.example.com is forbidden: User "me" cannot watch resource "toys" in API group '
        '"example.com" in the namespace "team-a"',
    ]


def test_what_is_forbidden_is_not_done() -> None:
    """Nothing is stored, though the call takes its time."""
    sim, api = server(rbac=RBAC({}))
    with pytest.raises(ForbiddenError):
        answer(sim, api.create("me", toy()))
    assert (api.store.resource_version, sim.now) == ("0", 0.01)


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        (Rule(["*"], ["*"]), True),
        (Rule(["update"], ["Toy/status"], ["team-a", "team-b"]), True),
        (Rule(["update"], ["Toy"]), False),
        (Rule(["update"], ["Toy/status"], ["team-c"]), False),
        (Rule(["get", "list"], ["*"]), False),
    ],
)
def test_a_rule_covers_verb_kind_and_namespace(rule: Rule, allowed: bool) -> None:
    """All three have to be right; a status is another thing than its object."""
    assert RBAC({"me": [rule]}).allows("me", "update", "Toy/status", "team-b") is allowed


def test_permission_comes_before_existence() -> None:
    """Who may not look does not learn what is there."""
    sim, api = server(rbac=RBAC({}))
    assert 'pods "a" is forbidden' in _forbidden(lambda: answer(sim, api.get("me", Pod, KEY)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"verbs": "get"},
        {"verbs": ["remove"]},
        {"kinds": [Toy]},
        {"namespaces": "team-a"},
    ],
)
def test_a_rule_that_means_nothing_is_refused(wrong: dict[str, Any]) -> None:
    """A text where a list is meant would be read letter by letter."""
    with pytest.raises(InvalidArgumentError):
        Rule(**({"verbs": ["get"], "kinds": ["Toy"]} | wrong))


def test_roles_are_made_of_rules() -> None:
    """Anything else would allow nothing, in silence."""
    with pytest.raises(InvalidArgumentError, match="roles"):
        RBAC({"me": [("get", "Toy")]})  # type: ignore[list-item]


def test_every_error_has_kubernetes_code_and_reason() -> None:
    """Metrics and clients go by them."""
    sim, api = server()
    answer(sim, api.create("me", toy()))
    with pytest.raises(AlreadyExistsError) as caught:
        answer(sim, api.create("me", toy()))
    assert (caught.value.code, caught.value.reason) == (409, "AlreadyExists")
