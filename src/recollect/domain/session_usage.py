"""Usage figures of a session's window."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUsage:
    """How full a session's window was when it was last prepared, and what is outside of it."""

    messages: int
    window_messages: int
    window_tokens: int
    budget_tokens: int
    # The level of compression, from none (0) to a single digest (3).
    level: int
    # Whether a smaller window is being prepared in the background.
    pending: bool
    archived: int
    # What was degraded in the last prompt, each reason once.
    degraded: tuple[str, ...]
