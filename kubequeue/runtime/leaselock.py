"""The lease as a lock: read, made, and written with the version that was last seen.

Mirrors tools/leaderelection/resourcelock/leaselock.go of client-go v0.36.
"""

from __future__ import annotations

from dataclasses import replace

from kubequeue.cluster.objects import Lease, LeaseSpec, NamespacedName, ObjectMeta
from kubequeue.errors import ConflictError
from kubequeue.runtime.client import Client
from kubequeue.runtime.restclient import Calling


class LeaseLock:
    """One lease, through one client; its calls go to the server and take a token each."""

    def __init__(self, client: Client, namespace: str, name: str) -> None:
        self.client = client
        self._key = NamespacedName(namespace, name)
        self._lease: Lease | None = None

    def get(self) -> Calling[LeaseSpec]:
        """The record as it is now. Raises `NotFoundError` when there is none."""
        self._lease = lease = yield from self.client.live.get(Lease, self._key)
        return lease.spec

    def create(self, record: LeaseSpec) -> Calling[None]:
        """The first record. Raises `AlreadyExistsError` when somebody was faster."""
        meta = ObjectMeta(self._key.name, self._key.namespace)
        self._lease = yield from self.client.create(Lease(meta, record))

    def update(self, record: LeaseSpec) -> Calling[None]:
        """The next record. Raises `ConflictError` when somebody wrote since the last look."""
        if self._lease is None:
            raise ConflictError("leases.coordination.k8s.io", self._key.name)
        self._lease = yield from self.client.update(replace(self._lease, spec=record))
