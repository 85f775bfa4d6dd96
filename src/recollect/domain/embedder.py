"""Embedders: the choice in the settings, the state of each, and the result of a check."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from recollect.domain.stats import CacheStats

EmbedderCondition = Literal["ready", "unprepared", "not_found", "damaged", "not_installed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChoice:
    """An embedder as settings name it.

    `model` is empty for the local default, `none` for no embedder at all, or one of
    `folder:PATH`, `openai:NAME`, `fastembed:NAME`, `sentence-transformers:NAME`. Fields that are
    left empty are read from the model's own files or have the defaults of the model.
    """

    model: str = ""
    dimension: int | None = None
    folder: Path | None = None
    pooling: Literal["mean", "cls"] | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    longest: int | None = None
    languages: tuple[str, ...] = ()
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    batch_size: int = 64
    timeout: float = 30.0
    retries: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderState:
    """An embedder that can be chosen, and what is missing to use it."""

    name: str
    condition: EmbedderCondition
    where: str = ""
    detail: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderCheck:
    """The result of trying an embedder on a few texts."""

    name: str
    works: bool
    model: str = ""
    dimension: int = 0
    first_ms: float = 0.0
    query_ms: float = 0.0
    notes: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingCacheStats(CacheStats):
    """Statistics of the embedding cache, with the memory that it uses."""

    bytes: int
    budget_bytes: int
