"""Leader election: who leads, when that ends, and how long it takes until another does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from operators import World

from kubequeue import InvalidArgumentError
from kubequeue.cluster.apiserver import APIServer
from kubequeue.cluster.faults import FaultyServer
from kubequeue.cluster.objects import Lease, Pod
from kubequeue.errors import ConflictError, UnavailableError
from kubequeue.runtime.leaderelection import LeaderElection
from kubequeue.runtime.limits import RateLimits
from kubequeue.runtime.manager import Manager

ELECTION = LeaderElection()


class Replicas(World):
    """Several replicas of one operator, each behind faults of its own."""

    def __init__(self, count: int = 3, seed: int = 0, **options: Any) -> None:
        super().__init__(seed)
        self.servers: list[FaultyServer] = []
        self.managers: list[Manager] = []
        behind: APIServer = self.server
        for number in range(count):
            self.server = FaultyServer(self.sim, behind)
            self.servers.append(self.server)
            name = f"operator-{number}"
            election = replace(ELECTION, identity=name, **options)
            self.managers.append(self.operator(name=name, leader_election=election))
        self.server = behind

    def started(self) -> Replicas:
        for manager in self.managers:
            manager.start()
        self.advance(1)
        return self

    @property
    def leaders(self) -> list[str]:
        return [manager.name for manager in self.managers if manager.leads]

    @property
    def lease(self) -> Lease:
        return self.store.get(Lease, "ray-system/ray-operator-leader")

    def until_leader(self, step: float = 0.01, limit: float = 100) -> float:
        """The time at which somebody leads."""
        while not self.leaders and self.sim.now < limit:
            self.advance(step)
        return self.sim.now


def test_one_of_three_replicas_leads() -> None:
    """The others have no queue, no workers and no rounds; three are not faster than one."""
    world = Replicas()
    for number in range(4):
        world.add_set(f"s{number}")
    world.started()
    world.advance(600)
    assert world.leaders == ["operator-0"]
    assert {who for who, _, _ in world.rounds} == {"operator-0"}
    assert world.managers[1].controllers["set"].queue is None
    spec = world.lease.spec
    assert (spec.holder_identity, spec.lease_transitions) == ("operator-0", 0)
    assert spec.acquire_time < 0.1
    assert spec.renew_time == pytest.approx(601, abs=2.1)
    assert [manager.elector.leader for manager in world.managers if manager.elector] == [
        "operator-0"
    ] * 3


def test_a_leader_that_crashes_is_replaced_when_its_lease_has_run_out() -> None:
    """Up to 15 s after the last renewal that was seen, and one retry of up to 4.4 s."""
    times = []
    for seed in range(10):
        world = Replicas(seed=seed).started()
        world.advance(100)
        renewed = world.lease.spec.renew_time
        world.managers[0].crash()
        assert world.leaders == []
        times.append(world.until_leader(limit=200) - renewed)
        assert len(world.leaders) == 1
        assert world.lease.spec.lease_transitions == 1
    assert min(times) >= 15
    assert max(times) <= 15 + 2 * 4.4 + 0.1
    assert len(set(times)) > 1


def test_a_stopped_leader_gives_the_lease_back() -> None:
    """Then the next one only waits for its own next try."""
    world = Replicas().started()
    world.advance(100)
    world.managers[0].stop()
    world.sim.run(until=102)
    assert world.managers[0].end_reason == "stopped"
    assert world.until_leader() - 101 <= 4.5
    kept = Replicas(release_on_cancel=False).started()
    kept.advance(100)
    kept.managers[0].stop()
    kept.advance(1)
    assert kept.lease.spec.holder_identity == "operator-0"
    assert kept.until_leader(limit=200) - 101 > 10


def test_the_lease_is_given_back_after_the_last_round() -> None:
    """So that two never work at a time; it is renewed while the rounds end."""
    world = World()
    world.add_set("a")
    election = replace(ELECTION, identity="one")
    first = world.operator(seconds=25.0, name="one", leader_election=election)
    second = world.operator(name="two", leader_election=replace(ELECTION, identity="two"))
    first.start()
    world.advance(1)
    second.start()
    world.advance(1)
    first.stop()
    world.advance(22.9)
    assert not second.leads
    world.advance(10)
    assert second.leads
    cut = world.sim.trace.rounds()[0]
    assert cut.outcome == "error"
    assert cut.end == pytest.approx(25, abs=0.1)
    assert all(at > 25 for who, _, at in world.rounds if who == "two")


def test_a_leader_that_cannot_renew_ends_before_another_may_lead() -> None:
    """It gives up 10 s after it began to try again, and takes everything with it."""
    world = Replicas().started()
    world.add_set("a")
    world.advance(100)
    renewed = world.lease.spec.renew_time
    world.servers[0].fail("update", Lease, share=1.0)
    world.servers[0].fail("get", Lease, share=1.0)
    while world.leaders == ["operator-0"]:
        world.advance(0.01)
    assert world.managers[0].end_reason == "leader election lost"
    assert world.sim.now - renewed == pytest.approx(12.0, abs=0.1)
    assert world.leaders == []
    taken = world.until_leader(limit=300)
    assert taken - renewed > 15
    before = len([who for who, _, _ in world.rounds if who == "operator-0"])
    world.add_set("b")
    world.advance(20)
    assert len([who for who, _, _ in world.rounds if who == "operator-0"]) == before
    assert {"b-0", "b-1"} <= set(world.names())


def test_a_renewal_that_fails_now_and_then_costs_nothing() -> None:
    """The next try comes in 2 s, and there are 10."""
    world = Replicas().started()
    world.servers[0].fail("update", Lease, share=0.3)
    world.servers[0].fail("get", Lease, share=0.3)
    world.advance(1000)
    assert world.leaders == ["operator-0"]
    assert world.lease.spec.lease_transitions == 0


def test_a_call_without_an_answer_is_given_up_after_five_seconds() -> None:
    """Half of the renew deadline, so that one call cannot use it all up."""
    world = Replicas().started()
    world.advance(100)
    world.servers[0].slow("update", Lease, 60.0, times=1)
    world.advance(8)
    assert world.leaders == ["operator-0"]
    # Given up at 107.5 s and done at once by the slow path, under the time of its beginning.
    assert world.lease.spec.renew_time == pytest.approx(102.5, abs=0.1)
    world.servers[0].slow("update", Lease, 60.0)
    world.servers[0].slow("get", Lease, 60.0)
    # The renewal of 109.5 s fails at 119.5 s, and giving the lease back takes 5 s more.
    world.sim.run(until=124.4)
    assert world.managers[0].leads
    world.advance(0.3)
    assert world.managers[0].end_reason == "leader election lost"


def test_the_lease_is_given_back_after_a_failed_renewal_too() -> None:
    """The server is back just in time for that, so nobody has to wait for the lease to run out."""
    world = Replicas(2).started()
    world.advance(100)
    renewed = world.lease.spec.renew_time
    away = world.servers[0].fail("update", Lease, share=1.0)
    world.sim.call_at(renewed + 2 + 9.95, away.stop)
    world.sim.run(until=renewed + 12.1)
    assert world.managers[0].end_reason == "leader election lost"
    assert world.lease.spec.holder_identity == ""
    assert world.until_leader(limit=200) - renewed < 15


@pytest.mark.parametrize("latency", [0.0, 0.01])
def test_the_lease_is_given_back_in_one_try(latency: float) -> None:
    """A conflict that goes on does not keep the process from its end."""
    world = World(latency=latency)
    world.server = server = FaultyServer(world.sim, world.server)
    manager = world.operator(leader_election=ELECTION)
    manager.start()
    world.advance(11)
    conflicts = server.fail("update", Lease, share=1.0, error=ConflictError("leases", "x"))
    manager.stop()
    world.advance(1)
    assert manager.end_reason == "stopped"
    assert conflicts.struck == 1


def test_tries_to_renew_come_at_the_ticks_of_a_clock() -> None:
    """Each 2 s, however long a try took: after one of 3 s at once, and then at the next tick."""
    world = Replicas(1).started()
    world.advance(100)
    renewed = world.lease.spec.renew_time
    faults = [world.servers[0].slow(verb, Lease, 1.49) for verb in ("update", "get")]
    faults += [world.servers[0].fail(verb, Lease, share=1.0) for verb in ("update", "get")]
    elector, tries = world.managers[0].elector, []
    assert elector is not None
    plain = elector._try_acquire_or_renew

    def noted() -> Any:
        tries.append(world.sim.now - renewed - 2)
        return (yield from plain())

    elector._try_acquire_or_renew = noted  # type: ignore[method-assign]
    world.advance(30)
    assert tries == pytest.approx([0, 3, 6, 9], abs=0.1)
    assert world.managers[0].end_reason == "leader election lost"


def test_somebody_else_took_the_lease() -> None:
    """A leader whose lease is written over sees a conflict, and may not lead on."""
    world = Replicas(1).started()
    world.advance(10)
    lease = world.lease
    world.store.update(replace(lease, spec=replace(lease.spec, holder_identity="intruder")))
    world.advance(13)
    assert world.managers[0].end_reason == "leader election lost"
    assert world.lease.spec.holder_identity == "intruder"


def test_a_lease_that_was_deleted_is_made_again() -> None:
    """The leader goes on, as in Go."""
    world = Replicas(1).started()
    world.advance(10)
    world.store.delete(Lease, "ray-system/ray-operator-leader")
    world.advance(5)
    assert world.leaders == ["operator-0"]
    assert world.lease.spec.holder_identity == "operator-0"


def test_a_busy_shared_bucket_can_cost_the_lease() -> None:
    """With one bucket for everything the renewal waits in line; with one a kind it does not."""
    ends = []
    for shared in (True, False):
        world = World()
        limits = RateLimits(1, 1, shared=shared)
        manager = world.operator(leader_election=ELECTION, limits=limits)
        manager.start()
        world.advance(20)
        for number in range(30):
            pod = Pod(replace(world.add_set(f"s{number}", 0).metadata, resource_version=""))
            world.sim.process(manager.client.create(pod))
        world.advance(40)
        ends.append(manager.end_reason)
    assert ends == ["leader election lost", ""]


def test_a_restart_has_a_new_identity_and_has_to_wait() -> None:
    """The lease of the dead process is somebody else's, though it is the same program."""
    world = World()
    first = world.operator(leader_election=ELECTION)
    first.start()
    world.advance(20)
    renewed = world.store.get(Lease, "ray-system/ray-operator-leader").spec.renew_time
    first.crash()
    second = world.operator(leader_election=ELECTION)
    second.start()
    while not second.leads:
        world.advance(0.1)
    assert first.elector is not None
    assert second.elector is not None
    assert first.elector.identity != second.elector.identity
    assert 15 < world.sim.now - renewed < 15 + 4.4 + 2.2


def test_nobody_leads_while_the_server_is_away() -> None:
    """Those who stand by ask again each 2 to 4.4 s."""
    world = Replicas(1)
    away = world.servers[0].fail("get", Lease, share=1.0, error=UnavailableError())
    world.started()
    world.advance(30)
    assert world.leaders == []
    assert 30 / 4.5 <= away.struck <= 16
    away.stop()
    world.advance(5)
    assert world.leaders == ["operator-0"]


def test_a_standby_can_be_stopped() -> None:
    """It gives back nothing, because it has nothing."""
    world = Replicas(2).started()
    world.managers[1].stop()
    world.advance(5)
    assert world.managers[1].end_reason == "stopped"
    assert world.lease.spec.holder_identity == "operator-0"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"lease_duration": 10.0}, "longer than the renew deadline of 10.0 s"),
        ({"renew_deadline": 2.4}, "more than 1.2 retry periods of 2.0 s"),
        ({"retry_period": 0.0}, "more than 0 seconds"),
        ({"lease_duration": float("nan")}, "a finite number of seconds"),
        ({"name": ""}, "both its names"),
    ],
)
def test_durations_that_cannot_work_are_refused(options: dict[str, Any], sentence: str) -> None:
    """A lease shorter than its renewal would be lost while it is held."""
    with pytest.raises(InvalidArgumentError, match=sentence):
        LeaderElection(**options)


def test_renewals_take_tokens() -> None:
    """A token each 9 s is in time for the renew deadline of 10 s, one each 20 s is too late."""
    for qps, leads in ((1 / 9, True), (1 / 20, False)):
        world = World()
        manager = world.operator(leader_election=ELECTION, limits=RateLimits(qps, 1))
        manager.start()
        world.advance(25)
        assert manager.leads
        world.advance(100)
        assert manager.leads == leads


def test_leases_take_no_token_from_rounds() -> None:
    """The election has a client of its own."""
    world = World()
    manager = world.operator(leader_election=ELECTION, limits=RateLimits(0.01, 2))
    manager.start()  # a read and a create: both tokens of the election
    world.advance(1)
    lease = world.store.get(Lease, "ray-system/ray-operator-leader")
    world.sim.process(manager.client.update(replace(lease, spec=replace(lease.spec))))
    world.advance(1)
    sent = [i.actor for i in world.sim.trace.instants if i.kind == "sent"]
    assert sent.count("update Lease") == 1


@pytest.mark.parametrize("number", [0, 1])
def test_a_stop_does_not_wait_for_a_call_of_the_election(number: int) -> None:
    """Neither a leader's renewal nor a standby's look: the server may not answer for a minute."""
    world = Replicas(2, release_on_cancel=False).started()
    world.advance(10)
    world.servers[number].slow("get", Lease, 60.0)
    world.servers[number].slow("update", Lease, 60.0)
    world.advance(4.7)  # a call is under way
    world.managers[number].stop()
    world.sim.settle()
    assert world.managers[number].end_reason == "stopped"


def test_a_leader_that_is_stopped_in_a_renewal_gives_the_lease_back() -> None:
    """Under a context of its own."""
    world = Replicas(1).started()
    world.advance(10)
    world.servers[0].slow("update", Lease, 3.0, times=1)
    world.advance(2)
    world.managers[0].stop()
    world.advance(0.1)
    assert world.managers[0].end_reason == "stopped"
    assert world.lease.spec.holder_identity == ""


def test_a_lease_has_whole_seconds() -> None:
    """What is behind the point is lost, and with it what was to lie between the two durations."""
    world = Replicas(1, lease_duration=3.9, renew_deadline=3.5, retry_period=0.5).started()
    duration = world.lease.spec.lease_duration_seconds
    assert (duration, type(duration)) == (3, int)


def test_a_standby_has_the_informers_that_it_was_asked_for_before_the_start() -> None:
    """The caches come before the election; what controllers watch comes with leadership."""
    world = Replicas(2)
    standby = world.managers[1]
    pods = standby.cache.informer(Pod)
    world.servers[1].slow("list", Pod, 20.0)
    world.started()
    world.advance(18)
    assert standby.elector is None
    world.advance(10)
    assert pods.has_synced
    assert standby.elector is not None
    assert not standby.leads
    calls = [i.actor for i in world.sim.trace.instants if i.kind == "sent"]
    assert calls.count("list Set") == 1


def test_a_manager_can_be_stopped_while_it_waits_for_its_caches() -> None:
    """Then it never tries to be elected."""
    world = Replicas(1)
    world.managers[0].cache.informer(Pod)
    world.servers[0].slow("list", Pod, 20.0)
    world.started()
    world.managers[0].stop()
    world.advance(100)
    assert world.managers[0].end_reason == "stopped"
    assert world.managers[0].elector is None
