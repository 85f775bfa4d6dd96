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
        2.0, "seconds that a prompt waits for summaries of messages that no longer fit"
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
    passage_tokens: Count = 1_500
    full_tokens: Count = 16_000
    load_tokens: Count = setting(4_000, "passages of a loaded result")
    language: Literal["auto", "zh", "en"] = "auto"
    indexed_passages: Size = setting(200, "how much of a result is searchable")
    policy: Literal["model", "keyword", "similarity", "mixed"] = setting(
        "model", "who decides to load an archived result"
    )
    similarity: Share = setting(0.5, "share of words in common with a result")
    keep_days: Days | None = 30
    max_count: Count | None = setting(10_000, "of one scope")
    max_bytes: Count | None = setting(5_000_000_000, "of one scope")


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
