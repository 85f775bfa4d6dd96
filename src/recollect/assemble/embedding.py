"""Settings → the embedder, and information about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recollect.domain.caches import CacheStats
from recollect.domain.embedding import (
    EmbedderCheck,
    EmbedderChoice,
    EmbedderState,
    MemoryCalibration,
)
from recollect.domain.model_tier import ModelUsage
from recollect.embedding.service import EmbeddingService
from recollect.errors import NotAvailable
from recollect.models import catalogue, local_model
from recollect.models.embedding_cache import CachedEmbedder, CountedEmbedder
from recollect.models.facet_head import open_facets
from recollect.models.onnx_embedder import OnnxEmbedder
from recollect.models.sealed_folder import folder_named, is_folder
from recollect.ports.embedder import Embedder
from recollect.ports.facets import FacetReader
from recollect.ports.runtime import Clock
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.assemble.redis import Redis

_FOLDER: Final = "folder:"
_LOCAL: Final = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedEmbedder:
    """The embedding service, the statistics of its cache, how to clear it, and its usage."""

    embedding: EmbeddingService
    cache_stats: Callable[[], CacheStats]
    clear: Callable[[], None]
    usage: Callable[[], tuple[ModelUsage, ...]]
    facets: FacetReader | None = None


def open_embedder(
    settings: Settings,
    clock: Clock,
    embedder: Embedder | None,
    question: str | None = None,
    redis: Redis | None = None,
) -> OpenedEmbedder:
    """Open the configured embedder.

    If it is not available, memory works without it and reports that. A local model starts to load
    if a `question` is expected.
    """
    absence = "no embedding model is wanted: recall works by words only"
    caches: list[CachedEmbedder] = []
    counted: list[CountedEmbedder] = []

    def cached(opened: Embedder) -> CachedEmbedder:
        counted.append(CountedEmbedder(opened))
        costs = not isinstance(opened, OnnxEmbedder)
        caches.append(
            CachedEmbedder(counted[-1], clock, keeps_imports=costs)
            if redis is None
            else CachedEmbedder(counted[-1], clock, shared=redis.vectors, may_share=redis.may_share)
        )
        return caches[-1]

    def opener(choice: str) -> Embedder:
        return cached(embedder_by_choice(settings, choice))

    def patience(choice: str) -> float | None:
        # A local model answers in a time that is known, except while it loads.
        return settings.embedding.patience if catalogue.is_endpoint(choice) else None

    def clear() -> None:
        for cache in caches:
            cache.clear()

    def usage() -> tuple[ModelUsage, ...]:
        return tuple(counter.usage() for counter in counted)

    # An embedder that the caller passed in is closed by the caller; nobody else can open it.
    closing: Embedder | None = None
    choice = ""
    if embedder is None:
        try:
            embedder = wanted_embedder(settings)
        except NotAvailable as problem:
            absence = f"no embedding model: {problem.message}. {problem.hint}"
        else:
            closing, choice = embedder, lasting_choice(settings.embedder.model)
    if embedder is None:
        absent = EmbeddingService(None, clock, absence=absence, opener=opener)
        return OpenedEmbedder(embedding=absent, cache_stats=CacheStats, clear=clear, usage=usage)
    if question is not None and isinstance(embedder, OnnxEmbedder):
        embedder.expect(question)
    own = cached(embedder)
    embedding = EmbeddingService(
        own, clock, choice=choice, closing=closing, opener=opener, patience=patience
    )
    facets = open_facets(settings.embedding.folder, own)
    return OpenedEmbedder(
        embedding=embedding, cache_stats=own.stats, clear=clear, usage=usage, facets=facets
    )


def embedder_by_choice(settings: Settings, choice: str) -> Embedder:
    """Return the embedder with this name, with everything else as in the settings."""
    opened = catalogue.open_embedder(replace(embedder_choice(settings), model=choice))
    if opened is None:
        raise NotAvailable(f"{choice} makes no vectors", code="embedder_unusable")
    return opened


def lasting_choice(name: str) -> str:
    """Return a name of the embedder that does not depend on the current folder."""
    folder = folder_named(name.removeprefix(_FOLDER))
    in_folder = name.startswith(_FOLDER) or (bool(name) and is_folder(folder))
    return f"{_FOLDER}{folder.absolute()}" if in_folder else name or _LOCAL


def wanted_embedder(settings: Settings) -> Embedder | None:
    """Open the configured embedder; return None if the settings want none."""
    return catalogue.open_embedder(embedder_choice(settings))


def embedder_choice(settings: Settings) -> EmbedderChoice:
    """Return the embedder that the settings name."""
    return EmbedderChoice(**settings.embedder.model_dump(exclude={"patience"}))


def list_embedders(settings: Settings) -> list[EmbedderState]:
    """Return the embedders that are available, and what each still needs."""
    return catalogue.list_embedders(embedder_choice(settings))


def embedder_in_use(settings: Settings, available: Iterable[EmbedderState]) -> EmbedderState | None:
    """Return the configured one of the available embedders, or None."""
    model = settings.embedder.model
    kind = "local" if model in {"", local_model.NAME} else model.partition(":")[0]
    if model.startswith("text-embedding-"):
        kind = "openai"
    return next((state for state in available if state.name.partition(":")[0] == kind), None)


async def check_embedder(settings: Settings, model: str | None = None) -> EmbedderCheck:
    """Check the configured embedder, or another one with the same settings."""
    choice = embedder_choice(settings)
    return await catalogue.check(choice if model is None else replace(choice, model=model))


async def calibrate_folder(folder: Path) -> tuple[Path, MemoryCalibration]:
    """Measure the model in a folder; return the file with the result, and the figures."""
    from recollect.models.catalogue import measure, store
    from recollect.models.model_folder import open_folder

    embedder = open_folder(folder, EmbedderChoice(model=f"{_FOLDER}{folder}"))
    try:
        measured = await measure(embedder)
    finally:
        await embedder.close()
    return store(folder, measured), measured
