"""A route: whether a message should be answered with memory, and whether it should become some."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WritePolicy = Literal["auto", "explicit", "off"]
Namespace = Literal["user-profile", "domain-facts", "task-traces", "tool-effects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where to look and where to write for one message, and the words that decided it."""

    should_read: bool
    should_write: bool
    namespaces: tuple[Namespace, ...]
    """Where to write; for a message that is only read for, where to look first."""
    reason: str
    degraded: str = ""
    """Why a model did not judge it though one is configured."""
