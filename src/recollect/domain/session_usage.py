"""Figures about a session's window."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """How full a session's window was when it was last prepared, and what lies outside it."""

    messages: int
    window_messages: int
    window_tokens: int
    budget_tokens: int
    # How far it is compressed: not at all (0) up to one digest (3).
    level: int
    # A smaller window is being made in the background.
    pending: bool
    archived: int
    # What the last prompt had to do without, and why, each reason once.
    degraded: tuple[str, ...]
