"""Who may do what. Mirrors pkg/apis/rbac of kubernetes v1.36: rules allow, nothing forbids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kubequeue.cluster.given import several
from kubequeue.errors import InvalidArgumentError

VERBS = ("get", "list", "watch", "create", "update", "patch", "delete")
"""The verbs of an API server. A status is written with ``update`` of the kind ``Pod/status``."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Some verbs on some kinds in some namespaces; ``"*"`` stands for all of them.

    A kind is named as in ``Pod``; its status is another thing, named ``Pod/status``. A rule for
    all namespaces is also one for requests at the cluster scope, such as a list of every
    namespace; a rule for some namespaces is not.

    >>> Rule(["get"], ["Pod"], ["team-a"]).allows("get", "Pod", "")
    False
    """

    verbs: Sequence[str]
    kinds: Sequence[str]
    namespaces: Sequence[str] = ("*",)

    def __post_init__(self) -> None:
        for name in ("verbs", "kinds", "namespaces"):
            given, expected = getattr(self, name), f"a list of {name}, as texts"
            items = several(name, given, expected)
            if not all(isinstance(item, str) for item in items):
                raise InvalidArgumentError(name, given, expected)
            object.__setattr__(self, name, items)
        unknown = [verb for verb in self.verbs if verb not in (*VERBS, "*")]
        if unknown:
            raise InvalidArgumentError("verbs", unknown, f'some of {", ".join(VERBS)}, or "*"')

    def allows(self, verb: str, kind: str, namespace: str) -> bool:
        """Whether this rule covers it. Costs O(its entries)."""
        return (
            _covers(self.verbs, verb)
            and _covers(self.kinds, kind)
            and _covers(self.namespaces, namespace)
        )


def _covers(entries: Sequence[str], wanted: str) -> bool:
    return "*" in entries or wanted in entries


class RBAC:
    """The rules of each user; a user without rules may do nothing.

    >>> rbac = RBAC({"ray-operator": [Rule(["*"], ["RayCluster"], ["team-a"])]})
    >>> rbac.allows("ray-operator", "create", "RayCluster", "team-a")
    True
    >>> rbac.allows("ray-operator", "create", "Pod", "team-a")
    False
    """

    def __init__(self, roles: Mapping[str, Iterable[Rule]]) -> None:
        if not isinstance(roles, Mapping):
            raise InvalidArgumentError("roles", roles, "a list of Rule for each user, in a mapping")
        self._roles = {
            user: several(f"roles[{user!r}]", rules, "a list of Rule")
            for user, rules in roles.items()
        }
        for user, rules in self._roles.items():
            strangers: list[Any] = [rule for rule in rules if not isinstance(rule, Rule)]
            if strangers:
                raise InvalidArgumentError(f"roles[{user!r}]", strangers, "a list of Rule")
        self._answers: dict[tuple[str, str, str, str], bool] = {}

    def allows(self, user: str, verb: str, kind: str, namespace: str) -> bool:
        """Whether a rule of the user allows it. Costs O(1) from the second time on."""
        asked = (user, verb, kind, namespace)
        answer = self._answers.get(asked)
        if answer is None:
            rules = self._roles.get(user, ())
            answer = any(rule.allows(verb, kind, namespace) for rule in rules)
            self._answers[asked] = answer
        return answer
