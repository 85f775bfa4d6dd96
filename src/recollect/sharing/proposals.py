"""Proposals of shared memory, and the decisions on them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from recollect.domain.audit import NewAuditEntry
from recollect.domain.change import ChangeSet, RecordChange
from recollect.domain.fields import MAX_REASON, MAX_TITLE, checked_items, checked_text
from recollect.domain.filters import Filter
from recollect.domain.ids import new_id
from recollect.domain.page import Cursor, Page, checked_limit, parse_cursor
from recollect.domain.record import Record, Status
from recollect.domain.scope import Caller, Scope
from recollect.domain.sharing import (
    PROPOSAL_STATUSES,
    Proposal,
    ProposalStatus,
    SharedType,
    already_decided,
    another_decision,
    shared_type,
)
from recollect.domain.times import aware, to_micros
from recollect.embedding.service import EmbeddingService
from recollect.errors import Conflict, InvalidInput, NotAllowed, NotFound, StaleVersion
from recollect.language.units import is_searched_alike, record_units
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.listing import MAX_PAGE
from recollect.sharing.records import Parties
from recollect.sharing.settlement import RivalFinder, Settled, as_record, settle
from recollect.writing.redaction import Counts, Redactor
from recollect.writing.saver import redacted_entry, restored

if TYPE_CHECKING:
    from recollect.recall.conflicts import SqlConflicts
    from recollect.sharing.rows import SqlProposals

_MAX_ATTEMPTS: Final = 20
_BATCH_PROPOSALS: Final = 200
_RULE: Final = "rule"
_SWEEP: Final = "sweep"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalRules:
    """The types that are approved automatically, and how long the others wait."""

    waits: timedelta = timedelta(days=14)
    auto_types: frozenset[str] = frozenset()
    auto_confidence: float = 0.8

    def approve(self, proposal: Proposal) -> bool:
        is_named = proposal.type in self.auto_types
        return is_named and proposal.confidence >= self.auto_confidence


@dataclass(eq=False)
class ProposalService:
    """The service that accepts proposals and decides on each of them once.

    A proposal is visible to its proposer and to the coordinator; one about a user only while they
    work for that user.
    """

    _store: Store
    _proposals: SqlProposals
    _parties: Parties
    _rivals: RivalFinder
    _embedding: EmbeddingService
    _redactor: Redactor
    _clock: Clock
    _rules: ProposalRules
    _disputes: SqlConflicts

    async def propose(
        self,
        caller: Caller,
        content: str,
        type: str | None,
        *,
        title: str = "",
        reason: str = "",
        tags: Iterable[str] | None = None,
        confidence: float = 1.0,
        target: str | None = None,
    ) -> Proposal:
        """Propose to share something, or to change the shared record `target`."""
        changed = None if target is None else await self._target_record(caller, target)
        shared = _type_of(type, changed)
        self._parties.require_writer(caller, shared)
        now, party = self._clock.now(), self._parties.of(caller)
        body = {} if tags is None else {"tags": checked_items(tags, "tags")}
        redacted, proposal = self._check(
            Proposal(
                id=new_id("prop"),
                scope=_scope_of(caller, shared) if changed is None else changed.scope,
                type=shared.name,
                proposer=party.name,
                role=party.role,
                user=party.user,
                status="pending",
                title=title,
                content=content,
                reason=self._reason(reason, blank=True),
                confidence=confidence,
                created_at=now,
                expires_at=now + self._rules.waits,
                target=target,
                body=body,
            )
        )
        if self._rules.approve(proposal):
            why = f"{proposal.type} needs no approval"
            return await _retry(
                lambda: self._approve(caller, proposal, _RULE, why, now, redacted=redacted)
            )
        await self._store_proposal(caller.principal, proposal, redacted)
        return proposal

    async def approve(
        self,
        caller: Caller,
        proposal_id: str,
        *,
        content: str | None = None,
        title: str | None = None,
        reason: str = "",
    ) -> Proposal:
        """Approve a proposal, optionally reworded."""
        self._parties.require_coordinator(caller)
        reason = self._reason(reason, blank=True)
        edits = {"content": content, "title": title}
        edits = {name: text for name, text in edits.items() if text is not None}

        async def decide() -> Proposal:
            proposal = await self._pending(caller, proposal_id)
            return await self._approve(
                caller, proposal, _decider(caller), reason, self._clock.now(), edits
            )

        return await _retry(decide)

    async def reject(self, caller: Caller, proposal_id: str, reason: str) -> Proposal:
        """Reject a proposal with a reason."""
        self._parties.require_coordinator(caller)
        why = self._reason(reason)
        return await self._close(caller, proposal_id, "rejected", why)

    async def reopen(
        self,
        caller: Caller,
        proposal_id: str,
        reason: str = "",
        decided_at: datetime | None = None,
    ) -> Proposal:
        """Take back the decision on a proposal, with what approving it changed."""
        self._parties.require_coordinator(caller)
        why = self._reason(reason, blank=True)
        seen = None if decided_at is None else aware(decided_at, "decided_at")

        async def work() -> Proposal:
            # Read the versions first, so that another decision is detected.
            versions = await self._store.versions(caller.shared)
            proposal = await self._get(caller, proposal_id)
            if proposal.status not in ("approved", "rejected"):
                raise Conflict(
                    f"{proposal.id} is {proposal.status}; there is no decision to take back",
                    code="not_decided",
                    hint="Only what was approved or rejected is reopened.",
                )
            if seen is not None and proposal.decided_at != seen:
                raise another_decision(proposal.id, proposal.decided_by)
            now = self._clock.now()
            known = dict(zip(caller.shared, versions, strict=True))
            changes = ChangeSet(
                principal=caller.principal,
                scope=proposal.scope,
                proposals=(_waiting(proposal, now, now + self._rules.waits, why),),
                expected={proposal.scope: known[proposal.scope]},
            )
            if proposal.status == "approved":
                changes = await self._taking_back(caller, proposal, changes, now, why)
            await self._store.commit(changes)
            return await self.get(caller, proposal_id)

        return await _retry(work)

    async def _taking_back(
        self, caller: Caller, proposal: Proposal, changes: ChangeSet, now: datetime, reason: str
    ) -> ChangeSet:
        """Return the changes with those that take back what approving a proposal did."""
        history = await self._store.history(caller.shared, proposal.record or "")
        if not history or history[-1].number != proposal.body.get("version"):
            raise Conflict(
                f"What came of {proposal.id} was changed since; nothing was taken back",
                code="changed_since",
                hint=f"Change or delete {proposal.record or 'the shared record'} instead.",
            )
        current = history[-1].record
        written = 2 if proposal.body["outcome"] == "kept" else 1
        earlier = history[-1 - written].record if len(history) > written else None
        back = (
            current.evolve(status=Status.DELETED, version=current.version + 1, updated_at=now)
            if earlier is None
            else restored(earlier, current, now)
        )
        changed = () if is_searched_alike(current, back) else (record_units(back),)
        embedded = await self._embedding.of_units(changed)
        links = await self._store.links(caller.shared, [current.id])
        opened = await self._disputes.find(caller.shared, ids=proposal.body.get("conflicts", ()))
        note = "; ".join(filter(None, (f"{proposal.id} was reopened", reason)))
        return replace(
            changes,
            records=(RecordChange(record=back, reason=note[:MAX_REASON]),),
            units=embedded.owners,
            model=embedded.model,
            jobs=embedded.jobs,
            removed_links=tuple(link for link in links if link.at == proposal.decided_at),
            conflicts=tuple(
                replace(
                    conflict,
                    resolved_at=now,
                    resolved_by=caller.principal,
                    resolution="keep_first",
                )
                for conflict in opened
                if conflict.is_open
            ),
        )

    async def withdraw(self, caller: Caller, proposal_id: str, reason: str = "") -> Proposal:
        """Withdraw the caller's own proposal."""
        proposal = await self._get(caller, proposal_id)
        if not proposal.is_by(self._parties.of(caller)):
            raise NotAllowed(
                f"{proposal.id} was made by {proposal.proposer}",
                code="not_proposer",
                hint="Only the proposer withdraws a proposal; the coordinator rejects it.",
            )
        why = self._reason(reason, blank=True)
        return await self._close(caller, proposal_id, "withdrawn", why)

    async def get(self, caller: Caller, proposal_id: str) -> Proposal:
        """Return a proposal that the caller made or decides on, with what is near it."""
        return (await self._with_nearest([await self._get(caller, proposal_id)]))[0]

    async def _get(self, caller: Caller, proposal_id: str) -> Proposal:
        checked_text(proposal_id, "id", MAX_TITLE, blank=True)
        found = await self._proposals.find(
            caller.shared,
            now=self._clock.now(),
            ids=[proposal_id],
            by=self._parties.sees_proposals_of(caller),
        )
        if not found:
            raise NotFound(
                f"There is no proposal {proposal_id!r} that {caller.scope.actor} may see",
                hint="A proposal is visible to its proposer and the coordinator; one about a "
                "user, only while working for that user.",
            )
        return found[0]

    async def find(
        self,
        caller: Caller,
        *,
        status: str | None = "pending",
        type: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Proposal]:
        """Return the proposals that the caller made or decides on, newest first.

        Pending ones come with the nearest shared records and the judge's opinion on them.
        """
        found = await self._proposals.find(
            caller.shared,
            now=self._clock.now(),
            status=None if status is None else _status(status),
            type=None if type is None else shared_type(type).name,
            by=self._parties.sees_proposals_of(caller),
            after=None if cursor is None else parse_cursor(cursor),
            limit=checked_limit(limit, MAX_PAGE) + 1,
        )
        items = await self._with_nearest(found[:limit])
        if len(found) <= limit:
            return Page(items=items)
        last = Cursor(at=to_micros(items[-1].created_at), id=items[-1].id)
        return Page(items=items, next_cursor=str(last))

    async def expire_stale(self, now: datetime | None = None) -> int:
        """Close the proposals of all workspaces that waited too long; return how many."""
        now = self._clock.now() if now is None else now
        expired = 0
        while stale := await self._proposals.stale(now, limit=_BATCH_PROPOSALS):
            for proposal in stale:
                closed = proposal.evolve(status="expired", decided_at=now, decided_by=_SWEEP)
                try:
                    await self._store_proposal(_SWEEP, closed)
                except Conflict:
                    # It was decided at the last moment.
                    continue
                expired += 1
        return expired

    async def _with_nearest(self, proposals: Sequence[Proposal]) -> tuple[Proposal, ...]:
        """Return the proposals, the pending ones with the shared records near them."""
        now = self._clock.now()

        async def one(proposal: Proposal) -> Proposal:
            if proposal.status != "pending":
                return proposal
            near = await self._rivals.near(proposal, proposal.created_at, now)
            return proposal.evolve(nearest=near)

        return tuple(await asyncio.gather(*map(one, proposals)))

    async def _approve(
        self,
        caller: Caller,
        proposal: Proposal,
        decided_by: str,
        reason: str,
        now: datetime,
        edits: Mapping[str, str] | None = None,
        redacted: Counts | None = None,
    ) -> Proposal:
        # Read the version first, so that anything shared meanwhile is detected.
        (version,) = await self._store.versions([proposal.scope])
        # A text reworded by the coordinator is as new as the decision.
        said = proposal
        if edits:
            redacted, said = self._check(proposal.evolve(**edits))
        said_at = now if edits else proposal.created_at
        near = await self._rivals.near(said, said_at, now)
        rival = await self._rivals.of(said, near, now)
        others = [other for other in near if rival is None or other.record.id != rival.record.id]
        settled = settle(said, rival, others, said_at=said_at, now=now, reason=reason)
        approved = proposal.evolve(
            status="approved",
            record=settled.record.id,
            decided_at=now,
            decided_by=decided_by,
            decision=reason,
            body={**proposal.body, **_outcome_note(settled), **_edit_note(edits)},
        )
        is_found_alike = settled.outcome in ("confirmed", "kept")
        changed = () if is_found_alike else (record_units(settled.record),)
        embedded = await self._embedding.of_units(changed)
        await self._store.commit(
            ChangeSet(
                principal=caller.principal,
                scope=proposal.scope,
                records=settled.changes,
                units=embedded.owners,
                model=embedded.model,
                proposals=(approved,),
                conflicts=settled.conflicts,
                links=settled.links,
                jobs=embedded.jobs,
                expected={proposal.scope: version},
                audit=_audit_entries(approved, redacted),
            )
        )
        return approved

    async def _close(
        self, caller: Caller, proposal_id: str, status: ProposalStatus, reason: str
    ) -> Proposal:
        proposal = await self._pending(caller, proposal_id)
        closed = proposal.evolve(
            status=status,
            decided_at=self._clock.now(),
            decided_by=_decider(caller),
            decision=reason,
        )
        await self._store_proposal(caller.principal, closed)
        return closed

    async def _store_proposal(
        self, principal: str, proposal: Proposal, redacted: Counts | None = None
    ) -> None:
        await self._store.commit(
            ChangeSet(
                principal=principal,
                scope=proposal.scope,
                proposals=(proposal,),
                audit=_audit_entries(proposal, redacted),
            )
        )

    async def _pending(self, caller: Caller, proposal_id: str) -> Proposal:
        proposal = await self._get(caller, proposal_id)
        if proposal.status != "pending":
            raise already_decided(proposal.id, proposal.status)
        return proposal

    async def _target_record(self, caller: Caller, target: str) -> Record:
        checked_text(target, "target", MAX_TITLE, blank=True)
        now = self._clock.now()
        found = await self._store.records(caller.shared, Filter(), now=now, ids=[target])
        if not found:
            raise NotFound(
                f"There is no shared record {target!r} to change",
                hint="shared.list shows what is shared.",
            )
        return found[0]

    def _check(self, proposal: Proposal) -> tuple[Counts, Proposal]:
        """Return the proposal, validated as its record would be, without personal data."""
        draft = as_record(proposal, proposal.created_at, proposal.created_at)
        kept, counts = self._redactor.kept(draft)
        body = dict(proposal.body)
        if "tags" in body:
            body["tags"] = list(kept.tags)
        return counts, proposal.evolve(
            title=kept.title, content=kept.content, confidence=kept.confidence, body=body
        )

    def _reason(self, reason: str, *, blank: bool = False) -> str:
        """Return a reason without personal data."""
        checked = checked_text(reason, "reason", MAX_REASON, blank=blank).strip()
        return self._redactor.note(checked)[:MAX_REASON]


def _decider(caller: Caller) -> str:
    """Return who decides: the agent, or the person who calls without one."""
    return caller.scope.agent or caller.principal


def _audit_entries(proposal: Proposal, redacted: Counts | None) -> tuple[NewAuditEntry, ...]:
    entry = redacted_entry(proposal, redacted or {})
    return (entry,) if entry else ()


async def _retry(work: Callable[[], Awaitable[Proposal]]) -> Proposal:
    """Retry when something else was shared at the same moment."""
    for _ in range(_MAX_ATTEMPTS - 1):
        try:
            return await work()
        except StaleVersion:
            continue
    return await work()


def _scope_of(caller: Caller, shared: SharedType) -> Scope:
    if not shared.is_of_user:
        return caller.scope.shared
    if caller.scope.user is None:
        raise InvalidInput(
            f"A {shared.name} belongs to a user, and there is none here",
            code="no_user",
            hint="Give the memory a user: memory.scope(user=…).",
        )
    return caller.scope.shared_with_user


def _type_of(name: str | None, changed: Record | None) -> SharedType:
    """Return the named type, or for a change the type of the record."""
    if name is None:
        if changed is None:
            raise InvalidInput("A proposal needs a type or a target", code="missing_field")
        return shared_type(changed.category)
    shared = shared_type(name)
    if changed is not None and changed.category != shared.name:
        raise InvalidInput(
            f"{changed.id} is a {changed.category}, not a {shared.name}",
            code="type_mismatch",
            hint="Leave the type out: a change has the type of its target.",
        )
    return shared


def _status(name: str) -> ProposalStatus:
    for status in PROPOSAL_STATUSES:
        if name == status:
            return status
    raise InvalidInput(
        f"status {name!r} is not one of: {', '.join(PROPOSAL_STATUSES)}", code="unknown_value"
    )


def _outcome_note(settled: Settled) -> dict[str, Any]:
    """Return what approving a proposal led to, with the conflicts that it opened."""
    conflicts = [conflict.id for conflict in settled.conflicts]
    led_to = {"outcome": settled.outcome, "version": settled.record.version}
    return {**led_to, **({"conflicts": conflicts} if conflicts else {})}


# What deciding on a proposal notes in its body.
_NOTES: Final = ("outcome", "version", "conflicts", "edited")


def _waiting(proposal: Proposal, now: datetime, until: datetime, reason: str) -> Proposal:
    """Return a decided proposal as it waits again, with the reason."""
    body = {name: value for name, value in proposal.body.items() if name not in _NOTES}
    return proposal.evolve(
        status="pending",
        record=None,
        decided_at=None,
        decided_by=None,
        decision=reason,
        expires_at=until,
        body={**body, "reopened": now.isoformat()},
    )


def _edit_note(edits: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the note that the coordinator reworded a proposal."""
    return {"edited": sorted(edits)} if edits else {}


# --- Reading proposals. They are written by the store's commit ------------------------------------
