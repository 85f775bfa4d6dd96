"""The branches of the working memory: sessions, compression, archives, notes and models."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from recollect.domain.model_tier import USUAL_SECONDS, LanguageTask
from recollect.settings.sections import Days, Section, Share

Count = Annotated[int, Field(ge=1)]
Size = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]


class SessionSettings(Section):
    """How much of a conversation is sent, and how long its state stays."""

    context_tokens: Count = Field(
        default=128_000, description="the model's context where it is not known by its name"
    )
    models: dict[str, Count] = Field(
        default_factory=dict, description="beginning of a model's name → its context in tokens"
    )
    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.70, description="of the context, what the messages may take"
    )
    messages: Annotated[int, Field(ge=4)] = Field(
        default=50, description="how many messages are sent at most"
    )
    patience: Annotated[float, Field(ge=0)] = Field(
        default=2.0,
        description="seconds a prompt waits for summaries of messages that no longer fit",
    )
    tokens: str = Field(
        default="estimate",
        description="estimate, or the encoding that counts exactly, such as o200k_base",
    )
    keep_days: Days = Field(
        default=30, description="how long the state of a session stays without activity"
    )
    scratchpad_minutes: Days = Field(
        default=30, description="how long a scratchpad stays without activity"
    )


class CompressionSettings(Section):
    """When a conversation is made shorter, as shares of the budget, and how much is left."""

    trim_above: Share = 0.60
    summarise_above: Share = 0.75
    digest_above: Share = 0.90
    segment: Count = Field(default=10, description="messages in one summary")
    kept_by_summaries: Count = Field(default=10, description="newest messages left as they are")
    kept_by_digest: Count = 5
    result_tokens: Count = Field(default=80, description="what stays of an old tool result")
    summary_tokens: Count = 160
    digest_tokens: Count = 800


class ArchiveSettings(Section):
    """Large tool results: when they are archived, what is shown, how long they are kept."""

    place: str = Field(
        default="",
        description="folder or URL (s3://bucket/path) of its own; empty = beside the database",
    )
    threshold: Count = Field(default=10_000, description="longer results are archived")
    show: Literal["passages", "full", "placeholder"] = Field(
        default="passages", description="what the turn that produced a result shows of it"
    )
    passage_tokens: Count = 1_500
    full_tokens: Count = 16_000
    load_tokens: Count = Field(default=4_000, description="passages of a result that is loaded")
    language: Literal["auto", "zh", "en"] = "auto"
    indexed_passages: Size = Field(default=200, description="how far a result is searched")
    policy: Literal["model", "keyword", "similarity", "mixed"] = Field(
        default="model", description="who decides that an archived result is loaded"
    )
    similarity: Share = Field(default=0.5, description="words a message must share with a result")
    keep_days: Days | None = 30
    max_count: Count | None = Field(default=10_000, description="of one scope")
    max_bytes: Count | None = Field(default=5_000_000_000, description="of one scope")


class NotesRuleSettings(Section):
    """Which tool feeds which notes, and by which paths its parts are found."""

    feeds: Literal["structure", "search_results", "page"]
    content: str
    document: str = ""
    items: str = ""
    source: str = ""
    score: str = ""
    chapter: str = ""
    metadata: dict[str, str] = Field(default_factory=dict)
    relevance: Share | None = None
    chunk_type: Literal["search_result", "page_content", "table"] | None = None


class NotesSettings(Section):
    """Session notes for tool loops (S2)."""

    enabled: bool = True
    max_chunks: Count = 10
    min_relevance: Share = 0.5
    chunk_chars: Count = Field(default=500, description="characters of one chunk")
    answer_from_cache: bool = Field(
        default=False, description="answer a structure tool's repeated call instead of hinting"
    )
    rules: dict[str, NotesRuleSettings] = Field(
        default_factory=dict, description="tool → what its results feed"
    )


class ProviderSettings(Section):
    """How a provider is reached where its own address and environment variables do not do."""

    base_url: str = ""
    api_key: str = Field(default="", repr=False)


class TierSeconds(Section):
    """How long one call of a tier may take, its further tries included, before rules are used."""

    reasoning: Seconds = USUAL_SECONDS["reasoning"]
    code: Seconds = USUAL_SECONDS["code"]
    summarise: Seconds = USUAL_SECONDS["summarise"]
    extract: Seconds = USUAL_SECONDS["extract"]
    classify: Seconds = USUAL_SECONDS["classify"]


class ModelSettings(Section):
    """Models by task, each provider:model; empty = none, which is a mode of its own."""

    preset: Literal["", "anthropic"] = Field(
        default="", description="models for the tiers that name none; `none` keeps one empty"
    )
    reasoning: str = ""
    code: str = ""
    summarise: str = ""
    extract: str = ""
    classify: str = ""
    embed: str = Field(default="", description="as embedding.model, which goes first")
    rerank: str = Field(default="", description="as rerank.model, which goes first")
    providers: dict[str, ProviderSettings] = Field(default_factory=dict)
    seconds: TierSeconds = Field(default_factory=lambda: TierSeconds())
    retries: Size = 2
    pause_after: Count = Field(
        default=3, description="failures in a row after which a tier is left alone"
    )
    pause_seconds: Seconds = Field(default=30.0, description="how long; rules are used meanwhile")
    daily_tokens: dict[LanguageTask, Count] = Field(
        default_factory=dict[LanguageTask, Count], description="task → tokens a day and process"
    )
