"""A claim of what a sentence or clause says: in words that stand alone, with where it was said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from recollect.domain.context import Tongue
from recollect.domain.extraction import Claim
from recollect.domain.record import Episode, Evidence, Kind
from recollect.text.signal_patterns import compiled
from recollect.writing import extract_chinese as chinese
from recollect.writing import extract_english as english
from recollect.writing.extract_events import episode
from recollect.writing.extract_procedures import FoundProcedure
from recollect.writing.extract_rule import Rule
from recollect.writing.extract_sentences import Sentence, Utterance
from recollect.writing.extract_voice import labelled, self_contained, speaker_name

_IMPORTANCE: Final[Mapping[str, float]] = {
    "preference": 0.6,
    "user": 0.6,
    "feedback": 0.7,
    "decision": 0.7,
    "project": 0.6,
    "domain-facts": 0.6,
    "reference": 0.5,
    "follow-up": 0.5,
    "sentiment": 0.3,
    "convention": 0.7,
}
_USUAL_IMPORTANCE: Final = 0.5
_EXPLICIT_CONFIDENCE: Final = 0.95
_EXPLICIT_IMPORTANCE: Final = 0.8
_PROCEDURE_CONFIDENCE: Final = 0.8
# Chinese leaves the subject out where it is the one who speaks.
_ABOUT_SPEAKER: Final = frozenset({"user", "preference"})
# What may stand between two clauses of one event: a comma, "and", a gap.
_LONGEST_JOINT: Final = 8
HAN_LETTER: Final = re.compile("[\u4e00-\u9fff]")


def of_statement(rule: Rule, clause: Sentence, turn: Utterance, *, explicit: bool) -> Claim:
    """What holds, as the rule that knows it labels it."""
    claim = claim_of(rule.category, clause, turn, confidence=rule.confidence, explicit=explicit)
    if rule.label is None:
        return claim
    words = labelled(rule.label, words_of(turn, clause), language_of(clause.plain))
    return replace(claim, content=words)


def of_event(rule: Rule, clause: Sentence, turn: Utterance, *, explicit: bool) -> Claim:
    """What happened, with who took part and what came of it."""
    language = language_of(clause.plain)
    words = english if language == "en" else chinese
    took_part = turn.role == "user" and bool(compiled(words.ABOUT_SPEAKER).search(clause.plain))
    alone = took_part and not compiled(words.ABOUT_US).search(clause.plain)
    is_personal = alone and rule.category == "task-traces"
    claim = claim_of(
        "user" if is_personal else rule.category,
        clause,
        turn,
        confidence=rule.confidence,
        explicit=explicit,
    )
    text = words_of(turn, clause)
    return replace(
        claim,
        kind=Kind.EPISODIC,
        content=claim.content if turn.role == "user" else text.strip(),
        details=episode(
            text,
            speaker=speaker_name(turn.speaker, turn.role, language) if took_part else "",
            outcome="" if turn.role == "user" else text.strip(),
            said_at=turn.at,
        ),
    )


def of_procedure(found: FoundProcedure, turn: Utterance, *, explicit: bool) -> Claim:
    """How something is to be done."""
    whole = Sentence(start=found.start, end=found.end, plain=turn.text[found.start : found.end])
    claim = claim_of("convention", whole, turn, confidence=_PROCEDURE_CONFIDENCE, explicit=explicit)
    return replace(
        claim,
        kind=Kind.PROCEDURAL,
        content=labelled("asks", words_of(turn, whole), language_of(whole.plain)),
        title=found.title,
        details=found.details,
    )


def asked_to_remember(sentence: Sentence, turn: Utterance) -> Claim:
    """A claim for what the user asked to remember and no rule knows."""
    words = english if language_of(sentence.plain) == "en" else chinese
    is_personal = compiled(words.ABOUT_SPEAKER).search(sentence.plain)
    is_project = compiled(words.ABOUT_PROJECT).search(sentence.plain)
    category = "project" if is_project and not is_personal else "user"
    return claim_of(category, sentence, turn, confidence=_EXPLICIT_CONFIDENCE, explicit=True)


def claim_of(
    category: str, clause: Sentence, turn: Utterance, *, confidence: float, explicit: bool
) -> Claim:
    """What a clause says, in this category."""
    language = language_of(clause.plain)
    importance = _IMPORTANCE.get(category, _USUAL_IMPORTANCE)
    return Claim(
        kind=Kind.SEMANTIC,
        category=category,
        content=self_contained(
            words_of(turn, clause),
            language,
            speaker_name(turn.speaker, turn.role, language),
            is_theirs=turn.role == "user" and category in _ABOUT_SPEAKER,
        ),
        evidence=(Evidence(turn=turn.id, start=clause.start, end=clause.end),),
        confidence=max(confidence, _EXPLICIT_CONFIDENCE) if explicit else confidence,
        importance=max(importance, _EXPLICIT_IMPORTANCE) if explicit else importance,
        explicit=explicit,
    )


def with_events_joined(found: list[Claim], turn: Utterance) -> list[Claim]:
    """The claims with an event told in several clauses as one, the last of them its outcome."""
    merged: list[Claim] = []
    for claim in found:
        before = merged[-1] if merged else None
        joint = _joint(before, claim, turn) if before else None
        if before is None or joint is None or not isinstance(before.details, Episode):
            merged.append(claim)
            continue
        evidence = replace(before.evidence[0], end=claim.evidence[0].end)
        merged[-1] = replace(
            before,
            content=before.content + joint + claim.content,
            evidence=(evidence,),
            details=episode(
                turn.text[evidence.start : evidence.end],
                speaker=next(iter(before.details.participants), ""),
                outcome=claim.content,
                said_at=turn.at,
            ),
        )
    return merged


def _joint(before: Claim, claim: Claim, turn: Utterance) -> str | None:
    """The words between two clauses of one event; None where they are not of one."""
    if Kind.EPISODIC is not before.kind or before.kind is not claim.kind:
        return None
    between = turn.text[before.evidence[0].end : claim.evidence[0].start]
    return between if len(between) <= _LONGEST_JOINT and "\n" not in between else None


def made_explicit(claim: Claim) -> Claim:
    """The same, now that the user has asked to remember it."""
    return replace(
        claim,
        explicit=True,
        confidence=max(claim.confidence, _EXPLICIT_CONFIDENCE),
        importance=max(claim.importance, _EXPLICIT_IMPORTANCE),
    )


def words_of(turn: Utterance, sentence: Sentence) -> str:
    """The sentence as it was written."""
    return turn.text[sentence.start : sentence.end]


def language_of(plain: str) -> Tongue:
    """The language whose rules read it."""
    return "zh" if HAN_LETTER.search(plain) else "en"
