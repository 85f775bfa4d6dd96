"""One tree of settings: constructor, environment, file, defaults, in this order.

The only place that reads the environment.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from recollect.errors import SettingsError

_PREFIX: Final = "RECOLLECT_"
_FILE_VARIABLE: Final = "RECOLLECT_SETTINGS"
_NESTING: Final = "__"

# The seeds' own names, each for one place in the tree.
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
}

Share = Annotated[float, Field(ge=0, le=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class ScopeSettings(_Section):
    """Who the caller is when nobody says otherwise."""

    org: str = "local"
    workspace: str = "default"
    agent: str | None = None
    user: str | None = "me"
    namespaces: dict[str, str] = Field(
        default_factory=dict, description="agent → its namespace prefix (S4)"
    )


class AgentSettings(_Section):
    """What is special about one agent."""

    children: tuple[str, ...] = Field(
        default=(), description="agents whose memory this one may read and write"
    )


class StorageSettings(_Section):
    """Where memory is kept."""

    backend: Literal["sqlite", "in_memory"] = "sqlite"
    path: Path | None = Field(default=None, description="database file; empty = in data_dir")
    synchronous: Literal["full", "normal", "off"] = "full"
    busy_timeout: Annotated[float, Field(gt=0)] = 10.0
    qdrant_url: str = ""
    qdrant_key: str = Field(default="", repr=False)


class RecallSettings(_Section):
    """How things are found again."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 5
    min_score: Share = 0.3
    candidates: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=50, description="units taken from the index before filters"
    )
    decay_lambda: Annotated[float, Field(ge=0)] = 0.0
    max_context_tokens: Annotated[int, Field(ge=1)] = 1_500
    index_memory_mb: Annotated[int, Field(ge=1)] = Field(
        default=256, description="memory for packed search indexes"
    )


class EmbeddingSettings(_Section):
    """Which model turns text into vectors."""

    model: str = ""
    dimension: Annotated[int, Field(ge=1)] | None = None


class NotesSettings(_Section):
    """Session notes for tool loops (S2)."""

    enabled: bool = True
    max_chunks: Annotated[int, Field(ge=1)] = 10
    min_relevance: Share = 0.5


class Settings(_Section):
    """Every setting there is. `Settings.load()` also reads the file and the environment."""

    data_dir: Path = Field(default_factory=lambda: Path(platformdirs.user_data_dir("recollect")))
    scope: ScopeSettings = ScopeSettings()
    agents: dict[str, AgentSettings] = Field(default_factory=dict)
    storage: StorageSettings = StorageSettings()
    recall: RecallSettings = RecallSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    notes: NotesSettings = NotesSettings()

    @property
    def database(self) -> Path:
        return self.storage.path or self.data_dir / "memory" / "memory.db"

    @property
    def log_file(self) -> Path:
        return self.data_dir / "logs" / "recollect.log"

    @classmethod
    def load(cls, given: Mapping[str, Any] | None = None, *, file: Path | None = None) -> Settings:
        """Settings from the file, overlaid by the environment, overlaid by what is given."""
        tree = _from_file(file or settings_file())
        _overlay(tree, _from_environment(os.environ))
        _overlay(tree, dict(given or {}))
        return _checked(tree)

    @classmethod
    def at(cls, place: str | Path) -> Settings:
        """Settings for a database file (`….db`, `….sqlite`, `….sqlite3`) or a data folder."""
        path = Path(place).expanduser()
        if path.suffix in {".db", ".sqlite", ".sqlite3"}:
            return cls.load({"storage": {"path": path}, "data_dir": path.parent})
        return cls.load({"data_dir": path})


def settings_file() -> Path:
    """Where the settings file is looked for."""
    named = os.environ.get(_FILE_VARIABLE)
    return (
        Path(named) if named else Path(platformdirs.user_config_dir("recollect")) / "settings.toml"
    )


def _checked(tree: Mapping[str, Any]) -> Settings:
    try:
        return Settings.model_validate(tree)
    except ValidationError as problems:
        told = "; ".join(_told(problem) for problem in problems.errors())
        raise SettingsError(
            f"Settings cannot be used: {told}",
            hint=f"`recollect where` shows the settings file; variables begin with {_PREFIX}.",
        ) from None


def _told(problem: Any) -> str:
    name = ".".join(str(part) for part in problem["loc"])
    if problem["type"] != "extra_forbidden":
        return f"{name} = {problem['input']!r}: {problem['msg']}"
    similar = difflib.get_close_matches(name, _names(Settings), n=1)
    return f"{name} is unknown" + (f", did you mean {similar[0]}?" if similar else "")


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if os.environ.get(_FILE_VARIABLE):
            raise SettingsError(f"{_FILE_VARIABLE} names {path}, which does not exist") from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise SettingsError(f"The settings file {path} cannot be read: {problem}") from None


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for variable, place in _ALIASES.items():
        if variable in environment:
            _put(tree, place.split("."), environment[variable])
    for variable, value in environment.items():
        if variable.startswith(_PREFIX) and variable != _FILE_VARIABLE:
            _put(tree, variable.removeprefix(_PREFIX).lower().split(_NESTING), value)
    return tree


def _put(tree: dict[str, Any], place: list[str], value: str) -> None:
    *sections, name = place
    for section in sections:
        tree = tree.setdefault(section, {})
    tree[name] = _parsed(value)


def _parsed(value: str) -> Any:
    """Lists and tables are written in the environment as in the settings file."""
    if value[:1] in {"[", "{"}:
        try:
            return tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            return value
    return value


def _overlay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for name, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(name), dict):
            _overlay(below[name], cast("Mapping[str, Any]", value))
        else:
            below[name] = value


def _names(section: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in section.model_fields.items():
        yield before + name
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _names(inner, f"{before}{name}.")
