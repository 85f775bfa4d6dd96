"""Fields of a record and namespaces as a model names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast, get_args

from recollect.domain.fields import RecordFields
from recollect.domain.filters import Filter
from recollect.domain.hit import ArchivePassage, Item
from recollect.domain.profile import unmarked
from recollect.domain.scope import Caller, Scope, namespace_of
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE
from recollect.domain.views import Json
from recollect.domain.write import Namespace
from recollect.errors import InvalidInput

# --- Namespaces that a model may name, and the scopes and categories that they stand for ----------
# A namespace is a part of memory from `memory_route` (user-profile, domain-facts …), or the name of
# one of the caller's own scopes. It never gives access to other scopes.

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


# --- Conversion between a tool's metadata and the fields of a record ------------------------------

_TTL: Final = "ttl"
_MAX_TTL: Final = 100 * 365 * 24 * 3600
_FIELDS: Final[Mapping[str, str]] = {
    "type": "category",
    "category": "category",
    "kind": "kind",
    "name": "title",
    "title": "title",
    "description": "description",
    "tags": "tags",
    "source": "source",
    "importance": "importance",
    "confidence": "confidence",
    "task": "task",
}


def fields_of(metadata: Mapping[str, Any], now: datetime) -> RecordFields:
    """Return the fields of a record in the metadata; other keys become its metadata."""
    fields: Json = {_FIELDS[name]: it for name, it in metadata.items() if name in _FIELDS}
    rest = {name: it for name, it in metadata.items() if name not in _FIELDS and name != _TTL}
    if _TTL in metadata:
        fields["expires_at"] = now + timedelta(seconds=_seconds(metadata[_TTL]))
    if rest:
        fields["metadata"] = rest
    return cast("RecordFields", fields)


def metadata_of(item: Item, places: Places) -> Json:
    """Return the metadata of a record or turn, under the names that `fields_of` reads."""
    if isinstance(item, Turn):
        return {"type": "turn", "role": item.role, "session": item.session}
    if isinstance(item, ArchivePassage):
        return {"type": ARCHIVE, "tool": item.tool, "session": item.session}
    told: Json = {
        **unmarked(item.metadata),
        "type": item.category,
        "kind": item.kind.value,
        "name": item.title,
        "tags": list(item.tags),
        "source": item.source,
        "namespace": places.spelled(item.scope),
    }
    return {name: it for name, it in told.items() if it not in ("", [])}


def _seconds(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < cast("float", value) <= _MAX_TTL:
        raise InvalidInput(
            f"metadata.ttl must be a number of seconds, not {value!r}", code="out_of_range"
        )
    return cast("float", value)
