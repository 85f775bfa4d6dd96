"""Recollect: layered memory for LLM agents that people can see, correct and delete."""

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
