"""Settings → the reranker, if one is configured."""

from __future__ import annotations

from recollect.models.reranker_catalogue import RerankerChoice, open_reranker
from recollect.recall.reranking import Reranking, RerankingOptions
from recollect.settings import Settings


def second_look(settings: Settings) -> Reranking | None:
    """Return the reranking step, or None unless the settings name a reranker."""
    wanted = settings.reranker
    reranker = open_reranker(
        RerankerChoice(
            model=wanted.model,
            base_url=wanted.base_url,
            api_key=wanted.api_key,
            longest=wanted.longest,
            batch_size=wanted.batch_size,
            timeout=wanted.timeout,
            retries=wanted.retries,
        )
    )
    if reranker is None:
        return None
    options = RerankingOptions(
        candidates=wanted.candidates, weight=wanted.weight, patience=settings.recall.patience
    )
    return Reranking(reranker, options)
