"""Settings of agents in the database, which override those of the settings file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from recollect.errors import SettingsError
from recollect.settings import Settings
from recollect.settings.sections import AgentSettings

_log = logging.getLogger(__name__)


def agent_over(
    declared: AgentSettings | None, given: Mapping[str, Any], settings: Settings
) -> AgentSettings:
    """Return the settings of an agent: the given ones over those of the settings file."""
    below = {} if declared is None else declared.model_dump(exclude_unset=True)
    try:
        made = AgentSettings.model_validate({**below, **given})
    except ValidationError as problems:
        message = "; ".join(
            f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in problems.errors()
        )
        raise SettingsError(
            f"The settings of this agent are invalid: {message}", code="bad_agent"
        ) from None
    if made.store and made.store not in settings.stores:
        raise SettingsError(
            f"There is no store {made.store!r}",
            code="unknown_store",
            hint=f"Declare it in the settings file under stores; there are: "
            f"{', '.join(sorted(settings.stores)) or 'none'}.",
        )
    return made


def with_agents(settings: Settings, overlays: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Return a copy of the settings with the overrides of agents from the database."""
    agents = dict(settings.agents)
    for name, given in overlays.items():
        try:
            agents[name] = agent_over(settings.agents.get(name), given, settings)
        except SettingsError as problem:
            # A store that is no longer declared must not make the whole memory unusable.
            _log.warning("the agent %s is as the settings file says: %s", name, problem)
    return settings.model_copy(update={"agents": agents})
