"""Categories: an open vocabulary with presets and aliases."""

from __future__ import annotations

from typing import Final

USER_PROFILE: Final = "user-profile"

_ALIASES: Final[tuple[frozenset[str], ...]] = (
    frozenset({"user", "user-profile", "user_preference", "preference"}),
    frozenset({"project", "project-context"}),
    frozenset({"task-traces", "task-trace"}),
    frozenset({"tool-effects", "tool-effect"}),
    frozenset({"domain-facts", "domain-fact"}),
)

PRESETS: Final[tuple[str, ...]] = (
    *("user", "project", "feedback", "reference"),
    *("user-profile", "domain-facts", "task-traces", "tool-effects"),
    *("project-context", "adr", "convention", "known-issue", "preference"),
    *("decision", "follow-up", "sentiment"),
)


def with_aliases(category: str) -> frozenset[str]:
    """Return the category and its aliases."""
    for group in _ALIASES:
        if category in group:
            return group
    return frozenset({category})


def is_user_profile(category: str) -> bool:
    """Return whether records of the category may be stored for a user without an agent."""
    return category in with_aliases(USER_PROFILE)
