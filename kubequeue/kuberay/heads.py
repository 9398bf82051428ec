"""Which head Pods run: what answers for a Ray cluster lives in its head, and ends with it.

Nothing is kept outside of the head (no GCS fault tolerance), so the next one knows of no job and no
Serve config.
"""

from __future__ import annotations

from collections.abc import Callable

from kubequeue.cluster.objects import Pod
from kubequeue.cluster.store import Store
from kubequeue.cluster.watch import DELETED, WatchEvent
from kubequeue.kuberay.pods import CLUSTER, HEAD, NODE_TYPE

Life = tuple[str, int]
"""One life of a head's container: the uid of its Pod, and how often it was restarted."""


class Heads:
    """Follows the head Pods of a cluster as they are, without any cache between.

    Args:
        store: where they are.
        ended: called with ``namespace/name`` of a RayCluster when the life of its head has ended:
            the Pod is gone, or over, or its container ended.
    """

    def __init__(self, store: Store, ended: Callable[[str], None]) -> None:
        self._ended = ended
        self._lives: dict[str, Life] = {}
        self._ready: set[str] = set()
        store.watch(Pod).receive(self._on_event)

    def answering(self, cluster: str) -> Life | None:
        """The life of the cluster's head if it runs and is ready, else None. Costs O(1)."""
        return self._lives[cluster] if cluster in self._ready else None

    def _on_event(self, event: WatchEvent) -> None:
        pod: Pod = event.object
        labels, status = pod.metadata.labels, pod.status
        if labels.get(NODE_TYPE) != HEAD:
            return
        cluster = f"{pod.metadata.namespace}/{labels.get(CLUSTER, '')}"
        runs = event.type != DELETED and status.phase == "Running" and not status.terminated
        life = (pod.metadata.uid, status.restart_count) if runs else None
        before = self._lives.get(cluster)
        if before is not None and before[0] != pod.metadata.uid:
            return  # a second head, which answers for nothing while the first one runs
        if before is not None and before != life:
            self._lives.pop(cluster)
            self._ready.discard(cluster)
            self._ended(cluster)
        if life is not None:
            self._lives[cluster] = life
            (self._ready.add if status.ready else self._ready.discard)(cluster)
