"""Conversion of a filter to JSON and back, with the names that callers use."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, cast

from recollect.domain.filters import Filter, FilterFields, make_filter

_TIMES: Final = ("since", "until", "as_of", "valid_at")
_USUAL: Final = Filter()


def filter_form(where: Filter) -> dict[str, Any]:
    """Return the conditions that differ from the defaults."""
    if where == _USUAL:
        return {}
    form: dict[str, Any] = {
        "kind": sorted(where.kinds),
        "category": sorted(where.categories),
        "tags": sorted(where.tags),
        "status": [] if where.statuses == _USUAL.statuses else sorted(where.statuses),
        "owners": [] if where.owners == _USUAL.owners else sorted(where.owners),
        "session": where.session,
        "task": where.task,
    }
    form |= {name: moment.isoformat() for name in _TIMES if (moment := getattr(where, name))}
    return {name: value for name, value in form.items() if value not in (None, [])}


def filter_from(form: Mapping[str, Any]) -> Filter:
    """Return the filter that was converted to this form."""
    fields = {
        name: datetime.fromisoformat(value) if name in _TIMES else value
        for name, value in form.items()
    }
    return make_filter(**cast("FilterFields", fields))
