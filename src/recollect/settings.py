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
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    model_validator,
)

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

# Tables whose keys are names of agents, and so stay as they are written in a variable.
_NAMED_BY_USERS: Final = frozenset({("agents",), ("scope", "namespaces")})


def _at_home(path: object) -> object:
    """A path with `~` spelled out; an empty one is none."""
    if not isinstance(path, str | Path):
        return path
    try:
        return Path(path).expanduser() if str(path) else None
    except RuntimeError as unknown:
        raise ValueError(str(unknown)) from None


Share = Annotated[float, Field(ge=0, le=1)]
Place = Annotated[Path, BeforeValidator(_at_home)]
PlaceOrNone = Annotated[Path | None, BeforeValidator(_at_home)]


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
    path: PlaceOrNone = Field(default=None, description="database file; empty = in data_dir")
    synchronous: Literal["full", "normal", "off"] = "full"
    busy_timeout: Annotated[float, Field(gt=0)] = 10.0
    qdrant_url: str = ""
    qdrant_key: str = Field(default="", repr=False)


class RecallSettings(_Section):
    """How things are found again."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 5
    min_score: Share = 0.3
    candidates: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=50, description="units each path takes before they are fused and filtered"
    )
    keyword_weight: Annotated[float, Field(ge=0, le=10)] = Field(
        default=1.0, description="how much words count"
    )
    vector_weight: Annotated[float, Field(ge=0, le=10)] = Field(
        default=0.7, description="how much meaning counts beside words"
    )
    recent: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=5, description="how many of the latest things are always looked at"
    )
    recent_days: Annotated[float, Field(gt=0)] = 14
    recent_weight: Share = Field(
        default=0.0, description="how much being recent counts; 0 leaves the path out"
    )
    decay_lambda: Annotated[float, Field(ge=0)] = 0.0
    max_context_tokens: Annotated[int, Field(ge=1)] = 1_500
    index_memory_mb: Annotated[int, Field(ge=1)] = Field(
        default=256, description="memory for packed keyword indexes"
    )
    vector_memory_mb: Annotated[int, Field(ge=1)] = Field(
        default=512, description="memory for packed vectors"
    )


class EmbeddingSettings(_Section):
    """Which model turns text into vectors."""

    model: str = Field(
        default="",
        description="empty = the local default; none; folder:PATH; openai:NAME; fastembed:NAME; "
        "sentence-transformers:NAME",
    )
    dimension: Annotated[int, Field(ge=1)] | None = None
    folder: PlaceOrNone = Field(default=None, description="where the default's weights are")
    cache_dir: PlaceOrNone = Field(default=None, description="where prepared models are kept")
    pooling: Literal["mean", "cls"] | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    longest: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="tokens of a text that the model reads"
    )
    languages: tuple[str, ...] = Field(default=(), description="empty = what the model says")
    base_url: str = ""
    api_key: str = Field(default="", repr=False)
    batch_size: Annotated[int, Field(ge=1)] = 64
    timeout: Annotated[float, Field(gt=0)] = 30.0
    retries: Annotated[int, Field(ge=0)] = 3


class NotesSettings(_Section):
    """Session notes for tool loops (S2)."""

    enabled: bool = True
    max_chunks: Annotated[int, Field(ge=1)] = 10
    min_relevance: Share = 0.5


class Settings(_Section):
    """Every setting there is. `Settings.load()` also reads the file and the environment."""

    data_dir: Place = Field(default_factory=lambda: Path(platformdirs.user_data_dir("recollect")))
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

    def changed(self) -> dict[str, str]:
        """What differs from the defaults, by its name in the tree; secrets stay secret."""
        return dict(_differences(self, Settings()))

    @classmethod
    def load(cls, given: Mapping[str, Any] | None = None, *, file: Path | None = None) -> Settings:
        """Settings from the file, overlaid by the environment, overlaid by what is given."""
        tree = _from_file(file or settings_file())
        variables = _variables(os.environ)
        _overlay(tree, _from_environment(variables, os.environ))
        _overlay(tree, given or {})
        told = {place: it for place, it in variables.items() if not _is_given(given or {}, place)}
        return cls.model_validate(tree, context=told)

    @classmethod
    def at(cls, place: str | Path) -> Settings:
        """Settings for a database file (`….db`, `….sqlite`, `….sqlite3`) or a data folder."""
        path = Path(place)
        if path.suffix.lower() in {".db", ".sqlite", ".sqlite3"}:
            return cls.load({"storage": {"path": path}, "data_dir": path.parent})
        # Whatever the environment names as the database is not in the folder that was asked for.
        return cls.load({"storage": {"path": None}, "data_dir": path})

    @model_validator(mode="wrap")
    @classmethod
    def _refused_by_us(
        cls, tree: Any, checked: ModelWrapValidatorHandler[Settings], info: ValidationInfo
    ) -> Settings:
        try:
            return checked(tree)
        except ValidationError as problems:
            variables = cast("Mapping[tuple[str, ...], str]", info.context or {})
            told = "; ".join(_told(problem, variables) for problem in problems.errors())
            raise SettingsError(
                f"Settings cannot be used: {told}",
                hint=f"`recollect where` shows the settings file; variables begin with {_PREFIX}.",
            ) from None


def settings_file() -> Path:
    """Where the settings file is looked for."""
    named = os.environ.get(_FILE_VARIABLE)
    return (
        Path(os.path.expanduser(named))  # noqa: PTH111  (an unknown `~name` is left as it is)
        if named
        else Path(platformdirs.user_config_dir("recollect")) / "settings.toml"
    )


def _told(problem: Any, variables: Mapping[tuple[str, ...], str]) -> str:
    place = tuple(str(part) for part in problem["loc"])
    name = ".".join(place)
    named = [it for at, it in variables.items() if at[: len(place)] == place]
    origin = f" (from {', '.join(named)})" if named else ""
    if problem["type"] != "extra_forbidden":
        return f"{name} = {problem['input']!r}: {problem['msg']}{origin}"
    similar = difflib.get_close_matches(name, _names(Settings), n=1)
    return f"{name} is unknown{origin}" + (f", did you mean {similar[0]}?" if similar else "")


def _from_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        if os.environ.get(_FILE_VARIABLE):
            raise SettingsError(f"{_FILE_VARIABLE} names {path}, which does not exist") from None
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as problem:
        raise SettingsError(f"The settings file {path} cannot be read: {problem}") from None


def _variables(environment: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    """Which variable speaks for which place in the tree; our own names beat the seeds'."""
    found = {
        tuple(place.split(".")): alias for alias, place in _ALIASES.items() if alias in environment
    }
    for variable in environment:
        if variable.startswith(_PREFIX) and variable != _FILE_VARIABLE:
            found[_place(variable.removeprefix(_PREFIX))] = variable
    return found


def _place(name: str) -> tuple[str, ...]:
    place: tuple[str, ...] = ()
    for part in name.split(_NESTING):
        place += (part if place in _NAMED_BY_USERS else part.lower(),)
    return place


def _from_environment(
    variables: Mapping[tuple[str, ...], str], environment: Mapping[str, str]
) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    # A whole table comes before what is said about parts of it.
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


def _is_given(given: Mapping[str, Any], place: tuple[str, ...]) -> bool:
    first, *rest = place
    inner = given.get(first)
    if rest and isinstance(inner, Mapping):
        return _is_given(cast("Mapping[str, Any]", inner), tuple(rest))
    return first in given


def _names(section: type[BaseModel], before: str = "") -> Iterator[str]:
    for name, field in section.model_fields.items():
        yield before + name
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from _names(inner, f"{before}{name}.")


def _differences(
    section: BaseModel, usual: BaseModel, before: str = ""
) -> Iterator[tuple[str, str]]:
    for name, field in type(section).model_fields.items():
        value, default = getattr(section, name), getattr(usual, name)
        if isinstance(value, BaseModel):
            yield from _differences(value, default, f"{before}{name}.")
        elif value != default:
            yield before + name, str(value) if field.repr else "(secret)"
