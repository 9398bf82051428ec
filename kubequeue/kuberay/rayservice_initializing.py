"""A RayService that does not get ready in the time that it is given, and then stays failed.

Mirrors ``rayservice_controller.go: markFailedOnInitializingTimeout`` (KubeRay v1.7.0) and what
belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kubequeue.kuberay.conditions import Condition, Conditions, find_status_condition
from kubequeue.kuberay.rayservice_types import (
    INITIALIZING,
    INITIALIZING_TIMEOUT,
    SERVICE_READY,
    RayService,
)
from kubequeue.kuberay.tools import WARNING, Tools

INITIALIZING_TIMEOUT_ANNOTATION = "ray.io/initializing-timeout"

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_PART = r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)"
_DURATION = re.compile(rf"[-+]?(?:{_PART})+", re.ASCII)
_INTEGER = re.compile(r"[-+]?[0-9]+")


def parse_duration(text: str) -> float | None:
    """Seconds of a Go duration; None for a text that is none. Mirrors ``time.ParseDuration``.

    >>> parse_duration("1h30m"), parse_duration("1.5s"), parse_duration("90")
    (5400.0, 1.5, None)
    """
    if text in ("0", "+0", "-0"):
        return 0.0
    if not _DURATION.fullmatch(text):
        return None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text))
    return -seconds if text.startswith("-") else float(seconds)


def get_initializing_timeout(annotations: Mapping[str, str]) -> float | None:
    """Seconds, given as a Go duration or a whole number; None when there is no annotation.

    Also None for what `validate_initializing_timeout` refuses. Mirrors ``getInitializingTimeout``.
    """
    text = annotations.get(INITIALIZING_TIMEOUT_ANNOTATION, "")
    seconds = parse_duration(text)
    return float(text) if seconds is None and _INTEGER.fullmatch(text) else seconds


def validate_initializing_timeout(annotations: Mapping[str, str]) -> str | None:
    """What is wrong with the annotation, if anything. Mirrors ``validateInitializingTimeout``."""
    text = annotations.get(INITIALIZING_TIMEOUT_ANNOTATION, "")
    seconds = get_initializing_timeout(annotations)
    if not text or (seconds is not None and seconds > 0):
        return None
    told = f"annotation {INITIALIZING_TIMEOUT_ANNOTATION}"
    if parse_duration(text) is not None:
        return f"{told} must be a positive duration, got: {text}"
    if seconds is not None:
        return f"{told} must be a positive integer (seconds), got: {text}"
    return (
        f"{told} has invalid format: {text}. Expected Go duration format (e.g., '5m', '1h') or "
        "positive integer seconds"
    )


def is_initializing_timeout(service: RayService) -> bool:
    """Whether it has failed so, for ever: only its clusters are still cleaned up.

    Mirrors ``isInitializingTimeout``.
    """
    ready = find_status_condition(service.status.conditions, SERVICE_READY)
    return ready is not None and (ready.status, ready.reason) == ("False", INITIALIZING_TIMEOUT)


def mark_failed_on_initializing_timeout(
    tools: Tools, service: RayService, conditions: Conditions
) -> Condition | None:
    """The condition of a RayService whose time is over, told as an Event too; None while it is not.

    Mirrors ``markFailedOnInitializingTimeout``, but for the names of the clusters.
    """
    timeout = get_initializing_timeout(service.metadata.annotations)
    ready = find_status_condition(conditions, SERVICE_READY)
    if timeout is None or ready is None or ready.reason != INITIALIZING:
        return None
    spent = tools.sim.now - ready.last_transition_time
    if ready.status != "False" or spent < timeout:
        return None
    tools.event(
        service,
        WARNING,
        "RayServiceInitializingTimeout",
        f"RayService initializing timeout exceeded after {spent:g}s (configured timeout: "
        f"{timeout:g}s)",
    )
    told = (
        f"RayService failed to become ready within the configured timeout of {timeout:g}s. Time "
        f"spent initializing: {spent:g}s"
    )
    return Condition(SERVICE_READY, "False", INITIALIZING_TIMEOUT, told)
