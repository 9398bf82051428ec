"""Which events a controller listens to.

Mirrors pkg/predicate/predicate.go of controller-runtime v0.24.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kubequeue.errors import InvalidArgumentError


def _always(*_: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Predicate:
    """Says of each event whether it may pass; what is left out lets everything pass.

    Mirrors ``predicate.go: Funcs``.
    """

    create: Callable[[Any], bool] = _always
    update: Callable[[Any, Any], bool] = _always
    delete: Callable[[Any], bool] = _always


EVERYTHING = Predicate()
"""Lets every event pass."""

generation_changed = Predicate(
    update=lambda old, new: bool(old.metadata.generation != new.metadata.generation)
)
"""Updates of the spec. Mirrors ``predicate.go: GenerationChangedPredicate``."""

labels_changed = Predicate(update=lambda old, new: bool(old.metadata.labels != new.metadata.labels))
"""Updates of the labels. Mirrors ``predicate.go: LabelChangedPredicate``."""

annotations_changed = Predicate(
    update=lambda old, new: bool(old.metadata.annotations != new.metadata.annotations)
)
"""Updates of the annotations. Mirrors ``predicate.go: AnnotationChangedPredicate``."""

resource_version_changed = Predicate(
    update=lambda old, new: bool(old.metadata.resource_version != new.metadata.resource_version)
)
"""Updates that are no resync. Mirrors ``predicate.go: ResourceVersionChangedPredicate``."""


def or_(*predicates: Predicate) -> Predicate:
    """An event passes when one of ``predicates`` lets it. Mirrors ``predicate.go: Or``.

    Raises `InvalidArgumentError` for what is no `Predicate`, or for none at all.
    """
    return _combined(any, predicates)


def and_(*predicates: Predicate) -> Predicate:
    """An event passes when all of ``predicates`` let it. Mirrors ``predicate.go: And``.

    Raises `InvalidArgumentError` for what is no `Predicate`, or for none at all.
    """
    return _combined(all, predicates)


def _combined(quantifier: Callable[[Any], bool], predicates: tuple[Predicate, ...]) -> Predicate:
    if not predicates or not all(isinstance(each, Predicate) for each in predicates):
        raise InvalidArgumentError("predicates", predicates, "one Predicate or more")
    return Predicate(
        create=lambda obj: quantifier(each.create(obj) for each in predicates),
        update=lambda old, new: quantifier(each.update(old, new) for each in predicates),
        delete=lambda obj: quantifier(each.delete(obj) for each in predicates),
    )
