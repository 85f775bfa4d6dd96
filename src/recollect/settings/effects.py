"""Settings that have no effect, because something else that they need is not set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from recollect.settings import Settings
from recollect.settings.place import qdrant_url


class IdleSetting(NamedTuple):
    """A setting without effect, and what it takes to have one."""

    name: str
    hint: str

    def __str__(self) -> str:
        return f"{self.name} has no effect: {self.hint}"


@dataclass(frozen=True, slots=True)
class _Need:
    names: tuple[str, ...]
    is_met: Callable[[Settings], bool]
    hint: str


_NEEDS: Final[tuple[_Need, ...]] = (
    _Need(
        ("storage.qdrant_url",),
        lambda settings: settings.storage.vectors == qdrant_url(settings.storage.qdrant_url),
        "set storage.backend = qdrant",
    ),
    _Need(
        ("storage.qdrant_key",),
        lambda settings: any(
            it.startswith("qdrant")
            for it in (settings.storage.vectors, settings.storage.vectors_also)
        ),
        "no vectors are in Qdrant (storage.vectors)",
    ),
    _Need(
        ("storage.vectors_from", "storage.vectors_exact", "storage.vectors_also"),
        lambda settings: bool(settings.storage.vectors),
        "there is no vector store (storage.vectors)",
    ),
    _Need(
        ("storage.connections",),
        lambda settings: any(map(_is_server, _urls(settings))),
        "it is for a database server (storage.url)",
    ),
    _Need(
        ("storage.state_password", "storage.state_prefix"),
        lambda settings: bool(settings.storage.state),
        "set storage.state",
    ),
    _Need(
        ("storage.synchronous", "storage.erase_in_place"),
        lambda settings: not all(map(_is_server, _urls(settings))),
        "it is for SQLite files, and memory lies on a database server",
    ),
    _Need(
        ("recall.recent", "recall.recent_days"),
        lambda settings: settings.recall.recent_weight > 0,
        "set recall.recent_weight above 0",
    ),
    _Need(
        ("recall.decay_lambda",),
        lambda settings: bool(
            settings.effective_recall.decay_weight or settings.lifecycle.capacity
        ),
        "recall.decay_weight is 0",
    ),
    _Need(
        ("recall.source_boosts",),
        lambda settings: settings.recall.source_weight > 0,
        "set recall.source_weight above 0",
    ),
    _Need(
        ("recall.source_weight",),
        lambda settings: bool(settings.recall.source_boosts),
        "set recall.source_boosts",
    ),
    _Need(
        ("rerank.",),
        lambda settings: bool(settings.reranker.model),
        "there is no rerank model (rerank.model)",
    ),
    _Need(
        (
            *("embedding.base_url", "embedding.api_key", "embedding.patience"),
            *("embedding.timeout", "embedding.retries"),
        ),
        lambda settings: ":" in settings.embedder.model,
        "the embedding model is local (embedding.model)",
    ),
    _Need(
        ("sharing.auto_confidence",),
        lambda settings: bool(settings.sharing.auto_approve),
        "set sharing.auto_approve",
    ),
    _Need(
        ("server.tokens.issuer", "server.tokens.audience", "server.tokens.claim"),
        lambda settings: bool(settings.server.tokens.jwks),
        "set server.tokens.jwks",
    ),
    _Need(
        ("s3.",),
        lambda settings: settings.archive.place.startswith("s3"),
        "archive.place is no s3://bucket",
    ),
    _Need(
        ("archive.similarity",),
        lambda settings: settings.archive.policy in ("similarity", "mixed"),
        "archive.policy is neither similarity nor mixed",
    ),
    _Need(
        ("archive.passage_tokens",),
        lambda settings: settings.archive.show == "passages",
        "archive.show is not passages",
    ),
    _Need(
        ("archive.full_tokens",),
        lambda settings: settings.archive.show == "full",
        "archive.show is not full",
    ),
    _Need(
        ("models.seconds.summarise",),
        lambda settings: bool(settings.tiers.summarise),
        "there is no model for it (models.summarise)",
    ),
    _Need(
        ("models.seconds.extract",),
        lambda settings: bool(settings.tiers.extract),
        "there is no model for it (models.extract)",
    ),
    _Need(
        ("models.seconds.classify",),
        lambda settings: bool(settings.tiers.classify),
        "there is no model for it (models.classify)",
    ),
)


def without_effect(settings: Settings) -> tuple[IdleSetting, ...]:
    """Return the settings that differ from the usual and still change nothing."""
    changed = settings.changed()
    return tuple(
        IdleSetting(name, need.hint)
        for need in _NEEDS
        for name in changed
        if name.startswith(need.names) and not need.is_met(settings)
    )


def _urls(settings: Settings) -> Iterator[str]:
    """Yield the URLs of the common store and of those of agents."""
    yield settings.storage.url
    yield from (store.url for store in settings.stores.values())


def _is_server(url: str) -> bool:
    return url.startswith(("postgresql", "mysql"))
