"""The objects of one kind, and what has to be true before one of them is written."""

from __future__ import annotations

import random
from collections.abc import Container, Iterator
from typing import Any, Literal

from kubequeue.cluster.metadata import NamespacedName, ObjectMeta, as_key
from kubequeue.cluster.resource import Resource
from kubequeue.cluster.watch import History
from kubequeue.errors import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    InvalidError,
    NotFoundError,
)

_NAME_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_NAME_TRIES = 8
_LONGEST_PREFIX = 58


class Shelf:
    """The objects of one kind by namespace and name, and their history."""

    __slots__ = ("history", "resource", "spaces")

    def __init__(self, resource: Resource, history: int) -> None:
        self.resource = resource
        self.spaces: dict[str, dict[str, Any]] = {}
        self.history = History(history)

    def find(self, key: NamespacedName | str) -> Any:
        """The object of a key. Raises `NotFoundError`. Costs O(1)."""
        key = as_key(key)
        found = self.spaces.get(key.namespace, {}).get(key.name)
        if found is None:
            raise NotFoundError(self.resource.full_name, key.name)
        return found

    def within(self, namespace: str) -> Iterator[Any]:
        """The objects of a namespace, of every namespace when it is empty, in no fixed order."""
        for space in (self.spaces.get(namespace, {}),) if namespace else self.spaces.values():
            yield from space.values()


def new_uid(stream: random.Random) -> str:
    """Another uid, in the shape of a UUID."""
    digits = f"{stream.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def free_name(resource: Resource, prefix: str, taken: Container[str], stream: random.Random) -> str:
    """``prefix`` and five letters, eight tries at most; raises `AlreadyExistsError` after them.

    Mirrors ``generate.go: GenerateName`` and ``store.go: createWithGenerateNameRetry``.
    """
    name = prefix
    for _ in range(_NAME_TRIES):
        name = prefix[:_LONGEST_PREFIX] + "".join(stream.choices(_NAME_LETTERS, k=5))
        if name not in taken:
            return name
    more = ", the server was not able to generate a unique name for the object"
    raise AlreadyExistsError(resource.full_name, name, more)


def parse_version(text: str) -> int:
    """A version as the store counts; none is 0. Raises `BadRequestError` for anything else."""
    if text == "":
        return 0
    if not (isinstance(text, str) and text.isascii() and text.isdigit()):
        raise BadRequestError(
            f'resourceVersion: Invalid value: "{text}": must be a version that a server gave'
        )
    return int(text)


def check_version(
    resource: Resource, given: ObjectMeta, present: ObjectMeta, *, needed: bool
) -> None:
    """Raise unless ``given`` is of the object as it is now; without ``needed``, none will do.

    Mirrors the preconditions of ``store.go: Update``.
    """
    if given.uid not in ("", present.uid):
        why = (
            f"Precondition failed: UID in precondition: {given.uid}, "
            f"UID in object meta: {present.uid}"
        )
        raise ConflictError(resource.full_name, present.name, why)
    if given.resource_version == "":
        if needed:
            problem = "Invalid value: 0: must be specified for an update"
            name = present.name
            raise InvalidError(resource.full_name, name, "metadata.resourceVersion", problem)
    elif given.resource_version != present.resource_version:
        raise ConflictError(resource.full_name, present.name)


def check_preconditions(
    resource: Resource, meta: ObjectMeta, uid: str | None, resource_version: str | None
) -> None:
    """Raise `ConflictError` when an object is not the one that is to be deleted.

    Mirrors ``delete.go: BeforeDelete``.
    """
    if uid is not None and uid != meta.uid:
        _differs(resource, meta, "UID", uid, meta.uid, "been deleted and then recreated")
    if resource_version is not None and resource_version != meta.resource_version:
        version = meta.resource_version
        _differs(resource, meta, "ResourceVersion", resource_version, version, "been modified")


def _differs(
    resource: Resource,
    meta: ObjectMeta,
    what: Literal["UID", "ResourceVersion"],
    given: str,
    present: str,
    happened: str,
) -> None:
    why = (
        f"the {what} in the precondition ({given}) does not match the {what} in record "
        f"({present}). The object might have {happened}"
    )
    raise ConflictError(resource.full_name, meta.name, why)


def check_finalizers(resource: Resource, before: ObjectMeta, after: ObjectMeta) -> None:
    """Raise `InvalidError` when a deleted object is given one more finalizer.

    Mirrors ``objectmeta.go: ValidateNoNewFinalizers`` (apimachinery v0.36).
    """
    extra = [name for name in after.finalizers if name not in before.finalizers]
    if extra and before.deletion_timestamp is not None:
        found = ", ".join(f'"{name}"' for name in sorted(set(extra)))
        problem = (
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{found}}}"
        )
        resource.refuse(after, "metadata.finalizers", problem)
