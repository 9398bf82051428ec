"""What a learner can take in hand: the queue stepper, the concurrency panel, the event counter,
the live topology, the conflict stepper."""

from kubequeue.lab.widgets.conflict import ConflictStepper
from kubequeue.lab.widgets.counter import EventCounter
from kubequeue.lab.widgets.panel import ConcurrencyPanel
from kubequeue.lab.widgets.stepper import QueueStepper
from kubequeue.lab.widgets.topology import LiveTopology

__all__ = ["ConcurrencyPanel", "ConflictStepper", "EventCounter", "LiveTopology", "QueueStepper"]
