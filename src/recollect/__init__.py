"""Recollect: layered memory for LLM agents that people can see, correct and delete."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from recollect.domain.context import MemoryContext
    from recollect.domain.fields import Draft, RecordFields
    from recollect.domain.hit import Boost, Explanation, Hit, NearMiss, PathScore, Recalled
    from recollect.domain.message import FilePart, ImagePart, Message, TextPart, ToolCall
    from recollect.domain.notes import ScratchpadUpdate
    from recollect.domain.page import Page
    from recollect.domain.record import (
        Episode,
        Evidence,
        Kind,
        Procedure,
        Record,
        Status,
        Tier,
        Version,
    )
    from recollect.domain.scope import Scope
    from recollect.domain.stats import Stats
    from recollect.domain.turn import Turn
    from recollect.errors import RecollectError
    from recollect.memory import Memory

__all__ = [
    "Boost",
    "Draft",
    "Episode",
    "Evidence",
    "Explanation",
    "FilePart",
    "Hit",
    "ImagePart",
    "Kind",
    "Memory",
    "MemoryContext",
    "Message",
    "NearMiss",
    "Page",
    "PathScore",
    "Procedure",
    "Recalled",
    "RecollectError",
    "Record",
    "RecordFields",
    "Scope",
    "ScratchpadUpdate",
    "Stats",
    "Status",
    "TextPart",
    "Tier",
    "ToolCall",
    "Turn",
    "Version",
]

# Where each name is defined: a module is imported when one of its names is first asked for.
_HOMES: Final = {
    "Boost": "recollect.domain.hit",
    "Draft": "recollect.domain.fields",
    "Episode": "recollect.domain.record",
    "Evidence": "recollect.domain.record",
    "Explanation": "recollect.domain.hit",
    "FilePart": "recollect.domain.message",
    "Hit": "recollect.domain.hit",
    "ImagePart": "recollect.domain.message",
    "Kind": "recollect.domain.record",
    "Memory": "recollect.memory",
    "MemoryContext": "recollect.domain.context",
    "Message": "recollect.domain.message",
    "NearMiss": "recollect.domain.hit",
    "Page": "recollect.domain.page",
    "PathScore": "recollect.domain.hit",
    "Procedure": "recollect.domain.record",
    "Recalled": "recollect.domain.hit",
    "RecollectError": "recollect.errors",
    "Record": "recollect.domain.record",
    "RecordFields": "recollect.domain.fields",
    "Scope": "recollect.domain.scope",
    "ScratchpadUpdate": "recollect.domain.notes",
    "Stats": "recollect.domain.stats",
    "Status": "recollect.domain.record",
    "TextPart": "recollect.domain.message",
    "Tier": "recollect.domain.record",
    "ToolCall": "recollect.domain.message",
    "Turn": "recollect.domain.turn",
    "Version": "recollect.domain.record",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
