"""Routes: whether to recall memory for a message, and whether and where to store it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

WritePolicy = Literal["auto", "explicit", "off"]
Namespace = Literal["user-profile", "domain-facts", "task-traces", "tool-effects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The namespaces to read and write for one message, and the words that decided it."""

    should_read: bool
    should_write: bool
    namespaces: tuple[Namespace, ...]
    """Where to write; if nothing is written, where to look first."""
    reason: str
    degraded: str = ""
    """Why the configured model did not decide."""


# --- Modes of redaction of personal data and secrets in texts to store ----------------------------


RedactMode = Literal["off", "mask", "drop"]
"""Keep them, mask them, or do not store the text."""
