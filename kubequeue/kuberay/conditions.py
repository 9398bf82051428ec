"""The conditions of a status: a tuple of them, one for each type, changed by making a new tuple.

Mirrors meta/conditions.go (apimachinery v0.36, pkg/api/meta).
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that is so or not; ``status`` is ``"True"`` or ``"False"``.

    ``last_transition_time`` is when ``status`` last changed, in seconds. ``observed_generation`` is
    that of the object when this was found; the operator notes it for a RayService only.
    """

    type: str
    status: str
    reason: str = ""
    message: str = ""
    last_transition_time: float = 0.0
    observed_generation: int = 0


Conditions = tuple[Condition, ...]


def find_status_condition(conditions: Conditions, type_: str) -> Condition | None:
    """The condition of that type. Costs O(conditions). Mirrors ``FindStatusCondition``."""
    return next((condition for condition in conditions if condition.type == type_), None)


def is_status_condition_true(conditions: Conditions, type_: str) -> bool:
    """Whether there is such a condition and it is true. Mirrors ``IsStatusConditionTrue``.

    >>> is_status_condition_true((Condition("Ready", "True"),), "Ready")
    True
    """
    found = find_status_condition(conditions, type_)
    return found is not None and found.status == "True"


def set_status_condition(conditions: Conditions, new: Condition) -> Conditions:
    """With ``new`` in the place of the one of its type, or behind the others.

    The transition time of the old one is kept while the status stays the same, so a condition that
    says the same is equal to the old one. Mirrors ``SetStatusCondition``.
    """
    old = find_status_condition(conditions, new.type)
    if old is None:
        return (*conditions, new)
    if old.status == new.status:
        new = replace(new, last_transition_time=old.last_transition_time)
    return tuple(new if condition is old else condition for condition in conditions)


def remove_status_condition(conditions: Conditions, type_: str) -> Conditions:
    """Without the condition of that type. Mirrors ``RemoveStatusCondition``."""
    return tuple(condition for condition in conditions if condition.type != type_)
