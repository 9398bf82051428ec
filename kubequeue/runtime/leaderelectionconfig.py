"""How replicas agree on who leads: the lease, its durations, and which of them make sense."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kubequeue.errors import InvalidArgumentError
from kubequeue.sim import Simulation, to_ns

JITTER_FACTOR = 1.2


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """How replicas agree on who leads.

    Attributes:
        name, namespace: of the lease.
        identity: who a replica is; empty has one drawn. Each process needs one of its own.
        lease_duration: seconds that others wait after the last renewal that they saw; the lease has
            whole seconds, so they wait for no part of one.
        renew_deadline: seconds for which the leader tries to renew before it gives up.
        retry_period: seconds between two tries; those who do not lead add up to 1.2 times as much.
        release_on_cancel: give the lease back when stopped, so that nobody has to wait for it.
            (controller-runtime leaves that out unless asked, KubeRay does not ask.)

    A call for the lease that is not answered in ``call_timeout`` seconds is given up.

    Raises `InvalidArgumentError` as ``NewLeaderElector`` does: for a lease not longer than the
    renew deadline, a renew deadline not longer than 1.2 retry periods, and durations of zero.
    """

    name: str = "ray-operator-leader"
    namespace: str = "ray-system"
    identity: str = ""
    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0
    release_on_cancel: bool = True

    def __post_init__(self) -> None:
        lease, renew, retry = (
            to_ns(getattr(self, name), name)
            for name in ("lease_duration", "renew_deadline", "retry_period")
        )
        texts = (self.name, self.namespace, self.identity)
        if not all(isinstance(text, str) for text in texts):
            raise InvalidArgumentError("name, namespace, identity", texts, "texts")
        if not self.name or not self.namespace:
            raise InvalidArgumentError("the lease", (self.namespace, self.name), "both its names")
        if retry <= 0:
            raise InvalidArgumentError("retry_period", self.retry_period, "more than 0 seconds")
        if renew <= JITTER_FACTOR * retry:
            raise InvalidArgumentError(
                "renew_deadline",
                self.renew_deadline,
                f"more than {JITTER_FACTOR} retry periods of {self.retry_period} s",
            )
        if lease <= renew:
            raise InvalidArgumentError(
                "lease_duration",
                self.lease_duration,
                f"longer than the renew deadline of {self.renew_deadline} s",
            )

    @property
    def call_timeout(self) -> float:
        """Half of the renew deadline, so that no call uses it up, but 1 s at least.

        Mirrors ``leader_election.go: NewResourceLock`` (controller-runtime v0.24.1).
        """
        return max(self.renew_deadline / 2, 1.0)

    def identified(self, sim: Simulation, host: str) -> LeaderElection:
        """With an identity: its own, or else host and a random part, new for each process.

        Mirrors ``leader_election.go: NewResourceLock`` (controller-runtime v0.24.1).
        """
        if self.identity:
            return self
        drawn = sim.stream("leaderelection/identity").getrandbits(32)
        return replace(self, identity=f"{host}_{drawn:08x}")
