"""The recall pipeline: search every path, fuse, score, load the best and drop the rest."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from recollect.domain.embedding import MemoryCalibration
from recollect.domain.filters import Filter
from recollect.domain.hit import ArchivePassage, Hit, NearMiss, Recalled
from recollect.domain.lazy_value import lazy_value
from recollect.domain.meter import Meter
from recollect.domain.record import SESSION_EPISODE, Kind, Record
from recollect.domain.relation import Link
from recollect.domain.sections import RecallSettings
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerKind
from recollect.errors import RecollectError
from recollect.language.analysis import query_terms
from recollect.language.times.expressions import When
from recollect.ports.facets import UNDECIDED, FacetGuess
from recollect.ports.runtime import IN_TIME, seconds_left
from recollect.ports.store import Store, current_snapshot, later_snapshot
from recollect.ports.units import Scores, UnitIndex
from recollect.recall.answering import Answering, Answers, FacetCandidates
from recollect.recall.candidate_loader import ArchiveText, CandidateLoader
from recollect.recall.candidates import Candidate, best_first, gather
from recollect.recall.deduplicate import DuplicateDetector, accounts, arranged
from recollect.recall.fresh_links import FreshLinks
from recollect.recall.fuse import fuse
from recollect.recall.paths import Found, Path, search_entities
from recollect.recall.question import Question
from recollect.recall.scoring import largest_factor
from recollect.recall.superseded import (
    Succession,
    below_successors,
    counted,
    followers,
    newest_first,
    outlived,
    repeated,
    search_successors,
)

if TYPE_CHECKING:
    from recollect.backends.sql.archives import SqlArchives

_MAX_NEAR_MISSES: Final = 5
# The number of best hits whose names the entity path follows.
_SEED_HITS: Final = 3
# Among many duplicates, up to this many times the limit is searched for distinct hits.
_MAX_REACH_FACTOR: Final = 4
# At least this many times the limit is scored, because near misses are reported too.
_MIN_SCORED_FACTOR: Final = 2
_MIN_COMPARED_HITS: Final = 2
# A record may lack this part of the question's terms that its turn has.
_MAX_LOST_RATIO: Final = 0.25
# From this limit on, the last place may be taken by the summary of a session.
_MIN_WITH_SUMMARY: Final = 3
# Among this many of the best, a reply gives its place to the words that it replies to.
_MAX_REPLIES: Final = 24
_NO_CANDIDATES: Final = gather(())
_NO_TERMS: Final = frozenset[int]()
_NONE_SUPERSEDED: Final[Mapping[str, str]] = MappingProxyType({})

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallServices:
    """What every recall in a store uses."""

    store: Store
    units: UnitIndex
    archives: SqlArchives
    archive_text: ArchiveText
    paths: Sequence[Path]
    settings: RecallSettings
    model: MemoryCalibration
    meter: Meter
    fresh_links: FreshLinks
    facets: FacetCandidates
    # The models that read hits, if there are any.
    answering: Answering | None


class Recall:
    """One recall: every step works on what the steps before it have found."""

    def __init__(self, services: RecallServices, question: Question) -> None:
        self._services = services
        self._settings = services.settings
        self._store = services.store
        self._question = question
        self._loader = CandidateLoader(
            services.store,
            services.units,
            services.archives,
            services.archive_text,
            question,
            services.settings,
        )
        self._found: Sequence[Found] = ()
        self._ranked = _NO_CANDIDATES
        self._answers = Answers()
        # The best candidates as they were last scored.
        self._best: list[Candidate] = []
        # The hits to show, those that were left out, and whether the filter left too few.
        self._kept: list[Candidate] = []
        self._near_misses: tuple[NearMiss, ...] = ()
        self._needs_more = False

    async def run(self) -> Recalled:
        """Search the index; search inside the filter only when it removes too much."""
        question = self._question
        wanted = max(self._settings.candidates, 2 * question.limit)
        await self._rank(await self._search_paths(wanted, within=None))
        if (linked := await self._follow_names(wanted)) is not None:
            await self._rank([*self._found, linked])
        succession = await self._find_successors()
        superseded = _NONE_SUPERSEDED
        if succession.by_turn:
            superseded = await self._superseded_turns(succession)
            await self._rank([*self._found, succession.found], superseded)
        if self._needs_more and any(found.is_cut_off for found in self._found):
            found = await self._search_paths(wanted, within=question.where)
            await self._rank([*found, succession.found], superseded)
        self._answers = answers = await self._read()
        if answers.logits:
            if question.only_asks:
                confidence = answers.confidence(self._ranked.confidence)
                self._ranked = self._ranked.with_confidence(confidence)
            await self._choose(question.limit)
        links = await self._arrange()
        await self._add_summaries()
        degraded = (note for found in self._found for note in found.degraded)
        return Recalled(
            hits=await self._hits(succession, links),
            degraded=(*degraded, *answers.degraded),
            near_misses=self._near_misses,
            intent=question.judged.intent,
            intent_reason=question.judged.reason,
        )

    # --- Searching ---

    async def _search_paths(self, limit: int, within: Filter | None) -> list[Found]:
        """Search every path; one that fails or is late is left out and reported.

        Paths that wait for a model or a server do so while the others work.
        """
        question, paths = self._question, self._services.paths
        with later_snapshot() as later:
            waiting = {
                path: asyncio.ensure_future(self._search_path(path, limit, within))
                for path in paths
                if path.waits(question)
            }
        if waiting:
            # Let them start first, so that they wait while the others work.
            await asyncio.sleep(0)
        results: dict[Path, Found | RecollectError] = {}
        for path in paths:
            if path not in waiting:
                results[path] = await self._search_path(path, limit, within)
        if waiting:
            try:
                patience = seconds_left(self._settings.patience)
                _, late = await asyncio.wait(waiting.values(), timeout=patience)
            finally:
                if (snapshot := current_snapshot()) is not None:
                    snapshot.go_on_from(later)
            for path, search in waiting.items():
                if search in late:
                    search.cancel()
                    results[path] = _too_late(path, patience)
                else:
                    results[path] = await search
        errors = [result for result in results.values() if isinstance(result, RecollectError)]
        if len(errors) == len(results):
            raise errors[0]
        return [
            it if isinstance(it := results[path], Found) else _failed(path, it) for path in paths
        ]

    async def _search_path(
        self, path: Path, limit: int, within: Filter | None
    ) -> Found | RecollectError:
        """Return what a path finds, or the error it fails with."""
        began = perf_counter()
        try:
            return await path.search(self._question, limit, within)
        except RecollectError as failure:
            _log_failure(path.name, failure)
            return failure
        finally:
            self._services.meter.time("path_seconds", perf_counter() - began, path.name)

    async def _follow_names(self, limit: int) -> Found | None:
        """Return what the names in the best hits lead to."""
        if not self._settings.entity_weight:
            return None
        best = self._kept[:_SEED_HITS]
        items = await self._loader.items(best)
        seeds = {hit.owner_id: items[hit.owner_id].content for hit in best if hit.owner_id in items}
        if not seeds:
            return None
        try:
            return await search_entities(self._services.units, self._question, seeds, limit)
        except RecollectError as failure:
            _log_failure("entity", failure)
            return None

    async def _find_successors(self) -> Succession:
        """Return the records that supersede turns among the best hits."""
        try:
            return await search_successors(self._services.units, self._question, self._ranked)
        except RecollectError as failure:
            _log_failure("replaced", failure)
            return Succession()

    async def _superseded_turns(self, succession: Succession) -> dict[str, str]:
        """Return the turns that give way to a record; none if the past is asked for."""
        if self._question.is_about_past:
            return {}
        items = await self._loader.items([*self._kept, *self._best])
        records = [item for item in items.values() if isinstance(item, Record)]
        return outlived(succession.by_turn, records)

    # --- Choosing hits ---

    async def _rank(
        self, found: Sequence[Found], superseded: Mapping[str, str] = _NONE_SUPERSEDED
    ) -> None:
        """Fuse what the paths found and choose the hits."""
        self._found = found
        self._ranked = fuse(self._question, found, self._settings, self._services.model, superseded)
        await self._choose(self._question.limit)

    async def _choose(self, limit: int) -> None:
        """Choose the hits that pass the filter, in their final order, and the near misses."""
        question, answers = self._question, self._answers
        reach = max(limit, self._readable_candidates)
        scored, looked_at, good = await self._score(question.min_score, reach)
        kept, near_misses = self._cut(scored, limit)
        if answers.logits:
            # What answers may be far behind.
            found = [*kept, *answers.among(scored[len(kept) :])]
            lifted = answers.lifted(found, question.min_score, self._loader.scoring)
            kept = answers.ordered(lifted)[:limit]
            shown = {hit.owner_id for hit in kept}
            near_misses = [miss for miss in near_misses if miss.id not in shown]
        if not near_misses and question.where == Filter():
            # These scored too low to be loaded.
            near_misses = [
                NearMiss(id=candidate.owner_id, score=candidate.score, reason="below min_score")
                for candidate in self._ranked.between(good, good + _MAX_NEAR_MISSES)
                if candidate.score > 0
            ]
        self._kept, self._near_misses = kept, tuple(near_misses)
        # Searching inside the filter helps only if the filter removed something.
        self._needs_more = len(scored) < looked_at and len(scored) < question.limit

    async def _score(self, min_score: float, limit: int) -> tuple[list[Candidate], int, int]:
        """Return the best candidates, how many were scored, and how many could be good enough."""
        ranked = self._ranked
        most = largest_factor(self._question.lean, self._settings)
        is_good = (ranked.scores > 0) & (ranked.scores * most >= min_score)
        good = int(np.count_nonzero(is_good))
        scored: list[Candidate] = []
        looked_at = 0
        # What a model will read is loaded together with what is good enough.
        found = int(np.count_nonzero(ranked.scores)) if self._readable_candidates else good
        # A candidate farther back may rise when it is scored, but not beyond a bound.
        while looked_at < good and not _are_best(scored, limit, ranked.scores[looked_at] * most):
            reach = _reach(ranked.scores[:good], looked_at, limit, most)
            ahead = (
                reach if found == good else _reach(ranked.scores[:found], looked_at, limit, most)
            )
            new = await self._loader.score(ranked.between(looked_at, ahead), reach - looked_at)
            scored = best_first((*scored, *new))
            looked_at = reach
        scored = _behind_sources(await self._before_replies(scored))
        self._best = scored[:_MAX_REPLIES]
        return scored, looked_at, good

    async def _before_replies(self, scored: list[Candidate]) -> list[Candidate]:
        """Return the candidates with the user's own words before a reply that notes them."""
        if self._question.is_about_answers:
            return scored
        self._loader.note_replies(scored[:_MAX_REPLIES])
        replies = self._loader.replies
        best = [hit for hit in scored[:_MAX_REPLIES] if hit.owner_id in replies]
        if not best:
            return scored
        hits = {hit.owner_id: hit for hit in scored}
        for reply in best:
            said = replies[reply.owner_id]
            candidate = reply._replace(owner_id=said, superseded_by=None)
            own = hits.get(said) or next(iter(await self._loader.score([candidate])), None)
            if own is not None and own.score <= reply.score:
                hits[reply.owner_id] = reply._replace(score=own.score)
                hits[said] = own._replace(score=reply.score)
        own = [hit for owner, hit in hits.items() if owner not in replies]
        return best_first([*own, *[hits[owner] for owner in hits if owner in replies]])

    def _cut(
        self, scored: Sequence[Candidate], limit: int
    ) -> tuple[list[Candidate], list[NearMiss]]:
        """Return the hits to show, and the near misses with the reason they are not shown."""
        scored = below_successors(scored)
        min_score = self._question.min_score
        floor = scored[0].score * self._settings.gap if scored else 0.0
        kept = [hit for hit in scored[:limit] if hit.score >= max(min_score, floor)]
        left_out: list[NearMiss] = []
        for hit in scored[len(kept) : len(kept) + _MAX_NEAR_MISSES]:
            if hit.score < min_score:
                reason = "below min_score"
            else:
                reason = "far below the best" if hit.score < floor else "beyond the limit"
            left_out.append(NearMiss(id=hit.owner_id, score=hit.score, reason=reason))
        return kept, left_out

    # --- Reading hits ---

    @lazy_value
    def _readable_candidates(self) -> int:
        """Return how many candidates a model reads at most."""
        answering = self._services.answering
        return 0 if answering is None else answering.candidates(self._question)

    async def _read(self) -> Answers:
        """Return how clearly the best candidates answer the question."""
        answering, most = self._services.answering, self._readable_candidates
        if answering is None or not most:
            return Answers()
        best, _, _ = await self._score(0.0, most)
        summaries = _summaries_among(best)
        best = [hit for hit in best if hit not in summaries][:most]
        asked, stating = await self._stating(best)
        items = await self._loader.items([*best, *stating])
        return await answering.read(self._question, best, items, stating, asked.about)

    async def _stating(self, best: Sequence[Candidate]) -> tuple[FacetGuess, list[Candidate]]:
        """Return what is asked for, and the records that state it.

        One that was not found gets the score of the weakest hit.
        """
        if not best:
            return UNDECIDED, []
        asked, records = await self._services.facets.of(self._question)
        known = {hit.owner_id: hit for hit in best}
        ids = [record.id for record in records]
        last = best[-1]._replace(owner_kind="record", superseded_by=None)
        new = [last._replace(owner_id=record) for record in ids if record not in known]
        found = [known[record] for record in ids if record in known]
        return asked, [*found, *await self._loader.score(new)]

    # --- Arranging hits ---

    async def _arrange(self) -> Sequence[Link]:
        """Arrange the hits, newest first and without duplicates, and return their links.

        A duplicate gives its place to the next distinct hit.
        """
        limit = reach = self._question.limit
        fresh = await self._judge_fresh()
        while True:
            kept, links, believed = await self._with_followers(self._kept, fresh)
            items = await self._loader.items(kept)
            shown = {hit.owner_id for hit in kept} & items.keys() if links else ()
            twice = repeated(links, shown)
            once = [hit for hit in kept if hit.owner_id not in twice]
            present = [items[hit.owner_id] for hit in once if hit.owner_id in items]
            repeats: dict[str, str] = {}
            if 0 < self._settings.duplicates < 1:
                comparable = [item for item in present if isinstance(item, Record | Turn)]
                superseded = {hit.owner_id for hit in once if hit.superseded_by}
                tells_more = partial(_tells_more, self._question, self._answers, superseded)
                told = accounts(comparable, self._loader.replies, tells_more)
                others = [item for item in comparable if item.id not in told]
                repeats = DuplicateDetector(self._settings.duplicates).repeats(others)
                repeats |= {hit: repeats.get(shown, shown) for hit, shown in told.items()}
            is_all = len(self._kept) < reach or reach >= _MAX_REACH_FACTOR * limit
            if is_all or len(present) - len(repeats) >= limit:
                break
            reach *= 2
            await self._choose(reach)
        if not twice and not repeats and len(kept) <= limit:
            self._kept = kept
            return links
        best, left_out = arranged(once, repeats, limit)
        # What is shown in the place of another hit follows what that one follows.
        self._kept = newest_first(best, followers(_as_shown(believed, repeats)))
        left_out += [
            NearMiss(id=hit.owner_id, score=hit.score, reason=f"says the same as {same}")
            for hit in kept
            if (same := twice.get(hit.owner_id)) is not None
        ]
        self._near_misses = (*left_out, *self._near_misses)[:_MAX_NEAR_MISSES]
        return links

    async def _judge_fresh(self) -> Sequence[Link]:
        """Return the links of those of the best hits that were stored a moment ago."""
        if len(self._kept) < _MIN_COMPARED_HITS:
            return ()
        items = await self._loader.items(self._kept)
        found = [items.get(hit.owner_id) for hit in self._kept]
        comparable = [item for item in found if isinstance(item, Record | Turn)]
        return await self._services.fresh_links.of(comparable)

    async def _with_followers(
        self, kept: list[Candidate], fresh: Sequence[Link]
    ) -> tuple[list[Candidate], Sequence[Link], Sequence[Link]]:
        """Return the hits with those that follow them by a link, best and newest first.

        After them come all their links, and those by which one hit follows another.
        """
        question, answers = self._question, self._answers
        found = {hit.owner_id: hit for hit in kept}
        links = [*await self._store.links(question.scopes, list(found)), *fresh]
        if question.is_about_past:
            return kept, links, ()
        if not links:
            hits = best_first(kept)
            return best_first(answers.ordered(hits)) if answers.logits else hits, (), ()
        missing = {
            newer: found[older]
            for older, later in followers(links).items()
            for newer in later
            if older in found and newer not in found
        }
        added = await self._loader.score(
            [
                older._replace(owner_id=newer, owner_kind=_kind_of(newer), superseded_by=None)
                for newer, older in missing.items()
            ]
        )
        hits = best_first([*kept, *added])
        if self._services.answering is not None:
            items = await self._loader.items(hits)
            answers = await self._services.answering.read_more(question, answers, added, items)
            hits = answers.ordered(hits, links)
        same = {older: (newer,) for older, newer in repeated(links, found).items()}
        believed = answers.believed(links)
        return newest_first(hits, followers(believed) | same), links, believed

    async def _add_summaries(self) -> None:
        """Add summaries of sessions at the time in question behind the hits."""
        self._kept = kept = _behind_sources(self._kept)
        question = self._question
        known = {hit.owner_id for hit in kept}
        found = [record for record in await self._summaries() if record.id not in known]
        if not found or not (best := self._ranked.between(0, 1)):
            return
        score = kept[-1].score if kept else question.min_score
        like = best[0]._replace(owner_kind="record", superseded_by=None)
        added = await self._loader.score([like._replace(owner_id=record.id) for record in found])
        room = max(question.limit - len(kept), int(question.limit >= _MIN_WITH_SUMMARY))
        added = [hit._replace(score=score) for hit in added[:room]]
        self._kept = [*kept[: question.limit - len(added)], *added]

    async def _summaries(self) -> Sequence[Record]:
        """Return the latest summaries of sessions of each past time that the question names."""
        question = self._question
        found: dict[str, Record] = {}
        if not question.where.wants_records or question.where.since or question.where.until:
            return ()
        for time in question.times:
            if isinstance(time, When) and time.start <= question.now:
                kinds = frozenset({Kind.EPISODIC})
                where = replace(question.where, kinds=kinds, since=time.start, until=time.end)
                events = await self._store.records(
                    question.scopes, where, now=question.now, limit=_MAX_EVENTS
                )
                summaries = [event for event in events if event.is_session_episode]
                found |= {summary.id: summary for summary in summaries[:_MAX_SUMMARIES]}
        return tuple(found.values())

    async def _hits(self, succession: Succession, links: Sequence[Link]) -> tuple[Hit, ...]:
        """Make the hits that are shown, with their explanations."""
        scored, question = self._kept, self._question
        # Of duplicates that are not shown it counts how often they were said.
        linked = {end for link in links for end in (link.newer, link.older)}
        items = await self._loader.items(
            [*scored, *[hit for hit in self._best if hit.owner_id in linked]]
        )
        present = await self._loader.terms(scored)
        path_scores = self._ranked.path_scores([hit.at for hit in scored])
        after: Mapping[str, str] = {}
        said: Mapping[str, int] = {}
        if links:
            after = {
                older: newer
                for older, later in followers(links).items()
                for newer in later
                if newer in items
            }
            records = {name: item for name, item in items.items() if isinstance(item, Record)}
            said = counted(records, repeated(links, records))
        hits: list[Hit] = []
        for hit, paths in zip(scored, path_scores, strict=True):
            item = items.get(hit.owner_id)
            if item is None:
                continue
            # The item of an archive is itself the passage.
            unit = hit.unit
            is_whole = isinstance(item, ArchivePassage) or unit.owner != hit.owner_id
            span = (0, len(item.content)) if is_whole else (unit.start, unit.end)
            keys = present.get(unit.number, _NO_TERMS)
            matched = tuple([term for key, term in question.terms.items() if key in keys])
            boosts = (*self._loader.scoring.boosts(hit.standing), *hit.boosts)
            if item.id in linked and isinstance(item, Record):
                times = said.get(item.id, item.evidence_count)
                own = tuple([it for it in links if item.id in (it.newer, it.older)])
                item = item.evolve(links=own, evidence_count=times)
            hits.append(
                Hit(
                    item=item,
                    score=hit.score,
                    span=span,
                    explanation=hit.explanation(paths, matched, boosts),
                    replaced_by=succession.by_turn.get(item.id),
                    followed_by=after.get(item.id),
                )
            )
        return tuple(hits)


def _tells_more(
    question: Question, answers: Answers, superseded: Collection[str], turn: Turn, record: Record
) -> bool:
    """Return whether a turn tells more about the question than a record that was made from it."""
    if turn.id in superseded:
        return False
    is_the_answer = answers.only_one_answers(turn.id, record.id)
    if is_the_answer is not None:
        return is_the_answer
    wanted = {term for key, term in question.terms.items() if key not in question.slight}
    told = wanted & set(query_terms(turn.content))
    # The person that is turned around changes a term or two.
    return len(told - set(query_terms(record.content))) > _MAX_LOST_RATIO * len(told)


def _kind_of(owner: str) -> OwnerKind:
    return "turn" if owner.startswith("turn_") else "record"


def _are_best(scored: Sequence[Candidate], limit: int, bound: float) -> bool:
    """Return whether enough was scored and nothing below this bound can be better."""
    return len(scored) >= limit and scored[limit - 1].score >= bound


def _reach(scores: Scores, start: int, limit: int, most: float) -> int:
    """Return the rank up to which candidates may still get among the best."""
    last_wanted = scores[min(start + limit, len(scores)) - 1]
    in_reach = int(np.count_nonzero(scores * most > last_wanted))
    return min(max(in_reach, start + _MIN_SCORED_FACTOR * limit), len(scores))


def _log_failure(path: str, failure: RecollectError) -> None:
    _log.warning("The %s path failed: %s", path, failure)


def _too_late(path: Path, patience: float) -> Found:
    """Return an empty answer that says the path took too long."""
    if not seconds_left():
        # Whoever set the time limit of this answer tells it.
        return Found(path=path.name, degraded=(f"the {path.name} path did not answer {IN_TIME}",))
    note = f"the {path.name} path did not answer within {patience} s"
    _log.warning(note)
    return Found(path=path.name, degraded=(note,))


def _failed(path: Path, problem: RecollectError) -> Found:
    """Return an empty answer that says why there is no other."""
    return Found(path=path.name, degraded=(f"the {path.name} path failed: {problem}",))


# --- Summaries of sessions: they answer what happened when, and compete with nothing --------------
#
# A summary says in other words what its turns and records say in full. It stands behind them, and
# is added to the answer of a question about a past time.

_MAX_SUMMARIES: Final = 2
_MAX_EVENTS: Final = 20


def _as_shown(links: Iterable[Link], repeats: Mapping[str, str]) -> Iterator[Link]:
    """Yield the links between what is shown of their ends."""
    for link in links:
        newer, older = repeats.get(link.newer, link.newer), repeats.get(link.older, link.older)
        if newer != older:
            yield link if (newer, older) == link.ends else replace(link, newer=newer, older=older)


def _summaries_among(hits: Sequence[Candidate]) -> list[Candidate]:
    return [
        hit
        for hit in hits
        if hit.standing.source == SESSION_EPISODE and hit.standing.kind is Kind.EPISODIC
    ]


def _behind_sources(hits: list[Candidate]) -> list[Candidate]:
    """Return the summaries of sessions last, with no more than the score of what is before."""
    summaries = _summaries_among(hits)
    if not summaries or len(summaries) == len(hits):
        return hits
    others = [hit for hit in hits if hit not in summaries]
    least = others[-1].score
    return [*others, *(hit._replace(score=min(hit.score, least)) for hit in summaries)]
