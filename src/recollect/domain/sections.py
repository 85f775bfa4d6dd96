"""Sections of the settings that services take as they are; `settings` fills and checks them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated, Final, Literal, TypeVar

from annotated_types import Ge, Gt, Interval

from recollect.domain.document import MAX_FILE_BYTES
from recollect.domain.notes import ChunkType, Feeds
from recollect.domain.record import Kind
from recollect.domain.upkeep import RetentionAction
from recollect.domain.write import Lasts, buffer_class

# A large number stands for "forever"; larger ones would exceed the calendar.
MOST_DAYS: Final = 1_000_000
Days = Annotated[float, Interval(gt=0, le=MOST_DAYS)]
Share = Annotated[float, Interval(ge=0, le=1)]
Count = Annotated[int, Ge(1)]
Size = Annotated[int, Ge(0)]
Seconds = Annotated[float, Gt(0)]

_T = TypeVar("_T")


def setting(default: _T, description: str) -> _T:
    """Return a dataclass field with a description, which pydantic reads from its metadata."""
    # A table of its own for each section.
    return field(default_factory=lambda: copy(default), metadata={"description": description})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How much of a session is sent, and how long its state is kept."""

    context_tokens: Count = setting(128_000, "context size of a model that is not in `models`")
    models: dict[str, Count] = setting({}, "prefix of a model's name → its context size in tokens")
    share: Annotated[float, Interval(gt=0, le=1)] = setting(
        0.70, "share of the context for messages"
    )
    messages: Annotated[int, Ge(4)] = setting(50, "maximum number of messages to send")
    patience: Annotated[float, Ge(0)] = setting(
        2.0, "seconds that a prompt waits for summaries it needs, and the first one for models"
    )
    prepare_seconds: Annotated[float, Ge(0)] = setting(
        0.3, "seconds after which a prompt does without what is not found by then; 0 = no limit"
    )
    tokens: str = setting(
        "estimate", "estimate, or an encoding for exact counts, such as o200k_base"
    )
    keep_days: Days = setting(30, "how long the state of an inactive session is kept")
    scratchpad_minutes: Days = setting(30, "how long the scratchpad of an inactive session is kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionSettings:
    """When a session is compressed, as shares of the budget, and how much is left."""

    trim_above: Share = 0.60
    summarise_above: Share = 0.75
    digest_above: Share = 0.90
    segment: Count = setting(10, "messages in one summary")
    kept_by_summaries: Count = setting(10, "newest messages left unchanged")
    kept_by_digest: Count = 5
    result_tokens: Count = setting(80, "what is left of an old tool result")
    summary_tokens: Count = 160
    digest_tokens: Count = 800


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveSettings:
    """Large tool results: when they are archived, what is shown, how long they are kept."""

    place: str = setting(
        "",
        "folder or URL (s3://bucket/path), the same for all machines on a server; "
        "other memories may use it too; empty = beside the database",
    )
    threshold: Count = setting(10_000, "longer results are archived")
    show: Literal["passages", "full", "placeholder"] = setting(
        "passages", "what the turn that produced a result shows of it"
    )
    summary_tokens: Count = setting(200, "summary of a result in its placeholder")
    passage_tokens: Count = 1_500
    full_tokens: Count = 16_000
    load_tokens: Count = setting(4_000, "passages of a loaded result")
    language: Literal["auto", "zh", "en"] = "auto"
    indexed_passages: Size = setting(200, "how much of a result is searchable")
    policy: Literal["model", "keyword", "similarity", "mixed"] = setting(
        "model", "who decides to load an archived result"
    )
    similarity: Share = setting(
        0.55,
        "how near a question is to a line of a result's digest; 0 = unrelated, 1 = answered there",
    )
    keep_days: Days | None = 30
    max_count: Count | None = setting(10_000, "of one scope")
    max_bytes: Count | None = setting(5_000_000_000, "of one scope")


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Settings:
    """How to reach an s3:// place; what is empty comes from the usual variables AWS_…"""

    endpoint: str = setting(
        "", "address of a server of your own, such as https://minio.example:9000; empty = AWS"
    )
    region: str = setting("", "region of the bucket")
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    session_token: str = field(default="", repr=False)
    virtual_host: bool = setting(
        False, "whether the endpoint begins with the name of the bucket, instead of the path"
    )
    ca_file: str = setting("", "certificate of an authority of your own, in PEM")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRuleSettings:
    """Which notes a tool's results go to, and the paths of their parts."""

    feeds: Feeds
    content: str
    document: str = ""
    items: str = ""
    source: str = ""
    score: str = ""
    chapter: str = ""
    metadata: dict[str, str] = field(default_factory=dict[str, str], hash=False)
    relevance: Share | None = None
    chunk_type: ChunkType | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesSettings:
    """Session notes for loops of tool calls."""

    enabled: bool = True
    max_chunks: Count = 10
    min_relevance: Share = 0.5
    chunk_chars: Count = setting(500, "maximum characters of one chunk")
    structure_chars: Size = setting(2_000, "characters of chapter titles that a prompt shows")
    answer_from_cache: bool = setting(
        False, "answer repeated calls of a structure tool instead of a hint"
    )
    rules: dict[str, NotesRuleSettings] = setting({}, "tool → the notes that its results go to")


# The weight of recency when only its decay is set.
USUAL_DECAY: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSettings:
    """How recall finds and ranks records and turns."""

    limit: Annotated[int, Interval(ge=1, le=1000)] = 5
    min_score: Share = 0.3
    candidates: Annotated[int, Interval(ge=1, le=10_000)] = setting(
        200, "units of each search path before fusion and filtering"
    )
    fusion: Literal["scores", "rrf"] = setting(
        "scores", "add the scores of the search paths, or use reciprocal ranks"
    )
    keyword_weight: Annotated[float, Interval(ge=0, le=10)] = setting(1.0, "weight of words")
    vector_weight: Annotated[float, Interval(ge=0, le=10)] | None = setting(
        None, "weight of vectors; empty = as calibrated for the model"
    )
    recent: Annotated[int, Interval(ge=0, le=1000)] = setting(
        5, "number of latest records and turns that are always considered"
    )
    recent_days: Days = 14
    recent_weight: Share = setting(0.0, "weight of the recent path; 0 = off")
    patience: Annotated[float, Gt(0)] = setting(
        5.0,
        "seconds after which a slow search path is left out",
    )
    gap: Share = setting(0.4, "hits below this share of the best one's score are left out")
    read_hits: Annotated[int, Interval(ge=0, le=50)] = setting(
        6,
        "best hits that a local model reads together with the question; 0 = none",
    )
    duplicates: Share = setting(
        0.85,
        "share of common words from which equal hits count as one; 0 or 1 = never",
    )
    intent: Literal[
        "auto", "new_task", "follow_up", "bug_fix", "preference", "cross_agent", "question"
    ] = setting("auto", "intent of every question; auto = judge each")
    neighbour_weight: Share = setting(0.2, "weight of the neighbouring turns of a turn")
    session_weight: Share = setting(0.6, "weight of the best turn of the same session for a turn")
    day_weight: Share = setting(0.3, "weight of the best record of the same day for a record")
    answer_weight: Share = setting(
        0.4, "weight of a matching question for the turn that follows it"
    )
    speaker_boost: Share = setting(0.4, "boost of a turn whose speaker the question names")
    assistant_discount: Share = setting(0.25, "discount of the assistant's turns")
    terse_discount: Share = setting(0.25, "discount of a turn that says almost nothing")
    outdated_discount: Share = setting(0.5, "discount of a turn that a record supersedes")
    entity_weight: Share = setting(
        0.1, "weight of naming the same entities as the best hits; 0 = no hop"
    )
    time_boost: Share = setting(0.3, "boost of what is from the time that a question names")
    relevance_weight: Annotated[float, Interval(gt=0, le=10)] = setting(
        1.0, "α: weight of relevance"
    )
    decay_weight: Share | None = setting(
        None,
        f"β: weight of recency; empty = {USUAL_DECAY} where decay_lambda is set, else 0",
    )
    decay_lambda: Annotated[float, Ge(0)] = setting(0.01, "λ: decay of recency per day; 0 = none")
    source_weight: Share = setting(0.0, "γ: weight of the source")
    source_boosts: dict[str, Share] = setting({}, "source → boost")
    kind_boosts: dict[Kind, Annotated[float, Interval(ge=0.8, le=1.25)]] = setting(
        {Kind.PROCEDURAL: 1.04, Kind.SEMANTIC: 1.02},
        "kind → factor",
    )
    confidence_boost: Share = setting(0.05, "discount of a record with no confidence")
    use_boost: Annotated[float, Interval(ge=0, le=0.25)] = setting(
        0.1,
        "boost or discount of records that helped, were rejected, or entered prompts",
    )
    prefetch_limit: Annotated[int, Interval(ge=1, le=1000)] = setting(
        5, "maximum number of hits for a message in a prompt"
    )
    clause_hits: Annotated[int, Interval(ge=0, le=100)] = setting(
        3, "how many more hits the clauses of a message may add to its prompt"
    )
    max_context_tokens: Annotated[int, Ge(1)] = 1_500
    context_form: Literal["structured", "flat"] = setting(
        "structured", "<memory> with sections, or the flat <memory-context>"
    )
    context_place: Literal["system", "last_user"] = setting(
        "system", "the message that the block goes into"
    )
    cache_seconds: Annotated[float, Interval(ge=0, le=MOST_DAYS)] = setting(
        300, "how long results are cached while nothing is written; 0 = off"
    )
    cache_size: Annotated[int, Ge(0)] = setting(1_000, "number of cached results")
    index_memory_mb: Annotated[int, Ge(1)] = setting(256, "memory for packed keyword indexes")
    vector_memory_mb: Annotated[int, Ge(1)] = setting(512, "memory for packed vectors")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """The profile of a user, which stands in every prompt."""

    enabled: bool = setting(True, "whether prompts begin with the profile")
    max_tokens: Annotated[int, Interval(ge=1, le=10_000)] = setting(
        200, "maximum size of the profile"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeSettings:
    """How documents are processed, searched and put into a prompt."""

    context_tokens: Annotated[int, Interval(ge=0, le=100_000)] = setting(
        800, "share of the memory block that documents may take; 0 = none"
    )
    context_passages: Annotated[int, Interval(ge=1, le=50)] = setting(
        3, "maximum number of passages"
    )
    min_score: Share = setting(0.3, "minimum score of a passage in a prompt")
    neighbours: Annotated[int, Interval(ge=0, le=10)] = setting(
        1, "chunks before and after a hit that its passage takes in"
    )
    passage_tokens: Annotated[int, Interval(ge=1, le=100_000)] = setting(
        720, "size up to which a passage takes them in"
    )
    rewrite: bool = setting(
        True, "let the `models.classify` model, if there is one, rephrase questions"
    )
    max_file_mb: Annotated[int, Interval(ge=1, le=MAX_FILE_BYTES // 2**20)] = setting(
        256, "maximum size of a file"
    )
    parse_seconds: Annotated[float, Interval(gt=0, le=3600)] = setting(
        120, "time limit for reading one PDF or Office file"
    )
    parse_memory_mb: Annotated[int, Interval(ge=256, le=65_536)] = setting(
        4_096, "memory limit for reading it"
    )

    @property
    def max_file_bytes(self) -> int:
        """Return the maximum size of a file in bytes."""
        return self.max_file_mb * 2**20


# --- Settings of upkeep: the short-term buffer, the lifecycle of records, and retention -----------


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferSettings:
    """Short-term records: the time to live of each class, and when one becomes long-term."""

    preference_days: Days = 7
    decision_days: Days = 7
    follow_up_days: Days = 3
    sentiment_days: Days = 1
    weeks_days: Days = setting(45, "what the local reader takes to matter for some weeks")
    promote_at: Count = setting(
        3, "sessions that recall a short-term record before it is long-term"
    )

    def lifetime(self, category: str, lasts: Lasts | None = None) -> timedelta:
        """Return the time to live of a short-term record of this category.

        What a reader says lasts for weeks lives so long, whatever its category.
        """
        days = {
            "preference": self.preference_days,
            "decision": self.decision_days,
            "follow-up": self.follow_up_days,
            "sentiment": self.sentiment_days,
        }
        return timedelta(days=self.weeks_days if lasts == "weeks" else days[buffer_class(category)])


@dataclass(frozen=True, slots=True, kw_only=True)
class LifecycleSettings:
    """How long expired records are kept, and how many active ones a scope may hold."""

    purge_after_days: Annotated[float, Interval(ge=0, le=MOST_DAYS)] = setting(
        30, "how long an expired record can be restored"
    )
    capacity: Count | None = setting(
        None, "active records of a scope; the least valuable expire first"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionRuleSettings:
    """What to do with records that were not changed or confirmed for some time."""

    older_than_days: Days
    action: RetentionAction
    kind: Kind | None = None
    category: str | None = setting(None, "also its aliases")
    org: str | None = None
    workspace: str | None = None
    agent: str | None = setting(None, "empty = any, - = none")
    user: str | None = setting(None, "empty = any, - = none")


# --- Settings of a larger model that reads hits ---------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankSettings:
    """A larger model that reads the best candidates with the question, and documents, if any."""

    model: str = setting(
        "", "empty = the local one; folder:PATH; cohere:NAME; endpoint:NAME; tei:NAME"
    )
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    longest: Count | None = setting(None, "maximum tokens of a question and a text together")
    batch_size: Count | None = None
    timeout: Seconds = 10.0
    retries: Size = 1
    candidates: Annotated[int, Interval(ge=1, le=1000)] = setting(
        50, "number of best candidates that it reads"
    )
    weight: Share = setting(0.5, "weight of what it says compared with the search")
    threshold: Share = setting(
        0.5, "score from which a text answers; below, memory rather is silent"
    )
