"""Namespaces that a model may name, and the scopes and categories that they stand for.

A namespace is a part of memory from `memory_route` (user-profile, domain-facts …), or the name
of one of the caller's own scopes. It never gives access to other scopes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, cast, get_args

from recollect.domain.filters import Filter
from recollect.domain.scope import Caller, Scope, namespace_of
from recollect.domain.write import Namespace

# The categories of each part; their aliases are found too.
_PARTS: Final[Mapping[Namespace, frozenset[str]]] = {
    "user-profile": frozenset({"user-profile", "feedback", "sentiment"}),
    "domain-facts": frozenset(
        {
            *("domain-facts", "project", "reference", "adr", "convention", "known-issue"),
            *("decision", "general"),
        }
    ),
    "task-traces": frozenset({"task-traces", "decision", "follow-up"}),
    "tool-effects": frozenset({"tool-effects"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The namespaces of one caller; `prefixes` are the names of agents' namespaces in settings."""

    caller: Caller
    prefixes: Mapping[str, str]

    def part(self, namespace: str | None) -> Namespace | None:
        """Return the part of memory that is named, or None if it is a scope."""
        name = (namespace or "").replace("_", "-")
        return cast("Namespace", name) if name in get_args(Namespace) else None

    def scope(self, namespace: str | None) -> str | None:
        """Return the name of a scope; None for the default one and for a part of memory."""
        if namespace is None or self.part(namespace) is not None:
            return None
        prefix, slash, user = namespace.partition("/")
        agents = [agent for agent, own in self.prefixes.items() if own == prefix]
        return f"{agents[0]}/{user}" if slash and agents else namespace

    def readable(self, namespace: str | None) -> tuple[Scope, ...]:
        """Return the scopes to search."""
        spelling = self.scope(namespace)
        return self.caller.readable if spelling is None else (self.caller.namespace(spelling),)

    def categories(self, namespace: str | None) -> frozenset[str]:
        """Return the categories to search; empty means any."""
        part = self.part(namespace)
        return frozenset() if part is None else _PARTS[part]

    def filter(self, namespace: str | None) -> Filter:
        """Return the filter for a namespace."""
        return Filter(categories=self.categories(namespace))

    def spelled(self, scope: Scope) -> str:
        """Return the name of a scope for a model."""
        prefix = self.prefixes.get(scope.agent or "")
        return namespace_of(scope) if prefix is None else f"{prefix}/{scope.user or '-'}"
