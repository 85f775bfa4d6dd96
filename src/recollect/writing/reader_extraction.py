"""Extraction with a reader, which decides what of a message is worth keeping.

Rules find what has a form of its own: what the user asks to remember or to apply from now on,
procedures, and what an assistant has done. Facts told in passing have none:
there the reader decides, and the record is the user's own words.
"""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from itertools import groupby, zip_longest
from typing import Final, NamedTuple, Protocol

from recollect.domain.facets import facets
from recollect.domain.record import Evidence, Kind
from recollect.domain.turn import Turn
from recollect.domain.write import Claim, Lasts, Topic
from recollect.language.claims import moods
from recollect.language.extraction.acts import says_something
from recollect.language.extraction.forgetting import tells_value
from recollect.language.extraction.message import (
    MATERIAL,
    claim_of,
    claims_of_form,
    language_of,
    own_sentences,
)
from recollect.language.extraction.parts import (
    Part,
    last_sentence,
    parts,
    refers_back,
    says_who,
    stands_alone,
)
from recollect.language.extraction.utterances import (
    Sentence,
    part_of,
    preface,
    readable,
)
from recollect.ports.facets import UNDECIDED, FacetGuess
from recollect.ports.reader import PartReader, Reading, Stance, Wish

# What is denied is told: "I don't work there any more".
TOLD: Final[frozenset[Stance]] = frozenset({"told", "denied"})
_KEPT_WISHES: Final[frozenset[Wish]] = frozenset({"standing", "remember"})
# How far below its limit a reader may be wrong about wishes.
_DOUBT: Final = 1.5
# A longer answer says itself what it is about.
_MAX_ANSWER_WORDS: Final = 8
_MAX_ANSWER_HAN: Final = 16
_ABOUT_USER: Final = "user"
_PROJECT: Final = "project"
# Where the one who is spoken of is told by name, even if Chinese left it out.
_OF_USER: Final = frozenset({"user", "preference"})
_EVEN, _LIKELY = 0.5, 0.7
_PASSING: Final = "follow-up"
_WISHED: Final = "preference"
_STANDING: Final = "instruction"
_QUESTION_MARKS: Final = ("?", "？")


class Extractor(Protocol):
    """Find claims in turns, with a reader or a language model."""

    async def extract(
        self, turns: Sequence[Turn], *, before: Sequence[Turn] = ()
    ) -> tuple[Claim, ...]:
        """Return the claims of the turns, each once."""
        ...


class ReaderExtractor:
    """The extractor with a reader, and rules for what has a form of its own."""

    def __init__(self, reader: PartReader) -> None:
        self.reader = reader

    async def extract(
        self, turns: Sequence[Turn], *, before: Sequence[Turn] = ()
    ) -> tuple[Claim, ...]:
        """Return the claims of the turns, each once, in their order."""
        # In a thread, because callers would wait for it.
        formed, told = await asyncio.to_thread(_by_form, turns, before)
        readings = iter(await self.reader.read([pair for it in told for pair in it.pairs]))
        found: list[Claim] = []
        facts: list[_Fact] = []
        for it in told:
            read = list(it.read(readings))
            own = [claim for claim in formed if claim.evidence[0].turn == it.said.id]
            own = [claim for claim in own if _is_meant(claim, read)]
            own += _standing_wishes(it, read, own)
            found += own
            facts += _facts(it, read, own)
        read_turns = {it.said.id for it in told}
        found += (claim for claim in formed if claim.evidence[0].turn not in read_turns)
        found += await self._claims(facts, found, before)
        order = {turn.id: number for number, turn in enumerate((*before, *turns))}
        found.sort(key=lambda it: (order[it.evidence[0].turn], it.evidence[0].start or 0))
        once: dict[tuple[str, str], Claim] = {}
        for claim in found:
            # Said first and asked to be kept later: the wish counts.
            first = once.setdefault((claim.category, claim.content.casefold()), claim)
            if claim.explicit and not first.explicit:
                once[claim.category, claim.content.casefold()] = claim
        return tuple(once.values())

    async def _claims(
        self, facts: Sequence[_Fact], found: Sequence[Claim], before: Sequence[Turn]
    ) -> list[Claim]:
        """Return the claims of facts; a correction is told behind the one that it puts right."""
        corrected = {fact.told.wrong for fact in facts if fact.amends}
        known = [*found]
        for number, turn in enumerate(before):
            if turn.id in corrected:
                known += await self.extract([turn], before=before[:number])
        told: list[Claim] = []
        for fact in facts:
            earlier = (it for it in known if it.evidence[-1].turn == fact.told.wrong)
            wrong = [it for it in earlier if fact.amends and it.kind is Kind.SEMANTIC]
            claim = _put_right(wrong[-1], fact) if wrong else _claim(fact)
            told.append(claim)
            known.append(claim)
        return told


async def stances(reader: PartReader, text: str) -> list[tuple[Part, Stance]]:
    """Return the parts of a message, each with how it is meant."""
    found = parts(text)
    readings = await reader.read([(part.before, part.text) for part in found])
    return [(part, reading.stance) for part, reading in zip(found, readings, strict=True)]


@dataclass(frozen=True, kw_only=True)
class _Told:
    """A user's message: what of it can be a fact, and the question that it answers."""

    said: Turn
    sentences: Sequence[Sentence]
    parts: Sequence[Part]
    asked: Evidence | None
    question: str
    wrong: str | None
    """The user's message before it, if this one begins by setting it right."""

    @cached_property
    def joined(self) -> Collection[Part]:
        """Return the parts on both sides of a place where a further statement begins."""
        return [
            part
            for part, behind in zip_longest(self.parts, self.parts[1:])
            if stands_alone(part)
            or (behind and stands_alone(behind) and says_who(part.clause.plain))
        ]

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        """Yield what is read: each part with the words before it, some alone as well."""
        for part in self.parts:
            yield part.before, part.text
            if part in self.joined:
                yield "", part.text

    def read(self, readings: Iterator[Reading]) -> Iterator[_ReadPart]:
        """Yield the parts with their readings, and what each asks of memory."""
        behind = zip(self.sentences, self.sentences[1:], strict=False)
        kept = {it.start for it, next_ in behind if moods.only_says(next_.plain, "remember_this")}
        for parts_of_one in _groups(self.parts):
            read = [
                _ReadPart(part, next(readings), next(readings) if part in self.joined else None)
                for part in parts_of_one
            ]
            worded = _worded_wish(read)
            for it in read:
                if it.reading.wish in _KEPT_WISHES and it.reading.stance != "asked":
                    yield it._replace(wish=it.reading.wish)
                elif it.part.sentence.start in kept and it.reading.stance in TOLD:
                    yield it._replace(wish="remember")
                else:
                    yield it._replace(wish=worded)


def _groups(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Yield the parts of a sentence that stand for themselves: what tells of one subject."""
    group: list[Part] = []
    for part in parts:
        if group and (part.sentence != group[0].sentence or says_who(part.clause.plain)):
            yield group
            group = []
        group.append(part)
    if group:
        yield group


class _ReadPart(NamedTuple):
    """A part of a message with its reading, and the one without the words before it."""

    part: Part
    reading: Reading
    alone: Reading | None = None
    wish: Wish = "none"

    @property
    def is_worth(self) -> bool:
        """Return whether it is kept; facts before a statement may hide its worth."""
        return self.is_statement or self.is_wished or self.reading.score > 0

    @property
    def is_wished(self) -> bool:
        """Return whether the user asks to remember it."""
        return self.wish == "remember"

    @property
    def is_statement(self) -> bool:
        """Return whether it is worth keeping by itself, whatever is told before it."""
        return self.alone is not None and self.alone.score > 0


def _by_form(turns: Sequence[Turn], before: Sequence[Turn]) -> tuple[Sequence[Claim], list[_Told]]:
    return list(claims_of_form(turns, before=before)), list(_told(turns, before))


def _told(turns: Sequence[Turn], before: Sequence[Turn]) -> Iterator[_Told]:
    previous = last = None
    for number, turn in enumerate((*before, *turns)):
        if turn.role == "user" and turn.act not in MATERIAL and number >= len(before):
            question = last_sentence(last.content) if last and last.role == "assistant" else ""
            asked = None
            if last and question.endswith(_QUESTION_MARKS):
                start = last.content.rindex(question)
                asked = Evidence(turn=last.id, start=start, end=start + len(question))
            spoken = own_sentences(turn.content)
            wrong = previous if spoken and preface(spoken[0].plain).corrects and not asked else None
            if wrong:
                question = last_sentence(wrong.content)
            starts = {it.start for it in spoken if _may_tell(it)}
            yield _Told(
                said=turn,
                sentences=spoken,
                parts=[
                    part for part in parts(turn.content, question) if part.sentence.start in starts
                ],
                asked=asked,
                question=question,
                wrong=wrong.id if wrong else None,
            )
        if turn.role == "user":
            previous = turn
        if turn.role in {"user", "assistant"}:
            last = turn


def _may_tell(sentence: Sentence) -> bool:
    """Return whether it is more than "remember this", or than what announces another's words."""
    is_announcement = sentence.plain.rstrip().endswith((":", "："))
    return not is_announcement and not moods.only_says(sentence.plain, "remember_this")


# --- Wishes ---------------------------------------------------------------------------------------


def _worded_wish(read: Sequence[_ReadPart]) -> Wish:
    """Return what the words of a clause ask of memory, unless the reader is sure they do not.

    "I've been here for nine years, never late once" has the words of a wish. Who says "remember" is
    believed.
    """
    told = [it.reading for it in read if it.reading.score > 0 and it.reading.stance in TOLD]
    if told and all(it.states.abouts.get(_ABOUT_USER, 1.0) < _EVEN for it in told):
        # "The boiler stops every time it rains": a fact of a thing or of somebody else.
        return "none"
    whole = read[0].part.sentence
    sentence = whole.plain
    clause = sentence[
        read[0].part.clause.start - whole.start : read[-1].part.clause.end - whole.start
    ]
    if moods.stance(sentence) == "told" and moods.shows(sentence, "remember"):
        return "remember"
    if moods.stance(clause) != "told" or not moods.shows(clause, "wish"):
        return "none"
    if not says_something(clause) or not any(_may_be_wish(it.reading) for it in read):
        return "none"
    return "standing" if moods.orders(clause) else "remember"


def _may_be_wish(it: Reading) -> bool:
    return it.worth >= -_DOUBT and it.stance not in {"asked", "requested"}


def _is_meant(claim: Claim, read: Sequence[_ReadPart]) -> bool:
    """Return whether the reader may be wrong if it does not take an explicit claim for a wish."""
    met = [it for it in read if _meet(claim, it.part.clause)]
    return not (claim.explicit and met) or any(
        it.wish != "none" or _may_be_wish(it.reading) for it in met
    )


def _standing_wishes(
    told: _Told, read: Sequence[_ReadPart], formed: Sequence[Claim]
) -> Iterator[Claim]:
    """Yield what is to hold for all answers."""

    def place(it: _ReadPart) -> tuple[int, bool]:
        is_new = not any(_meet(claim, it.part.clause) for claim in formed)
        return it.part.sentence.start, is_new and it.wish == "standing"

    for (_, is_wish), group in groupby(read, place):
        if is_wish:
            members = list(group)
            run = [it.part for it in members]
            sentence, start = run[0].sentence, run[0].clause.start
            opening = preface(sentence.plain)
            start = max(start - sentence.start, opening.length)
            end = run[-1].clause.end - sentence.start
            words = part_of(sentence, start, end)
            if not says_something(words.plain):
                # "Keep your answers short, please": what is asked for stands before it.
                words = part_of(sentence, opening.length, end)
            claim = claim_of(_WISHED, words, told.said, explicit=True, orders=True)
            facet = _clearest([it.reading.states for it in members]).facet or ""
            is_of_profile = facet in facets() and facets()[facet].profile is not None
            yield replace(
                claim, facet=facet if is_of_profile else _STANDING, corrects=opening.corrects
            )


def _meet(claim: Claim, words: Sentence) -> bool:
    start, end = claim.evidence[0].start or 0, claim.evidence[0].end or 0
    return start < words.end and words.start < end


# --- Claims by the reader -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    """Words that are worth keeping; `question` if they only answer what an assistant asked."""

    told: _Told
    words: Sentence
    lasts: Lasts = "days"
    states: FacetGuess = UNDECIDED
    question: str = ""
    corrects: bool = False
    """Whether the message said before that something was wrong."""
    amends: bool = False
    """Whether it says nothing without what it sets right, in the message before."""
    is_wished: bool = False
    """Whether the user asked to remember it."""

    @property
    def text(self) -> str:
        said = self.told.said.content[self.words.start : self.words.end].strip()
        return f"{self.question} – {said}" if self.question else said


def _facts(told: _Told, read: Sequence[_ReadPart], formed: Sequence[Claim]) -> Sequence[_Fact]:
    """Return what else is worth keeping, neighbouring parts of a sentence as one."""
    facts: list[_Fact] = []
    before: list[_Fact] = []
    corrects = False
    for _, parts_of_one in groupby(read, lambda it: it.part.sentence.start):
        said = list(parts_of_one)
        sentence = said[0][0].sentence
        opening = preface(sentence.plain)
        # "No wait, I always mix that up. It's the 17th": open until something is told.
        corrects = corrects or opening.corrects
        proper = part_of(sentence, opening.length, len(sentence.plain))
        runs = [*_kept_runs(said, formed)][::-1]
        amends = told.wrong is not None and len(facts) <= 1
        may_amend = bool(before) == bool(facts) if amends else before and opening.corrects
        amending = _amending(said, proper.start, told.said.content) if may_amend else None
        if amending and not any(_meet(claim, amending.part.clause) for claim in formed):
            run = next((run for run in runs if amending in run), [amending])
            runs = [it for it in runs if it is not run]
            earlier = facts.pop() if before else _fact(told, run, proper, True)
            start = earlier.words.start if before else told.sentences[0].start
            words = _words(told, start, run[-1].part.clause.end)
            facts.append(replace(earlier, words=words, amends=earlier.amends or amends))
        else:
            amending = None
        kept = [_fact(told, run, proper, corrects) for run in runs]
        facts += kept
        corrects = opening.corrects or (corrects and not kept)
        before = facts[-1:] if kept or amending else []
    return facts


def _amending(said: Sequence[_ReadPart], start: int, text: str) -> _ReadPart | None:
    """Return the part behind a preface that sets right what was told before, and no more.

    "Wait, no, Bosch", "Sorry, I meant York": what it corrects is told only together with it.
    """
    first = next((it for it in said if it.part.clause.end > start), None)
    if first is None:
        return None
    start, end = max(start, first.part.clause.start), first.part.clause.end
    if says_who(first.part.sentence.plain[start - first.part.sentence.start :]):
        return None
    is_told = first.reading.stance in TOLD and first.is_worth
    has_value = first.reading.stance in {*TOLD, "chatter"} and tells_value(text[start:end])
    return first if is_told or has_value else None


def _words(told: _Told, start: int, end: int) -> Sentence:
    return Sentence(start=start, end=end, plain=readable(told.said.content)[start:end])


def _kept_runs(read: Sequence[_ReadPart], formed: Sequence[Claim]) -> Iterator[Sequence[_ReadPart]]:
    run: list[_ReadPart] = []
    # From the end: what is told right before a fact belongs to it, since it often says what it is
    # about: "I did sign up for the course, starts 9 January".
    for it in reversed(read):
        is_free = it.reading.wish != "forget" and not any(
            _meet(claim, it.part.clause) for claim in formed
        )
        is_open = is_free and (it.reading.stance in TOLD or it.is_wished)
        further = run and stands_alone(run[0].part) and run[0].is_statement and it.is_statement
        if run and (further or not is_open):
            # "I live in Lyon and I'm allergic to nuts": either can change without the other.
            yield run
            run = []
        if is_open and (run or it.is_worth):
            run.insert(0, it)
    if run:
        yield run


def _fact(told: _Told, run: Sequence[_ReadPart], proper: Sentence, corrects: bool) -> _Fact:
    """Return what a run of parts tells, without the preface of their sentence."""
    first, last, sentence = run[0].part.clause, run[-1].part.clause, run[0].part.sentence
    if first.start > sentence.start and refers_back(first.plain):
        # "Off to walk Biscuit, that's our dog": the words before tell what is meant.
        first = told.parts[max(0, told.parts.index(run[0].part) - 1)].clause
    start = max(first.start, proper.start) if proper.start < last.end else first.start
    words = part_of(sentence, start - sentence.start, last.end - sentence.start)
    best = max((it.reading for it in run), key=lambda it: it.score)
    answers = told.asked is not None and run[0].part is told.parts[0] and _is_brief(words.plain)
    return _Fact(
        told=told,
        words=words,
        lasts=best.lasts,
        states=_stated(run),
        question=told.question if answers else "",
        corrects=corrects,
        is_wished=any(it.is_wished for it in run),
    )


def _put_right(wrong: Claim, fact: _Fact) -> Claim:
    """Return a claim with the words behind it that set it right."""
    claim = _claim(fact)
    return replace(
        wrong,
        content=f"{wrong.content} – {fact.text}",
        evidence=claim.evidence,
        explained_by=(*wrong.explained_by, wrong.evidence[0]),
        corrects=True,
    )


def _stated(run: Sequence[_ReadPart]) -> FacetGuess:
    """Return what a run of parts states, of whom its first part tells."""
    first = run[0].reading.states
    clearest = _clearest([it.reading.states for it in run])
    return replace(clearest, about=first.about, abouts=first.abouts)


def _clearest(guesses: Sequence[FacetGuess]) -> FacetGuess:
    """Return the guess of the part in which an attribute shows clearest."""
    known = [guess for guess in guesses if guess.facet]
    return max(known, key=lambda guess: guess.probability) if known else guesses[0]


def _claim(fact: _Fact) -> Claim:
    kinds, facet = _kinds(), fact.states.facet or ""
    # Where no reader tells of whom it is, the words do.
    is_told = fact.is_wished or not fact.states.abouts
    is_shared = is_told and moods.tells_of_project(fact.words.plain)
    category = kinds.category.get(facet) or (_PROJECT if is_shared else _ABOUT_USER)
    if category == _PASSING and fact.lasts == "long":
        category = _ABOUT_USER
    is_theirs = category in _OF_USER and fact.states.abouts.get(_ABOUT_USER, 0.0) >= _LIKELY
    claim = replace(
        claim_of(
            category, fact.words, fact.told.said, explicit=fact.is_wished, is_theirs=is_theirs
        ),
        topic=kinds.topic.get(facet) if fact.lasts == "long" else None,
        lasts=fact.lasts,
        facet=facet,
        about=fact.states.about,
        corrects=fact.corrects,
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
        return {facet: name for name, some in table.items() for facet in some.split()}

    topics: dict[str, Topic] = by_facet(data["topic"])  # pyright: ignore[reportAssignmentType]
    return _Kinds(by_facet(data["category"]), topics)
