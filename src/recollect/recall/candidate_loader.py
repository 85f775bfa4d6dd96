"""Scoring of candidates; only those that are shown are loaded as records or turns."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np

from recollect.domain.archive import Archive
from recollect.domain.hit import ArchivePassage, Item, Standing
from recollect.domain.sections import RecallSettings
from recollect.domain.unit import ARCHIVE
from recollect.errors import StorageError
from recollect.language.extraction.acts import wants_reply
from recollect.ports.store import Store
from recollect.ports.units import UnitIndex
from recollect.recall.candidates import Candidate
from recollect.recall.question import Question
from recollect.recall.scoring import CandidateScoring

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives

# Reading this many whole records is faster than reading their scoring columns first.
_MAX_WHOLE_RECORDS: Final = 64
# The same texts are found again and again.
_wants_reply: Final = lru_cache(maxsize=1_024)(wants_reply)

_log: Final = logging.getLogger(__name__)

# Reads the text of an archive.
ArchiveText = Callable[[Archive], Awaitable[str]]


class CandidateLoader:
    """The scorer and loader of one question's candidates, as far as they pass its filter.

    Nothing is read twice, even if a candidate is scored a second time.
    """

    def __init__(
        self,
        store: Store,
        units: UnitIndex,
        archives: SqlArchives,
        archive_text: ArchiveText,
        question: Question,
        recall: RecallSettings,
    ) -> None:
        self._store = store
        self._units = units
        self._archives = archives
        self._archive_text = archive_text
        self._question = question
        self.scoring = CandidateScoring(question.lean, recall, question.now)
        self._standings: dict[str, Standing | None] = {}
        self._archived: dict[str, Archive] = {}
        self._items: dict[str, Item] = {}
        self._looked_up: set[str] = set()
        # The replies that were found to take note of a statement, with the id of that turn.
        self.replies: dict[str, str] = {}

    async def score(
        self, candidates: Sequence[Candidate], first: int | None = None
    ) -> list[Candidate]:
        """Return those of the first candidates that pass the filter, with their final scores.

        What scoring needs of the others is read along with that of the first ones.
        """
        if not candidates:
            return []
        if new := [one for one in candidates if one.owner_id not in self._standings]:
            await self._read_standings(new)
        found = [
            (one, standing)
            for one in candidates[:first]
            if (standing := self._standings[one.owner_id]) is not None
        ]
        scores = self.scoring.scores([it for _, it in found], [one.relevance for one, _ in found])
        return [
            Candidate(*one[:6], score, one.superseded_by, standing)
            for (one, standing), score in zip(found, scores, strict=True)
        ]

    async def items(self, scored: Sequence[Candidate]) -> dict[str, Item]:
        """Return the records, turns and passages by owner, without those deleted meanwhile."""
        missing = [one for one in scored if one.owner_id not in self._items]
        unread: list[str] = []
        for one in missing:
            if archive := self._archived.get(one.owner_id):
                self._items[archive.id] = await self._passage(archive, one)
            elif one.standing.load is not None:
                self._items[one.owner_id] = one.standing.load()
            else:
                unread.append(one.owner_id)
        if unread:
            where, now, scopes = self._question.where, self._question.now, self._question.scopes
            for record in await self._store.records(scopes, where, now=now, ids=unread):
                self._items[record.id] = record
        return self._items

    async def terms(self, hits: Sequence[Candidate]) -> dict[int, frozenset[int]]:
        """Return the keys of the terms of the units by which these hits were found."""
        standings = [self._standings.get(hit.unit.owner) for hit in hits]
        packed = dict([it.terms for it in standings if it and it.terms])
        unread = [hit.unit.number for hit in hits if hit.unit.number not in packed]
        found = await self._units.terms_of(unread) if unread else dict[int, frozenset[int]]()
        return found | {
            unit: frozenset[int](np.frombuffer(terms, "<u8").tolist())
            for unit, terms in packed.items()
            if unit is not None and terms is not None
        }

    def note_replies(self, scored: Iterable[Candidate]) -> None:
        """Find out which replies of the assistant merely take note of a user's statement.

        What was neither asked for nor confirmed is no evidence about the user.
        """
        for reply in scored:
            before = reply.standing.before
            if before is None or reply.standing.role != "assistant":
                continue
            if reply.owner_id in self._looked_up:
                continue
            self._looked_up.add(reply.owner_id)
            said = before()
            if said.role == "user" and not _wants_reply(said.content):
                self.replies[reply.owner_id] = said.id
                passes = self._question.where.accepts_turn(said)
                standing = Standing(observed_at=said.at, load=before, role=said.role, act=said.act)
                self._standings.setdefault(said.id, standing if passes else None)

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
