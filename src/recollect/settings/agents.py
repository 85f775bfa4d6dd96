"""Settings of agents in the database, which override those of the settings file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from recollect.errors import SettingsError
from recollect.settings import Settings
from recollect.settings.place import (
    has_password,
    is_database_file,
    is_server_url,
    server_kind,
    told_url,
)
from recollect.settings.sections import AgentSettings
from recollect.settings.sources import PASSWORD_PREFIX

_log = logging.getLogger(__name__)

# The settings of an agent that say where its store is.
PLACE: Final = ("store", "backend", "sqlite_path", "url", "password_env")
_COMMON: Final = "common"


def place_at(to: str, settings: Settings, password_env: str = "") -> dict[str, Any]:
    """Return the place of an agent that is to be in this store.

    A store is named as it is under `stores`, or by a URL or a database file; `common` is the
    common one.
    """
    if to in settings.stores:
        return made_place(store=to)
    if to in ("", _COMMON):
        return made_place()
    if is_server_url(to):
        return made_place(backend=server_kind(to), url=to, password_env=password_env)
    if is_database_file(Path(to)):
        return made_place(backend="sqlite", sqlite_path=to)
    raise unknown_store(to, settings)


def made_place(**given: Any) -> dict[str, Any]:
    """Return a whole place, which overrides all of the settings file's."""
    empty: dict[str, Any] = {
        "store": "",
        "backend": None,
        "sqlite_path": None,
        "url": "",
        "password_env": "",
    }
    place = {**empty, **{name: value for name, value in given.items() if value is not None}}
    if has_password(place["url"]):
        raise SettingsError(
            f"The URL {told_url(place['url'])} holds a password, which is not stored",
            code="password_in_url",
            hint=f"Put it in a variable whose name begins with {PASSWORD_PREFIX} where the memory "
            "is opened, leave it out of the URL, and give the variable's name as password_env.",
        )
    return place


def place_of(agent: AgentSettings) -> dict[str, Any]:
    """Return the place of an agent, as it can be stored."""
    return agent.model_dump(mode="json", include=set(PLACE))


def told_store(agent: AgentSettings) -> str:
    """Return the store of an agent for people; empty for the common one."""
    return agent.store or told_url(agent.url) or str(agent.sqlite_path or agent.backend or "")


def told_place(place: Mapping[str, Any]) -> str:
    """Return a place for people."""
    return told_store(AgentSettings.model_validate(place)) or "the common store"


def unknown_store(name: str, settings: Settings) -> SettingsError:
    return SettingsError(
        f"There is no store {name!r}",
        code="unknown_store",
        hint="Declare it in the settings file under stores, or give a URL or a database file; "
        f"there are: {', '.join((_COMMON, *sorted(settings.stores)))}.",
    )


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
        raise unknown_store(made.store, settings)
    # Raises an error if it has no connection.
    settings.model_copy(update={"agents": {"": made}}).store_of("")
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
