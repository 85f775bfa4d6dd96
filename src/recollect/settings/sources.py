"""The sources of settings: the file and the environment, which nothing else reads."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.files import config_folder
from recollect.errors import SettingsError

PREFIX: Final = "RECOLLECT_"
# Passwords that settings name, see `AgentSettings.password_env`.
PASSWORD_PREFIX: Final = "RECOLLECT_PASSWORD_"
_FILE_VARIABLE: Final = "RECOLLECT_SETTINGS"
_NESTING: Final = "__"

# Other accepted names of variables, each for one setting.
_ALIASES: Final[Mapping[str, str]] = {
    "MEMORY_BACKEND": "storage.backend",
    "MEMORY_TOP_K": "recall.limit",
    "MEMORY_MIN_SCORE": "recall.min_score",
    "MEMORY_DECAY_LAMBDA": "recall.decay_lambda",
    "MEMORY_MAX_CONTEXT_TOKENS": "recall.max_context_tokens",
    "MEMORY_NAMESPACES": "scope.namespaces",
    "EMBEDDING_MODEL": "embedding.model",
    "EMBEDDING_DIM": "embedding.dimension",
    "QDRANT_URL": "storage.qdrant_url",
    "QDRANT_KEY": "storage.qdrant_key",
    "memory_enabled": "notes.enabled",
    "memory_max_chunks": "notes.max_chunks",
    "memory_min_relevance": "notes.min_relevance",
    "MEMORY_ENABLED": "notes.enabled",
    "MEMORY_MAX_CHUNKS": "notes.max_chunks",
    "MEMORY_MIN_RELEVANCE": "notes.min_relevance",
}

# Tables whose keys are names of agents, workspaces and tools, and so keep their case.
_NAMED_BY_USERS: Final = frozenset(
    {("agents",), ("stores",), ("workspaces",), ("scope", "namespaces"), ("notes", "rules")}
)


def settings_file() -> Path:
    """Return the path of the settings file."""
    named = os.environ.get(_FILE_VARIABLE)
    return (
        Path(os.path.expanduser(named))  # noqa: PTH111  (an unknown `~name` is left as it is)
        if named
        else config_folder() / "settings.toml"
    )


def from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if os.environ.get(_FILE_VARIABLE):
            raise SettingsError(f"{_FILE_VARIABLE} names {path}, which does not exist") from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise SettingsError(f"The settings file {path} cannot be read: {problem}") from None


def variables_by_place(environment: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """Return the variable of each setting; our own names take precedence over other ones."""
    found = {
        tuple(place.split(".")): alias for alias, place in _ALIASES.items() if alias in environment
    }
    for variable in environment:
        is_setting = variable != _FILE_VARIABLE and not variable.startswith(PASSWORD_PREFIX)
        if variable.startswith(PREFIX) and is_setting:
            found[_place(variable.removeprefix(PREFIX))] = variable
    return found


def _place(name: str) -> tuple[str, ...]:
    place: tuple[str, ...] = ()
    for part in name.split(_NESTING):
        place += (part if place in _NAMED_BY_USERS else part.lower(),)
    return place


def from_environment(
    variables: Mapping[tuple[str, ...], str], environment: Mapping[str, str]
) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    # A variable for a whole table comes before those for parts of it.
    for (*sections, name), variable in sorted(variables.items()):
        table = tree
        for section in sections:
            inner: object = table.setdefault(section, {})
            if not isinstance(inner, dict):
                raise SettingsError(
                    f"{variable} sets a part of {section}, which another variable sets to {inner!r}"
                )
            table = cast("dict[str, Any]", inner)
        table[name] = _parsed(environment[variable])
    return tree


def _parsed(value: str) -> Any:
    """Return the value of a variable; lists and tables are in TOML or JSON."""
    if value[:1] not in {"[", "{"}:
        return value
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        return json.loads(value)
    except ValueError:
        return value


def overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for name, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(name), dict):
            overlay(below[name], cast("Mapping[str, Any]", value))
        else:
            below[name] = value


def is_given(given: Mapping[str, Any], place: tuple[str, ...]) -> bool:
    first, *rest = place
    inner = given.get(first)
    if rest and isinstance(inner, Mapping):
        return is_given(cast("Mapping[str, Any]", inner), tuple(rest))
    return first in given
