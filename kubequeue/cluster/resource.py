"""What the server knows about a kind: what Kubernetes calls it, and what its objects start as."""

from __future__ import annotations

import re
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Any

from kubequeue.cluster.metadata import ObjectMeta
from kubequeue.errors import BadRequestError, InvalidArgumentError, InvalidError

_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name', or '123-abc')"
)


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as the server sees it: ``name`` is ``rayclusters``, full names have its group."""

    kind: str
    full_kind: str
    name: str
    group: str
    full_name: str
    namespaced: bool
    first_status: Any

    @classmethod
    def of(cls, kind: type[Any]) -> Resource:
        """The resource of a kind.

        Raises `InvalidArgumentError` for a class that is no frozen dataclass with ``kind``,
        ``metadata``, ``spec`` and ``status``, or whose status has no default.
        """
        name = getattr(kind, "kind", None)
        if not (isinstance(kind, type) and is_dataclass(kind) and isinstance(name, str)):
            raise InvalidArgumentError("kind", kind, "a frozen dataclass with a ClassVar kind")
        parts = {field.name: field for field in fields(kind)}
        if not {"metadata", "spec", "status"} <= parts.keys() or not _is_frozen(kind):
            raise InvalidArgumentError(
                "kind", kind, "a frozen dataclass with the fields metadata, spec and status"
            )
        plural = getattr(kind, "plural", f"{name.lower()}s")
        group = getattr(kind, "group", "")
        suffix = f".{group}" if group else ""
        return cls(
            kind=name,
            full_kind=name + suffix,
            name=plural,
            group=group,
            full_name=plural + suffix,
            namespaced=getattr(kind, "namespaced", True),
            first_status=_default(kind, parts["status"]),
        )

    def check_new(self, meta: ObjectMeta) -> None:
        """Raise what Kubernetes raises for the metadata of an object that is to be created.

        Mirrors ``create.go: BeforeCreate`` (apiserver v0.36, pkg/registry/rest).
        """
        if meta.resource_version:
            raise BadRequestError("resourceVersion should not be set on objects to be created")
        if not (meta.name or meta.generate_name):
            self.refuse(meta, "metadata.name", "Required value: name or generateName is required")
        self._check_namespace(meta)
        prefix = meta.generate_name
        if prefix and not _is_name(f"{prefix[:-1]}a" if prefix[1:].endswith("-") else prefix):
            problem = f'Invalid value: "{prefix}": {_SUBDOMAIN_RULE}'
            self.refuse(meta, "metadata.generateName", problem)
        if meta.name and not _is_name(meta.name):
            self.refuse(meta, "metadata.name", f'Invalid value: "{meta.name}": {_SUBDOMAIN_RULE}')

    def refuse(self, meta: ObjectMeta, field: str, problem: str) -> None:
        """Raise `InvalidError` for a field of an object of this kind."""
        raise InvalidError(self.full_kind, meta.name, field, problem)

    def _check_namespace(self, meta: ObjectMeta) -> None:
        if not self.namespaced:
            if meta.namespace:
                self.refuse(meta, "metadata.namespace", "Forbidden: not allowed on this type")
        elif not meta.namespace:
            raise BadRequestError("an empty namespace may not be set during creation")
        elif not (len(meta.namespace) <= 63 and _LABEL.fullmatch(meta.namespace)):
            self.refuse(
                meta, "metadata.namespace", f'Invalid value: "{meta.namespace}": {_LABEL_RULE}'
            )


def _is_name(text: str) -> bool:
    return len(text) <= 253 and bool(_SUBDOMAIN.fullmatch(text))


def _is_frozen(kind: type[Any]) -> bool:
    return bool(kind.__dataclass_params__.frozen)


def _default(kind: type[Any], status: Any) -> Any:
    if status.default is not MISSING:
        return status.default
    if status.default_factory is not MISSING:
        return status.default_factory()
    raise InvalidArgumentError("kind", kind, "a kind whose status has a default")
