"""Whether the best candidates answer the question, as a model reads them.

The model is the small local one, or a larger one that somebody configured. It reads the question
together with each of the best candidates and decides three things:

- What answers comes before what only shares words with the question, and of what answers the newest
  comes first: it is what holds now.
- If nothing answers, memory rather holds no answer, however similar it is.
- A newer hit takes the place of an older one that it is said to follow only if it answers too, or
  if that relation is beyond doubt.

The numbers were fitted to the local model and everyday conversations
(docs/decisions/0029-reading-hits.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import permutations
from typing import Final

import numpy as np

from recollect.domain.facets import with_near
from recollect.domain.hit import Item
from recollect.domain.odds import probability
from recollect.domain.record import Kind, Record
from recollect.domain.relation import Link
from recollect.domain.turn import Turn
from recollect.language.analysis import query_terms
from recollect.language.claims.moods import mood
from recollect.language.entities import entities
from recollect.language.extraction.utterances import readable, sentences
from recollect.language.times.expressions import When
from recollect.ports.facets import UNDECIDED, FacetGuess, FacetReader
from recollect.ports.store import Store
from recollect.ports.units import Scores
from recollect.recall.answer_model import AnswerModel
from recollect.recall.candidates import Candidate, best_first
from recollect.recall.passages import passage_in_context, passage_of
from recollect.recall.question import Question
from recollect.recall.scoring import CandidateScoring

# The odds, as a logarithm, that one of two hits is the better answer: for each logit, for the
# score, and for being newer, if both answer.
_FOR_LOGIT: Final = 0.3
_FOR_SCORE: Final = 4.5
_FOR_NEWER: Final = 2.0
# One other hit decides no more than this.
_MAX_ODDS: Final = 4.0
# The logits of what answers, of what does so that more need not be read, and of what clearly does.
_ANSWERS: Final = -1.0
_ENOUGH: Final = 0.5
_CLEAR: Final = 3.0
# A follower that answers this much less than its predecessor needs a relation this probable.
_MUCH_LESS: Final = 2.0
_BEYOND_DOUBT: Final = 0.85
# In logits of the best: nothing answers, and something does.
_NOTHING: Final = -3.0
_SOMETHING: Final = 0.5
# The share of the question's words in a text that is likely to be about it.
_NEARLY_ALL: Final = 0.75
_MAX_COMPARED_CHARS: Final = 1_000
# What was said so close together in one session was said of one state of affairs.
_ONE_CONVERSATION: Final = timedelta(hours=1)
# So much less clear is the answer of a text that is about somebody else.
_ABOUT_ANOTHER: Final = 3.0
# Above 0, so that a recall with a low `min_score` still returns everything.
_MIN_CONFIDENCE: Final = 0.1

_USER: Final = "user"
_REASON: Final = "answers the question"


@dataclass(frozen=True, slots=True)
class Answers:
    """How clearly some candidates answer a question, as logits by owner."""

    logits: Mapping[str, float] = field(default_factory=dict[str, float])
    # When each was said or last confirmed.
    times: Mapping[str, datetime] = field(default_factory=dict[str, datetime])
    # The session in which each was said, if it is known.
    sessions: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    # Whether something else may answer: a text that was not read, or one that has the question's
    # words and which the model may have misread.
    may_miss: bool = True
    # What went wrong while they were read.
    degraded: tuple[str, ...] = ()
    # The model that read them, and the weight of what it says compared with the search.
    model: AnswerModel | None = None
    weight: float = 0.5
    # The turns that say several things; what follows them may be about another one.
    several: frozenset[str] = frozenset()
    # For what was read, the record that tells its facet, if that is known.
    records: Mapping[str, Record] = field(default_factory=dict[str, Record])
    # Everything that was read, and what of it states the attribute that is asked for, of whom the
    # question names.
    hits: tuple[Candidate, ...] = ()
    stating: frozenset[str] = frozenset()

    def confidence(self, otherwise: float) -> float:
        """Return the confidence that anything answers; `otherwise` is that of the search."""
        if not self.logits:
            return otherwise
        best = max(self.logits.values())
        answered = (best - _NOTHING) / (_SOMETHING - _NOTHING)
        answered = min(1.0, max(_MIN_CONFIDENCE, answered))
        found = otherwise ** (1 - self.weight) * answered**self.weight
        return max(found, otherwise) if self.may_miss else found

    def among(self, hits: Sequence[Candidate]) -> list[Candidate]:
        """Return those of the hits that answer."""
        return [hit for hit in hits if self.logits.get(hit.owner_id, -math.inf) >= _ANSWERS]

    def lifted(
        self, hits: Sequence[Candidate], min_score: float, scoring: CandidateScoring
    ) -> list[Candidate]:
        """Return the hits with what answers although the search scored it too low, best first.

        A text may be unlike the question and answer it beyond doubt.
        """
        found = {hit.owner_id: hit for hit in hits}
        new = [hit for hit in self.hits if hit.owner_id not in found and _is_ordered(hit)]
        scores = scoring.scores(
            [hit.standing for hit in new], [self._relevance(hit.owner_id) for hit in new]
        )
        for hit, score in zip(new, scores, strict=True):
            if score >= max(min_score, hit.score):
                found[hit.owner_id] = hit.moved(score, _REASON)
        return best_first(found.values())

    def _relevance(self, owner: str) -> float:
        """Return the probability that a text answers; one with another attribute must be clear."""
        doubt = 0.0 if owner in self.stating else _CLEAR
        return probability(self.logits.get(owner, -math.inf) - doubt)

    def only_one_answers(self, one: str, other: str) -> bool | None:
        """Return whether one hit answers and another does not; None if not both were read."""
        here, there = self.logits.get(one), self.logits.get(other)
        return None if here is None or there is None else there < _ANSWERS <= here

    def ordered(self, hits: Sequence[Candidate], links: Iterable[Link] = ()) -> list[Candidate]:
        """Return the hits with the best answers first; each gets the score of its new place.

        What is linked is about the same.
        """
        tried = {hit.owner_id for hit in self.hits} | self.logits.keys()
        places = [
            place for place, hit in enumerate(hits) if hit.owner_id in tried and _is_ordered(hit)
        ]
        read = [hits[place] for place in places]
        odds = self._odds(read, links)
        # Rounded, so that chance does not decide between equal ones.
        order: list[int] = np.argsort(-odds.sum(axis=1).round(9), kind="stable").tolist()
        ordered = list(hits)
        for place, best in zip(places, order, strict=True):
            ordered[place] = _placed(read[best], hits[place].score)
        return ordered

    def believed(self, links: Iterable[Link]) -> list[Link]:
        """Return the links by which a newer hit may take the place of an older one."""
        return [link for link in links if self._is_believed(link)]

    def _is_believed(self, link: Link) -> bool:
        newer, older = self.logits.get(link.newer), self.logits.get(link.older)
        if newer is None or older is None:
            return True
        # What follows a statement of the attribute asked for may be misread. Any other statement
        # may tell several things: what follows it must answer, too.
        least = _NOTHING if link.older in self.stating else _ANSWERS
        if newer <= min(least, older - _MUCH_LESS):
            # It is about something else that the older one tells, unless the model misread it.
            return link.newer in self.stating
        is_sure = link.probability >= _BEYOND_DOUBT and link.older not in self.several
        return is_sure or newer >= min(_CLEAR, older - _MUCH_LESS)

    def _odds(self, read: Sequence[Candidate], links: Iterable[Link]) -> Scores:
        """Return the odds that each is a better answer than each other one, as logarithms."""
        # What is too long to be read is no answer before it is seen to be one.
        logits = np.array([self.logits.get(hit.owner_id, _NOTHING) for hit in read], np.float64)
        worth = 2 * self.weight * _FOR_LOGIT * logits
        worth += 2 * (1 - self.weight) * _FOR_SCORE * np.array([hit.score for hit in read])
        odds = worth[:, None] - worth
        linked = {frozenset(link.ends) for link in links}
        answering: list[int] = np.flatnonzero(logits >= _ANSWERS).tolist()
        for one, other in permutations(answering, 2):
            if self._is_later(read[one], read[other]):
                ends = read[one].owner_id, read[other].owner_id
                least = _ANSWERS if frozenset(ends) in linked else self._enough(*ends)
                if min(logits[one], logits[other]) >= least:
                    odds[one, other] += _FOR_NEWER
                    odds[other, one] -= _FOR_NEWER
        return np.clip(odds, -_MAX_ODDS, _MAX_ODDS)

    def _enough(self, one: str, other: str) -> float:
        """Return how clearly both must answer, so that the later one is what holds.

        If they state one attribute, they are values of it; otherwise both must answer clearly.
        """
        first, second = self.records.get(one), self.records.get(other)
        if first is None or second is None:
            return _ENOUGH
        is_comparable = second.facet in with_near(first.facet or "")
        is_same = is_comparable and may_be_about(first, second.about)
        return _ANSWERS if is_same else math.inf

    def _is_later(self, hit: Candidate, other: Candidate) -> bool:
        """Return whether it says later what holds; an episode only says what happened."""
        here, there = hit.owner_id, other.owner_id
        one, another = self.sessions.get(here), self.sessions.get(there)
        is_apart = one is not None and another is not None and one != another
        gap = timedelta(0) if is_apart else _ONE_CONVERSATION
        is_later = self.times[here] > self.times[there] + gap
        return is_later and hit.standing.kind is not Kind.EPISODIC


class Answering:
    """The step that reads the best candidates together with the question."""

    def __init__(self, models: Sequence[AnswerModel]) -> None:
        """Use the first of the `models`, and the next ones where it fails."""
        self._models = models

    def candidates(self, question: Question) -> int:
        """Return how many candidates are read at most."""
        return max((model.most for model in self._able(question)), default=0)

    async def read(
        self,
        question: Question,
        best: Sequence[Candidate],
        items: Mapping[str, Item],
        stating: Sequence[Candidate] = (),
        about: str = "",
    ) -> Answers:
        """Return how clearly the best candidates answer; nothing if no model can tell.

        The `stating` ones are read in any case: they state what is asked for, `about` whom it is
        asked.
        """
        notes: list[str] = []
        for model in self._able(question):
            answers = await _read(model, question, best, items, stating, about)
            if notes and answers.logits:
                notes[-1] += f"; {model.name} reads instead"
            notes += answers.degraded
            if answers.logits:
                return replace(answers, degraded=tuple(notes))
        return Answers(degraded=tuple(notes))

    async def clearly_answering(self, question: str, texts: Sequence[str]) -> list[bool]:
        """Return for each text whether it clearly answers; none does without a model."""
        for model in self._models:
            found = await model.logits(question, texts)
            if isinstance(found, str):
                continue
            for place, logit in enumerate(found):
                if math.isnan(logit):
                    # Alone it may be read: a call reads only so much.
                    alone = await model.logits(question, [texts[place]])
                    found[place] = logit if isinstance(alone, str) else alone[0]
            return [logit >= _CLEAR for logit in found]
        return [False] * len(texts)

    async def load(self) -> None:
        """Load the model, so that the first question need not wait for it."""
        for model in self._models[:1]:
            await model.logits("?", ["."])

    def forget(self) -> None:
        """Forget what was read, because a text was forgotten."""
        for model in self._models:
            model.forget()

    async def read_more(
        self,
        question: Question,
        answers: Answers,
        added: Sequence[Candidate],
        items: Mapping[str, Item],
    ) -> Answers:
        """Return the answers with those of more candidates, if there were any before."""
        new = [hit for hit in added if hit.owner_id not in answers.logits]
        if not new or answers.model is None:
            return answers
        more = await _read(answers.model, question, new, items, (), "")
        return replace(
            answers,
            logits={**answers.logits, **more.logits},
            times={**answers.times, **more.times},
            sessions={**answers.sessions, **more.sessions},
            several=answers.several | more.several,
            records={**answers.records, **more.records},
            hits=(*answers.hits, *more.hits),
        )

    def _able(self, question: Question) -> list[AnswerModel]:
        """Return the models that may read a question.

        Which statement held in the past, or at a time that is asked for, their times decide.
        """
        is_question = question.mood in {"interrogative", "declarative"}
        names_time = any(isinstance(it, When) for it in question.times)
        if question.is_about_past or (is_question and names_time):
            return []
        is_plain = question.wants_something and not any(map(str.isdigit, question.text))
        return [model for model in self._models if is_plain or model.options.reads_all]


async def _read(
    model: AnswerModel,
    question: Question,
    best: Sequence[Candidate],
    items: Mapping[str, Item],
    stating: Sequence[Candidate],
    about: str,
) -> Answers:
    """Return how clearly the best candidates answer, as one model reads them."""
    found: dict[str, float] = {}
    notes: list[str] = []
    present = [hit for hit in best if hit.owner_id in items]
    first = {hit.owner_id: hit for hit in (*present[: model.options.first], *stating)}
    rest = [hit for hit in present[: model.most] if hit.owner_id not in first]
    for some in ([hit for hit in first.values() if hit.owner_id in items], rest):
        some = _undecided(some, found, items, is_own=about == _USER)
        if some and not notes:
            texts = [_text_of(hit, items[hit.owner_id], question, model) for hit in some]
            logits = await model.logits(question.by_user, texts)
            if isinstance(logits, str):
                notes.append(logits)
            else:
                found |= zip([hit.owner_id for hit in some], logits, strict=True)
    records = _records_of({owner: items[owner] for owner in found})
    known = {
        owner: _adjusted(logit, items[owner], records.get(owner), about)
        for owner, logit in found.items()
        if not math.isnan(logit)
    }
    names = entities(question.text)
    stated = _naming(names, [hit for hit in stating if hit.owner_id in items], items)
    may_misread = not model.options.reads_all and (
        _have_words(question, [items[owner].content for owner in known]) or bool(names and stated)
    )
    return Answers(
        known,
        {owner: _said_at(items[owner]) for owner in known},
        {owner: _session_of(items[owner]) for owner in known},
        may_miss=may_misread or len(known) < len(found),
        degraded=tuple(notes),
        model=model,
        weight=model.weight,
        several=frozenset([owner for owner in known if _says_several(items[owner])]),
        records=records,
        hits=(*first.values(), *rest),
        stating=stated,
    )


def _undecided(
    hits: Sequence[Candidate],
    logits: Mapping[str, float],
    items: Mapping[str, Item],
    *,
    is_own: bool,
) -> list[Candidate]:
    """Return the hits to read beside those that were read: all, if none of them answers.

    Otherwise, what was said later about the user, whose circumstances change.
    """
    answered = [_said_at(items[owner]) for owner, logit in logits.items() if logit >= _ENOUGH]
    if not answered:
        return list(hits)
    latest = max(answered) + _ONE_CONVERSATION
    return [hit for hit in hits if is_own and _said_at(items[hit.owner_id]) > latest]


def _text_of(hit: Candidate, item: Item, question: Question, model: AnswerModel) -> str:
    """Return what a model reads of a candidate, with "User" where it names the user."""
    passage = passage_of(hit, item)
    if model.options.in_context and isinstance(item, Turn):
        age = (question.asked_at or question.now) - _said_at(item)
        passage = passage_in_context(hit, item, passage, age)
    return question.about_user(passage)


def _have_words(question: Question, texts: Iterable[str]) -> bool:
    """Return whether any of the texts has nearly all words of the question."""
    wanted = {term for key, term in question.terms.items() if key not in question.slight}
    for text in texts if wanted else ():
        shared = wanted & _terms_in(text[:_MAX_COMPARED_CHARS])
        if len(shared) >= _NEARLY_ALL * len(wanted):
            return True
    return False


def _naming(
    names: Sequence[str], stating: Iterable[Candidate], items: Mapping[str, Item]
) -> frozenset[str]:
    """Return what names one of these; all of it if there are no names."""
    said = {hit.owner_id: items[hit.owner_id].content.casefold() for hit in stating}
    return frozenset(
        [owner for owner, text in said.items() if not names or any(name in text for name in names)]
    )


def _is_ordered(hit: Candidate) -> bool:
    """Return whether a hit gets its place by how clearly it answers.

    What is superseded is below its successor in any case, and of ways of working that one is best
    which helped.
    """
    return hit.superseded_by is None and hit.standing.kind is not Kind.PROCEDURAL


def _records_of(items: Mapping[str, Item]) -> dict[str, Record]:
    """Return the record with the facet of each item: itself, or one that was made from the turn."""
    found: dict[str, Record] = {}
    for item in items.values():
        if isinstance(item, Record) and item.facet:
            found[item.id] = item
            found |= {source.turn: item for source in item.evidence if source.turn in items}
    return found


def _adjusted(logit: float, item: Item, record: Record | None, about: str) -> float:
    """Return how clearly an item answers, given whom it is about and whether it tells anything."""
    if _only_supposes(item):
        return min(logit, _NOTHING)
    if record is not None and not may_be_about(record, about):
        return logit - _ABOUT_ANOTHER
    return logit


def _only_supposes(item: Item) -> bool:
    """Return whether a turn tells nothing that is so: "if I lived in Berlin, I'd cycle"."""
    return isinstance(item, Turn) and set(_moods(item.content)) == {"hypothetical"}


def _says_several(item: Item) -> bool:
    return isinstance(item, Turn) and len(_moods(item.content)) > 1


# The same texts are found again and again.
@lru_cache(maxsize=1_024)
def _terms_in(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


@lru_cache(maxsize=1_024)
def _moods(text: str) -> tuple[str, ...]:
    """Return the mood of each sentence."""
    return tuple(mood(sentence.plain) for sentence in sentences(readable(text)))


def _said_at(item: Item) -> datetime:
    """Return when somebody last said or confirmed it."""
    if isinstance(item, Record):
        return item.last_confirmed
    return item.at if isinstance(item, Turn) else item.created_at


def _session_of(item: Item) -> str | None:
    return item.session if isinstance(item, Record | Turn) else None


def _placed(hit: Candidate, score: float) -> Candidate:
    """Return the hit with the score of the place that it takes."""
    return hit if hit.score == score else hit.moved(score, _REASON)


# --- Records that state what a question asks for, however differently they are worded -------------
#
# "Where do I live?" and "we have had the keys to the flat in Bristol since Monday" share no word,
# but one asks for a home and the other states one.

# The latest records of a facet that are read beside the best candidates.
_MAX_RECORDS: Final = 4
_MAX_LOOKED_AT: Final = 24


class FacetCandidates:
    """A search for the latest records of the facet that a question asks for."""

    def __init__(self, store: Store, reader: Callable[[], FacetReader | None]) -> None:
        """`reader` opens the model, and is called when a question is asked."""
        self._store = store
        self._reader = reader

    async def of(self, question: Question) -> tuple[FacetGuess, Sequence[Record]]:
        """Return what is asked for, and the latest records that may answer.

        There are none if no facet is likely enough.
        """
        if question.where.facets or not question.where.wants_records:
            return UNDECIDED, ()
        asked = await self._asked(question)
        if not asked.facet:
            return asked, ()
        where = replace(question.where, facets=with_near(asked.facet))
        found = await self._store.records(
            question.scopes, where, now=question.now, limit=_MAX_LOOKED_AT
        )
        latest = sorted(found, key=lambda record: record.last_confirmed, reverse=True)
        fitting = [record for record in latest if may_be_about(record, asked.about)]
        return asked, fitting[:_MAX_RECORDS]

    async def _asked(self, question: Question) -> FacetGuess:
        reader = self._reader()
        return UNDECIDED if reader is None else await reader.asked(question.by_user)


def may_be_about(record: Record, about: str) -> bool:
    """Return whether a record may be about the same; what is unknown may be."""
    return not record.about or not about or record.about == about
