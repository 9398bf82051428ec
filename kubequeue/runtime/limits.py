"""How fast a client may call the API server: QPS and burst, with the presets of real versions."""

from __future__ import annotations

from dataclasses import dataclass

from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import to_ns


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The size of the token buckets of a client.

    Attributes:
        qps: tokens a second; below zero switches the limit off.
        burst: tokens that a bucket holds when it is full.
        shared: one bucket for all kinds instead of one for each, as with ``RateLimiter`` set in
            ``rest.Config``; leader election then takes from it too.

    Raises `InvalidArgumentError` for a QPS of zero, which client-go reads as "not set", and for a
    burst below 1. Mirrors ``config.go: Config`` (client-go v0.36, rest).

    >>> KUBERAY.off, OFF.off
    (False, True)
    """

    qps: float
    burst: int
    shared: bool = False

    def __post_init__(self) -> None:
        to_ns(self.qps, "qps")
        if self.qps == 0:
            raise InvalidArgumentError("qps", self.qps, "more than zero; use OFF for no limit")
        if not isinstance(self.burst, int) or (self.burst < 1 and not self.off):
            raise InvalidArgumentError("burst", self.burst, "a whole number of tokens, 1 or more")

    @property
    def off(self) -> bool:
        """Whether calls go out as they come."""
        return self.qps < 0


OFF = RateLimits(-1, -1)
"""controller-runtime's default since v0.21.0."""

CLIENT_GO = RateLimits(5, 10)
"""client-go's default, for whoever sets nothing."""

CONTROLLER_RUNTIME_0_20 = RateLimits(20, 30)
"""controller-runtime's default from v0.2.0 to v0.20."""

KUBERAY_1_3 = CONTROLLER_RUNTIME_0_20
"""KubeRay up to v1.3, which sets nothing and is built on controller-runtime v0.17 or older."""

KUBERAY_1_4 = OFF
"""KubeRay v1.4, which sets nothing and is built on controller-runtime v0.21."""

KUBERAY = RateLimits(100, 200)
"""KubeRay from v1.5.0: the defaults of ``--qps`` and ``--burst``."""
