"""Finding the shared record that speaks of the same thing as a proposal."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.proposal import Proposal
from recollect.domain.record import Record
from recollect.domain.relation import Judgement
from recollect.errors import Conflict
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.sharing.settling import Rival
from recollect.text.analysis import query_terms, term_keys
from recollect.writing.reconcile import relate

# Comparing two claims takes about a millisecond; those about the same thing share words.
_COMPARED: Final = 50


class Rivals:
    """Looks among the shared records of the same type that have words of the proposal."""

    def __init__(self, store: Store, units: UnitIndex) -> None:
        self._store = store
        self._units = units

    async def of(self, proposal: Proposal, said_at: datetime, now: datetime) -> Rival | None:
        """The record that a proposal names or, of those it speaks of, the one most alike."""
        if proposal.target is not None:
            return Rival(record=await self._target(proposal, proposal.target, now))
        judged = [
            (_judged(proposal, said_at, record), record)
            for record in await self._candidates(proposal, now)
        ]
        rivals = [
            (judgement.relation == "same", judgement.similarity, record.id, record)
            for judgement, record in judged
            if judgement.relation != "different"
        ]
        if not rivals:
            return None
        says_the_same, _, _, record = max(rivals)
        return Rival(record=record, says_the_same=says_the_same)

    async def _target(self, proposal: Proposal, target: str, now: datetime) -> Record:
        found = await self._store.records([proposal.scope], Filter(), now=now, ids=[target])
        if not found:
            raise Conflict(
                f"{target}, which {proposal.id} would change, is not there any more",
                code="target_gone",
                hint="Reject the proposal; what it says can be proposed as something new.",
            )
        return found[0]

    async def _candidates(self, proposal: Proposal, now: datetime) -> list[Record]:
        terms = list(dict.fromkeys(term_keys(query_terms(proposal.content))))
        if not terms:
            return []
        of_type = Filter(categories=frozenset({proposal.type}))
        scopes = [proposal.scope]
        found = await self._units.search(scopes, terms, _COMPARED, now=now, within=of_type)
        ids = [str(owner) for owner in dict.fromkeys(found.column("owner"))]
        return await self._store.records(scopes, of_type, now=now, ids=ids) if ids else []


def _judged(proposal: Proposal, said_at: datetime, record: Record) -> Judgement:
    return relate(
        proposal.content,
        record.content,
        cosine=None,
        new_at=said_at,
        old_at=record.last_confirmed,
        new_confidence=proposal.confidence,
        old_confidence=record.confidence,
    )
