"""A recall: search by every path, fuse, fetch what was found, weigh it, keep what is good."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Final

import numpy as np

from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import ArchivePassage, Hit, NearMiss, Recalled
from recollect.domain.link import Link
from recollect.domain.owner import OwnerKind
from recollect.domain.page import checked_limit
from recollect.domain.record import Record
from recollect.domain.scope import Scope
from recollect.domain.times import aware
from recollect.domain.turn import Turn
from recollect.errors import RecollectError
from recollect.ports.clock import Clock
from recollect.ports.snapshot import current_snapshot, later_snapshot
from recollect.ports.store import Store
from recollect.ports.units import Scores, UnitIndex
from recollect.recall.archived import ArchivePassages
from recollect.recall.candidate_loader import Weighed, Weigher
from recollect.recall.deduplicate import Sameness, arranged
from recollect.recall.entity_path import EntityPath
from recollect.recall.fuse import Fused, Ranked, Weights, fuse
from recollect.recall.intent import Intent, Judged
from recollect.recall.link_order import counted, followers, newest_first, repeated
from recollect.recall.listing import with_links
from recollect.recall.path_errors import answer_of, as_found, too_late
from recollect.recall.paths import Found, Path
from recollect.recall.question import Question
from recollect.recall.reranking import Reranking
from recollect.recall.scan import Scan
from recollect.recall.scoring import ScoringOptions
from recollect.recall.superseded import Succession, SupersededPath, below_successors, outlived

MAX_QUERY: Final = 20_000
MAX_LIMIT: Final = 1_000
# So many characters are analysed in a few milliseconds; more, beside everybody else's questions.
_LONG: Final = 2_000
_NEAR_MISSES: Final = 5
# From so many of the best hits the hop to what is linked with them starts.
_SEEDS: Final = 3
# Where much is said over and over, so many times what is wanted is looked at for something else.
_FARTHEST: Final = 4
# At least so many times what is wanted is weighed: what is left out is told too.
_SLICE: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Defaults of a recall."""

    limit: int
    min_score: float
    candidates: int
    weights: Weights
    rerank: ScoringOptions
    # Hits that score less than this share of the best one are left out; 0 keeps them.
    gap: float
    # Seconds after which a path that has not answered is left out.
    patience: float
    # What shares so many of its words with a better hit may say the same; 0 and 1 compare nothing.
    duplicates: float = 0.0
    intent: Intent | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What is shown, what came close, and whether the filter left too few."""

    kept: list[Weighed]
    near_misses: tuple[NearMiss, ...]
    needs_more: bool


class Recaller:
    """Answers questions from the records and turns of some scopes, and from archives if asked."""

    def __init__(
        self,
        store: Store,
        units: UnitIndex,
        paths: Sequence[Path],
        linked: EntityPath,
        scan: Scan,
        archives: ArchivePassages,
        clock: Clock,
        options: RecallOptions,
        second_look: Reranking | None = None,
    ) -> None:
        self._store = store
        self._units = units
        self._paths = paths
        self._linked = linked
        self._replaced = SupersededPath(units)
        self._scan = scan
        self._archives = archives
        self._clock = clock
        self._options = options
        self._second_look = second_look
        self._sameness = Sameness(options.duplicates) if 0 < options.duplicates < 1 else None

    async def recall(
        self,
        text: str,
        scopes: tuple[Scope, ...],
        where: Filter,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        asked_at: datetime | None = None,
    ) -> Recalled:
        """The best hits, each at least as good as `min_score`; none is a possible answer."""
        options = self._options
        question = Question(
            text=checked_text(text, "query", MAX_QUERY),
            scopes=scopes,
            where=where,
            limit=checked_limit(options.limit if limit is None else limit, MAX_LIMIT),
            min_score=options.min_score if min_score is None else checked_share(min_score),
            now=self._clock.now(),
            asked_at=None if asked_at is None else aware(asked_at, "asked_at"),
            forced=None if options.intent is None else Judged(intent=options.intent, reason="set"),
        )
        if len(text) > _LONG:
            await asyncio.to_thread(lambda: question.terms)
        if question.where.is_indexed:
            return await self._search(question)
        return Recalled(hits=tuple(await self._scan.search(question)))

    async def close(self) -> None:
        if self._second_look is not None:
            await self._second_look.close()

    async def _search(self, question: Question) -> Recalled:
        """Search the index; only when the filter takes away too much, search inside the filter."""
        wanted = max(self._options.candidates, 2 * question.limit)
        weigher = Weigher(self._store, self._archives, question, self._options.rerank)
        found = await self._ask(question, wanted, within=None)
        fused, answer = await self._judged(question, found, weigher)
        linked = await self._one_hop(question, await self._seeds(answer, weigher), wanted)
        if linked is not None:
            found.append(linked)
            fused, answer = await self._judged(question, found, weigher)
        changed = await self._changed(question, fused)
        if changed.by_turn:
            found.append(changed.found)
            outlived = await self._outlived(question, changed, answer, weigher)
            fused, answer = await self._judged(question, found, weigher, outlived)
        if answer.needs_more and any(it.is_cut_off for it in found):
            found = await self._ask(question, wanted, within=question.where)
            found.append(changed.found)
            fused, answer = await self._judged(question, found, weigher, fused.replaced)
        degraded = [note for it in found for note in it.degraded]

        async def best(reach: int) -> _Answer:
            return await self._answer(question, fused, weigher, reach)

        more = best
        if self._second_look is not None:
            again = await self._looked_at_again(question, fused, weigher, self._second_look)
            if isinstance(again, str):
                degraded.append(again)
            else:
                answer, more = again, None
        answer, links = await self._shown(question, answer, weigher, more)
        return Recalled(
            hits=await self._hits(question, fused, answer.kept, weigher, changed, links),
            degraded=tuple(degraded),
            near_misses=answer.near_misses,
            intent=question.judged.intent,
            intent_reason=question.judged.reason,
        )

    async def _judged(
        self,
        question: Question,
        found: Sequence[Found],
        weigher: Weigher,
        replaced: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[Ranked, _Answer]:
        """What the paths say together, and the answer that it makes."""
        fused = fuse(question, found, self._options.weights, replaced)
        return fused, await self._answer(question, fused, weigher, question.limit)

    async def _seeds(self, answer: _Answer, weigher: Weigher) -> dict[str, str]:
        """The texts of the best hits, by their owners."""
        if not self._options.weights.entity:
            return {}
        items = await weigher.items(answer.kept[:_SEEDS])
        best = (it.fused.owner_id for it in answer.kept[:_SEEDS])
        return {owner: items[owner].content for owner in best if owner in items}

    async def _one_hop(
        self, question: Question, seeds: Mapping[str, str], limit: int
    ) -> Found | None:
        """What the names in the best hits lead to."""
        if not seeds:
            return None
        heard = await answer_of(self._linked, self._linked.search(question, seeds, limit))
        return None if isinstance(heard, RecollectError) else heard

    async def _changed(self, question: Question, fused: Ranked) -> Succession:
        """What of the best has changed since it was said."""
        heard = await answer_of(self._replaced, self._replaced.search(question, fused))
        return Succession() if isinstance(heard, RecollectError) else heard

    async def _outlived(
        self, question: Question, changed: Succession, answer: _Answer, weigher: Weigher
    ) -> dict[str, str]:
        """The turns that give way to a record: none if it is the past that is asked for."""
        if question.is_about_past:
            return {}
        items = await weigher.items(answer.kept)
        return outlived(changed.by_turn, [it for it in items.values() if isinstance(it, Record)])

    async def _ask(self, question: Question, limit: int, within: Filter | None) -> list[Found]:
        """Ask every path; one that fails or is slow is left out, and that is said.

        Those that wait for a model or a server do so at the same time as the others work.
        """
        with later_snapshot() as later:
            waiting = {
                path: asyncio.ensure_future(path.search(question, limit, within))
                for path in self._paths
                if path.waits(question)
            }
        if waiting:
            # They begin before the others: what they wait for then goes on beside those.
            await asyncio.sleep(0)
        heard = {
            path: await answer_of(path, path.search(question, limit, within))
            for path in self._paths
            if path not in waiting
        }
        if waiting:
            try:
                _, late = await asyncio.wait(waiting.values(), timeout=self._options.patience)
            finally:
                if (snapshot := current_snapshot()) is not None:
                    snapshot.go_on_from(later)
            for path, answer in waiting.items():
                if answer in late:
                    answer.cancel()
                    heard[path] = too_late(path, self._options.patience)
                else:
                    heard[path] = await answer_of(path, answer)
        if all(isinstance(it, RecollectError) for it in heard.values()):
            raise next(it for it in heard.values() if isinstance(it, RecollectError))
        return [as_found(path, heard[path]) for path in self._paths]

    async def _answer(
        self, question: Question, fused: Ranked, weigher: Weigher, limit: int
    ) -> _Answer:
        """The owners that were found and pass the filter, in their final order."""
        weighed, looked_at, good = await self._weigh(question, fused, weigher, limit)
        kept, near_misses = self._cut(question, weighed, limit)
        if not near_misses and question.where == Filter():
            near_misses = _too_weak(fused.between(good, good + _NEAR_MISSES))
        # Only what the filter took away can be made up for by searching inside it.
        is_filtered = len(weighed) < looked_at
        return _Answer(
            kept=kept,
            near_misses=near_misses,
            needs_more=is_filtered and len(weighed) < question.limit,
        )

    async def _weigh(
        self, question: Question, fused: Ranked, weigher: Weigher, limit: int
    ) -> tuple[list[Weighed], int, int]:
        """The best so many, how many were looked at for them, and how many could be good."""
        most = self._options.rerank.most(question.lean)
        is_good = (fused.scores > 0) & (fused.scores * most >= question.min_score)
        good = int(np.count_nonzero(is_good))
        weighed: list[Weighed] = []
        looked_at = 0
        # One that is farther back may rise when it is weighed, but not beyond a bound.
        while looked_at < good and not _are_best(weighed, limit, fused.scores[looked_at] * most):
            reach = _reach(fused.scores[:good], looked_at, limit, most)
            chosen = fused.between(looked_at, reach)
            weighed += await weigher.weigh(chosen)
            looked_at += len(chosen)
            weighed.sort(key=lambda it: -it.score)
        return weighed, looked_at, good

    async def _looked_at_again(
        self, question: Question, fused: Ranked, weigher: Weigher, look: Reranking
    ) -> _Answer | str:
        """The answer as a reranker orders it, also of what the paths alone would not show."""
        wide = replace(question, min_score=0.0)
        limit = max(look.candidates, question.limit)
        weighed, _, _ = await self._weigh(wide, fused, weigher, limit)
        del weighed[limit:]
        items = await weigher.items(weighed)
        if (snapshot := current_snapshot()) is not None:
            # It may take long, and nothing of the database is needed for it.
            snapshot.let_go()
        judged = await look.judged(question, weighed, items, weigher.weighing)
        if isinstance(judged, str):
            return judged
        kept, near_misses = self._cut(question, judged, limit)
        return _Answer(kept=kept, near_misses=near_misses, needs_more=False)

    async def _shown(
        self,
        question: Question,
        answer: _Answer,
        weigher: Weigher,
        more: Callable[[int], Awaitable[_Answer]] | None,
    ) -> tuple[_Answer, Sequence[Link]]:
        """The answer with the newest first and nothing twice, and the links of what was found.

        What says the same as a better hit gives its place to the next that does not.
        """
        reach = question.limit
        while True:
            kept, links = await self._with_followers(question, answer.kept, weigher)
            items = await weigher.items(kept)
            twice = repeated(links, {it.fused.owner_id for it in kept} & items.keys())
            once = [it for it in kept if it.fused.owner_id not in twice]
            told = [items[it.fused.owner_id] for it in once if it.fused.owner_id in items]
            repeats: dict[str, str] = {}
            if self._sameness is not None:
                said = [it for it in told if isinstance(it, Record | Turn)]
                repeats = self._sameness.repeats(said)
            is_all = len(answer.kept) < reach or reach >= _FARTHEST * question.limit
            if more is None or is_all or len(told) - len(repeats) >= question.limit:
                break
            reach *= 2
            answer = await more(reach)
        if not twice and not repeats and len(kept) <= question.limit:
            return replace(answer, kept=kept), links
        shown, left_out = arranged(once, repeats, question.limit)
        left_out += [
            NearMiss(id=it.fused.owner_id, score=it.score, reason=f"says the same as {same}")
            for it in kept
            if (same := twice.get(it.fused.owner_id)) is not None
        ]
        near_misses = (*left_out, *answer.near_misses)[:_NEAR_MISSES]
        return replace(answer, kept=shown, near_misses=near_misses), links

    async def _with_followers(
        self, question: Question, kept: list[Weighed], weigher: Weigher
    ) -> tuple[list[Weighed], Sequence[Link]]:
        """What was found with what follows it by a stored link, the newer one first."""
        links = await self._store.links(question.scopes, [it.fused.owner_id for it in kept])
        if not links or question.is_about_past:
            return kept, links
        found = {it.fused.owner_id: it for it in kept}
        after = followers(links)
        missing = {
            newer: found[older].fused
            for older, later in after.items()
            for newer in later
            if older in found and newer not in found
        }
        added = await weigher.weigh(
            [
                older._replace(owner_id=newer, owner_kind=_kind_of(newer), replaced_by=None)
                for newer, older in missing.items()
            ]
        )
        told_again = {older: (newer,) for older, newer in repeated(links, found).items()}
        return newest_first([*kept, *added], after | told_again), links

    def _cut(
        self, question: Question, weighed: Sequence[Weighed], limit: int
    ) -> tuple[list[Weighed], tuple[NearMiss, ...]]:
        """What is shown, and what came after it with the reason why it is not."""
        weighed = below_successors(weighed)
        floor = weighed[0].score * self._options.gap if weighed else 0.0
        least = max(question.min_score, floor)
        kept = [it for it in weighed[:limit] if it.score >= least]
        left_out: list[NearMiss] = []
        for it in weighed[len(kept) : len(kept) + _NEAR_MISSES]:
            if it.score < question.min_score:
                reason = "below min_score"
            else:
                reason = "far below the best" if it.score < floor else "beyond the limit"
            left_out.append(NearMiss(id=it.fused.owner_id, score=it.score, reason=reason))
        return kept, tuple(left_out)

    async def _hits(
        self,
        question: Question,
        fused: Ranked,
        weighed: Sequence[Weighed],
        weigher: Weigher,
        changed: Succession,
        links: Sequence[Link],
    ) -> tuple[Hit, ...]:
        """Hits that can say why they are there; made only of what is shown."""
        items = await weigher.items(weighed)
        units = [it.fused.unit for it in weighed]
        present = await self._units.terms_of(units)
        told = fused.candidates.told([it.fused.at for it in weighed])
        after = {
            older: newer
            for older, later in followers(links).items()
            for newer in later
            if newer in items
        }
        records = {name: it for name, it in items.items() if isinstance(it, Record)}
        said = counted(records, repeated(links, records))
        hits: list[Hit] = []
        for it, unit, paths in zip(weighed, units, told, strict=True):
            item = items.get(it.fused.owner_id)
            if item is not None:
                # Of an archive the item itself is the passage.
                is_part = isinstance(item, ArchivePassage) or not it.fused.is_found
                span = (0, len(item.content)) if is_part else it.fused.span
                keys = present.get(unit, frozenset[int]())
                matched = tuple([term for key, term in question.terms.items() if key in keys])
                bent_by = weigher.weighing.boosts(it.standing)
                explanation = it.fused.explanation(paths, matched, (*bent_by, *it.boosts))
                if links and isinstance(item, Record):
                    times = said.get(item.id, item.evidence_count)
                    item = with_links(item, links).evolve(evidence_count=times)
                hits.append(
                    Hit(
                        item=item,
                        score=it.score,
                        span=span,
                        explanation=explanation,
                        replaced_by=changed.by_turn.get(item.id),
                        followed_by=after.get(item.id),
                    )
                )
        return tuple(hits)


def _kind_of(owner: str) -> OwnerKind:
    return "turn" if owner.startswith("turn_") else "record"


def _are_best(weighed: Sequence[Weighed], limit: int, bound: float) -> bool:
    """Whether enough was weighed and the rest, up to this bound, cannot be better."""
    return len(weighed) >= limit and weighed[limit - 1].score >= bound


def _reach(scores: Scores, start: int, limit: int, most: float) -> int:
    """Up to where candidates may be among the best if those that are wanted keep their scores."""
    last_wanted = scores[min(start + limit, len(scores)) - 1]
    in_reach = int(np.count_nonzero(scores * most > last_wanted))
    return min(max(in_reach, start + _SLICE * limit), len(scores))


def _too_weak(fused: Sequence[Fused]) -> tuple[NearMiss, ...]:
    """What fits so little that it was not even fetched."""
    return tuple(
        NearMiss(id=it.owner_id, score=it.score, reason="below min_score")
        for it in fused
        if it.score > 0
    )
