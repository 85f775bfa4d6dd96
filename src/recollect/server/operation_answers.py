"""What the server answers with about operation: figures, health, audit, jobs, forgetting."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from pydantic import ConfigDict, Field

from recollect.domain.injection import Fate
from recollect.domain.job import JobState
from recollect.domain.model_tier import ModelTask
from recollect.domain.scope import Role
from recollect.domain.stats import Verdict
from recollect.domain.upkeep import SweepAction, SweepReason
from recollect.domain.write import WritePolicy
from recollect.server.answers import Answer, Scope, example
from recollect.server.identity import Means
from recollect.settings.origins import Origin


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
    late_prompts: int = Field(description="made without all that is remembered, to be in time")
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

    model_config = example({"status": "ok", "version": "0.1.0", "database": "ok"})

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


class SweptRecord(Answer):
    """A record that a sweep takes a step with, and why."""

    id: str
    title: str = Field(description="its title, or the beginning of its content")
    category: str
    action: SweepAction
    reason: SweepReason


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
    named: list[SweptRecord] = Field(description="the records of `ids`, by name")


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
    profile: list[ReplayedItem]
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


class Sealed(Answer):
    """How many entries of the audit were sealed."""

    sealed: int


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


# --- Agents, keys and sign-ins --------------------------------------------------------------------

_KEY: Final[dict[str, Any]] = {
    "id": "key_01kb2h5d7m2u8b",
    "name": "ci",
    "prefix": "rk_01kb2h5d7m2u",
    "role": "writer",
    "workspaces": ["local/default"],
    "users": [],
    "agents": [],
    "created_at": "2026-11-02T09:00:00Z",
    "expires_at": None,
    "last_used_at": None,
    "revoked_at": None,
}


class WhoAmI(Answer):
    """Who is asking; an empty list of workspaces, users or agents means all."""

    name: str
    means: Means = Field(
        description="open: this machine, as no key was ever made; or key, cookie, token"
    )
    key_id: str | None
    role: Role
    workspaces: list[str] = Field(description="each `org/workspace`")
    users: list[str]
    agents: list[str]
    expires_at: datetime | None
    csrf_token: str | None = Field(
        description="of a cookie: to be sent as X-CSRF-Token with every write"
    )


class Key(Answer):
    """A key, without its secret."""

    model_config = ConfigDict(json_schema_extra={"examples": [_KEY]})

    id: str
    name: str
    prefix: str = Field(description="how the key begins")
    role: Role
    workspaces: list[str] = Field(description="empty: all")
    users: list[str] = Field(description="empty: it opens the memory of all users")
    agents: list[str] = Field(description="empty: all")
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class NewKey(Answer):
    """A key that was just made."""

    key: Key
    secret: str = Field(description="told this once, and kept nowhere")
    users_covered: int = Field(description="how many users' memory it opens now")
    covers: str = Field(description="whose memory it opens, in a sentence")


class KeyPage(Answer):
    """Keys, a page at a time."""

    items: list[Key]
    next_cursor: str | None


class Setting(Answer):
    """A setting as it holds now."""

    name: str = Field(description="its place in the tree, such as recall.limit")
    value: Any = Field(description="`(secret)` if it is one")
    is_secret: bool
    origin: Origin
    variable: str | None = Field(description="the environment variable that sets it")
    description: str


class EffectiveSettings(Answer):
    """All settings that hold now, and where each comes from."""

    items: list[Setting]
    file: str = Field(description="the settings file, whether or not it is there")


class AgentMove(Answer):
    """A move of an agent's memory: going on, or ended with the old copy still kept."""

    source: str
    target: str
    state: Literal["copying", "moved"]
    done: int = Field(description="rows that are copied")
    total: int
    lost: int = Field(description="archived contents that the old store no longer had")


class PurgedCopy(Answer):
    """How many rows of a copy were erased."""

    rows: int


class Agent(Answer):
    """An agent as it is set up now."""

    name: str
    enabled: bool
    store: str = Field(
        description="a name under `stores` in the settings file, or the address of its own store "
        "without a password; empty = common"
    )
    backend: str | None
    password_env: str
    prefetch_limit: int | None
    write_policy: WritePolicy | None
    role: str
    children: list[str]
    origin: Literal["file", "database"]
    move: AgentMove | None


class AgentPage(Answer):
    """Agents, a page at a time."""

    items: list[Agent]
    next_cursor: str | None
