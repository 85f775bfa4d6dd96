"""Extraction with a local reader, which decides what of a message is worth keeping.

Rules still find what has a form of its own: what the user asks to remember or to apply from now on,
corrections, procedures, confirmed proposals, and what an assistant has done. Facts told in passing
have none: there the reader decides, and the record is the user's own words.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Final, NamedTuple

from recollect.domain.record import Evidence, Kind
from recollect.domain.turn import Turn
from recollect.domain.write import Claim, Lasts, Topic
from recollect.language.claims import moods
from recollect.language.extraction.conversation import extract
from recollect.language.extraction.corrections import Earlier, told_again
from recollect.language.extraction.message import claim_of, language_of
from recollect.language.extraction.own_words import own_end
from recollect.language.extraction.parts import Part, last_clause, last_sentence, parts, refers_back
from recollect.language.extraction.utterances import (
    Sentence,
    Utterance,
    preface,
    readable,
    sentences,
)
from recollect.ports.facets import UNDECIDED, FacetGuess, FacetReader
from recollect.ports.reader import PartReader, Reading

_MATERIAL: Final = frozenset({"tool_output", "memory_output", "retracted"})
_CONFIDENCE: Final = 0.75
# What has the form of a fact is left out only where the reader gives it less than one in ten.
_RATHER_NOT: Final = -2.2
# A longer answer says itself what it is about.
_MAX_ANSWER_WORDS: Final = 8
_MAX_ANSWER_HAN: Final = 16
_NOT_TOLD: Final = frozenset({"asked", "supposed", "joked"})
_ABOUT_USER: Final = "user"
_PASSING: Final = "follow-up"
_QUESTION_MARKS: Final = ("?", "？")


class LearnedExtractor:
    """The extractor with a local reader beside the rules."""

    def __init__(self, reader: PartReader, facets: FacetReader | None = None) -> None:
        self._reader = reader
        self._facets = facets

    async def extract(
        self, turns: Sequence[Turn], *, before: Sequence[Turn] = ()
    ) -> tuple[Claim, ...]:
        """Return the claims of the turns, each once, in their order."""
        by_rules = extract(turns, before=before)
        told = list(_told(turns, before))
        pairs = [(part.before, part.text) for it in told for part in it.parts]
        readings = iter(await self._reader.read(pairs))
        found: list[Claim] = []
        facts: list[_Fact] = []
        corrections: list[_Correction] = []
        for it in told:
            read = [(part, next(readings)) for part in it.parts]
            own = [claim for claim in by_rules if claim.evidence[0].turn == it.said.id]
            kept = [
                _confirmed(claim, read)
                for claim in own
                if _has_form(claim) or _is_worth(claim, read)
            ]
            corrections += (_correction(one, it) for one in kept if _is_open(one))
            found += (one for one in kept if not _is_open(one))
            facts += (
                fact for fact in _facts(it, read) if not any(_meet(one, fact.words) for one in kept)
            )
        for claim, fact in zip(await self._claims(facts), facts, strict=True):
            if fact.corrects:
                corrections.append(_Correction(claim, fact.text, fact.told.previous))
            else:
                found.append(claim)
        read_turns = {it.said.id for it in told}
        earlier = [*found, *(it.claim for it in corrections)]
        earlier += await self._corrected(corrections, before)
        found += (_set_right(it, earlier) for it in corrections)
        found += (claim for claim in by_rules if claim.evidence[0].turn not in read_turns)
        order = {turn.id: number for number, turn in enumerate((*before, *turns))}
        found.sort(key=lambda it: (order[it.evidence[0].turn], it.evidence[0].start or 0))
        # Of two with the same words, the first stays.
        once = {(it.category, it.content.casefold()): it for it in reversed(found)}
        return tuple(reversed(once.values()))

    async def _corrected(
        self, corrections: Sequence[_Correction], before: Sequence[Turn]
    ) -> Sequence[Claim]:
        """Return the claims of messages that were read earlier and are corrected now."""
        corrected = {it.previous for it in corrections}
        said = [turn for turn in before if turn.id in corrected]
        return await self.extract(said) if said else ()

    async def _claims(self, facts: Sequence[_Fact]) -> list[Claim]:
        if self._facets is None or not facts:
            return [_claim(fact, UNDECIDED) for fact in facts]
        # What is told in several parts states the attribute that shows clearest in one of them.
        texts = [[fact.text, *fact.parts] for fact in facts]
        guesses = iter(await self._facets.read([text for some in texts for text in some]))
        found = [[next(guesses) for _ in some] for some in texts]
        return [_claim(fact, _clearest(some)) for fact, some in zip(facts, found, strict=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """A user's message: what of it can be a fact, and the question that it answers."""

    said: Utterance
    parts: Sequence[Part]
    asked: Evidence | None
    question: str
    previous: str | None
    """The user's message before it."""


def _told(turns: Sequence[Turn], before: Sequence[Turn]) -> Iterator[_Told]:
    last = next((turn for turn in reversed(before) if turn.role in {"user", "assistant"}), None)
    previous = next((turn.id for turn in reversed(before) if turn.role == "user"), None)
    for turn in turns:
        if turn.role == "user" and turn.act not in _MATERIAL:
            question = last_sentence(last.content) if last and last.role == "assistant" else ""
            asked = None
            if last and question.endswith(_QUESTION_MARKS):
                start = last.content.rindex(question)
                asked = Evidence(turn=last.id, start=start, end=start + len(question))
            said = Utterance(
                id=turn.id, role="user", speaker=turn.speaker, text=turn.content, at=turn.at
            )
            yield _Told(
                said=said,
                parts=_own_words(turn.content, question),
                asked=asked,
                question=question,
                previous=previous,
            )
            previous = turn.id
        if turn.role in {"user", "assistant"}:
            last = turn


def _own_words(text: str, question: str) -> list[Part]:
    """Return the parts of a message up to pasted text; none if it is not to be remembered."""
    spoken = sentences(readable(text))
    if any(moods.is_withheld(sentence.plain) for sentence in spoken):
        return []
    material = next(
        (it.start for it in spoken if moods.announces_material(it.plain)), own_end(text)
    )
    return [part for part in parts(text, question) if part.clause.start < material]


# --- Claims by rules ------------------------------------------------------------------------------


def _has_form(claim: Claim) -> bool:
    """Return whether rules know a claim by its form, whatever it says."""
    return (
        claim.explicit
        or claim.corrects
        or claim.kind is Kind.PROCEDURAL
        or claim.category in {"feedback", "reference"}
        or len(claim.evidence) > 1
    )


def _is_worth(claim: Claim, read: Sequence[tuple[Part, Reading]]) -> bool:
    """Return whether something of a claim that rules found may be worth keeping."""
    scores = [it.score for part, it in read if _meet(claim, part.clause)]
    return not scores or max(scores) > _RATHER_NOT


def _confirmed(claim: Claim, read: Sequence[tuple[Part, Reading]]) -> Claim:
    """Return a claim that rules found, with how long it lasts if the reader would keep it too."""
    met = [it for part, it in read if it.score > 0 and _meet(claim, part.clause)]
    if not met:
        return claim
    return replace(claim, lasts=max(met, key=lambda it: it.score).lasts, is_read=True)


def _meet(claim: Claim, words: Sentence) -> bool:
    start, end = claim.evidence[0].start or 0, claim.evidence[0].end or 0
    return start < words.end and words.start < end


def _is_open(claim: Claim) -> bool:
    """Return whether a claim says that something was wrong, and rules did not find what."""
    return claim.corrects and not claim.explicit and not claim.explained_by


def _correction(claim: Claim, told: _Told) -> _Correction:
    said = claim.evidence[0]
    return _Correction(claim, told.said.text[said.start : said.end], told.previous)


# --- Claims by the reader -------------------------------------------------------------------------


class _Correction(NamedTuple):
    """A claim that may only give a right value, and the message whose claim had the wrong one."""

    claim: Claim
    text: str
    previous: str | None


def _set_right(correction: _Correction, earlier: Sequence[Claim]) -> Claim:
    """Return the claim; one that only gives a right value is told with what it belongs to."""
    wrong = Earlier([it for it in earlier if it.evidence[0].turn == correction.previous])
    # "I had that wrong, it's the 18th": the last words give the value.
    for text in (correction.text, last_clause(correction.text)):
        if again := told_again(text, wrong, corrects=True):
            claim, content = again
            return replace(
                claim,
                content=content,
                evidence=correction.claim.evidence,
                explained_by=(*claim.explained_by, claim.evidence[0]),
                corrects=True,
            )
    return correction.claim


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """Words that are worth keeping; `question` if they only answer what an assistant asked."""

    told: _Told
    words: Sentence
    parts: tuple[str, ...]
    lasts: Lasts
    question: str = ""
    corrects: bool = False
    """Whether the message said before that something was wrong."""

    @property
    def text(self) -> str:
        said = self.told.said.text[self.words.start : self.words.end].strip()
        return f"{self.question} – {said}" if self.question else said


def _facts(told: _Told, read: Sequence[tuple[Part, Reading]]) -> Iterator[_Fact]:
    """Yield what is worth keeping, neighbouring parts of a sentence as one."""
    for (_, is_kept), parts_of_one in groupby(
        read, lambda it: (it[0].sentence.start, it[1].score > 0)
    ):
        run = list(parts_of_one)
        first, last, sentence = run[0][0].clause, run[-1][0].clause, run[0][0].sentence
        if first.start > sentence.start and refers_back(first.plain):
            # "Off to walk Biscuit, that's our dog": the words before tell what is meant.
            first = _before(told.parts, run[0][0])
        start, end = first.start - sentence.start, last.end - sentence.start
        words = Sentence(start=first.start, end=last.end, plain=sentence.plain[start:end])
        answers = told.asked is not None and run[0][0] is told.parts[0] and _is_brief(words.plain)
        if is_kept and (answers or moods.stance(words.plain) not in _NOT_TOLD):
            best = max((reading for _, reading in run), key=lambda it: it.score)
            question = told.question if answers else ""
            texts = tuple(part.text for part, _ in run)
            yield _Fact(
                told=told,
                words=words,
                parts=texts,
                lasts=best.lasts,
                question=question,
                corrects=_is_announced(told, words),
            )


def _clearest(guesses: Sequence[FacetGuess]) -> FacetGuess:
    known = [guess for guess in guesses if guess.facet]
    return max(known, key=lambda guess: guess.probability) if known else guesses[0]


def _is_announced(told: _Told, words: Sentence) -> bool:
    """Return whether the message said, up to these words, that something was wrong."""
    said = sentences(readable(told.said.text))
    return any(preface(it.plain).corrects for it in said if it.start <= words.start)


def _before(told: Sequence[Part], part: Part) -> Sentence:
    """Return the part before another one of the same sentence."""
    return told[max(0, told.index(part) - 1)].clause


def _claim(fact: _Fact, guess: FacetGuess) -> Claim:
    kinds, facet = _kinds(), guess.facet or ""
    category = kinds.category.get(facet, _ABOUT_USER)
    if category == _PASSING and fact.lasts == "long":
        category = _ABOUT_USER
    claim = claim_of(category, fact.words, fact.told.said, confidence=_CONFIDENCE, explicit=False)
    topic = kinds.topic.get(facet) if fact.lasts == "long" else None
    claim = replace(
        claim, topic=topic, lasts=fact.lasts, facet=facet, about=guess.about, is_read=True
    )
    if not fact.question or fact.told.asked is None:
        return claim
    return replace(claim, content=fact.text, explained_by=(fact.told.asked,))


def _is_brief(plain: str) -> bool:
    if language_of(plain) == "zh":
        return len(plain) <= _MAX_ANSWER_HAN
    return len(plain.split()) <= _MAX_ANSWER_WORDS


class _Kinds(NamedTuple):
    category: Mapping[str, str]
    topic: Mapping[str, Topic]


@cache
def _kinds() -> _Kinds:
    data = tomllib.loads((files("recollect.language") / "data" / "facets.toml").read_text("utf-8"))

    def by_facet(table: Mapping[str, str]) -> dict[str, str]:
        return {facet: name for name, facets in table.items() for facet in facets.split()}

    topics: dict[str, Topic] = by_facet(data["topic"])  # pyright: ignore[reportAssignmentType]
    return _Kinds(by_facet(data["category"]), topics)
