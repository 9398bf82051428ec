"""What a learner can take in hand: the queue stepper, panels, the event counter."""

from kubequeue.lab.widgets.cache_panel import CachePanel
from kubequeue.lab.widgets.counter import EventCounter
from kubequeue.lab.widgets.panel import ConcurrencyPanel
from kubequeue.lab.widgets.stepper import QueueStepper

__all__ = ["CachePanel", "ConcurrencyPanel", "EventCounter", "QueueStepper"]
