"""Claims of one message that have a form of their own, in Chinese and English.

Wishes ("from now on …", 记住…), procedures, proposals that the user confirms, and what an assistant
has done. What is told in passing has no form: there a reader decides, see `writing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import zip_longest
from typing import Final, Literal

from recollect.domain.context import Tongue
from recollect.domain.record import Episode, Evidence, Kind
from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.claims import moods
from recollect.language.claims.subjects import (
    addressed_in_chinese,
    addressed_in_english,
    named_in_chinese,
    named_in_english,
)
from recollect.language.extraction.acts import says_something
from recollect.language.extraction.forgetting import asks_to_forget
from recollect.language.extraction.own_words import own_end
from recollect.language.extraction.procedures import FoundProcedure, in_sentence, listed
from recollect.language.extraction.utterances import (
    Sentence,
    clauses,
    preface,
    readable,
    sentences,
)
from recollect.language.lexicon import both, lexicon

Label = Literal["asks", "agreed"]

_EDGE: Final = " \t\n,;:.!，。；：！、~"
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_QUESTION_MARKS: Final = "?？"
_MAX_ANSWER_SENTENCES: Final = 2
_EXPLICIT_CONFIDENCE: Final = 0.95
_EXPLICIT_IMPORTANCE: Final = 0.8
_CONFIDENCE: Final = 0.75
_IMPORTANT: Final = frozenset({"feedback", "decision", "convention"})


def language_of(plain: str) -> Tongue:
    """Return the language whose rules read this."""
    return "zh" if _HAN.search(plain) else "en"


# --- Words that are understood on their own: "I" becomes "User", an order gets a label ------------


def self_contained(text: str, language: Tongue, name: str, *, is_theirs: bool) -> str:
    """Return a statement that names the speaker instead of "I".

    Chinese leaves the subject out where it is the one who speaks, and where it was named before:
    only what `is_theirs` gets their name.
    """
    words = text.strip(_EDGE)
    opening = _openings().match(words)
    trimmed = words[opening.end() if opening else 0 :].strip(_EDGE) or words
    if language == "en":
        return named_in_english(trimmed, name)
    named = named_in_chinese(trimmed, name)
    return name + named if is_theirs and named == trimmed and "我们" not in named else named


def labelled(label: Label, text: str, language: Tongue) -> str:
    """Return an order or a proposal word for word, behind its label."""
    words = text.strip(_EDGE)
    if language == "zh" and (opening := _order_opening().match(words)):
        words = words[opening.end() :].strip(_EDGE) or words
    return lexicon(language, "voice").table("labels")[label] + words


def _speaker(speaker: str, role: str, language: Tongue) -> str:
    """Return who "I" is: the speaker if the conversation names one, else their role."""
    roles = lexicon(language, "voice").table("roles")
    return speaker or roles["assistant" if role == "assistant" else "user"]


@cache
def _openings() -> re.Pattern[str]:
    return re.compile(f"{both('voice', 'opening')}+", re.IGNORECASE)


@cache
def _order_opening() -> re.Pattern[str]:
    return re.compile(f"{lexicon('zh', 'voice').pattern('order_opening')}+")


# --- Claims --------------------------------------------------------------------------------------


def claim_of(
    category: str,
    clause: Sentence,
    turn: Turn,
    *,
    explicit: bool = False,
    label: Label | None = None,
    is_theirs: bool = False,
) -> Claim:
    """Return the claim of a clause in this category; `is_theirs` if it tells of the speaker."""
    language, words = language_of(clause.plain), turn.content[clause.start : clause.end]
    return Claim(
        kind=Kind.SEMANTIC,
        category=category,
        content=labelled(label, words, language)
        if label
        else _told(words, turn, language, is_theirs=is_theirs),
        evidence=(Evidence(turn=turn.id, start=clause.start, end=clause.end),),
        confidence=_EXPLICIT_CONFIDENCE if explicit else _CONFIDENCE,
        importance=_EXPLICIT_IMPORTANCE if explicit else 0.7 if category in _IMPORTANT else 0.6,
        explicit=explicit,
    )


def told_of_user(claim: Claim, said: Turn) -> Claim:
    """Return the claim of a user's own words that leave out whom they are about: the user."""
    words = said.content[claim.evidence[0].start : claim.evidence[0].end]
    return replace(claim, content=_told(words, said, language_of(words), is_theirs=True))


def _told(words: str, turn: Turn, language: Tongue, *, is_theirs: bool) -> str:
    name = _speaker(turn.speaker, turn.role, language)
    if turn.role == "user" and lexicon("zh", "first_person").regex("relatives").match(
        words.strip()
    ):
        # 妈妈生日快到了: only their children call them so.
        is_theirs = True
    return self_contained(words.rstrip(_QUESTION_MARKS), language, name, is_theirs=is_theirs)


def _procedure(found: FoundProcedure, turn: Turn, *, explicit: bool) -> Claim:
    """Return the claim of how something is to be done."""
    plain = turn.content[found.start : found.end]
    whole = Sentence(start=found.start, end=found.end, plain=plain)
    claim = claim_of("convention", whole, turn, explicit=explicit, label="asks")
    return replace(claim, kind=Kind.PROCEDURAL, title=found.title, details=found.details)


def _to_remember(sentence: Sentence, turn: Turn) -> Claim:
    """Return the claim for what the user asked to remember, or says of their own ways."""
    words = lexicon(language_of(sentence.plain), "signals")
    is_personal = words.regex("about_speaker").search(sentence.plain)
    is_project = words.regex("about_project").search(sentence.plain)
    category = "project" if is_project and not is_personal else "user"
    return claim_of(category, sentence, turn, explicit=True)


# --- What a user says ----------------------------------------------------------------------------


def own_sentences(text: str) -> list[Sentence]:
    """Return what a message says itself, up to pasted text; nothing if it is to be forgotten."""
    spoken = sentences(readable(text))
    if any(moods.is_withheld(it.plain) or asks_to_forget(it.plain) for it in spoken):
        return []
    pasted = (it.start for it in spoken if moods.announces_material(it.plain))
    end = min(own_end(text), next(pasted, len(text)))
    return [
        sentence
        for sentence, behind in zip_longest(spoken, spoken[1:])
        if sentence.start < end and not (behind and moods.takes_back(behind.plain))
    ]


def said_by_user(turn: Turn) -> list[Claim]:
    """Return the claims of a user's message that have a form of their own."""
    spoken = own_sentences(turn.content)
    steps = listed(turn.content, readable(turn.content)) if spoken else ()
    found = [
        _procedure(step, turn, explicit=False) for step in steps if step.start <= spoken[-1].start
    ]
    listing = [(it.evidence[0].start or 0, it.evidence[0].end or 0) for it in found]
    before: Sentence | None = None
    last: list[Claim] = []
    for sentence in spoken:
        if any(start <= sentence.start < end for start, end in listing):
            continue
        if not moods.keeps_what_was_said(sentence.plain):
            before, last = sentence, list(_wishes(sentence, turn))
            found += last
        elif before and not last and moods.stance(before.plain) == "told":
            found.append(_to_remember(before, turn))
    return found


def _wishes(sentence: Sentence, turn: Turn) -> Iterator[Claim]:
    stance = moods.stance(sentence.plain)
    steps = in_sentence(turn.content, sentence.plain, sentence.start)
    if steps and stance in {"told", "supposed"}:
        yield _procedure(steps, turn, explicit=moods.is_wish(sentence.plain))
        return
    corrects = preface(sentence.plain).corrects
    remember = stance == "told" and moods.asks_to_remember(sentence.plain)
    for clause in clauses(sentence) if stance in {"told", "asked"} else ():
        is_told = says_something(clause.plain) and moods.stance(clause.plain) == "told"
        about_speaker = lexicon(language_of(clause.plain), "signals").regex("about_speaker")
        is_order = moods.is_standing(clause.plain) and not about_speaker.match(clause.plain)
        if is_told and is_order:
            claim = claim_of("preference", clause, turn, explicit=True, label="asks")
            yield replace(claim, corrects=corrects)
        elif is_told and (remember or moods.is_wish(clause.plain)):
            yield replace(_to_remember(clause, turn), corrects=corrects)


def confirmed_by_user(turn: Turn, proposal: Turn) -> list[Claim]:
    """Return what an assistant proposed and the user's short answer accepted or asked to keep."""
    said = sentences(readable(turn.content))
    if not 0 < len(said) <= _MAX_ANSWER_SENTENCES:
        return []
    answer = Evidence(turn=turn.id, start=said[0].start, end=said[-1].end)
    offered = sentences(readable(proposal.content))
    if all(moods.keeps_what_was_said(sentence.plain) for sentence in said):
        kept = last_told(offered)
        claims = [] if kept is None else [_to_keep(kept, proposal)]
    elif proposal.role == "assistant" and all(moods.confirms(it.plain) for it in said):
        explicit = any(moods.is_wish(sentence.plain) for sentence in said)
        claims = [
            claim_of("decision", it, proposal, explicit=explicit, label="agreed")
            for it in offered
            if lexicon(language_of(it.plain), "outcomes").regex("proposed").search(it.plain)
        ][-1:]
    else:
        return []
    return [
        replace(
            claim,
            content=claim.content.rstrip(_QUESTION_MARKS),
            evidence=(*claim.evidence, answer),
        )
        for claim in claims
    ]


def _to_keep(sentence: Sentence, said: Turn) -> Claim:
    """Return the claim for a sentence that the user asked to keep, whoever said it."""
    claim = _to_remember(sentence, said)
    if said.role != "assistant":
        return claim
    language = language_of(sentence.plain)
    words = said.content[sentence.start : sentence.end].strip(_EDGE)
    retold = addressed_in_chinese if language == "zh" else addressed_in_english
    told = retold(words, _speaker("", "user", language))
    return claim if told == words else replace(claim, content=told)


def last_told(spoken: Sequence[Sentence]) -> Sentence | None:
    """Return the last sentence that states something; None if there is none."""
    told = (
        sentence
        for sentence in reversed(spoken)
        if moods.stance(sentence.plain) == "told" and says_something(sentence.plain)
    )
    return next(told, None)


# --- What an assistant has done ------------------------------------------------------------------

_ARTIFACT: Final = re.compile(
    r"https?://[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff<>\"'`]{3,500}"
    r"|(?<![\w/.:])(?:~|\.{1,2})?/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}"
    r"|(?<![\w/.:])[\w-][\w.-]{0,80}(?:/[\w.-]{1,80}){0,12}/[\w-]{1,80}\.[a-z0-9]{1,5}\b"
    r"|\b[A-Za-z]:\\[^\s\"'<>|]{2,300}"
    r"|\b[\w-]{1,60}\.(?:csv|xlsx?|json|pdf|docx?|pptx?|png|jpe?g|svg|md|txt|py|js|ts|css|html|sql|zip|ya?ml"
    r"|toml|parquet|ipynb|go|rs|java)\b"
    r"|\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b"
    r"|\bv?\d{1,4}\.\d{1,6}\.\d{1,6}\b|(?<!\w)#\d{1,8}\b",
    re.ASCII,
)
_TRAILING: Final = ".,;:!?)"


def work_done(turn: Turn) -> list[Claim]:
    """Return what a message says was done, made or found out; advice is not a claim."""
    found: list[Claim] = []
    for sentence in sentences(readable(turn.content)):
        words = turn.content[sentence.start : sentence.end].strip()
        made = tuple(dict.fromkeys(it[0].rstrip(_TRAILING) for it in _ARTIFACT.finditer(words)))
        if moods.asks(sentence.plain) or not (category := _effect(sentence.plain, turn, made)):
            continue
        details = Episode(outcome=words, artifacts=made, timestamp=turn.at)
        claim = claim_of(category, sentence, turn)
        found.append(replace(claim, kind=Kind.EPISODIC, content=words, details=details))
    return found


def _effect(plain: str, turn: Turn, made: Sequence[str]) -> str:
    words = lexicon(language_of(plain), "outcomes")
    # A query that an assistant shows may be advice.
    is_run = turn.role != "assistant" and words.signs("queries").find(plain)
    if is_run or (made and words.signs("made").find(plain)):
        return "tool-effects"
    return "task-traces" if words.signs("done").find(plain) else ""
