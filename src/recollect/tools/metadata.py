"""Conversion between a tool's metadata and the fields of a record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final, cast

from recollect.domain.fields import RecordFields
from recollect.domain.hit import ArchivePassage, Item
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE
from recollect.domain.views import Json
from recollect.errors import InvalidInput
from recollect.tools.places import Places

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
        **item.metadata,
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
