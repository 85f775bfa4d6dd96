"""The model of each tier, combined from all sections of the settings."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from recollect.domain.model_tier import TierNames
from recollect.settings.rerank import RerankSettings
from recollect.settings.sections import EmbeddingSettings
from recollect.settings.working import ModelSettings, ProviderSettings

Remote = TypeVar("Remote", EmbeddingSettings, RerankSettings)


def tier_names(
    models: ModelSettings, embedding: EmbeddingSettings, rerank: RerankSettings
) -> TierNames:
    """Return the model of each tier: from its own section, its tier, or the preset."""
    named = TierNames(
        reasoning=models.reasoning,
        code=models.code,
        summarise=models.summarise,
        extract=models.extract,
        classify=models.classify,
        embed=embedding.model or models.embed,
        rerank=rerank.model or models.rerank,
    )
    chosen = named.over(models.preset)
    # A remote model of a preset needs a key; without one, the local model is better than none.
    if not named.embed and not reached(embedding, chosen.embed, models).api_key:
        chosen = replace(chosen, embed="")
    if not named.rerank and not reached(rerank, chosen.rerank, models).api_key:
        chosen = replace(chosen, rerank="")
    return chosen


def reached(branch: Remote, model: str, models: ModelSettings) -> Remote:
    """Return a section for this model, with the access of its provider as the default."""
    provider = models.providers.get(model.partition(":")[0], ProviderSettings())
    return branch.model_copy(
        update={
            "model": model,
            "base_url": branch.base_url or provider.base_url,
            "api_key": branch.api_key or provider.api_key,
        }
    )
