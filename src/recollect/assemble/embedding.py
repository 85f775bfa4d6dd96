"""Settings → the embedder, and what can be said about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from recollect.domain.embedder import EmbedderCheck, EmbedderChoice, EmbedderState
from recollect.domain.stats import CacheStats
from recollect.errors import NotAvailable
from recollect.models import catalogue, minilm
from recollect.models.embedding_cache import CachedEmbedder
from recollect.ports.clock import Clock
from recollect.ports.embedder import Embedder
from recollect.recall.meaning import Meaning
from recollect.settings import Settings


def meaning_of(
    settings: Settings, clock: Clock, embedder: Embedder | None
) -> tuple[Meaning, Callable[[], CacheStats]]:
    """The embedder that is wanted, and how its cache does.

    When it cannot be had, memory goes on without and says so.
    """
    absence = "no embedding model is wanted: recall is by words"
    # An embedder that the caller brought is the caller's to close.
    closing: Embedder | None = None
    if embedder is None:
        try:
            embedder = wanted_embedder(settings)
        except NotAvailable as problem:
            absence = f"no embedding model: {problem.message}. {problem.hint}"
        else:
            closing = embedder
    if embedder is None:
        return Meaning(None, clock, absence=absence), CacheStats
    cached = CachedEmbedder(embedder, clock)
    return Meaning(cached, clock, closing=closing), cached.stats


def wanted_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name, opened, or None when they want none."""
    return catalogue.open_embedder(embedder_choice(settings))


def embedder_choice(settings: Settings) -> EmbedderChoice:
    """The embedder that the settings name."""
    return EmbedderChoice(**settings.embedding.model_dump())


def list_embedders(settings: Settings) -> list[EmbedderState]:
    """The embedders that can be had, and what each still needs."""
    return catalogue.list_embedders(embedder_choice(settings))


def embedder_in_use(settings: Settings) -> EmbedderState | None:
    """Of the embedders that can be had the one that the settings name; None when they name none."""
    model = settings.embedding.model
    kind = "local" if model in {"", minilm.NAME} else model.partition(":")[0]
    if model.startswith("text-embedding-"):
        kind = "openai"
    return next((it for it in list_embedders(settings) if it.name.partition(":")[0] == kind), None)


def fetch_model(settings: Settings, step: Callable[[str], None]) -> Path:
    """Get the default model from the network; where it is then."""
    return catalogue.fetch(embedder_choice(settings), step)


async def check_embedder(settings: Settings, model: str | None = None) -> EmbedderCheck:
    """Try the embedder that the settings name, or another one with the same settings."""
    choice = embedder_choice(settings)
    return await catalogue.check(choice if model is None else replace(choice, model=model))
