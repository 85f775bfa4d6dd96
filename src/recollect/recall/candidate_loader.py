"""Scoring of candidates; only those that are shown are loaded as records or turns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from recollect.domain.archive import Archive
from recollect.domain.filters import Filter
from recollect.domain.hit import Boost, Item, ScoringInput, Standing
from recollect.domain.page import Cursor
from recollect.domain.sections import RecallSettings
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE
from recollect.language.extraction.acts import wants_reply
from recollect.ports.store import Store
from recollect.recall.archived import ArchivePassages
from recollect.recall.fuse import Fused
from recollect.recall.question import Question
from recollect.recall.scoring import CandidateScoring

# Reading this many whole records is faster than reading their scoring columns first.
_MAX_WHOLE_RECORDS: Final = 64
# Sorts after every id, so that reading continues with the next ordinal.
_LAST_ID: Final = "~"


class ScoredCandidate(NamedTuple):
    """A candidate with its final score and the boosts that changed it."""

    fused: Fused
    standing: Standing
    score: float
    # Changes to the score after weighing.
    boosts: tuple[Boost, ...] = ()


class CandidateLoader:
    """The scorer and loader of one question's candidates, as far as they pass its filter.

    Nothing is read twice, even if a candidate is weighed a second time.
    """

    def __init__(
        self,
        store: Store,
        archives: ArchivePassages,
        question: Question,
        recall: RecallSettings,
    ) -> None:
        self._store = store
        self._archives = archives
        self._question = question
        self.weighing = CandidateScoring(question.lean, recall, question.now)
        self._found: dict[str, ScoringInput] = {}
        self._standings: dict[str, Standing | None] = {}
        self._archived: dict[str, Archive] = {}
        self._items: dict[str, Item] = {}
        self._said: dict[str, Turn | None] = {}
        # The replies that were found to take note of a statement, with the id of that turn.
        self.replies: dict[str, str] = {}

    async def weigh(self, fused: Sequence[Fused]) -> list[ScoredCandidate]:
        """Return the candidates that pass the filter, with their final scores."""
        await self._read_standings(
            [candidate for candidate in fused if candidate.owner_id not in self._standings]
        )
        weighed: list[ScoredCandidate] = []
        for candidate in fused:
            standing = self._standings[candidate.owner_id]
            if standing is not None:
                score = self.weighing.score(standing, candidate.score)
                weighed.append(ScoredCandidate(candidate, standing, score))
        return weighed

    async def items(self, weighed: Sequence[ScoredCandidate]) -> dict[str, Item]:
        """Return the records, turns and passages by owner, without those deleted meanwhile."""
        missing = [one.fused for one in weighed if one.fused.owner_id not in self._items]
        where, now, scopes = self._question.where, self._question.now, self._question.scopes
        if unread := [
            candidate.owner_id for candidate in missing if self._is_weighed_only(candidate.owner_id)
        ]:
            for record in await self._store.records(scopes, where, now=now, ids=unread):
                self._items[record.id] = record
        for candidate in missing:
            found = self._found.get(candidate.owner_id)
            if found is not None and found.item is not None:
                self._items[candidate.owner_id] = found.item()
            elif archive := self._archived.get(candidate.owner_id):
                self._items[archive.id] = await self._archives.passage(archive, candidate)
        return self._items

    async def acknowledged(self, reply: Turn) -> Turn | None:
        """Return the user's statement that an assistant's reply merely takes note of.

        What was neither asked for nor confirmed is no evidence about the user.
        """
        if reply.role != "assistant":
            return None
        if reply.id not in self._said:
            before = await self._store.turns(
                [reply.scope],
                Filter(session=reply.session),
                after=Cursor(at=reply.ordinal - 2, id=_LAST_ID),
                limit=1,
            )
            said = next(iter(before), None)
            is_noted = said is not None and said.role == "user" and not wants_reply(said.content)
            self._said[reply.id] = said if is_noted else None
            if said is not None and is_noted:
                self.replies[reply.id] = said.id
        return self._said[reply.id]

    def _is_weighed_only(self, owner_id: str) -> bool:
        """Return whether only the scoring columns of a record were read so far."""
        found = self._found.get(owner_id)
        return found is not None and found.item is None

    async def _read_standings(self, fused: Collection[Fused]) -> None:
        where = self._question.where
        records = _ids(fused, "record", wanted=where.wants_records)
        turns = _ids(fused, "turn", wanted=where.wants_turns)
        self._standings.update(dict.fromkeys(candidate.owner_id for candidate in fused))
        if records or turns:
            found = await self._store.weighable(
                self._question.scopes,
                where,
                now=self._question.now,
                records=records,
                turns=turns,
                whole=max(self._question.limit, _MAX_WHOLE_RECORDS),
            )
            self._found.update(found)
            self._standings.update((owner, it.standing) for owner, it in found.items())
        if archives := _ids(fused, ARCHIVE, wanted=where.wants_archives):
            await self._read_archives(archives)

    async def _read_archives(self, ids: Sequence[str]) -> None:
        where, now = self._question.where, self._question.now
        for archive in await self._archives.find(self._question.scopes, ids):
            if where.accepts_archive(archive, now):
                self._archived[archive.id] = archive
                self._standings[archive.id] = Standing(observed_at=archive.created_at)


def _ids(fused: Collection[Fused], kind: str, *, wanted: bool) -> list[str]:
    return (
        [candidate.owner_id for candidate in fused if candidate.owner_kind == kind]
        if wanted
        else []
    )
