"""What was given → the settings, and who asks when nobody says otherwise."""

from __future__ import annotations

from pathlib import Path

from recollect.domain.scope import Caller, Scope
from recollect.settings import Settings


def settings_at(where: str | Path | Settings | None) -> Settings:
    if isinstance(where, Settings):
        return where
    return Settings.load() if where is None else Settings.at(where)


def first_caller(settings: Settings) -> Caller:
    scope = settings.scope
    agent = settings.agents.get(scope.agent or "")
    here = Scope(org=scope.org, workspace=scope.workspace, agent=scope.agent, user=scope.user)
    return Caller(
        scope=here, children=agent.children if agent is not None else (), principal=here.actor
    )
