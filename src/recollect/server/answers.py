"""What the server answers with: one model for every response, the contract of generated clients.

The values of the library become JSON in `recollect.domain.views`; these models describe that form,
and the framework checks every answer against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from recollect.domain.change import ChangeKind
from recollect.domain.context import Place, Reason, Tongue
from recollect.domain.injection import Fate
from recollect.domain.job import JobState
from recollect.domain.model_tier import ModelTask
from recollect.domain.notes import ChunkType
from recollect.domain.record import Status, Tier
from recollect.domain.relation import Relation, Resolution
from recollect.domain.sharing import ProposalStatus
from recollect.domain.stats import Verdict
from recollect.domain.summary import PointKind
from recollect.domain.turn import Act
from recollect.domain.unit import OwnerKind
from recollect.domain.write import Namespace, WriteStatus

_SCOPE = {"org": "local", "workspace": "default", "agent": None, "user": "ann"}
_RECORD: dict[str, Any] = {
    "id": "mem_01kb2h5e8n3v9c",
    "scope": _SCOPE,
    "kind": "semantic",
    "category": "preference",
    "title": "",
    "content": "Ann prefers window seats",
    "description": "",
    "tags": ["travel"],
    "confidence": 1.0,
    "importance": 0.5,
    "evidence_count": 1,
    "evidence": [{"turn": "turn_01kb2h5d7m2u8b", "start": 0, "end": 24}],
    "source": "",
    "related": [],
    "session": "monday",
    "task": None,
    "created_at": "2026-11-02T09:00:00Z",
    "updated_at": "2026-11-02T09:00:00Z",
    "first_observed": "2026-11-02T09:00:00Z",
    "last_confirmed": "2026-11-02T09:00:00Z",
    "valid_from": None,
    "valid_to": None,
    "recorded_at": "2026-11-02T09:00:00.120000Z",
    "expires_at": None,
    "tier": "long",
    "access_count": 0,
    "last_accessed": None,
    "helped": 0,
    "rejected": 0,
    "version": 1,
    "status": "active",
    "metadata": {},
    "links": [],
}
_TURN: dict[str, Any] = {
    "id": "turn_01kb2h5d7m2u8b",
    "scope": _SCOPE,
    "session": "monday",
    "ordinal": 1,
    "role": "user",
    "speaker": "",
    "content": "I prefer window seats",
    "at": "2026-11-02T09:00:00Z",
    "task": None,
    "recorded_at": "2026-11-02T09:00:00.120000Z",
    "payload": {},
    "act": "statement",
}


def _example(value: Mapping[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [dict(value)]})


class Answer(BaseModel):
    """A response body."""


class Scope(Answer):
    """Whose memory it is; an agent or a user may be missing."""

    model_config = _example(_SCOPE)

    org: str
    workspace: str
    agent: str | None
    user: str | None


class RecordEvidence(Answer):
    """The turn that supports a record, and the characters of it that do."""

    turn: str
    start: int | None
    end: int | None


class Link(Answer):
    """How the newer of two records or turns relates to the older one, and who judged it."""

    scope: Scope
    newer: str
    older: str
    relation: Relation
    probability: float
    reason: str
    decided_by: str
    at: datetime


class AnyRecord(Answer):
    """The fields that records of every kind have."""

    id: str
    scope: Scope
    category: str
    title: str = Field(description="the name of a procedure")
    content: str
    description: str
    tags: list[str]
    confidence: float
    importance: float
    evidence_count: int
    evidence: list[RecordEvidence]
    source: str
    related: list[str] = Field(description="ids of other records")
    session: str | None
    task: str | None
    created_at: datetime
    updated_at: datetime
    first_observed: datetime
    last_confirmed: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    recorded_at: datetime = Field(description="when this version was stored")
    expires_at: datetime | None
    tier: Tier
    access_count: int = Field(description="in how many sessions it entered a prompt")
    last_accessed: datetime | None
    helped: int
    rejected: int
    version: int
    status: Status
    metadata: dict[str, Any]
    links: list[Link] = Field(description="how it relates to other records, as it was judged")


class SemanticRecord(AnyRecord):
    """A fact, a preference or a rule."""

    model_config = _example(_RECORD)

    kind: Literal["semantic"]


class EpisodicRecord(AnyRecord):
    """Something that happened."""

    kind: Literal["episodic"]
    participants: list[str] = []
    outcome: str = ""
    artifacts: list[str] = []
    timestamp: datetime | None = None


class ProceduralRecord(AnyRecord):
    """How something is done."""

    kind: Literal["procedural"]
    trigger: str = ""
    steps: list[str] = []
    success_rate: float | None = None
    usage_count: int = 0


class Record(
    RootModel[
        Annotated[SemanticRecord | EpisodicRecord | ProceduralRecord, Field(discriminator="kind")]
    ]
):
    """One durable memory; `kind` says which further fields it has."""


class Version(Answer):
    """One state of a record, with who made it, when and why."""

    number: int
    record: Record
    changed_by: str
    reason: str
    replaced_at: datetime | None = Field(description="null for the version that stands now")


class History(Answer):
    """A page of the versions of a record, oldest first."""

    items: list[Version]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class Records(Answer):
    """Records in their order."""

    items: list[Record]


class RecordPage(Answer):
    """A page of records."""

    items: list[Record]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class Turn(Answer):
    """One message of a conversation, kept as it was said."""

    model_config = _example(_TURN)

    id: str
    scope: Scope
    session: str
    ordinal: int = Field(description="its place in the session, from 1")
    role: str
    speaker: str
    content: str
    at: datetime
    task: str | None
    recorded_at: datetime
    payload: dict[str, Any] = Field(description="what the message had beyond plain text")
    act: Act | None = Field(description="what it does; null for a turn not looked at yet")


class Turns(Answer):
    """Turns in their order."""

    items: list[Turn]


class TurnPage(Answer):
    """A page of turns."""

    items: list[Turn]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class ArchivePassage(Answer):
    """The part of an archived tool result that answers a question."""

    id: str
    tool: str
    query: str
    session: str
    content: str
    span: tuple[int, int] | None
    created_at: datetime


class PathScore(Answer):
    """What one search path thought of a hit."""

    path: str
    rank: int
    raw: float
    score: float


class Boost(Answer):
    """Something that raised or lowered a score."""

    reason: str
    factor: float


class Explanation(Answer):
    """Why a hit has its score."""

    paths: list[PathScore]
    matched_terms: list[str]
    surroundings: float
    factor: float
    closeness: float
    sureness: float
    relevance: float
    boosts: list[Boost]


class Hit(Answer):
    """What answers a question: a record, a turn, or a passage of an archive."""

    id: str
    score: float = Field(description="similarity from 0 to 1")
    span: tuple[int, int] = Field(description="where in the content the passage stands")
    passage: str
    record: Record | None
    turn: Turn | None
    archive: ArchivePassage | None
    replaced_by: str | None = Field(description="the record that replaced what this turn said")
    explanation: Explanation
    followed_by: str | None = Field(description="the newer one, where this is the earlier")


class NearMiss(Answer):
    """Something that was found and left out, and why."""

    id: str
    score: float
    reason: str


class Recalled(Answer):
    """The hits of one recall, best first, and what was left out or degraded on the way."""

    hits: list[Hit]
    degraded: list[str]
    near_misses: list[NearMiss]
    intent: str
    intent_reason: str


class LeftOut(Answer):
    """A record or turn that was recalled and did not enter the prompt."""

    id: str
    reason: Reason


class MemoryContext(Answer):
    """A block for the prompt, empty when there is nothing to say, and what it is made of."""

    model_config = _example(
        {
            "text": "<memory>\n  <user_preferences>…</user_preferences>\n</memory>",
            "tokens": 42,
            "ids": [_RECORD["id"]],
            "left_out": [],
            "place": "system",
            "degraded": [],
            "recall_id": "recall_01kb2h6a1q4w2e",
        }
    )

    text: str
    tokens: int
    ids: list[str]
    left_out: list[LeftOut]
    place: Place
    degraded: list[str]
    recall_id: str


class Written(Answer):
    """What became of one thing that was to be remembered."""

    write_id: str
    status: WriteStatus
    record: Record | None
    reason: str
    conflict: str | None = Field(description="the open conflict with a stored record")
    degraded: str = Field(description="why a configured model did not decide; else empty")


class WrittenItems(Answer):
    """What became of everything that a conversation said."""

    items: list[Written]


class Step(Answer):
    """What one step of the write pipeline decided."""

    name: str
    result: dict[str, Any]


class Trace(Answer):
    """The steps of a write in their order."""

    id: str
    scope: Scope
    session: str | None
    created_at: datetime
    steps: list[Step]


class Route(Answer):
    """Whether a message should be answered with memory and whether it should become some."""

    should_read: bool
    should_write: bool
    namespaces: list[Namespace]
    reason: str
    degraded: str = Field(description="why a configured model did not judge it; else empty")


class StoreCounts(Answer):
    """How much a caller's scopes hold."""

    records: int
    by_kind: dict[str, int]
    by_status: dict[str, int]
    turns: int
    sessions: int
    units: int
    links: dict[str, int] = Field(description="judged and kept, by relation")


class JobCounts(Answer):
    """How much background work waits, and how much was given up."""

    waiting: int
    failed: int


class IndexStats(Answer):
    """What an in-process search index holds."""

    scopes: int
    units: int
    bytes: int
    budget_bytes: int


class CacheStats(Answer):
    """How a cache has done since the server started."""

    hits: int
    misses: int
    entries: int
    hit_rate: float


class ModelUsage(Answer):
    """What one model was asked since the server started, and what that cost."""

    task: ModelTask
    model: str
    calls: int
    failures: int
    over_budget: int
    input_tokens: int
    output_tokens: int
    tokens_today: int
    daily_tokens: int | None
    skipped: int = Field(description="calls not made while it was paused")
    paused_until: datetime | None
    last_error: str


class MetricFigures(Answer):
    """What was counted in a time; a share or a time is null where nothing was counted."""

    recalls: int
    empty_recalls: int
    degraded_recalls: int
    cached_recalls: int
    recall_p50_ms: float | None
    recall_p95_ms: float | None
    prompts: int
    injected_tokens: int
    injected_items: int
    used_items: int
    used_share: float | None = Field(description="of the items in prompts, those reported as used")
    reused_share: float | None = Field(
        description="of the items in prompts, those from another session"
    )
    writes: int
    duplicate_writes: int
    duplicate_share: float | None
    window_tokens_saved: int
    archive_tokens_saved: int
    model_calls: int
    model_failures: int
    requests: int
    failed_requests: int = Field(description="answered with a 5xx status")


class MetricPoint(Answer):
    """What was counted in one step."""

    at: datetime
    figures: MetricFigures
    counters: dict[str, float] = Field(description="by name and label: `recalls:hit`")


class Metrics(Answer):
    """What was counted in a time, step by step and in all."""

    since: datetime
    until: datetime
    step_hours: int
    total: MetricFigures
    points: list[MetricPoint]


class Stats(Answer):
    """How much is stored for the caller, and how the parts are doing."""

    store: StoreCounts
    jobs: JobCounts
    keyword_index: IndexStats
    vector_index: IndexStats
    recall_cache: CacheStats
    embedding_cache: CacheStats
    summary_cache: CacheStats
    embedder: str
    database_bytes: int
    models: list[ModelUsage]
    judge: str = Field(description="who judges how statements relate")
    judged: dict[str, int]
    last_day: MetricFigures


class ServerHealth(Answer):
    """That the server works and its database answers."""

    model_config = _example({"status": "ok", "version": "0.1.0", "database": "ok"})

    status: Literal["ok"]
    version: str
    database: Literal["ok"]


class DuplicatePair(Answer):
    """Two records that seem to say the same."""

    first: str
    second: str
    probability: float


class MemoryHealth(Answer):
    """The figures of the health panel."""

    total: int = Field(description="records that can be recalled now")
    mean_confidence: float | None
    by_kind: dict[str, int]
    buffered: int
    quarantined: int
    expired: int
    expired_by: dict[str, int]
    conflicts: int
    fullest: int
    suspected_duplicates: int
    duplicates: list[DuplicatePair]
    compared: int
    capacity: int | None


class Conflict(Answer):
    """Two records that contradict each other; `first` was there before."""

    id: str
    scope: Scope
    first: str
    second: str
    reason: str
    created_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None
    resolution: Resolution | None


class Dispute(Answer):
    """A conflict with both of its records."""

    conflict: Conflict
    first: Record
    second: Record


class Disputes(Answer):
    """A page of the open conflicts, the latest first."""

    items: list[Dispute]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class Swept(Answer):
    """What a sweep did, or in a dry run what it would do."""

    is_dry_run: bool
    promoted: int
    expired: int
    deleted: int
    purged: int
    archives: int
    by_category: dict[str, dict[str, int]]
    by_reason: dict[str, int]
    ids: dict[str, list[str]]


class Proposal(Answer):
    """What an agent wants all agents of its workspace to know, and what became of it."""

    id: str
    scope: Scope
    type: str
    proposer: str
    role: str
    user: str | None
    status: ProposalStatus
    title: str
    content: str
    reason: str
    confidence: float
    created_at: datetime
    expires_at: datetime | None
    target: str | None
    record: str | None
    decided_at: datetime | None
    decided_by: str | None
    decision: str
    body: dict[str, Any]


class ProposalPage(Answer):
    """A page of proposals."""

    items: list[Proposal]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class AuditEntry(Answer):
    """Something that happened. Of an erased entry only what, when and to which id is left."""

    id: int
    scope: Scope
    at: datetime
    actor: str
    action: str
    target: str
    payload: dict[str, Any]
    seq: int | None = Field(description="its place in the chain; null until it is sealed")
    is_erased: bool


class AuditPage(Answer):
    """A page of the audit."""

    items: list[AuditEntry]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class AuditFault(Answer):
    """Something that is not as it was sealed."""

    seq: int | None
    entry: int | None
    what: str


class AuditVerdict(Answer):
    """Whether the audit chain of a workspace is as it was sealed."""

    is_intact: bool
    org: str
    workspace: str
    sealed: int
    unsealed: int
    erased: int
    head: str
    faults: list[AuditFault]


class ReplayedItem(Answer):
    """Something that was given then, or that would be found now."""

    id: str
    kind: str
    fate: Fate
    version: int | None
    version_now: int | None
    score: float | None
    score_then: float | None
    score_now: float | None
    content: str


class Replay(Answer):
    """What a prompt was given, and what the same question gives now."""

    is_same: bool
    recall_id: str
    at: datetime
    actor: str
    scope: Scope
    question: str
    form: str
    session: str
    run: str | None
    items: list[ReplayedItem]
    degraded: list[str]


class Remains(Answer):
    """A term of what was forgotten, and where it was found all the same."""

    term: str
    place: str
    detail: str


class Verification(Answer):
    """What a search for the forgotten content found, in every store and every file."""

    terms: int
    searched: list[str]
    traces: list[Remains]
    also_said: dict[str, str]
    copies: list[str]


class Forgotten(Answer):
    """What was forgotten, in numbers by kind, or in a dry run what would be."""

    forget_id: str
    counts: dict[str, int]
    evidence_left: list[str]
    is_dry_run: bool
    erasure_pending: bool
    wal_pending: bool
    unused_room_kept: bool
    verification: Verification | None


class Reindexing(Answer):
    """How far a change of the embedding model is."""

    model: str
    is_going_on: bool
    units: int
    lacking: int
    stale: int
    served: dict[str, int]


class StoppedReindexing(Reindexing):
    """Whether a change was ended, and how far it had got."""

    stopped: bool


class Tools(Answer):
    """The memory tools, in the form that was asked for."""

    items: list[dict[str, Any]]


class ToolResult(Answer):
    """What a tool gave, as a model would read it."""

    result: Any


class SessionUsage(Answer):
    """How full a session's window was when it was last prepared, and what lies outside it."""

    messages: int
    window_messages: int
    window_tokens: int
    budget_tokens: int
    saved_tokens: int = Field(description="of the conversation, what is kept out of the window")
    level: int = Field(description="how far it is compressed: not at all (0) up to a digest (3)")
    pending: bool = Field(description="a smaller window is being made in the background")
    archived: int
    degraded: list[str]


class SessionStatus(Answer):
    """A session and how full its window is."""

    model_config = _example(
        {
            "id": "monday",
            "scope": _SCOPE,
            "usage": {
                "messages": 120,
                "window_messages": 42,
                "window_tokens": 51_200,
                "budget_tokens": 89_600,
                "saved_tokens": 3_100,
                "level": 1,
                "pending": False,
                "archived": 3,
                "degraded": [],
            },
        }
    )

    id: str
    scope: Scope
    usage: SessionUsage


class Prepared(Answer):
    """The messages to send now, in the form that was asked for."""

    format: Literal["openai", "anthropic", "neutral"]
    system: Any = Field(description="of the form `anthropic`: its system prompt")
    messages: list[dict[str, Any]]
    usage: SessionUsage


class Point(Answer):
    """One thing worth keeping, and the message it is from, where known."""

    kind: PointKind
    text: str
    weight: float
    position: int | None


class Summary(Answer):
    """What stands for the messages from `start` up to, not including, `end`."""

    id: str
    key: str
    start: int
    end: int
    turn_ids: list[str]
    language: Tongue
    points: list[Point]
    degraded: str


class Summaries(Answer):
    """What stands for the beginning of a conversation, in its order."""

    items: list[Summary]


class NoteChunk(Answer):
    """A piece of content that a tool found."""

    content: str
    source: str
    relevance_score: float
    chunk_type: ChunkType
    metadata: dict[str, Any]


class Notes(Answer):
    """What the tools of a session have found."""

    current_query: str
    known_chapters: list[str]
    structures: dict[str, Any] = Field(description="the cached structures by document")
    chunks: list[NoteChunk]
    found_text: str = Field(description="what was found, as a prompt shows it")
    structure_hint: str = Field(description="which structures are known, as a prompt shows it")


class ScratchpadDecision(Answer):
    """What was decided, and why."""

    what: str
    why: str


class Scratchpad(Answer):
    """Where an agent stands in a task of several steps."""

    current_goal: str
    sub_goals: list[str]
    completed: list[str]
    current_step: str
    decisions: list[ScratchpadDecision]
    blockers: list[str]


class Archive(Answer):
    """A large tool result that was put away, without its content."""

    id: str
    scope: Scope
    session: str
    thread: str | None
    tool: str
    input: str = Field(description="canonical JSON")
    input_hash: str
    query: str
    summary: str
    sources: list[str]
    form: Literal["text", "json", "bytes"]
    content_hash: str
    chars: int
    lines: int
    bytes: int
    indexed_chars: int
    created_at: datetime
    expires_at: datetime | None
    last_loaded: datetime | None
    loads: int


class ArchivePage(Answer):
    """A page of archives."""

    items: list[Archive]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class ArchiveText(Answer):
    """An archived result for a model to read, under its placeholder."""

    id: str
    text: str


class SweptArchives(Answer):
    """The archives that went, or in a dry run what would."""

    archives: list[Archive]
    is_dry_run: bool


class EarlierResult(Answer):
    """What the same call gave before; both are null when it was not made."""

    archive: Archive | None
    age_seconds: float | None


class ProcessedResult(Answer):
    """What to show of a tool result: itself, or a placeholder once it is archived."""

    result: Any
    is_archived: bool


class Messages(Answer):
    """Messages, changed as was asked."""

    items: list[dict[str, Any]]


class Offer(Answer):
    """What is known of a tool call before it is made."""

    kind: Literal["hint", "cached", "earlier"]
    document: str | None = None
    text: str | None = None
    result: Any = None
    archive: Archive | None = None
    age_seconds: float | None = None


class Offers(Answer):
    """What is known of this turn's tool calls, by their ids."""

    items: dict[str, Offer]


class Job(Answer):
    """How a job is doing, or what became of it."""

    id: str
    kind: str
    key: str = Field(description="what it is about; empty once it is finished")
    state: JobState
    attempts: int
    at: datetime = Field(description="when it is due, its lease ends, or it was finished")
    error: str
    done: int | None
    total: int | None
    result: dict[str, Any]


class JobPage(Answer):
    """A page of jobs."""

    items: list[Job]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class Finding(Answer):
    """How one part is doing, what that means, and how to fix it."""

    part: str
    verdict: Verdict
    message: str
    hint: str
    figures: dict[str, Any]


class Diagnosis(Answer):
    """Every finding, and the worst of their verdicts."""

    verdict: Verdict
    findings: list[Finding]


class LineProblem(Answer):
    """Why a line was not imported."""

    line: int
    code: str
    message: str


class Imported(Answer):
    """What an import did with each line."""

    added: int
    unchanged: int
    conflicting: int
    lost: int
    bad: int
    problems: list[LineProblem]


class ImportedChats(Answer):
    """What an import of chat histories did with each message."""

    conversations: int
    added: int
    known: int
    empty: int
    bad: int
    problems: list[LineProblem]


class Worked(Answer):
    """How many background jobs ran."""

    ran: int


class Contents(Answer):
    """How much somebody's scopes hold."""

    records: int
    turns: int
    sessions: int
    archives: int
    last_active: datetime | None


class ScopeEntry(Answer):
    """A scope in which something was ever kept."""

    scope: Scope
    contents: Contents


class ScopePage(Answer):
    """A page of scopes."""

    items: list[ScopeEntry]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class NameEntry(Answer):
    """An agent or a user of a workspace."""

    name: str
    scopes: int
    contents: Contents


class NamePage(Answer):
    """A page of agents or users."""

    items: list[NameEntry]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class SessionEntry(Answer):
    """A conversation: how long it is and when it went on."""

    id: str
    scope: Scope
    turns: int
    archives: int
    first_at: datetime
    last_at: datetime


class SessionPage(Answer):
    """A page of conversations."""

    items: list[SessionEntry]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class LabelEntry(Answer):
    """A tag or a category, and how many active records have it."""

    name: str
    records: int


class LabelPage(Answer):
    """A page of tags or categories."""

    items: list[LabelEntry]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


class Facets(Answer):
    """How many records of each sort pass the filter; `-` is none."""

    kinds: dict[str, int]
    categories: dict[str, int]
    statuses: dict[str, int]
    tags: dict[str, int]
    agents: dict[str, int]
    users: dict[str, int]


class RecordsFound(Answer):
    """A page of the records of a workspace, how many pass the filter, and of which sorts."""

    items: list[Record]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")
    total: int
    facets: Facets | None


class BulkFailure(Answer):
    """A record that was left as it is, and why."""

    id: str
    code: str
    message: str


class BulkChange(Answer):
    """The records as they are now, and those that were left as they were."""

    changed: list[Record]
    failed: list[BulkFailure]


class Change(Answer):
    """One thing that changed."""

    entity: OwnerKind
    id: str
    op: ChangeKind = Field(description="put: new or changed; use: counted; purge: gone for good")


class ScopeChange(Answer):
    """What one write changed in one scope."""

    mark: str = Field(description="the place behind it")
    scope: Scope
    version: int
    changes: list[Change]


class Changes(Answer):
    """What changed since a mark, and the mark from which to go on."""

    items: list[ScopeChange]
    mark: str


class CallersScope(Answer):
    """Whose memory a request is about."""

    scope: Scope
    disabled_agents: list[str] = Field(description="agents that have no memory tools and no guide")


class Sealed(Answer):
    """How many entries of the audit were sealed."""

    sealed: int


class Guide(Answer):
    """How to use memory, for a system prompt."""

    text: str


class UserNames(Answer):
    """The names that a user is known by, in lower case."""

    items: list[str]


class Demo(Answer):
    """The demo workspace, and how much it holds."""

    workspace: str
    records: int
    sessions: int


class RemovedDemo(Answer):
    """The demo workspace, and how much of it was forgotten."""

    workspace: str
    records: int
    turns: int
