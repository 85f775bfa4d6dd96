"""Recollect: layered memory for LLM agents that people can see, correct and delete."""

from recollect.domain.fields import Draft, RecordFields
from recollect.domain.hit import Explanation, Hit, PathScore, Recalled
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
    "Draft",
    "Episode",
    "Evidence",
    "Explanation",
    "Hit",
    "Kind",
    "Memory",
    "Page",
    "PathScore",
    "Procedure",
    "Recalled",
    "RecollectError",
    "Record",
    "RecordFields",
    "Scope",
    "Stats",
    "Status",
    "Tier",
    "Turn",
    "Version",
]
