"""What somebody means who asks to remember "this": the record of what was said, if there is one.

It is the record made from the user's own words before it, or the one that the assistant's words
before it restate. A short answer ("FastAPI.") is looked up among what was recalled or told in the
session; a sentence finds its record by itself. Then that record is kept for good, and
the words are not stored a second time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from recollect.domain.filters import Filter
from recollect.domain.record import Evidence, Record, Status
from recollect.domain.scope import Caller, Scope
from recollect.domain.turn import Turn
from recollect.language.extraction.message import KeepWish, keep_wishes, last_told
from recollect.language.extraction.utterances import Sentence, readable, sentences
from recollect.language.uptake import uptake
from recollect.ports.judge import MOST_JUDGED, Judge, Statement
from recollect.ports.runtime import Clock
from recollect.ports.store import Store
from recollect.recall.cache import CachedRecaller
from recollect.writing.judges import have_other_numbers, statement_of

if TYPE_CHECKING:
    from recollect.writing.rows import SqlWrites

# Returns the records that entered prompts of a session, of those in these scopes.
Recalled = Callable[[Sequence[Scope], str], Awaitable[Collection[str]]]

# From this share of a record's words on, or of the sentence's words, one restates the other.
_MIN_RESTATED: Final = 0.8
# How many sentences of an answer are looked up, and how many records are looked at for each.
_LOOKED_UP: Final = 4
_LOOKED_AT: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The record that a wish to remember means, and the words of the wish."""

    record: Record
    wish: Evidence
    said_at: datetime


class KeepWishes:
    """Finds what wishes to remember mean."""

    def __init__(
        self,
        store: Store,
        writes: SqlWrites,
        recaller: Callable[[], CachedRecaller],
        recalled: Recalled,
        judge: Judge,
        clock: Clock,
    ) -> None:
        self._store = store
        self._recaller = recaller
        self._writes = writes
        self._recalled = recalled
        self._judge = judge
        self._clock = clock

    async def meant(
        self, caller: Caller, session: str, turns: Sequence[Turn], before: Sequence[Turn]
    ) -> list[Kept]:
        """Return the records that the wishes in these turns mean."""
        found: list[Kept] = []
        for wish in keep_wishes(turns, before):
            for record in await self._records(caller, session, wish, before):
                words = Evidence(turn=wish.turn.id, start=0, end=len(wish.turn.content))
                found.append(Kept(record=record, wish=words, said_at=wish.turn.at))
        return found

    async def _records(
        self, caller: Caller, session: str, wish: KeepWish, before: Sequence[Turn]
    ) -> list[Record]:
        if wish.said is None:
            return []
        spoken = sentences(readable(wish.said.content))
        if wish.said.role == "user":
            told = last_told(spoken)
            made = await self._made_from(caller, [wish.said])
            return [] if told is None else [it for it in made if _is_of(it, wish.said, told)]
        told_here = await self._made_from(caller, [turn for turn in before if turn.role == "user"])
        ids = await self._recalled(caller.readable, session)
        recalled = await self._active(caller, ids)
        texts = [wish.said.content[it.start : it.end] for it in spoken]
        alike = await self._alike(caller, texts[-_LOOKED_UP:])
        known = {record.id: record for record in (*told_here, *recalled, *alike)}
        best = await self._restated(texts, wish.said, list(known.values()))
        return [] if best is None else [best]

    async def _alike(self, caller: Caller, texts: Sequence[str]) -> list[Record]:
        """Return the records that are found by the sentences themselves."""
        found: list[Record] = []
        for text in texts:
            recalled = await self._recaller().recall(
                text, caller.readable, Filter().without_archives, limit=_LOOKED_AT, min_score=0.0
            )
            found += [hit.item for hit in recalled if isinstance(hit.item, Record)]
        return found

    async def _restated(
        self, texts: Sequence[str], said: Turn, records: Sequence[Record]
    ) -> Record | None:
        """Return the record that one of the sentences restates; none that it contradicts."""
        found = [
            (share, record, text)
            for record in records
            for text in texts
            if (share := _shared(text, record.content)) >= _MIN_RESTATED
            and not have_other_numbers(text, record.content)
        ]
        found.sort(key=lambda it: it[0], reverse=True)
        whole = [it for it in found if uptake(it[2], it[1].content) >= _MIN_RESTATED]
        if not whole and len({record.id for _, record, _ in found}) > 1:
            return None  # a word or two that several records have
        for _, record, text in (whole or found)[:MOST_JUDGED]:
            new = Statement(text=text, said_at=said.at, source=said.role)
            (verdict,) = (await self._judge.judge(new, [statement_of(record)])).verdicts
            if verdict.relation in ("same", "different"):
                return record
        return None

    async def _made_from(self, caller: Caller, turns: Sequence[Turn]) -> list[Record]:
        made = await self._writes.made_from(caller.readable, turns) if turns else []
        return await self._active(caller, {record.id for record in made})

    async def _active(self, caller: Caller, ids: Collection[str]) -> list[Record]:
        now = self._clock.now()
        found = await self._store.records(caller.readable, Filter(), now=now, ids=list(ids))
        return [record for record in found if record.status is Status.ACTIVE]


def _shared(text: str, record: str) -> float:
    """Return which part of the words of one the other has, whichever is more."""
    return max(uptake(text, record), uptake(record, text))


def _is_of(record: Record, turn: Turn, words: Sentence) -> bool:
    """Return whether a record was made from these words of a turn."""
    return any(
        evidence.turn == turn.id
        and (evidence.start or 0) < words.end
        and words.start < (len(turn.content) if evidence.end is None else evidence.end)
        for evidence in record.evidence
    )
