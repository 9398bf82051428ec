"""How long a key that failed waits."""

from __future__ import annotations

from typing import Any

import pytest
from driving import MILLISECOND

from kubequeue import (
    BucketRateLimiter,
    InvalidArgumentError,
    ItemExponentialFailureRateLimiter,
    ItemFastSlowRateLimiter,
    MaxOfRateLimiter,
    Simulation,
    TokenBucket,
)
from kubequeue.workqueue.ratelimiter import (
    FOREVER,
    RateLimiter,
    default_controller_rate_limiter,
)


def _waits(limiter: RateLimiter, key: str, times: int) -> list[float]:
    """So many waits in milliseconds."""
    return [limiter.when(key) / MILLISECOND for _ in range(times)]


def test_exponential_back_off_doubles_for_each_key() -> None:
    """Failures of one key do not delay another; forgetting starts at the base again."""
    limiter = ItemExponentialFailureRateLimiter(0.001, 1)
    assert _waits(limiter, "one", 5) == [1, 2, 4, 8, 16]
    assert limiter.num_requeues("one") == 5
    assert _waits(limiter, "two", 2) == [1, 2]
    assert limiter.num_requeues("two") == 2
    limiter.forget("one")
    assert limiter.num_requeues("one") == 0
    assert _waits(limiter, "one", 1) == [1]


@pytest.mark.parametrize(
    ("base", "ceiling"), [(0.001, 1000.0), (60.0, 3_600_000.0), (1e-9, 1000.0)]
)
def test_exponential_back_off_never_overflows(base: float, ceiling: float) -> None:
    """A thousand failures wait for the ceiling, not for a number that ran over."""
    limiter = ItemExponentialFailureRateLimiter(base, ceiling)
    waits = [limiter.when("a") for _ in range(1000)]
    assert waits == sorted(waits)
    assert waits[5] == round(base * 1e9) * 32
    assert waits[-1] == round(ceiling * 1e9)


def test_exponential_back_off_of_nothing_stays_nothing() -> None:
    """A base of zero doubles to zero, after however many failures."""
    limiter = ItemExponentialFailureRateLimiter(0, 1000)
    assert set(_waits(limiter, "a", 100)) == {0.0}


def test_the_defaults_are_5_ms_and_1000_s() -> None:
    """Who gives no numbers gets controller-runtime's."""
    waits = _waits(ItemExponentialFailureRateLimiter(), "a", 19)
    assert (waits[0], waits[17], waits[18]) == (5, 5 * 2**17, 1_000_000)


def test_fast_then_slow_counts_each_key_alone() -> None:
    """So many fast tries for a key, then slow ones; forgetting makes it fast again."""
    limiter = ItemFastSlowRateLimiter(0.005, 10, 3)
    assert _waits(limiter, "one", 5) == [5, 5, 5, 10_000, 10_000]
    assert limiter.num_requeues("one") == 5
    assert _waits(limiter, "two", 2) == [5, 5]
    assert limiter.num_requeues("two") == 2
    limiter.forget("one")
    assert limiter.num_requeues("one") == 0
    assert _waits(limiter, "one", 1) == [5]


def test_the_maximum_asks_every_limiter() -> None:
    """The longest wait counts, and each limiter has counted the failure."""
    fast_slow = ItemFastSlowRateLimiter(0.005, 3, 3)
    exponential = ItemExponentialFailureRateLimiter(0.001, 1)
    limiter = MaxOfRateLimiter(fast_slow, exponential)
    assert _waits(limiter, "one", 5) == [5, 5, 5, 3000, 3000]
    assert fast_slow.num_requeues("one") == exponential.num_requeues("one") == 5
    exponential.when("one")
    assert limiter.num_requeues("one") == 6
    limiter.forget("one")
    assert (limiter.num_requeues("one"), fast_slow.num_requeues("one")) == (0, 0)
    assert _waits(limiter, "one", 1) == [5]


def test_the_maximum_of_no_limiters_is_no_wait() -> None:
    """An empty maximum neither waits nor counts."""
    limiter = MaxOfRateLimiter()
    assert (limiter.when("a"), limiter.num_requeues("a")) == (0, 0)


def test_a_bucket_gives_a_burst_and_then_a_token_at_a_time() -> None:
    """Each reservation waits for its own token, without a ceiling."""
    bucket = TokenBucket(Simulation(), qps=10, burst=100)
    waits = [bucket.reserve() / MILLISECOND for _ in range(1101)]
    assert set(waits[:100]) == {0}
    assert (waits[100], waits[150], waits[1100]) == (100, 5100, 100_100)


def test_a_bucket_fills_with_time_and_only_to_its_burst() -> None:
    """Tokens come back at the rate, and an idle hour is worth no more than a full bucket."""
    sim = Simulation()
    bucket = TokenBucket(sim, qps=10, burst=2)
    assert [bucket.reserve() / MILLISECOND for _ in range(3)] == [0, 0, 100]
    sim.run(until=0.25)
    assert bucket.reserve() / MILLISECOND == 0
    sim.run(until=3600)
    assert [bucket.reserve() / MILLISECOND for _ in range(3)] == [0, 0, 100]


def test_a_bucket_of_nothing_never_gives() -> None:
    """A burst of zero or, once it is empty, a rate of zero means never."""
    assert TokenBucket(Simulation(), qps=10, burst=0).reserve() == FOREVER
    bucket = TokenBucket(Simulation(), qps=0, burst=1)
    assert [bucket.reserve(), bucket.reserve()] == [0, FOREVER]


def test_a_bucket_knows_no_keys() -> None:
    """All keys share its tokens, and it counts no failures to forget."""
    limiter = BucketRateLimiter(TokenBucket(Simulation(), qps=1, burst=1))
    assert [limiter.when("a"), limiter.when("b")] == [0, 1000 * MILLISECOND]
    limiter.forget("a")
    assert limiter.num_requeues("a") == 0
    assert limiter.when("a") == 2000 * MILLISECOND


def test_the_older_queues_default_takes_the_larger_of_both() -> None:
    """Back-off for each key, a bucket for all: whichever waits longer."""
    limiter = default_controller_rate_limiter(Simulation())
    assert _waits(limiter, "often", 4) == [5, 10, 20, 40]
    for other in range(96):
        limiter.when(str(other))
    assert _waits(limiter, "new", 1) == [100]
    assert _waits(limiter, "often", 1) == [200]
    assert limiter.num_requeues("often") == 5


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: ItemExponentialFailureRateLimiter(float("nan"), 1), "base_delay"),
        (lambda: ItemExponentialFailureRateLimiter(1, float("inf")), "max_delay"),
        (lambda: ItemFastSlowRateLimiter(float("nan"), 1, 1), "fast_delay"),
        (lambda: ItemFastSlowRateLimiter(1, float("nan"), 1), "slow_delay"),
        (lambda: TokenBucket(Simulation(), float("nan"), 1), "qps"),
        (lambda: TokenBucket(Simulation(), 1, -1), "burst"),
        (lambda: TokenBucket(Simulation(), 1, 1.5), "burst"),  # type: ignore[arg-type]
    ],
)
def test_numbers_that_mean_nothing_are_refused(make: Any, what: str) -> None:
    """The error names the argument that was wrong."""
    with pytest.raises(InvalidArgumentError, match=what):
        make()
