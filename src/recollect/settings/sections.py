"""The branches of the tree of settings, each with its defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from recollect.domain.record import Kind
from recollect.domain.route import WritePolicy
from recollect.settings.server_url import checked_url, without_local_url


def _at_home(path: object) -> object:
    """A path with `~` spelled out; an empty one is none."""
    if not isinstance(path, str | Path):
        return path
    try:
        return Path(path).expanduser() if str(path) else None
    except RuntimeError as unknown:
        raise ValueError(str(unknown)) from None


# Whoever wants something kept for ever writes a large number; a calendar ends all the same.
MOST_DAYS: Final = 1_000_000
Days = Annotated[float, Field(gt=0, le=MOST_DAYS)]
Share = Annotated[float, Field(ge=0, le=1)]
Place = Annotated[Path, BeforeValidator(_at_home)]
PlaceOrNone = Annotated[Path | None, BeforeValidator(_at_home)]


Backend = Literal["sqlite", "in_memory", "json"]
ServerUrl = Annotated[str, AfterValidator(checked_url)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class ScopeSettings(Section):
    """Who the caller is when nobody says otherwise."""

    org: str = "local"
    workspace: str = "default"
    agent: str | None = None
    user: str | None = "me"
    namespaces: dict[str, str] = Field(
        default_factory=dict,
        description="agent → how its namespace begins in the tools, such as sql → sql_memories",
    )


class AgentSettings(Section):
    """What is special about one agent."""

    enabled: bool = Field(
        default=True, description="false = no block for its prompt, no guide and no memory tools"
    )
    prefetch_limit: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="how much is looked up for a message; empty = recall's"
    )
    store: str = Field(
        default="", description="the name of a store under `stores`; empty = the common one"
    )
    backend: Backend | None = Field(
        default=None, description="the kind of store it has for itself; empty = the common one"
    )
    sqlite_path: PlaceOrNone = Field(
        default=None,
        description="the database file it has for itself, relative to data_dir; "
        "empty = the common one",
    )
    role: str = Field(default="", description="what it is for; some shared types ask for it")
    write_policy: WritePolicy | None = Field(
        default=None, description="what of a conversation becomes memory; empty = as for all"
    )
    children: tuple[str, ...] = Field(
        default=(), description="agents whose memory this one may read and write"
    )

    @model_validator(mode="after")
    def _has_one_store(self) -> AgentSettings:
        if self.store and (self.backend is not None or self.sqlite_path is not None):
            raise ValueError("a named store has a backend and a path already")
        if self.backend not in (None, "sqlite") and self.sqlite_path is not None:
            raise ValueError(f"{self.backend} has no sqlite_path")
        return self


class StoreSettings(Section):
    """A store that agents may have instead of the common one."""

    backend: Backend = "sqlite"
    path: PlaceOrNone = Field(
        default=None,
        description="database file, or folder of a journal, relative to data_dir; empty = "
        "NAME.db, or NAME.journal, there",
    )
    url: ServerUrl = Field(
        default="",
        repr=False,
        description="postgresql://…, mysql://…, json:///FOLDER, in_memory://; empty = a file",
    )

    _without_local_url = model_validator(mode="before")(without_local_url)

    @model_validator(mode="after")
    def _is_in_one_place(self) -> StoreSettings:
        if self.url and (self.path is not None or self.backend != "sqlite"):
            raise ValueError("a store with a url has no path and no other kind")
        return self


class StorageSettings(Section):
    """Where memory is kept."""

    backend: Backend = "sqlite"
    path: PlaceOrNone = Field(
        default=None, description="database file, or folder of a journal; empty = in data_dir"
    )
    url: ServerUrl = Field(
        default="",
        repr=False,
        description="postgresql://…, mysql://…, json:///FOLDER, in_memory://; empty = a file",
    )
    connections: Annotated[int, Field(ge=1, le=200)] = Field(
        default=8, description="to a database server, for reading and for writing each"
    )
    synchronous: Literal["full", "normal", "off"] = "full"
    busy_timeout: Annotated[float, Field(gt=0)] = 10.0
    erase_in_place: bool = Field(
        default=False,
        description="overwrite what was forgotten inside the live SQLite file instead of VACUUM",
    )
    qdrant_url: str = ""
    qdrant_key: str = Field(default="", repr=False)

    _without_local_url = model_validator(mode="before")(without_local_url)


class RecallSettings(Section):
    """How things are found again."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 5
    min_score: Share = 0.3
    candidates: Annotated[int, Field(ge=1, le=10_000)] = Field(
        default=200, description="units each path takes before they are fused and filtered"
    )
    fusion: Literal["scores", "rrf"] = Field(
        default="scores", description="add what the paths score, or go by reciprocal ranks"
    )
    keyword_weight: Annotated[float, Field(ge=0, le=10)] = Field(
        default=1.0, description="how much words count"
    )
    vector_weight: Annotated[float, Field(ge=0, le=10)] | None = Field(
        default=None, description="how much meaning counts beside words; as the model was measured"
    )
    recent: Annotated[int, Field(ge=0, le=1000)] = Field(
        default=5, description="how many of the latest things are always looked at"
    )
    recent_days: Days = 14
    recent_weight: Share = Field(
        default=0.0, description="how much being recent counts; 0 leaves the path out"
    )
    patience: Annotated[float, Field(gt=0)] = Field(
        default=5.0, description="seconds after which a path that has not answered is left out"
    )
    gap: Share = Field(
        default=0.4, description="hits below this share of the best one's score are left out"
    )
    duplicates: Share = Field(
        default=0.85,
        description="hits that share so many words and say the same take one place; 0 or 1 = all",
    )
    intent: Literal[
        "auto", "new_task", "follow_up", "bug_fix", "preference", "cross_agent", "question"
    ] = Field(default="auto", description="what questions are taken for; auto judges each")
    neighbour_weight: Share = Field(
        default=0.2, description="how much the turns beside a turn speak for it"
    )
    session_weight: Share = Field(
        default=0.6, description="how much the best turn of its session speaks for a turn"
    )
    day_weight: Share = Field(
        default=0.3, description="how much the best record of its day speaks for a record"
    )
    answer_weight: Share = Field(
        default=0.4, description="how much a fitting question speaks for what follows it"
    )
    speaker_boost: Share = Field(
        default=0.4, description="how much more a turn counts whose speaker the question names"
    )
    assistant_discount: Share = Field(
        default=0.25, description="how much less the assistant's turns count"
    )
    terse_discount: Share = Field(
        default=0.25, description="how much less a turn counts that says next to nothing"
    )
    outdated_discount: Share = Field(
        default=0.5, description="how much less a turn counts that a record has replaced since"
    )
    answer_kind_boost: Share = Field(
        default=0.1,
        description="how much more counts what has the time or number that a question asks for",
    )
    entity_weight: Share = Field(
        default=0.1, description="how much naming the same as the best hits counts; 0 = no hop"
    )
    time_boost: Share = Field(
        default=0.3, description="how much more counts what is of the time that a question names"
    )
    relevance_weight: Annotated[float, Field(gt=0, le=10)] = Field(
        default=1.0, description="α: how much fitting counts"
    )
    decay_weight: Share = Field(default=0.0, description="β: how much being new counts")
    decay_lambda: Annotated[float, Field(ge=0)] = Field(
        default=0.01, description="how fast being new wears off, a day"
    )
    source_weight: Share = Field(default=0.0, description="γ: how much the source counts")
    source_boosts: dict[str, Share] = Field(
        default_factory=dict, description="source → how much it is preferred"
    )
    kind_boosts: dict[Kind, Annotated[float, Field(ge=0.8, le=1.25)]] = Field(
        default_factory=lambda: {Kind.PROCEDURAL: 1.04, Kind.SEMANTIC: 1.02},
        description="kind → by how much it is preferred",
    )
    confidence_boost: Share = Field(
        default=0.05, description="how much less counts what is not trusted at all"
    )
    use_boost: Annotated[float, Field(ge=0, le=0.25)] = Field(
        default=0.1, description="how much more or less counts what helped or was rejected"
    )
    prefetch_limit: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=5, description="how much is looked up for a message before it is answered"
    )
    max_context_tokens: Annotated[int, Field(ge=1)] = 1_500
    context_form: Literal["structured", "flat"] = Field(
        default="structured", description="<memory> with sections, or the flat <memory-context>"
    )
    context_place: Literal["system", "last_user"] = Field(
        default="system", description="the message that the block goes into"
    )
    cache_seconds: Annotated[float, Field(ge=0, le=MOST_DAYS)] = Field(
        default=300, description="how long answers are kept while nothing is written; 0 = not"
    )
    cache_size: Annotated[int, Field(ge=0)] = Field(
        default=1_000, description="how many answers are kept"
    )
    index_memory_mb: Annotated[int, Field(ge=1)] = Field(
        default=256, description="memory for packed keyword indexes"
    )
    vector_memory_mb: Annotated[int, Field(ge=1)] = Field(
        default=512, description="memory for packed vectors"
    )


class EmbeddingSettings(Section):
    """Which model turns text into vectors."""

    model: str = Field(
        default="",
        description="empty = the local default; none; folder:PATH; openai:NAME; fastembed:NAME; "
        "sentence-transformers:NAME",
    )
    dimension: Annotated[int, Field(ge=1)] | None = None
    folder: PlaceOrNone = Field(default=None, description="where the default's files are")
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
