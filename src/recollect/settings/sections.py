"""The branches of the tree of settings, each with its defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


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


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class ScopeSettings(Section):
    """Who the caller is when nobody says otherwise."""

    org: str = "local"
    workspace: str = "default"
    agent: str | None = None
    user: str | None = "me"
    namespaces: dict[str, str] = Field(
        default_factory=dict, description="agent → its namespace prefix (S4)"
    )


class AgentSettings(Section):
    """What is special about one agent."""

    children: tuple[str, ...] = Field(
        default=(), description="agents whose memory this one may read and write"
    )


class StorageSettings(Section):
    """Where memory is kept."""

    backend: Literal["sqlite", "in_memory"] = "sqlite"
    path: PlaceOrNone = Field(default=None, description="database file; empty = in data_dir")
    synchronous: Literal["full", "normal", "off"] = "full"
    busy_timeout: Annotated[float, Field(gt=0)] = 10.0
    qdrant_url: str = ""
    qdrant_key: str = Field(default="", repr=False)


class RecallSettings(Section):
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


class EmbeddingSettings(Section):
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


class NotesSettings(Section):
    """Session notes for tool loops (S2)."""

    enabled: bool = True
    max_chunks: Annotated[int, Field(ge=1)] = 10
    min_relevance: Share = 0.5
