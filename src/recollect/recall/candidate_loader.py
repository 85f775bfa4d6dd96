"""Scoring of candidates; only those that are shown are loaded as records or turns."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from recollect.domain.archive import Archive
from recollect.domain.filters import Filter
from recollect.domain.hit import ArchivePassage, Boost, Item, Standing
from recollect.domain.page import Cursor
from recollect.domain.sections import RecallSettings
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE
from recollect.errors import StorageError
from recollect.language.extraction.acts import wants_reply
from recollect.ports.store import Store
from recollect.recall.candidates import Candidate
from recollect.recall.question import Question
from recollect.recall.scoring import CandidateScoring

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives

# Reading this many whole records is faster than reading their scoring columns first.
_MAX_WHOLE_RECORDS: Final = 64
# Sorts after every id, so that reading continues with the next ordinal.
_LAST_ID: Final = "~"

_log: Final = logging.getLogger(__name__)

# Reads the text of an archive.
ArchiveText = Callable[[Archive], Awaitable[str]]


class ScoredCandidate(NamedTuple):
    """A candidate with its final score and the boosts that changed it."""

    candidate: Candidate
    standing: Standing
    score: float
    # Changes to the score after it was computed.
    boosts: tuple[Boost, ...] = ()

    @property
    def owner_id(self) -> str:
        return self.candidate.owner_id

    def moved(self, score: float, reason: str) -> ScoredCandidate:
        """Return the candidate with another score, and a boost that explains it."""
        boost = Boost(reason=reason, factor=score / self.score)
        return self._replace(score=score, boosts=(*self.boosts, boost))


class CandidateLoader:
    """The scorer and loader of one question's candidates, as far as they pass its filter.

    Nothing is read twice, even if a candidate is scored a second time.
    """

    def __init__(
        self,
        store: Store,
        archives: SqlArchives,
        archive_text: ArchiveText,
        question: Question,
        recall: RecallSettings,
    ) -> None:
        self._store = store
        self._archives = archives
        self._archive_text = archive_text
        self._question = question
        self.scoring = CandidateScoring(question.lean, recall, question.now)
        self._standings: dict[str, Standing | None] = {}
        self._archived: dict[str, Archive] = {}
        self._items: dict[str, Item] = {}
        self._said: dict[str, Turn | None] = {}
        # The replies that were found to take note of a statement, with the id of that turn.
        self.replies: dict[str, str] = {}

    async def score(self, candidates: Sequence[Candidate]) -> list[ScoredCandidate]:
        """Return the candidates that pass the filter, with their final scores."""
        if new := [one for one in candidates if one.owner_id not in self._standings]:
            await self._read_standings(new)
        return [
            ScoredCandidate(one, standing, self.scoring.score(standing, one.score))
            for one in candidates
            if (standing := self._standings[one.owner_id]) is not None
        ]

    async def items(self, scored: Sequence[ScoredCandidate]) -> dict[str, Item]:
        """Return the records, turns and passages by owner, without those deleted meanwhile."""
        missing = [one for one in scored if one.owner_id not in self._items]
        unread: list[str] = []
        for one in missing:
            if archive := self._archived.get(one.owner_id):
                self._items[archive.id] = await self._passage(archive, one.candidate)
            elif one.standing.load is not None:
                self._items[one.owner_id] = one.standing.load()
            else:
                unread.append(one.owner_id)
        if unread:
            where, now, scopes = self._question.where, self._question.now, self._question.scopes
            for record in await self._store.records(scopes, where, now=now, ids=unread):
                self._items[record.id] = record
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

    async def _read_standings(self, candidates: Sequence[Candidate]) -> None:
        question, where = self._question, self._question.where
        ids: defaultdict[str, list[str]] = defaultdict(list)
        for candidate in candidates:
            ids[candidate.owner_kind].append(candidate.owner_id)
            self._standings[candidate.owner_id] = None
        records = ids["record"] if where.wants_records else []
        turns = ids["turn"] if where.wants_turns else []
        if records or turns:
            self._standings |= await self._store.standings(
                question.scopes,
                where,
                now=question.now,
                records=records,
                turns=turns,
                whole=max(question.limit, _MAX_WHOLE_RECORDS),
            )
        if ids[ARCHIVE] and where.wants_archives:
            for archive in await self._archives.find(question.scopes, ids=ids[ARCHIVE]):
                if where.accepts_archive(archive, question.now):
                    self._archived[archive.id] = archive
                    self._standings[archive.id] = Standing(observed_at=archive.created_at)

    async def _passage(self, archive: Archive, candidate: Candidate) -> ArchivePassage:
        """Return the matching passage, or the summary if the text is damaged or has no match."""
        span = candidate.span if candidate.is_passage else None
        content = archive.summary
        if span is not None:
            try:
                content = (await self._archive_text(archive))[slice(*span)]
            except StorageError as problem:
                _log.warning("%s is shown by its summary: %s", archive.id, problem)
                span = None
        return ArchivePassage(
            id=archive.id,
            tool=archive.tool,
            query=archive.query,
            session=archive.session,
            content=content,
            span=span,
            created_at=archive.created_at,
        )
