"""The pictures of the course, under one name: ``from kubequeue import plots``."""

from __future__ import annotations

from kubequeue.lab.curves import curves
from kubequeue.lab.diagram import loops
from kubequeue.lab.gantt import gantt, workers_and_objects
from kubequeue.lab.keyline import key_timeline
from kubequeue.lab.picture import Picture, new_figure
from kubequeue.lab.topology import topology
from kubequeue.lab.written_and_seen import written_and_seen

__all__ = [
    "Picture",
    "curves",
    "gantt",
    "key_timeline",
    "loops",
    "new_figure",
    "topology",
    "workers_and_objects",
    "written_and_seen",
]
