"""The recall pipeline: search every path, fuse, score, load the best and drop the rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Final, TypeVar

import numpy as np

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.fields import checked_share, checked_text
from recollect.domain.filters import Filter
from recollect.domain.hit import ArchivePassage, Hit, NearMiss, Recalled
from recollect.domain.page import checked_limit
from recollect.domain.record import Record
from recollect.domain.relation import Link
from recollect.domain.scope import Scope
from recollect.domain.sections import RecallSettings
from recollect.domain.times import aware
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerKind
from recollect.errors import InvalidInput, RecollectError
from recollect.language.analysis import query_terms
from recollect.ports.facets import UNDECIDED, FacetGuess
from recollect.ports.runtime import IN_TIME, Clock, seconds_left
from recollect.ports.store import Store, current_snapshot, later_snapshot
from recollect.ports.units import Scores, UnitIndex
from recollect.recall.answering import Answering, Answers
from recollect.recall.archived import ArchivePassages
from recollect.recall.candidate_loader import CandidateLoader, ScoredCandidate
from recollect.recall.deduplicate import DuplicateDetector, accounts, arranged
from recollect.recall.entity_path import EntityPath
from recollect.recall.facet_candidates import FacetCandidates
from recollect.recall.fresh_links import FreshLinks
from recollect.recall.fuse import Fused, Ranked, fuse
from recollect.recall.intent import Judged
from recollect.recall.intent_model import IntentModel
from recollect.recall.listing import with_links
from recollect.recall.paths import Found, Path
from recollect.recall.question import Question
from recollect.recall.scan import Scan
from recollect.recall.scoring import largest_factor
from recollect.recall.session_summaries import SessionSummaries, behind_sources, sums_up
from recollect.recall.superseded import (
    Succession,
    SupersededPath,
    below_successors,
    counted,
    followers,
    newest_first,
    outlived,
    repeated,
)

MAX_QUERY: Final = 20_000
MAX_LIMIT: Final = 1_000
# A longer question is analysed in a thread: it takes more than a few milliseconds.
_MAX_INLINE_CHARS: Final = 2_000
_MAX_ANALYSIS_SECONDS: Final = 10.0
_MAX_NEAR_MISSES: Final = 5
# The number of best hits whose names the entity path follows.
_SEED_HITS: Final = 3
# Among many duplicates, up to this many times the limit is searched for distinct hits.
_MAX_REACH_FACTOR: Final = 4
# At least this many times the limit is scored, because near misses are reported too.
_MIN_SCORED_FACTOR: Final = 2
_MIN_COMPARED_HITS: Final = 2
_NO_ANSWERS: Final = Answers()
# It has everything that is read in a question, in both languages.
_ANY_QUESTION: Final = "Where did I say yesterday that I live? 我昨天说我住在哪里？"
# A record may lack this part of the question's terms that its turn has.
_MAX_LOST_RATIO: Final = 0.25
# From this limit on, the last place may be taken by the summary of a session.
_MIN_WITH_SUMMARY: Final = 3
# Among this many of the best, a reply gives its place to the words that it replies to.
_MAX_REPLIES: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The hits to show, the near misses, and whether the filter left too few."""

    kept: list[ScoredCandidate]
    near_misses: tuple[NearMiss, ...]
    needs_more: bool


class Recaller:
    """The recall of records and turns in some scopes, and of archives if asked."""

    def __init__(
        self,
        store: Store,
        units: UnitIndex,
        paths: Sequence[Path],
        linked: EntityPath,
        scan: Scan,
        archives: ArchivePassages,
        clock: Clock,
        settings: RecallSettings,
        model: MemoryCalibration,
        fresh_links: FreshLinks | None = None,
        answering: Answering | None = None,
        by_facet: FacetCandidates | None = None,
        intents: IntentModel | None = None,
    ) -> None:
        self._store = store
        self._units = units
        self._paths = paths
        self._entity_path = linked
        self._superseded_path = SupersededPath(units)
        self._summaries = SessionSummaries(store)
        self._scan = scan
        self._archives = archives
        self._clock = clock
        self._settings = settings
        self._model = model
        self._fresh_links = fresh_links
        self._answering = answering
        self._by_facet = by_facet
        self._intents = intents
        self._sameness = (
            DuplicateDetector(settings.duplicates) if 0 < settings.duplicates < 1 else None
        )

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
        """Return the best hits that score at least `min_score`; there may be none."""
        settings = self._settings
        checked_text(text, "query", MAX_QUERY)
        question = Question(
            text=text,
            scopes=scopes,
            where=where,
            limit=checked_limit(settings.limit if limit is None else limit, MAX_LIMIT),
            min_score=settings.min_score if min_score is None else checked_share(min_score),
            now=self._clock.now(),
            asked_at=None if asked_at is None else aware(asked_at, "asked_at"),
            forced=await self._intent(text),
        )
        if len(text) > _MAX_INLINE_CHARS:
            await _analyse(question)
        if question.where.is_indexed:
            return await self._search(question)
        return Recalled(hits=tuple(await self._scan.search(question)))

    async def load(self, scopes: tuple[Scope, ...]) -> None:
        """Load the models and the index of some scopes, so that the first question finds them."""
        asked = Question(
            text=_ANY_QUESTION,
            scopes=scopes,
            where=Filter(),
            limit=1,
            min_score=0,
            now=self._clock.now(),
        )
        # In a thread, because callers would wait for the patterns that are compiled.
        await asyncio.to_thread(lambda: (asked.terms, asked.lean, asked.may_ask, asked.wanted))
        if self._answering is not None:
            await self._answering.load()
        await self.recall(_ANY_QUESTION, scopes, Filter(), limit=1)

    async def close(self) -> None:
        if self._intents is not None:
            await self._intents.close()

    async def _intent(self, text: str) -> Judged | None:
        """Return the intent that is set or that a model tells; None = as rules judge."""
        if self._settings.intent != "auto":
            return Judged(intent=self._settings.intent, reason="set")
        return None if self._intents is None else await self._intents.judge(text)

    async def _search(self, question: Question) -> Recalled:
        """Search the index; search inside the filter only when it removes too much."""
        wanted = max(self._settings.candidates, 2 * question.limit)
        weigher = CandidateLoader(self._store, self._archives, question, self._settings)
        found = await self._ask(question, wanted, within=None)
        fused, answer = await self._fuse_and_answer(question, found, weigher)
        linked = await self._follow_names(question, await self._seeds(answer, weigher), wanted)
        if linked is not None:
            found.append(linked)
            fused, answer = await self._fuse_and_answer(question, found, weigher)
        changed = await self._find_successors(question, fused)
        if changed.by_turn:
            found.append(changed.found)
            outlived = await self._superseded_turns(question, changed, answer, weigher)
            fused, answer = await self._fuse_and_answer(question, found, weigher, outlived)
        if answer.needs_more and any(answered.is_cut_off for answered in found):
            found = await self._ask(question, wanted, within=question.where)
            found.append(changed.found)
            fused, answer = await self._fuse_and_answer(question, found, weigher, fused.replaced)
        degraded = [note for answered in found for note in answered.degraded]
        answers = await self._read(question, fused, weigher)
        degraded += answers.degraded
        if answers.logits:
            if question.only_asks:
                fused = fused.with_confidence(answers.confidence(fused.confidence))
            answer = await self._answer(question, fused, weigher, question.limit, answers)

        async def best(reach: int) -> _Answer:
            return await self._answer(question, fused, weigher, reach, answers)

        answer, links = await self._arrange(question, answer, weigher, best, answers)
        kept = await self._with_summaries(question, fused, answer.kept, weigher)
        return Recalled(
            hits=await self._hits(question, fused, kept, weigher, changed, links),
            degraded=tuple(degraded),
            near_misses=answer.near_misses,
            intent=question.judged.intent,
            intent_reason=question.judged.reason,
        )

    async def _with_summaries(
        self,
        question: Question,
        fused: Ranked,
        kept: list[ScoredCandidate],
        weigher: CandidateLoader,
    ) -> list[ScoredCandidate]:
        """Return the hits, and behind them the summaries of sessions at the time in question."""
        kept = behind_sources(kept)
        known = {hit.fused.owner_id for hit in kept}
        found = [it for it in await self._summaries.of(question) if it.id not in known]
        some = fused.between(0, 1)
        if not found or not some:
            return kept
        score = kept[-1].score if kept else question.min_score
        like = some[0]._replace(owner_kind="record", replaced_by=None)
        added = await weigher.weigh([like._replace(owner_id=record.id) for record in found])
        room = max(question.limit - len(kept), int(question.limit >= _MIN_WITH_SUMMARY))
        added = [hit._replace(score=score) for hit in added[:room]]
        return [*kept[: question.limit - len(added)], *added]

    async def _fuse_and_answer(
        self,
        question: Question,
        found: Sequence[Found],
        weigher: CandidateLoader,
        replaced: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[Ranked, _Answer]:
        """Fuse what the paths found and return the answer it makes."""
        fused = fuse(question, found, self._settings, self._model, replaced)
        return fused, await self._answer(question, fused, weigher, question.limit)

    async def _seeds(self, answer: _Answer, weigher: CandidateLoader) -> dict[str, str]:
        """Return the texts of the best hits by owner."""
        if not self._settings.entity_weight:
            return {}
        items = await weigher.items(answer.kept[:_SEED_HITS])
        best = (hit.fused.owner_id for hit in answer.kept[:_SEED_HITS])
        return {owner: items[owner].content for owner in best if owner in items}

    async def _follow_names(
        self, question: Question, seeds: Mapping[str, str], limit: int
    ) -> Found | None:
        """Return what the names in the best hits lead to."""
        if not seeds:
            return None
        found = await answer_of(self._entity_path, self._entity_path.search(question, seeds, limit))
        return None if isinstance(found, RecollectError) else found

    async def _find_successors(self, question: Question, fused: Ranked) -> Succession:
        """Return the records that supersede turns among the best hits."""
        found = await answer_of(
            self._superseded_path, self._superseded_path.search(question, fused)
        )
        return Succession() if isinstance(found, RecollectError) else found

    async def _superseded_turns(
        self, question: Question, changed: Succession, answer: _Answer, weigher: CandidateLoader
    ) -> dict[str, str]:
        """Return the turns that give way to a record; none if the past is asked for."""
        if question.is_about_past:
            return {}
        items = await weigher.items(answer.kept)
        return outlived(
            changed.by_turn, [item for item in items.values() if isinstance(item, Record)]
        )

    async def _ask(self, question: Question, limit: int, within: Filter | None) -> list[Found]:
        """Ask every path; one that fails or is late is left out and reported.

        Paths that wait for a model or a server do so while the others work.
        """
        with later_snapshot() as later:
            waiting = {
                path: asyncio.ensure_future(path.search(question, limit, within))
                for path in self._paths
                if path.waits(question)
            }
        if waiting:
            # Let them start first, so that they wait while the others work.
            await asyncio.sleep(0)
        answers = {
            path: await answer_of(path, path.search(question, limit, within))
            for path in self._paths
            if path not in waiting
        }
        if waiting:
            try:
                patience = seconds_left(self._settings.patience)
                _, late = await asyncio.wait(waiting.values(), timeout=patience)
            finally:
                if (snapshot := current_snapshot()) is not None:
                    snapshot.go_on_from(later)
            for path, answer in waiting.items():
                if answer in late:
                    answer.cancel()
                    answers[path] = too_late(path, patience)
                else:
                    answers[path] = await answer_of(path, answer)
        errors = [answer for answer in answers.values() if isinstance(answer, RecollectError)]
        if len(errors) == len(answers):
            raise errors[0]
        return [as_found(path, answers[path]) for path in self._paths]

    async def _read(self, question: Question, fused: Ranked, weigher: CandidateLoader) -> Answers:
        """Return how clearly the best candidates answer the question."""
        most = self._read_candidates(question)
        if self._answering is None or not most:
            return _NO_ANSWERS
        best, _, _ = await self._weigh(replace(question, min_score=0.0), fused, weigher, most)
        best = [hit for hit in best if not sums_up(hit)][:most]
        asked, stating = await self._stating(question, best, weigher)
        items = await weigher.items([*best, *stating])
        return await self._answering.read(question, best, items, stating, asked.about)

    async def _stating(
        self, question: Question, best: Sequence[ScoredCandidate], weigher: CandidateLoader
    ) -> tuple[FacetGuess, list[ScoredCandidate]]:
        """Return what is asked for, and the records that state it.

        One that was not found gets the score of the weakest hit.
        """
        if self._by_facet is None or not best:
            return UNDECIDED, []
        asked, records = await self._by_facet.of(question)
        known = {hit.fused.owner_id: hit for hit in best}
        ids = [record.id for record in records]
        last = best[-1].fused._replace(owner_kind="record", replaced_by=None)
        new = [last._replace(owner_id=record) for record in ids if record not in known]
        found = [known[record] for record in ids if record in known]
        return asked, [*found, *await weigher.weigh(new)]

    def _read_candidates(self, question: Question) -> int:
        """Return how many candidates are read at most."""
        return 0 if self._answering is None else self._answering.candidates(question)

    async def _answer(
        self,
        question: Question,
        fused: Ranked,
        weigher: CandidateLoader,
        limit: int,
        answers: Answers = _NO_ANSWERS,
    ) -> _Answer:
        """Return the hits that pass the filter in their final order, and the near misses."""
        reach = max(limit, self._read_candidates(question))
        weighed, looked_at, good = await self._weigh(question, fused, weigher, reach)
        kept, near_misses = self._cut(question, weighed, limit)
        if answers.logits:
            # What answers may be far behind.
            found = [*kept, *answers.among(weighed[len(kept) :])]
            lifted = answers.lifted(found, question.min_score, weigher.weighing)
            kept = answers.ordered(lifted)[:limit]
            near_misses = tuple(
                miss for miss in near_misses if all(miss.id != hit.fused.owner_id for hit in kept)
            )
        if not near_misses and question.where == Filter():
            near_misses = _too_weak(fused.between(good, good + _MAX_NEAR_MISSES))
        # Searching inside the filter helps only if the filter removed something.
        is_filtered = len(weighed) < looked_at
        return _Answer(
            kept=kept,
            near_misses=near_misses,
            needs_more=is_filtered and len(weighed) < question.limit,
        )

    async def _weigh(
        self, question: Question, fused: Ranked, weigher: CandidateLoader, limit: int
    ) -> tuple[list[ScoredCandidate], int, int]:
        """Return the best candidates, how many were scored, and how many could be good enough."""
        most = largest_factor(question.lean, self._settings)
        is_good = (fused.scores > 0) & (fused.scores * most >= question.min_score)
        good = int(np.count_nonzero(is_good))
        weighed: list[ScoredCandidate] = []
        looked_at = 0
        # A candidate farther back may rise when it is scored, but not beyond a bound.
        while looked_at < good and not _are_best(weighed, limit, fused.scores[looked_at] * most):
            reach = _reach(fused.scores[:good], looked_at, limit, most)
            chosen = fused.between(looked_at, reach)
            weighed += await weigher.weigh(chosen)
            looked_at += len(chosen)
            weighed.sort(key=lambda candidate: -candidate.score)
        weighed = await self._as_told(question, weighed, weigher)
        return behind_sources(weighed), looked_at, good

    async def _as_told(
        self, question: Question, weighed: list[ScoredCandidate], weigher: CandidateLoader
    ) -> list[ScoredCandidate]:
        """Return the candidates with the user's own words before a reply that notes them."""
        best = weighed[:_MAX_REPLIES]
        if question.is_about_answers or not any(hit.fused.owner_kind == "turn" for hit in best):
            return weighed
        items = await weigher.items(best)
        hits = {hit.fused.owner_id: hit for hit in weighed}
        for reply in best:
            item = items.get(reply.fused.owner_id)
            said = await weigher.acknowledged(item) if isinstance(item, Turn) else None
            if said is None:
                continue
            fused = reply.fused._replace(owner_id=said.id, replaced_by=None)
            own = hits.get(said.id) or next(iter(await weigher.weigh([fused])), None)
            if own is not None and own.score <= reply.score:
                hits[reply.fused.owner_id] = reply._replace(score=own.score)
                hits[said.id] = own._replace(score=reply.score)
        return sorted(
            hits.values(), key=lambda hit: (-hit.score, hit.fused.owner_id in weigher.replies)
        )

    async def _arrange(
        self,
        question: Question,
        answer: _Answer,
        weigher: CandidateLoader,
        more: Callable[[int], Awaitable[_Answer]],
        answers: Answers,
    ) -> tuple[_Answer, Sequence[Link]]:
        """Return the answer, newest first and without duplicates, and the links of the hits.

        A duplicate gives its place to the next distinct hit.
        """
        reach = question.limit
        fresh = await self._judge_fresh(answer, weigher)
        while True:
            kept, links = await self._with_followers(question, answer.kept, weigher, fresh, answers)
            items = await weigher.items(kept)
            twice = repeated(links, {hit.fused.owner_id for hit in kept} & items.keys())
            once = [hit for hit in kept if hit.fused.owner_id not in twice]
            present = [items[hit.fused.owner_id] for hit in once if hit.fused.owner_id in items]
            repeats: dict[str, str] = {}
            if self._sameness is not None:
                comparable = [item for item in present if isinstance(item, Record | Turn)]
                outdated = {hit.fused.owner_id for hit in once if hit.fused.replaced_by}
                told = accounts(
                    comparable, weigher.replies, partial(_tells_more, question, answers, outdated)
                )
                others = [item for item in comparable if item.id not in told]
                repeats = self._sameness.repeats(others)
                repeats |= {hit: repeats.get(shown, shown) for hit, shown in told.items()}
            is_all = len(answer.kept) < reach or reach >= _MAX_REACH_FACTOR * question.limit
            if is_all or len(present) - len(repeats) >= question.limit:
                break
            reach *= 2
            answer = await more(reach)
        if not twice and not repeats and len(kept) <= question.limit:
            return replace(answer, kept=kept), links
        shown, left_out = arranged(once, repeats, question.limit)
        left_out += [
            NearMiss(id=hit.fused.owner_id, score=hit.score, reason=f"says the same as {same}")
            for hit in kept
            if (same := twice.get(hit.fused.owner_id)) is not None
        ]
        near_misses = (*left_out, *answer.near_misses)[:_MAX_NEAR_MISSES]
        return replace(answer, kept=shown, near_misses=near_misses), links

    async def _judge_fresh(self, answer: _Answer, weigher: CandidateLoader) -> Sequence[Link]:
        """Return the links of those of the best hits that were stored a moment ago."""
        if self._fresh_links is None or len(answer.kept) < _MIN_COMPARED_HITS:
            return ()
        items = await weigher.items(answer.kept)
        found = [items.get(hit.fused.owner_id) for hit in answer.kept]
        comparable = [item for item in found if isinstance(item, Record | Turn)]
        return await self._fresh_links.of(comparable)

    async def _with_followers(
        self,
        question: Question,
        kept: list[ScoredCandidate],
        weigher: CandidateLoader,
        fresh: Sequence[Link],
        answers: Answers,
    ) -> tuple[list[ScoredCandidate], Sequence[Link]]:
        """Return the hits with those that follow them by a link, best and newest first."""
        owners = [hit.fused.owner_id for hit in kept]
        links = [*await self._store.links(question.scopes, owners), *fresh]
        if question.is_about_past:
            return kept, links
        found = {hit.fused.owner_id: hit for hit in kept}
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
        hits = sorted([*kept, *added], key=lambda hit: -hit.score)
        if self._answering is not None:
            items = await weigher.items(hits)
            answers = await self._answering.read_more(question, answers, added, items)
            hits = answers.ordered(hits, links)
        same = {older: (newer,) for older, newer in repeated(links, found).items()}
        after = followers(answers.believed(links)) | same
        return newest_first(hits, after), links

    def _cut(
        self, question: Question, weighed: Sequence[ScoredCandidate], limit: int
    ) -> tuple[list[ScoredCandidate], tuple[NearMiss, ...]]:
        """Return the hits to show, and the near misses with the reason they are not shown."""
        weighed = below_successors(weighed)
        floor = weighed[0].score * self._settings.gap if weighed else 0.0
        least = max(question.min_score, floor)
        kept = [candidate for candidate in weighed[:limit] if candidate.score >= least]
        left_out: list[NearMiss] = []
        for candidate in weighed[len(kept) : len(kept) + _MAX_NEAR_MISSES]:
            if candidate.score < question.min_score:
                reason = "below min_score"
            else:
                reason = "far below the best" if candidate.score < floor else "beyond the limit"
            left_out.append(
                NearMiss(id=candidate.fused.owner_id, score=candidate.score, reason=reason)
            )
        return kept, tuple(left_out)

    async def _hits(
        self,
        question: Question,
        fused: Ranked,
        weighed: Sequence[ScoredCandidate],
        weigher: CandidateLoader,
        changed: Succession,
        links: Sequence[Link],
    ) -> tuple[Hit, ...]:
        """Make the hits that are shown, with their explanations."""
        items = await weigher.items(weighed)
        units = [candidate.fused.unit for candidate in weighed]
        present = await self._units.terms_of(units)
        path_scores = fused.candidates.told([candidate.fused.at for candidate in weighed])
        after = {
            older: newer
            for older, later in followers(links).items()
            for newer in later
            if newer in items
        }
        records = {name: item for name, item in items.items() if isinstance(item, Record)}
        said = counted(records, repeated(links, records))
        hits: list[Hit] = []
        for candidate, unit, paths in zip(weighed, units, path_scores, strict=True):
            item = items.get(candidate.fused.owner_id)
            if item is not None:
                # The item of an archive is itself the passage.
                is_part = isinstance(item, ArchivePassage) or not candidate.fused.is_found
                span = (0, len(item.content)) if is_part else candidate.fused.span
                keys = present.get(unit, frozenset[int]())
                matched = tuple([term for key, term in question.terms.items() if key in keys])
                boosts = weigher.weighing.boosts(candidate.standing)
                explanation = candidate.fused.explanation(
                    paths, matched, (*boosts, *candidate.boosts)
                )
                if links and isinstance(item, Record):
                    times = said.get(item.id, item.evidence_count)
                    item = with_links(item, links).evolve(evidence_count=times)
                hits.append(
                    Hit(
                        item=item,
                        score=candidate.score,
                        span=span,
                        explanation=explanation,
                        replaced_by=changed.by_turn.get(item.id),
                        followed_by=after.get(item.id),
                    )
                )
        return tuple(hits)


def _tells_more(
    question: Question, answers: Answers, outdated: Collection[str], turn: Turn, record: Record
) -> bool:
    """Return whether a turn tells more about the question than a record that was made from it."""
    if turn.id in outdated:
        return False
    clearer = answers.difference(turn.id, record.id)
    if clearer is not None:
        return clearer > 0
    wanted = {term for key, term in question.terms.items() if key not in question.slight}
    told = wanted & set(query_terms(turn.content))
    # The person that is turned around changes a term or two.
    return len(told - set(query_terms(record.content))) > _MAX_LOST_RATIO * len(told)


def _kind_of(owner: str) -> OwnerKind:
    return "turn" if owner.startswith("turn_") else "record"


def _are_best(weighed: Sequence[ScoredCandidate], limit: int, bound: float) -> bool:
    """Return whether enough was scored and nothing below this bound can be better."""
    return len(weighed) >= limit and weighed[limit - 1].score >= bound


def _reach(scores: Scores, start: int, limit: int, most: float) -> int:
    """Return the rank up to which candidates may still get among the best."""
    last_wanted = scores[min(start + limit, len(scores)) - 1]
    in_reach = int(np.count_nonzero(scores * most > last_wanted))
    return min(max(in_reach, start + _MIN_SCORED_FACTOR * limit), len(scores))


def _too_weak(fused: Sequence[Fused]) -> tuple[NearMiss, ...]:
    """Return near misses that scored too low to be loaded."""
    return tuple(
        NearMiss(id=candidate.owner_id, score=candidate.score, reason="below min_score")
        for candidate in fused
        if candidate.score > 0
    )


# --- Handling of paths that fail or are late: the others answer without them ----------------------


_log: Final = logging.getLogger(__name__)

_F = TypeVar("_F")


async def answer_of(
    path: Path | EntityPath | SupersededPath, answer: Awaitable[_F]
) -> _F | RecollectError:
    """Return the path's answer, or the error it failed with."""
    try:
        return await answer
    except RecollectError as failure:
        _log.warning("The %s path failed: %s", path.name, failure)
        return failure


def too_late(path: Path, patience: float) -> Found:
    """Return an empty answer that says the path took too long."""
    if not seconds_left():
        # Whoever set the time limit of this answer tells it.
        return Found(path=path.name, degraded=(f"the {path.name} path did not answer {IN_TIME}",))
    note = f"the {path.name} path did not answer within {patience} s"
    _log.warning(note)
    return Found(path=path.name, degraded=(note,))


def as_found(path: Path, answer: Found | RecollectError) -> Found:
    """Return the answer; for an error, an empty one that says why."""
    if isinstance(answer, Found):
        return answer
    return Found(path=path.name, degraded=(f"the {path.name} path failed: {answer}",))


async def _analyse(question: Question) -> None:
    """Read a long question in another thread, so that others are answered in between."""
    try:
        async with asyncio.timeout(_MAX_ANALYSIS_SECONDS):
            await asyncio.to_thread(question.analyse)
    except TimeoutError:
        raise InvalidInput(
            f"The query takes more than {_MAX_ANALYSIS_SECONDS:g} seconds to be read",
            code="query_too_slow",
            hint="Ask in fewer words.",
        ) from None
