"""Combination of an approved proposal with the shared record about the same thing.

Of two records about the same thing the newer one wins, or the more confident one if they were made
together. The other is kept as a version of the same record, so that its history shows what was
replaced and why. That needs a certain relation: where the judge only suspects one, both stay, and
a conflict is opened for a person to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from recollect.domain.change import RecordChange
from recollect.domain.fields import MAX_REASON, RecordFields, new_record
from recollect.domain.filters import Filter
from recollect.domain.record import Record
from recollect.domain.relation import Conflict, Link
from recollect.domain.sharing import SHARED_TYPES, NearRecord, Proposal
from recollect.embedding.service import EmbeddingService
from recollect.errors import Conflict as Contradiction
from recollect.language.units import record_units
from recollect.ports.judge import MOST_JUDGED, Judge
from recollect.ports.store import Store
from recollect.writing.batch import conflict_between, link_between
from recollect.writing.candidates import Candidates
from recollect.writing.judges import statement_of

Outcome = Literal["created", "confirmed", "replaced", "kept"]
"""created: a new record. confirmed: it was known already. replaced: it supersedes the known record.
kept: the known record stays, and this is a version in its history."""

# Claims within this time were made together: neither is the newer one.
_MAX_SIMULTANEOUS_GAP: Final = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
    """A shared record about the same thing as a proposal."""

    record: Record
    says_the_same: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The resulting record and the versions that lead to it."""

    outcome: Outcome
    record: Record
    changes: tuple[RecordChange, ...]
    conflicts: tuple[Conflict, ...] = ()
    links: tuple[Link, ...] = ()


def settle(
    proposal: Proposal,
    rival: Rival | None,
    others: Sequence[NearRecord] = (),
    *,
    said_at: datetime,
    now: datetime,
    reason: str,
) -> Settled:
    """Combine a proposal with what is known; `said_at` is when it was written.

    `others` are the records near it besides the rival. What it may contradict among them is put to
    a person, as long as the proposal's words are what stands.
    """
    settled = _settle(proposal, rival, said_at=said_at, now=now, reason=reason)
    if settled.outcome not in ("created", "replaced"):
        return settled
    return _with_relations(settled, others, now)


def _with_relations(settled: Settled, others: Sequence[NearRecord], now: datetime) -> Settled:
    """Return the same with a conflict or a link for each record that it seems to relate to."""
    new = settled.record
    unlike = [near for near in others if near.record.id not in new.related]
    rivals = [near for near in unlike if near.may_contradict]
    alike = [near for near in unlike if near.verdict.relation == "same"]
    related = tuple(near.record.id for near in (*rivals, *alike))
    new = new.evolve(related=(*new.related, *related))
    *before, last = settled.changes
    return replace(
        settled,
        record=new,
        changes=(*before, replace(last, record=new)),
        conflicts=tuple(
            conflict_between(near.record, new, _dispute_reason(near), now) for near in rivals
        ),
        links=tuple(link_between(new, near.record, near.verdict, now) for near in alike),
    )


def _dispute_reason(near: NearRecord) -> str:
    """Return why a person is asked about two records."""
    return (
        "it is uncertain that both can be true" if near.verdict.is_doubtful else near.verdict.reason
    )


def _settle(
    proposal: Proposal, rival: Rival | None, *, said_at: datetime, now: datetime, reason: str
) -> Settled:
    if rival is None:
        record = as_record(proposal, said_at, now)
        return _make_settled("created", (record, _version_reason(proposal, reason)))
    stored = rival.record
    if rival.says_the_same:
        confirmed = _confirm(stored, proposal, said_at, now)
        return _make_settled(
            "confirmed", (confirmed, _version_reason(proposal, reason, "said again"))
        )
    proposed = _restate(stored, proposal, said_at, now)
    if _is_winner(proposal, stored, said_at):
        return _make_settled("replaced", (proposed, _version_reason(proposal, reason)))
    standing = stored.evolve(version=stored.version + 2, updated_at=now)
    return _make_settled(
        "kept",
        (proposed, _version_reason(proposal, reason)),
        (standing, "what was known is newer or surer and stands"),
    )


def as_record(proposal: Proposal, said_at: datetime, now: datetime) -> Record:
    """Return the shared record of a proposal about something new."""
    fields = RecordFields(
        category=proposal.type,
        title=proposal.title,
        tags=proposal.body.get("tags", ()),
        confidence=proposal.confidence,
        source=proposal.proposer,
        first_observed=said_at,
        metadata=_metadata(proposal),
    )
    return new_record(proposal.content, fields, proposal.scope, now)


def _metadata(proposal: Proposal) -> dict[str, Any]:
    return {
        "creator": proposal.proposer,
        "creator_role": proposal.role,
        "readers": list(SHARED_TYPES[proposal.type].readers),
        "proposal": proposal.id,
    }


def _confirm(stored: Record, proposal: Proposal, said_at: datetime, now: datetime) -> Record:
    doubt = (1 - stored.confidence) * (1 - proposal.confidence)
    return stored.evolve(
        evidence_count=stored.evidence_count + 1,
        confidence=1 - doubt,
        last_confirmed=max(stored.last_confirmed, said_at),
        updated_at=now,
        version=stored.version + 1,
    )


def _restate(stored: Record, proposal: Proposal, said_at: datetime, now: datetime) -> Record:
    """Return the record reworded by the proposal."""
    changed = stored.evolve(
        content=proposal.content,
        confidence=proposal.confidence,
        last_confirmed=said_at,
        updated_at=now,
        version=stored.version + 1,
    )
    if proposal.target is not None:
        # A change keeps the record's creator and everything that it does not mention.
        return changed.evolve(
            title=proposal.title or stored.title,
            tags=tuple(proposal.body.get("tags", stored.tags)),
            metadata={**stored.metadata, "proposal": proposal.id},
        )
    return changed.evolve(
        title=proposal.title,
        tags=tuple(proposal.body.get("tags", ())),
        evidence_count=1,
        first_observed=said_at,
        source=proposal.proposer,
        metadata={**stored.metadata, **_metadata(proposal)},
    )


def _is_winner(proposal: Proposal, stored: Record, said_at: datetime) -> bool:
    newer = said_at - stored.last_confirmed
    if abs(newer) > _MAX_SIMULTANEOUS_GAP:
        return newer > timedelta()
    if proposal.confidence != stored.confidence:
        return proposal.confidence > stored.confidence
    return newer >= timedelta()


def _version_reason(proposal: Proposal, *reasons: str) -> str:
    parts = (f"{proposal.id} by {proposal.proposer}", proposal.reason, *reasons)
    return "; ".join(filter(None, parts))[:MAX_REASON]


def _make_settled(outcome: Outcome, *versions: tuple[Record, str]) -> Settled:
    changes = tuple(RecordChange(record=record, reason=reason) for record, reason in versions)
    return Settled(outcome=outcome, record=versions[-1][0], changes=changes)


class RivalFinder:
    """The search for the shared record of the same type about the same thing."""

    def __init__(
        self, store: Store, embedding: EmbeddingService, candidates: Candidates, judge: Judge
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._candidates = candidates
        self._judge = judge

    async def near(
        self, proposal: Proposal, said_at: datetime, now: datetime
    ) -> tuple[NearRecord, ...]:
        """Return the shared records of the type that are nearest to a proposal, each judged."""
        new = as_record(proposal, said_at, now)
        near = await self._near(new, now)
        stored = await self._of_type(proposal, list(near), now)
        statements = [statement_of(record, near=near[record.id]) for record in stored]
        judged = await self._judge.judge(statement_of(new, said_at), statements)
        return tuple(
            NearRecord(record=record, near=near[record.id], verdict=verdict)
            for record, verdict in zip(stored, judged.verdicts, strict=True)
        )

    async def of(
        self, proposal: Proposal, near: Sequence[NearRecord], now: datetime
    ) -> Rival | None:
        """Return the record that a proposal names, or the most likely one about the same thing."""
        if proposal.target is not None:
            return Rival(record=await self._target(proposal, proposal.target, now))
        rivals = [
            (other.verdict.relation == "same", other.verdict.probability, other.record.id, other)
            for other in near
            if other.verdict.relation != "different" and other.verdict.is_sure
        ]
        if not rivals:
            return None
        says_the_same, *_, other = max(rivals)
        return Rival(record=other.record, says_the_same=says_the_same)

    async def _target(self, proposal: Proposal, target: str, now: datetime) -> Record:
        found = await self._store.records([proposal.scope], Filter(), now=now, ids=[target])
        if not found:
            raise Contradiction(
                f"{target}, which {proposal.id} would change, no longer exists",
                code="target_gone",
                hint="Reject the proposal; its content can be proposed as a new record.",
            )
        return found[0]

    async def _near(self, new: Record, now: datetime) -> dict[str, float | None]:
        embedded = await self._embedding.of_units([record_units(new)])
        return await self._candidates.ids_near(
            [new.scope], new.content, embedded.owners[0], embedded.model, now
        )

    async def _of_type(self, proposal: Proposal, ids: list[str], now: datetime) -> list[Record]:
        of_type = Filter(categories=frozenset({proposal.type}))
        found = await self._store.records([proposal.scope], of_type, now=now, ids=ids)
        others = [record for record in found if record.id != proposal.target]
        return sorted(others, key=lambda record: ids.index(record.id))[:MOST_JUDGED]
