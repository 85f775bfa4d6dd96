"""Build claims from sentences and clauses: self-contained words, with their evidence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from recollect.domain.context import Tongue
from recollect.domain.record import Episode, Evidence, Kind
from recollect.domain.write import Claim
from recollect.language.extraction.events import episode
from recollect.language.extraction.procedures import FoundProcedure
from recollect.language.extraction.rule import Rule
from recollect.language.extraction.sentences import Sentence, Utterance
from recollect.language.extraction.voice import labelled, self_contained, speaker_name
from recollect.language.lexicon import lexicon

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
_DEFAULT_IMPORTANCE: Final = 0.5
_EXPLICIT_CONFIDENCE: Final = 0.95
_EXPLICIT_IMPORTANCE: Final = 0.8
_PROCEDURE_CONFIDENCE: Final = 0.8
# Chinese leaves the subject out where it is the one who speaks.
_ABOUT_SPEAKER: Final = frozenset({"user", "preference"})
# What may stand between two clauses of one event: a comma, "and", a gap.
_MAX_JOINT_CHARACTERS: Final = 8
HAN_LETTER: Final = re.compile("[\u4e00-\u9fff]")


def of_statement(rule: Rule, clause: Sentence, turn: Utterance, *, explicit: bool) -> Claim:
    """Return the claim that something holds, labelled as the rule says."""
    claim = claim_of(rule.category, clause, turn, confidence=rule.confidence, explicit=explicit)
    if rule.label is None:
        return claim
    words = labelled(rule.label, words_of(turn, clause), language_of(clause.plain))
    return replace(claim, content=words)


def of_event(rule: Rule, clause: Sentence, turn: Utterance, *, explicit: bool) -> Claim:
    """Return the claim that something happened, with participants and outcome."""
    language = language_of(clause.plain)
    words = lexicon(language, "extraction")
    took_part = turn.role == "user" and bool(words.regex("about_speaker").search(clause.plain))
    alone = took_part and not words.regex("about_us").search(clause.plain)
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
    """Return the claim of how something is to be done."""
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
    """Return a claim for what the user asked to remember although no rule applies."""
    words = lexicon(language_of(sentence.plain), "extraction")
    is_personal = words.regex("about_speaker").search(sentence.plain)
    is_project = words.regex("about_project").search(sentence.plain)
    category = "project" if is_project and not is_personal else "user"
    return claim_of(category, sentence, turn, confidence=_EXPLICIT_CONFIDENCE, explicit=True)


def claim_of(
    category: str, clause: Sentence, turn: Utterance, *, confidence: float, explicit: bool
) -> Claim:
    """Return the claim of a clause in this category."""
    language = language_of(clause.plain)
    importance = _IMPORTANCE.get(category, _DEFAULT_IMPORTANCE)
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
    """Join an event told in several clauses; the last of them is its outcome."""
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
    """Return the words between two clauses of one event; None if they are separate."""
    if Kind.EPISODIC is not before.kind or before.kind is not claim.kind:
        return None
    between = turn.text[before.evidence[0].end : claim.evidence[0].start]
    return between if len(between) <= _MAX_JOINT_CHARACTERS and "\n" not in between else None


def made_explicit(claim: Claim) -> Claim:
    """Return the claim as one the user asked to remember."""
    return replace(
        claim,
        explicit=True,
        confidence=max(claim.confidence, _EXPLICIT_CONFIDENCE),
        importance=max(claim.importance, _EXPLICIT_IMPORTANCE),
    )


def words_of(turn: Utterance, sentence: Sentence) -> str:
    """Return the sentence as it was written."""
    return turn.text[sentence.start : sentence.end]


def language_of(plain: str) -> Tongue:
    """Return the language whose rules read this."""
    return "zh" if HAN_LETTER.search(plain) else "en"
