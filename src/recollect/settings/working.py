"""Settings of models, writing and upkeep."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import Field

from recollect.domain.model_tier import USUAL_SECONDS, LanguageTask, TierNames
from recollect.domain.sections import Count, RerankSettings, Seconds, Size
from recollect.domain.write import RedactMode, WritePolicy
from recollect.settings.sections import EmbeddingSettings, Section


class ProviderSettings(Section):
    """How to reach a provider other than by its default address and environment variables."""

    base_url: str = ""
    api_key: str = Field(default="", repr=False)


_FOR_THE_CALLER: Final = "for the caller: `Settings.tiers` tells it, memory calls no such model"


class TierSeconds(Section):
    """The time limit of a call of each tier, including retries, before rules are used."""

    reasoning: Seconds = Field(default=USUAL_SECONDS["reasoning"], description=_FOR_THE_CALLER)
    code: Seconds = Field(default=USUAL_SECONDS["code"], description=_FOR_THE_CALLER)
    summarise: Seconds = USUAL_SECONDS["summarise"]
    extract: Seconds = USUAL_SECONDS["extract"]
    classify: Seconds = USUAL_SECONDS["classify"]


class ModelSettings(Section):
    """Models by task, each provider:model; empty = none."""

    preset: Literal["", "anthropic"] = Field(
        default="",
        description="models for empty tiers; `none` keeps a tier empty",
    )
    reasoning: str = Field(
        default="", description="answers in `recollect chat`; for the caller otherwise"
    )
    code: str = Field(default="", description=_FOR_THE_CALLER)
    summarise: str = Field(default="", description="writes summaries and merges facts")
    extract: str = Field(default="", description="reads what conversations say")
    classify: str = Field(
        default="", description="judges statements, routes messages, rephrases questions"
    )
    embed: str = Field(default="", description="as embedding.model, which takes precedence")
    rerank: str = Field(default="", description="as rerank.model, which takes precedence")
    providers: dict[str, ProviderSettings] = Field(default_factory=dict)
    seconds: TierSeconds = Field(default_factory=lambda: TierSeconds())
    retries: Size = 2
    pause_after: Count = Field(
        default=3, description="failures in a row after which a tier is paused"
    )
    pause_seconds: Seconds = Field(
        default=30.0, description="for how long; rules are used meanwhile"
    )
    daily_tokens: dict[LanguageTask, Count] = Field(
        default_factory=dict[LanguageTask, Count],
        description="tier → tokens per day and process",
    )


# --- Settings of writing: what of a conversation becomes memory, and how it is compared -----------


class WritingSettings(Section):
    """The steps `route → redact → extract → ground → reconcile → store → audit`."""

    policy: WritePolicy = Field(
        default="auto",
        description="what of a conversation becomes memory; agents may differ",
    )
    route: Literal["auto", "rules"] = Field(
        default="auto",
        description="auto = the classify model, if there is one, and the local reader, then rules",
    )
    redact: RedactMode = Field(
        default="off", description="personal data and secrets: keep, mask, or do not store"
    )
    extract: Literal["auto", "rules", "off"] = Field(
        default="auto",
        description="auto = the extract model, if there is one, then the local reader, then rules",
    )
    every: Size = Field(
        default=10, description="turns after which extraction reads a session; 0 = only at its end"
    )
    idle_minutes: Annotated[float, Field(ge=0)] = Field(
        default=5,
        description="inactivity after which the rest of a session is read; 0 = never",
    )
    close_seconds: Annotated[float, Field(ge=0)] = Field(
        default=5,
        description="seconds that closing waits until what was said is read, and the next opening "
        "until what is left is; 0 = do not wait",
    )
    ground: bool = Field(
        default=True, description="false = also store what its source does not support"
    )
    reconcile: bool = Field(
        default=True, description="false = store everything without comparing it"
    )
    judge: Literal["auto", "local", "rules"] = Field(
        default="auto",
        description="who decides how a statement relates to stored ones: the classify model if "
        "there is one, then the local model; the local model; only what is certain",
    )
    candidates: Annotated[int, Field(ge=1, le=100)] = Field(
        default=5,
        description="stored records that a new one is compared with, by words and by vectors",
    )
    episode_after: Count = Field(
        default=4, description="minimum user turns for an ended session to be stored as an episode"
    )


# --- The model of each tier, combined from all sections of the settings ---------------------------


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
    if not named.embed and not access_of(embedding, chosen.embed, models)["api_key"]:
        chosen = replace(chosen, embed="")
    if not named.rerank and not access_of(rerank, chosen.rerank, models)["api_key"]:
        chosen = replace(chosen, rerank="")
    return chosen


def access_of(
    section: EmbeddingSettings | RerankSettings, model: str, models: ModelSettings
) -> dict[str, str]:
    """Return the model and its access, with that of its provider as the default."""
    provider = models.providers.get(model.partition(":")[0], ProviderSettings())
    return {
        "model": model,
        "base_url": section.base_url or provider.base_url,
        "api_key": section.api_key or provider.api_key,
    }
