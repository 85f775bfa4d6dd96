"""What the server answers with about memory: records, turns, recall, proposals, the workspace.

The values of the library become JSON in `recollect.domain.views`; these models describe that form,
and the framework checks every answer against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from recollect.domain.change import ChangeKind
from recollect.domain.context import Place, Reason
from recollect.domain.record import Status, Tier
from recollect.domain.relation import Relation, Resolution
from recollect.domain.sharing import ProposalStatus
from recollect.domain.turn import Act
from recollect.domain.unit import OwnerKind
from recollect.domain.write import Namespace, WriteStatus

SCOPE_EXAMPLE = {"org": "local", "workspace": "default", "agent": None, "user": "ann"}
_RECORD: dict[str, Any] = {
    "id": "mem_01kb2h5e8n3v9c",
    "scope": SCOPE_EXAMPLE,
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
    "facet": "liking",
    "about": "user",
    "facet_fixed": False,
    "version": 1,
    "status": "active",
    "metadata": {},
    "links": [],
}
_TURN: dict[str, Any] = {
    "id": "turn_01kb2h5d7m2u8b",
    "scope": SCOPE_EXAMPLE,
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


def example(value: Mapping[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [dict(value)]})


class Answer(BaseModel):
    """A response body."""


class Scope(Answer):
    """Whose memory it is; an agent or a user may be missing."""

    model_config = example(SCOPE_EXAMPLE)

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
    facet: str | None = Field(
        description="which attribute it states; null until that is decided, empty if unknown"
    )
    about: str = Field(description="whom it is about: user, other, thing, or empty if unknown")
    facet_fixed: bool = Field(description="whether a caller set them")
    version: int
    status: Status
    metadata: dict[str, Any]
    links: list[Link] = Field(description="how it relates to other records, as it was judged")


class SemanticRecord(AnyRecord):
    """A fact, a preference or a rule."""

    model_config = example(_RECORD)

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

    model_config = example(_TURN)

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


class ProfileLine(Answer):
    """A line of a profile: a record, the attribute that it states, and its words."""

    id: str
    version: int
    facet: str
    text: str


class Profile(Answer):
    """What stands in every prompt of a user, what is hidden from it, and what has no room."""

    model_config = example(
        {
            "lines": [
                {
                    "id": _RECORD["id"],
                    "version": 1,
                    "facet": "allergy",
                    "text": "Ann is allergic to nuts",
                }
            ],
            "text": "<memory>\n  <profile>\n    - Ann is allergic to nuts\n  </profile>\n</memory>",
            "tokens": 44,
            "hidden": [],
            "left_out": [],
        }
    )

    lines: list[ProfileLine]
    text: str
    tokens: int
    hidden: list[ProfileLine]
    left_out: list[ProfileLine]


class MemoryContext(Answer):
    """The text for a prompt, empty when there is nothing to say, and what it is made of."""

    model_config = example(
        {
            "text": "<memory>\n  <user_preferences>…</user_preferences>\n</memory>",
            "tokens": 42,
            "ids": [_RECORD["id"]],
            "left_out": [],
            "profile": "",
            "place": "system",
            "degraded": [],
            "recall_id": "recall_01kb2h6a1q4w2e",
        }
    )

    text: str
    tokens: int
    ids: list[str]
    left_out: list[LeftOut]
    profile: str
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
    by: str = Field(description="who decided: reader (the local model), rules, or a model's name")


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


class Verdict(Answer):
    """A judge's opinion on how a new statement relates to a stored one."""

    relation: Relation
    probability: float
    reason: str
    decided_by: str
    is_sure: bool = Field(description="approving acts on it; else both records stay")
    is_doubtful: bool = Field(description="`different` is no more than a guess")


class NearRecord(Answer):
    """A shared record near a proposal, and the judge's opinion on it."""

    record: Record
    near: float | None = Field(description="the cosine of both vectors, where both are known")
    verdict: Verdict


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
    body: dict[str, Any] = Field(
        description="the record's other fields; once approved, `outcome` and the ids of the "
        "`conflicts` that it opened"
    )
    nearest: list[NearRecord] = Field(
        description="while it is pending: the nearest shared records and the judge's opinion"
    )


class ProposalPage(Answer):
    """A page of proposals."""

    items: list[Proposal]
    next_cursor: str | None = Field(description="send it as `cursor`; null on the last page")


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


class Facet(Answer):
    """An attribute that records can state."""

    model_config = example(
        {"name": "home", "en": "Home", "zh": "住处", "single": True, "profile": 90, "vital": False}
    )

    name: str
    en: str = Field(description="its label in English")
    zh: str = Field(description="its label in Chinese")
    single: bool = Field(description="whether a person has one value of it at a time")
    profile: int | None = Field(description="its place in the profile; null if it is not in it")
    vital: bool = Field(description="whether it concerns a person's health")


class FacetList(Answer):
    """All attributes that records can state."""

    items: list[Facet]


class Facets(Answer):
    """How many records of each sort pass the filter; `-` is none."""

    kinds: dict[str, int]
    categories: dict[str, int]
    facets: dict[str, int]
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
    user_is_named: bool = Field(
        description="by the address or the key; otherwise it is the server's default user"
    )
    disabled_agents: list[str] = Field(description="agents that have no memory tools and no guide")


class UserNames(Answer):
    """The names that a user is known by, in lower case."""

    items: list[str]
