"""What a learner can take in hand: the queue stepper, the concurrency panel, the event counter."""

from kubequeue.lab.widgets.counter import EventCounter
from kubequeue.lab.widgets.panel import ConcurrencyPanel
from kubequeue.lab.widgets.stepper import QueueStepper

__all__ = ["ConcurrencyPanel", "EventCounter", "QueueStepper"]
