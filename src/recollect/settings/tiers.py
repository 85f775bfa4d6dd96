"""Which model does which task: what the branches of the settings say, taken together."""

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
    """The model of each task: as a branch of its own names it, as a tier, or as the preset does."""
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
    # A preset's remote model without a key would only take away what works without one.
    if not named.embed and not reached(embedding, chosen.embed, models).api_key:
        chosen = replace(chosen, embed="")
    if not named.rerank and not reached(rerank, chosen.rerank, models).api_key:
        chosen = replace(chosen, rerank="")
    return chosen


def reached(branch: Remote, model: str, models: ModelSettings) -> Remote:
    """A branch for this model, reached as its provider is where the branch does not say how."""
    provider = models.providers.get(model.partition(":")[0], ProviderSettings())
    return branch.model_copy(
        update={
            "model": model,
            "base_url": branch.base_url or provider.base_url,
            "api_key": branch.api_key or provider.api_key,
        }
    )
