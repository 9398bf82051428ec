"""Whatever happens to a cluster and its operator: once it is over, all is as it was asked for."""

from __future__ import annotations

from chaos import Chaos
from chaos_cases import PROFILE, Case, cases
from chaos_checks import (
    SETTLE,
    NotSoError,
    check_at_rest,
    check_caches,
    check_heads,
    check_queues,
    check_rounds,
    check_stays,
    remove_surplus_heads,
    story,
)
from hypothesis import given, note


def run(case: Case) -> Chaos:
    """A case from its start to its rest, with every check."""
    chaos = Chaos(case)
    try:
        chaos.run()
        for _ in range(6):  # a person looks in now and then
            chaos.sim.run(until=chaos.sim.now + SETTLE / 6)
            remove_surplus_heads(chaos)
        chaos.sim.run(until=chaos.sim.now + SETTLE)
        check_rounds(chaos)
        check_heads(chaos)
        check_at_rest(chaos)
        check_queues(chaos)
        check_caches(chaos)
        check_stays(chaos)
    except NotSoError as error:
        note(story(chaos, error.key))
        raise
    return chaos


@PROFILE
@given(case=cases())
def test_every_raycluster_comes_to_what_it_asks_for_and_stays(case: Case) -> None:
    """Faults, users and crashes at any step, in any order of what happens at one instant."""
    run(case)
