"""Arguments → the settings, and the default caller."""

from __future__ import annotations

from pathlib import Path

from recollect.domain.scope import Caller, Scope
from recollect.settings import Settings


def settings_at(where: str | Path | Settings | None) -> Settings:
    """Return the settings for a path, or the default ones."""
    if isinstance(where, Settings):
        return where
    return Settings.load() if where is None else Settings.at(where)


def first_caller(settings: Settings) -> Caller:
    """Return the caller that the settings name."""
    scope = settings.scope
    agent = settings.agents.get(scope.agent or "")
    here = Scope(org=scope.org, workspace=scope.workspace, agent=scope.agent, user=scope.user)
    return Caller(
        scope=here, children=agent.children if agent is not None else (), principal=here.actor
    )
