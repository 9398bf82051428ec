"""How long a key that failed has to wait before it may be tried again.

Delays are integer nanoseconds, as in Go; what a constructor takes is seconds.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import NANOSECONDS, Simulation, to_ns

FOREVER = 2**63 - 1
"""Nanoseconds in the longest Go duration, which stands for "never"."""


class RateLimiter(Protocol):
    """Mirrors ``default_rate_limiters.go: TypedRateLimiter`` (client-go v0.36)."""

    def when(self, key: Hashable) -> int:
        """Count one failure of ``key`` and say how many nanoseconds it has to wait."""

    def forget(self, key: Hashable) -> None:
        """Stop counting the failures of ``key``."""

    def num_requeues(self, key: Hashable) -> int:
        """How many failures of ``key`` are counted."""


class _FailureCounts:
    """The failures of each key, which two of the limiters go by."""

    def __init__(self) -> None:
        self._failures: dict[Hashable, int] = {}

    def forget(self, key: Hashable) -> None:
        """Stop counting the failures of ``key``. Costs O(1)."""
        self._failures.pop(key, None)

    def num_requeues(self, key: Hashable) -> int:
        """How many failures of ``key`` are counted. Costs O(1)."""
        return self._failures.get(key, 0)

    def _fail(self, key: Hashable) -> int:
        """Count one failure; how many there were before it."""
        before = self._failures.get(key, 0)
        self._failures[key] = before + 1
        return before


class ItemExponentialFailureRateLimiter(_FailureCounts):
    """``base_delay`` doubled with each failure of a key, up to ``max_delay`` (seconds).

    Mirrors ``default_rate_limiters.go: TypedItemExponentialFailureRateLimiter`` (client-go v0.36).

    >>> limiter = ItemExponentialFailureRateLimiter(base_delay=0.005, max_delay=1000)
    >>> [limiter.when("default/a") / 1_000_000 for _ in range(4)]  # milliseconds
    [5.0, 10.0, 20.0, 40.0]
    """

    def __init__(self, base_delay: float = 0.005, max_delay: float = 1000.0) -> None:
        super().__init__()
        self._base_delay = to_ns(base_delay, "base_delay")
        self._max_delay = to_ns(max_delay, "max_delay")

    def when(self, key: Hashable) -> int:
        """Count one failure of ``key``; nanoseconds to wait. Costs O(1)."""
        failures = self._fail(key)
        # Go works in floats and takes what does not fit into a duration as max_delay; 63 doublings
        # of a whole nanosecond never fit, so there is no need to compute more of them.
        if failures > 62:
            return self._max_delay if self._base_delay else 0
        return min(self._base_delay << failures, self._max_delay)


class ItemFastSlowRateLimiter(_FailureCounts):
    """``fast_delay`` for the first ``max_fast_attempts`` failures of a key, then ``slow_delay``.

    Mirrors ``default_rate_limiters.go: TypedItemFastSlowRateLimiter`` (client-go v0.36).

    >>> limiter = ItemFastSlowRateLimiter(0.005, 10, max_fast_attempts=2)
    >>> [limiter.when("default/a") / 1_000_000 for _ in range(3)]  # milliseconds
    [5.0, 5.0, 10000.0]
    """

    def __init__(self, fast_delay: float, slow_delay: float, max_fast_attempts: int) -> None:
        super().__init__()
        self._fast_delay = to_ns(fast_delay, "fast_delay")
        self._slow_delay = to_ns(slow_delay, "slow_delay")
        self._max_fast_attempts = max_fast_attempts

    def when(self, key: Hashable) -> int:
        """Count one failure of ``key``; nanoseconds to wait. Costs O(1)."""
        fast = self._fail(key) < self._max_fast_attempts
        return self._fast_delay if fast else self._slow_delay


class TokenBucket:
    """``qps`` tokens a second, ``burst`` at most; a token can be reserved before it exists.

    There is no ceiling: each reservation waits for its own token, so the n-th of many at one
    instant waits (n - burst) / qps seconds.
    Mirrors ``rate.go: Limiter.reserveN, advance`` (golang.org/x/time v0.14.0), rounding included.

    >>> sim = Simulation()
    >>> bucket = TokenBucket(sim, qps=10, burst=2)
    >>> [bucket.reserve() / 1e9 for _ in range(4)]  # seconds
    [0.0, 0.0, 0.1, 0.2]
    """

    def __init__(self, sim: Simulation, qps: float, burst: int) -> None:
        if not isinstance(burst, int) or burst < 0:
            raise InvalidArgumentError("burst", burst, "a whole number of tokens, zero or more")
        to_ns(qps, "qps")  # refuses NaN; Go takes a rate of zero or less as "no new tokens"
        self._env = sim.env
        self._qps = float(qps)
        self._burst = burst
        self._tokens = float(burst)
        self._last = 0

    def reserve(self) -> int:
        """Take one token; nanoseconds until it may be used. Costs O(1)."""
        if self._burst < 1:
            return FOREVER  # Go refuses to reserve more than the bucket can ever hold
        now = int(self._env.now)
        tokens = self._advance(now) - 1
        self._tokens, self._last = tokens, now
        return self._duration_from_tokens(-tokens) if tokens < 0 else 0

    def _advance(self, now: int) -> float:
        # Go splits a duration into whole seconds and the rest before it makes a float of it.
        seconds, rest = divmod(now - self._last, NANOSECONDS)
        new = (seconds + rest / 1e9) * self._qps if self._qps > 0 else 0.0
        return min(self._tokens + new, float(self._burst))

    def _duration_from_tokens(self, tokens: float) -> int:
        if self._qps <= 0:
            return FOREVER
        return min(int(tokens / self._qps * 1e9), FOREVER)


class BucketRateLimiter:
    """A token bucket for all keys together, as the rate limiter of a queue.

    Mirrors ``default_rate_limiters.go: TypedBucketRateLimiter`` (client-go v0.36).
    """

    def __init__(self, bucket: TokenBucket) -> None:
        self._bucket = bucket

    def when(self, _key: Hashable) -> int:
        """Reserve the next token, whoever asks; nanoseconds to wait. Costs O(1)."""
        return self._bucket.reserve()

    def forget(self, key: Hashable) -> None:
        """Nothing to forget: a bucket knows no keys."""

    def num_requeues(self, _key: Hashable) -> int:
        """Always 0: a bucket counts no failures."""
        return 0


class MaxOfRateLimiter:
    """Asks each of several limiters and takes the longest wait.

    Mirrors ``default_rate_limiters.go: TypedMaxOfRateLimiter`` (client-go v0.36).
    """

    def __init__(self, *limiters: RateLimiter) -> None:
        self._limiters = limiters

    def when(self, key: Hashable) -> int:
        """Count one failure with each limiter; the longest wait, in nanoseconds."""
        return max((limiter.when(key) for limiter in self._limiters), default=0)

    def forget(self, key: Hashable) -> None:
        """Have each limiter forget ``key``."""
        for limiter in self._limiters:
            limiter.forget(key)

    def num_requeues(self, key: Hashable) -> int:
        """The highest count among the limiters."""
        return max((limiter.num_requeues(key) for limiter in self._limiters), default=0)


def default_controller_rate_limiter(sim: Simulation) -> MaxOfRateLimiter:
    """The default of client-go's older queue: back-off for each key, and 10 a second over all.

    Mirrors ``default_rate_limiters.go: DefaultTypedControllerRateLimiter`` (client-go v0.36).
    """
    return MaxOfRateLimiter(
        ItemExponentialFailureRateLimiter(0.005, 1000),
        BucketRateLimiter(TokenBucket(sim, qps=10, burst=100)),
    )
