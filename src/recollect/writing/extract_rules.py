"""What one message says that is worth remembering, by rules, in Chinese and English.

What is doubtful is left out: a memory that is wrong does more harm than one that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.domain.context import Tongue
from recollect.domain.extraction import Claim
from recollect.domain.record import Episode, Evidence, Kind
from recollect.text import signals
from recollect.text.signal_patterns import compiled
from recollect.writing import extract_chinese as chinese
from recollect.writing import extract_english as english
from recollect.writing.extract_assistant import OUTCOMES, PROPOSED
from recollect.writing.extract_corrections import Earlier, names_only_a_value, told_again
from recollect.writing.extract_events import episode, links
from recollect.writing.extract_prefaces import Preface, preface
from recollect.writing.extract_procedures import FoundProcedure, in_sentence, listed
from recollect.writing.extract_rule import Rule, first_rule
from recollect.writing.extract_sentences import (
    Sentence,
    Utterance,
    clauses,
    part_of,
    readable,
    sentences,
)
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
_LINKED_CONFIDENCE: Final = 0.8
_PROCEDURE_CONFIDENCE: Final = 0.8
_AGREED_CONFIDENCE: Final = 0.75

# Categories whose statements may be about a link; the others only mention it.
_MAY_BE_REFERENCE: Final = frozenset({"project", "domain-facts", "user"})
# Chinese leaves the subject out where it is the one who speaks.
_ABOUT_SPEAKER: Final = frozenset({"user", "preference"})
_FACTS: Final = frozenset({"user", "preference", "project", "domain-facts"})
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_FEWEST_WORDS: Final = 2
_LONGEST_ANSWER: Final = 2
_FEWEST_HAN: Final = 4
# "I'm Maria", "I'm 34": two words, and the first thing to know of somebody.
_INTRODUCTION: Final = re.compile(r"I['’]m (?:[A-Z][a-z]+|\d{1,3})[.!,]*$")
_CONDITION: Final = re.compile(
    r"(?:(?:and|but|so|or|even|only|well),? )*(?:if|unless|whether|in case)\b"
)
_QUESTION_MARKS: Final = "?？"
# What may stand between two clauses of one event: a comma, "and", a gap.
_LONGEST_JOINT: Final = 8
_LAST_COMMA: Final = re.compile(r"[,;，；](?=[^,;，；]*$)")


def nothing_before() -> Earlier:
    return Earlier()


def said_by_user(turn: Utterance, earlier: Callable[[], Earlier] = nothing_before) -> list[Claim]:
    """What a user's message states, in order; `earlier` is asked where it only names a value."""
    plain = readable(turn.text)
    spoken = sentences(plain)
    if any(signals.is_withheld(sentence.plain) for sentence in spoken):
        return []
    found = [_of_procedure(it, turn, explicit=False) for it in listed(turn.text, plain)]
    listing = [(it.evidence[0].start or 0, it.evidence[0].end or 0) for it in found]
    last: list[Claim] = []
    corrects = False
    for sentence in _without_material(spoken):
        if any(start <= sentence.start < end for start, end in listing):
            continue
        if signals.takes_back(sentence.plain):
            _drop(last, found)
        elif signals.keeps_what_was_said(sentence.plain):
            _keep(last, found, spoken, sentence, turn)
        elif (before := preface(sentence.plain)).corrects and before.length == len(sentence.plain):
            corrects = True
        elif again := _told_again(sentence, before, corrects, turn, last, earlier):
            last, corrects = [again], False
            found += last
        else:
            corrects = corrects or before.corrects
            last = [replace(it, corrects=corrects) for it in _told(sentence, before.length, turn)]
            found += last
            corrects = False
    return found


def told_by_assistant(turn: Utterance) -> list[Claim]:
    """What an assistant says it has done or found out; its advice is nobody's wish yet."""
    found: list[Claim] = []
    for sentence in sentences(readable(turn.text)):
        if signals.asks(sentence.plain):
            continue
        if rule := first_rule(OUTCOMES[_language(sentence.plain)], sentence.plain):
            found.append(_of_event(rule, sentence, turn, explicit=False))
    return _merged(found, turn)


def confirmed_by_user(turn: Utterance, proposal: Utterance) -> list[Claim]:
    """What an assistant proposed and the user, in a short answer, agreed to or asked to keep."""
    said = sentences(readable(turn.text))
    if not 0 < len(said) <= _LONGEST_ANSWER:
        return []
    offered = sentences(readable(proposal.text))
    if all(signals.keeps_what_was_said(it.plain) for it in said):
        kept = next((it for it in reversed(offered) if not signals.asks(it.plain)), None)
        return [] if kept is None else [_confirmed(_remembered(kept, proposal), turn, said)]
    if proposal.role != "assistant" or not all(signals.confirms(it.plain) for it in said):
        return []
    explicit = any(signals.is_wish(it.plain) for it in said)
    for sentence in reversed(offered):
        language = _language(sentence.plain)
        if compiled(PROPOSED[language]).search(sentence.plain):
            claim = _claim(
                "decision", sentence, proposal, confidence=_AGREED_CONFIDENCE, explicit=explicit
            )
            agreed = labelled("agreed", _text(proposal, sentence).strip(_QUESTION_MARKS), language)
            return [_confirmed(replace(claim, content=agreed), turn, said)]
    return []


# --- Sentences -----------------------------------------------------------------------------------


def _without_material(spoken: Iterable[Sentence]) -> Iterator[Sentence]:
    """The sentences up to a text that the message only hands over: "Translate this: …"."""
    for sentence in spoken:
        if signals.announces_material(sentence.plain):
            return
        yield sentence


def _told_again(
    sentence: Sentence,
    before: Preface,
    corrects: bool,
    turn: Utterance,
    last: Sequence[Claim],
    earlier: Callable[[], Earlier],
) -> Claim | None:
    """What was told before, with the value that a sentence only names: "No, it's 21 June"."""
    value = part_of(sentence, before.length, len(sentence.plain))
    said, corrects = _text(turn, value), corrects or before.corrects
    if not names_only_a_value(said, corrects=corrects):
        return None
    told = told_again(said, Earlier(last) if last else earlier(), corrects=corrects)
    if told is None:
        return None
    claim, content = told
    return replace(
        claim,
        content=content,
        evidence=(Evidence(turn=turn.id, start=value.start, end=value.end),),
        explained_by=(*claim.explained_by, claim.evidence[0]),
        corrects=True,
    )


def _told(sentence: Sentence, preface: int, turn: Utterance) -> list[Claim]:
    """What a sentence says; without what stands before it, unless that is part of an order."""
    if preface:
        rest = list(_of_sentence(part_of(sentence, preface, len(sentence.plain)), turn))
        if rest and all(claim.category in _FACTS for claim in rest):
            return rest
    return list(_of_sentence(sentence, turn))


def _of_sentence(sentence: Sentence, turn: Utterance) -> Iterator[Claim]:
    stance = signals.stance(sentence.plain)
    if stance in {"told", "supposed"} and (
        procedure := in_sentence(turn.text, sentence.plain, sentence.start)
    ):
        yield _of_procedure(procedure, turn, explicit=signals.is_wish(sentence.plain))
        return
    told = sentence if stance == "told" else None
    if stance == "asked":
        told = _told_before_question(sentence)
    if told is None:
        return
    remember = signals.asks_to_remember(told.plain)
    found = list(_of_clauses(told, turn, remember=remember))
    if not found and remember:
        found = [_remembered(told, turn)]
    yield from _merged(found, turn)


def _told_before_question(sentence: Sentence) -> Sentence | None:
    """What is told before the question that follows it: "I'm vegan, what can I eat?"."""
    comma = _LAST_COMMA.search(sentence.plain)
    if comma is None or not signals.asks(
        sentence.plain[comma.end() :].strip(f" {_QUESTION_MARKS}")
    ):
        return None
    told = part_of(sentence, 0, comma.start())
    return told if signals.stance(told.plain) == "told" else None


def _of_clauses(sentence: Sentence, turn: Utterance, *, remember: bool) -> Iterator[Claim]:
    for clause, rule in _ruled(sentence):
        explicit = remember or signals.is_wish(clause.plain)
        if rule and rule.category == "user" and not explicit and _CONDITION.match(clause.plain):
            continue  # "if I'm allergic to nuts, …" does not say that one is
        if links(_text(turn, clause)) and (rule is None or rule.category in _MAY_BE_REFERENCE):
            yield _claim(
                "reference", clause, turn, confidence=_LINKED_CONFIDENCE, explicit=explicit
            )
        elif rule and (
            _says_enough(clause.plain, rule) or _INTRODUCTION.match(_text(turn, clause))
        ):
            make = _of_event if rule.event else _of_statement
            yield make(rule, clause, turn, explicit=explicit)


def _ruled(sentence: Sentence) -> list[tuple[Sentence, Rule | None]]:
    """The clauses that a rule knows, each with the others that stand beside it: they explain it."""
    ruled: list[tuple[Sentence, Rule | None]] = []
    for clause in clauses(sentence):
        is_chinese = _language(clause.plain) == "zh"
        rule = first_rule(chinese.RULES if is_chinese else english.RULES, clause.plain)
        if ruled and (rule is None or ruled[-1][1] is None):
            before, its = ruled.pop()
            start, end = before.start - sentence.start, clause.end - sentence.start
            ruled.append((part_of(sentence, start, end), its or rule))
        else:
            ruled.append((clause, rule))
    return ruled


def _says_enough(clause: str, rule: Rule) -> bool:
    """Whether there is more than a cue: "that's wrong" alone tells nothing to remember."""
    words = english if _language(clause) == "en" else chinese
    if rule.label == "feedback" and compiled(words.MERE_COMPLAINT).fullmatch(clause):
        return False
    if compiled(words.BRIEF).fullmatch(clause):
        return True
    han = len(_HAN.findall(clause))
    return han >= _FEWEST_HAN or (han + len(clause.split())) > _FEWEST_WORDS


# --- Claims --------------------------------------------------------------------------------------


def _of_statement(rule: Rule, clause: Sentence, turn: Utterance, *, explicit: bool) -> Claim:
    claim = _claim(rule.category, clause, turn, confidence=rule.confidence, explicit=explicit)
    if rule.label is None:
        return claim
    words = labelled(rule.label, _text(turn, clause), _language(clause.plain))
    return replace(claim, content=words)


def _of_event(rule: Rule, clause: Sentence, turn: Utterance, *, explicit: bool) -> Claim:
    language = _language(clause.plain)
    words = english if language == "en" else chinese
    took_part = turn.role == "user" and bool(compiled(words.ABOUT_SPEAKER).search(clause.plain))
    alone = took_part and not compiled(words.ABOUT_US).search(clause.plain)
    is_personal = alone and rule.category == "task-traces"
    claim = _claim(
        "user" if is_personal else rule.category,
        clause,
        turn,
        confidence=rule.confidence,
        explicit=explicit,
    )
    text = _text(turn, clause)
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


def _of_procedure(found: FoundProcedure, turn: Utterance, *, explicit: bool) -> Claim:
    whole = Sentence(start=found.start, end=found.end, plain=turn.text[found.start : found.end])
    claim = _claim("convention", whole, turn, confidence=_PROCEDURE_CONFIDENCE, explicit=explicit)
    return replace(
        claim,
        kind=Kind.PROCEDURAL,
        content=labelled("asks", _text(turn, whole), _language(whole.plain)),
        title=found.title,
        details=found.details,
    )


def _remembered(sentence: Sentence, turn: Utterance) -> Claim:
    """A claim for what the user asked to remember and no rule knows."""
    words = english if _language(sentence.plain) == "en" else chinese
    is_personal = compiled(words.ABOUT_SPEAKER).search(sentence.plain)
    is_project = compiled(words.ABOUT_PROJECT).search(sentence.plain)
    category = "project" if is_project and not is_personal else "user"
    return _claim(category, sentence, turn, confidence=_EXPLICIT_CONFIDENCE, explicit=True)


def _claim(
    category: str, clause: Sentence, turn: Utterance, *, confidence: float, explicit: bool
) -> Claim:
    language = _language(clause.plain)
    importance = _IMPORTANCE.get(category, _USUAL_IMPORTANCE)
    return Claim(
        kind=Kind.SEMANTIC,
        category=category,
        content=self_contained(
            _text(turn, clause),
            language,
            speaker_name(turn.speaker, turn.role, language),
            is_theirs=turn.role == "user" and category in _ABOUT_SPEAKER,
        ),
        evidence=(Evidence(turn=turn.id, start=clause.start, end=clause.end),),
        confidence=max(confidence, _EXPLICIT_CONFIDENCE) if explicit else confidence,
        importance=max(importance, _EXPLICIT_IMPORTANCE) if explicit else importance,
        explicit=explicit,
    )


def _merged(found: list[Claim], turn: Utterance) -> list[Claim]:
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


def _keep(
    last: list[Claim],
    found: list[Claim],
    spoken: Sequence[Sentence],
    sentence: Sentence,
    turn: Utterance,
) -> None:
    """Make what stands before "remember this" explicit, or a claim at last."""
    if last:
        found[-len(last) :] = [
            replace(
                it,
                explicit=True,
                confidence=max(it.confidence, _EXPLICIT_CONFIDENCE),
                importance=max(it.importance, _EXPLICIT_IMPORTANCE),
            )
            for it in last
        ]
        return
    at = spoken.index(sentence)
    if at and signals.stance(spoken[at - 1].plain) == "told":
        found.append(_remembered(spoken[at - 1], turn))


def _drop(last: list[Claim], found: list[Claim]) -> None:
    if last:
        del found[-len(last) :]
        last.clear()


def _confirmed(claim: Claim, turn: Utterance, said: Sequence[Sentence]) -> Claim:
    confirmation = Evidence(turn=turn.id, start=said[0].start, end=said[-1].end)
    return replace(claim, evidence=(*claim.evidence, confirmation))


def _text(turn: Utterance, sentence: Sentence) -> str:
    return turn.text[sentence.start : sentence.end]


def _language(plain: str) -> Tongue:
    return "zh" if _HAN.search(plain) else "en"
