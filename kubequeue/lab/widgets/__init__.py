"""What a learner can take in hand: steppers, panels, the event counter and the live topology."""

from kubequeue.lab.widgets.cache_panel import CachePanel
from kubequeue.lab.widgets.conflict import ConflictStepper
from kubequeue.lab.widgets.counter import EventCounter
from kubequeue.lab.widgets.panel import ConcurrencyPanel
from kubequeue.lab.widgets.stepper import QueueStepper
from kubequeue.lab.widgets.topology import LiveTopology

__all__ = [
    "CachePanel",
    "ConcurrencyPanel",
    "ConflictStepper",
    "EventCounter",
    "LiveTopology",
    "QueueStepper",
]
