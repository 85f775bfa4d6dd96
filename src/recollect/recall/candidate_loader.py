"""Weighing what was found; only what is shown becomes a record or turn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from recollect.domain.archive import Archive
from recollect.domain.hit import Boost, Item
from recollect.domain.owner import ARCHIVE
from recollect.domain.standing import Standing, Weighable
from recollect.ports.store import Store
from recollect.recall.archived import ArchivePassages
from recollect.recall.fuse import Fused
from recollect.recall.question import Question
from recollect.recall.scoring import ScoringOptions, Weighing

# So many records are read whole in less time than first what is weighed of them and then some.
_READ_WHOLE: Final = 64


class Weighed(NamedTuple):
    """Something that was found, with its final score and what bent it."""

    fused: Fused
    standing: Standing
    score: float
    # What changed the score after it was weighed.
    boosts: tuple[Boost, ...] = ()


class Weigher:
    """Weighs and fetches what one question found, as far as its filter accepts it.

    Nothing is read twice, also when something is found and weighed a second time.
    """

    def __init__(
        self,
        store: Store,
        archives: ArchivePassages,
        question: Question,
        options: ScoringOptions,
    ) -> None:
        self._store = store
        self._archives = archives
        self._question = question
        self.weighing = Weighing(question.lean, options, question.now)
        self._found: dict[str, Weighable] = {}
        self._standings: dict[str, Standing | None] = {}
        self._archived: dict[str, Archive] = {}
        self._items: dict[str, Item] = {}

    async def weigh(self, fused: Sequence[Fused]) -> list[Weighed]:
        """What the filter accepts of these, with all that is known of it."""
        await self._read_standings([it for it in fused if it.owner_id not in self._standings])
        weighed: list[Weighed] = []
        for it in fused:
            standing = self._standings[it.owner_id]
            if standing is not None:
                score = self.weighing.score(standing, it.score)
                weighed.append(Weighed(it, standing, score))
        return weighed

    async def items(self, weighed: Sequence[Weighed]) -> dict[str, Item]:
        """The records, turns and passages themselves, without those that are gone by now."""
        missing = [it.fused for it in weighed if it.fused.owner_id not in self._items]
        where, now, scopes = self._question.where, self._question.now, self._question.scopes
        if risen := [it.owner_id for it in missing if self._is_weighed_only(it.owner_id)]:
            for record in await self._store.records(scopes, where, now=now, ids=risen):
                self._items[record.id] = record
        for it in missing:
            found = self._found.get(it.owner_id)
            if found is not None and found.item is not None:
                self._items[it.owner_id] = found.item()
            elif archive := self._archived.get(it.owner_id):
                self._items[archive.id] = await self._archives.passage(archive, it)
        return self._items

    def _is_weighed_only(self, owner_id: str) -> bool:
        """Whether it was not read as a whole, since others seemed better until it was weighed."""
        found = self._found.get(owner_id)
        return found is not None and found.item is None

    async def _read_standings(self, fused: Collection[Fused]) -> None:
        where = self._question.where
        records = _ids(fused, "record", wanted=where.wants_records)
        turns = _ids(fused, "turn", wanted=where.wants_turns)
        self._standings.update(dict.fromkeys(it.owner_id for it in fused))
        if records or turns:
            found = await self._store.weighable(
                self._question.scopes,
                where,
                now=self._question.now,
                records=records,
                turns=turns,
                whole=max(self._question.limit, _READ_WHOLE),
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
    return [it.owner_id for it in fused if it.owner_kind == kind] if wanted else []
