"""What one message says that is worth remembering, by rules, in Chinese and English.

What is doubtful is left out: a memory that is wrong does more harm than one that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from recollect.domain.extraction import Claim
from recollect.domain.record import Evidence
from recollect.text import signals
from recollect.text.signal_patterns import compiled
from recollect.writing import extract_chinese as chinese
from recollect.writing import extract_english as english
from recollect.writing.extract_assistant import OUTCOMES, PROPOSED
from recollect.writing.extract_claims import (
    HAN_LETTER,
    asked_to_remember,
    claim_of,
    language_of,
    made_explicit,
    of_event,
    of_procedure,
    of_statement,
    with_events_joined,
    words_of,
)
from recollect.writing.extract_corrections import Earlier, names_only_a_value, told_again
from recollect.writing.extract_events import links
from recollect.writing.extract_prefaces import Preface, preface
from recollect.writing.extract_procedures import in_sentence, listed
from recollect.writing.extract_rule import Rule, first_rule
from recollect.writing.extract_sentences import (
    Sentence,
    Utterance,
    clauses,
    part_of,
    readable,
    sentences,
)
from recollect.writing.extract_voice import labelled

_LINKED_CONFIDENCE: Final = 0.8
_AGREED_CONFIDENCE: Final = 0.75

# Categories whose statements may be about a link; the others only mention it.
_MAY_BE_REFERENCE: Final = frozenset({"project", "domain-facts", "user"})
_FACTS: Final = frozenset({"user", "preference", "project", "domain-facts"})
_FEWEST_WORDS: Final = 2
_LONGEST_ANSWER: Final = 2
_FEWEST_HAN: Final = 4
# "I'm Maria", "I'm 34": two words, and the first thing to know of somebody.
_INTRODUCTION: Final = re.compile(r"I['’]m (?:[A-Z][a-z]+|\d{1,3})[.!,]*$")
_CONDITION: Final = re.compile(
    r"(?:(?:and|but|so|or|even|only|well),? )*(?:if|unless|whether|in case)\b"
)
_QUESTION_MARKS: Final = "?？"
_LAST_COMMA: Final = re.compile(r"[,;，；](?=[^,;，；]*$)")


def nothing_before() -> Earlier:
    return Earlier()


def said_by_user(turn: Utterance, earlier: Callable[[], Earlier] = nothing_before) -> list[Claim]:
    """What a user's message states, in order; `earlier` is asked where it only names a value."""
    plain = readable(turn.text)
    spoken = sentences(plain)
    if any(signals.is_withheld(sentence.plain) for sentence in spoken):
        return []
    found = [of_procedure(it, turn, explicit=False) for it in listed(turn.text, plain)]
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
        if rule := first_rule(OUTCOMES[language_of(sentence.plain)], sentence.plain):
            found.append(of_event(rule, sentence, turn, explicit=False))
    return with_events_joined(found, turn)


def confirmed_by_user(turn: Utterance, proposal: Utterance) -> list[Claim]:
    """What an assistant proposed and the user, in a short answer, agreed to or asked to keep."""
    said = sentences(readable(turn.text))
    if not 0 < len(said) <= _LONGEST_ANSWER:
        return []
    offered = sentences(readable(proposal.text))
    if all(signals.keeps_what_was_said(it.plain) for it in said):
        kept = next((it for it in reversed(offered) if not signals.asks(it.plain)), None)
        return [] if kept is None else [_confirmed(asked_to_remember(kept, proposal), turn, said)]
    if proposal.role != "assistant" or not all(signals.confirms(it.plain) for it in said):
        return []
    explicit = any(signals.is_wish(it.plain) for it in said)
    for sentence in reversed(offered):
        language = language_of(sentence.plain)
        if compiled(PROPOSED[language]).search(sentence.plain):
            claim = claim_of(
                "decision", sentence, proposal, confidence=_AGREED_CONFIDENCE, explicit=explicit
            )
            agreed = labelled(
                "agreed", words_of(proposal, sentence).strip(_QUESTION_MARKS), language
            )
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
    said, corrects = words_of(turn, value), corrects or before.corrects
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
        yield of_procedure(procedure, turn, explicit=signals.is_wish(sentence.plain))
        return
    told = sentence if stance == "told" else None
    if stance == "asked":
        told = _told_before_question(sentence)
    if told is None:
        return
    remember = signals.asks_to_remember(told.plain)
    found = list(_of_clauses(told, turn, remember=remember))
    if not found and remember:
        found = [asked_to_remember(told, turn)]
    yield from with_events_joined(found, turn)


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
        if links(words_of(turn, clause)) and (rule is None or rule.category in _MAY_BE_REFERENCE):
            yield claim_of(
                "reference", clause, turn, confidence=_LINKED_CONFIDENCE, explicit=explicit
            )
        elif rule and (
            _says_enough(clause.plain, rule) or _INTRODUCTION.match(words_of(turn, clause))
        ):
            make = of_event if rule.event else of_statement
            yield make(rule, clause, turn, explicit=explicit)


def _ruled(sentence: Sentence) -> list[tuple[Sentence, Rule | None]]:
    """The clauses that a rule knows, each with the others that stand beside it: they explain it."""
    ruled: list[tuple[Sentence, Rule | None]] = []
    for clause in clauses(sentence):
        is_chinese = language_of(clause.plain) == "zh"
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
    words = english if language_of(clause) == "en" else chinese
    if rule.label == "feedback" and compiled(words.MERE_COMPLAINT).fullmatch(clause):
        return False
    if compiled(words.BRIEF).fullmatch(clause):
        return True
    han = len(HAN_LETTER.findall(clause))
    return han >= _FEWEST_HAN or (han + len(clause.split())) > _FEWEST_WORDS


def _keep(
    last: list[Claim],
    found: list[Claim],
    spoken: Sequence[Sentence],
    sentence: Sentence,
    turn: Utterance,
) -> None:
    """Make what stands before "remember this" explicit, or a claim at last."""
    if last:
        found[-len(last) :] = map(made_explicit, last)
        return
    at = spoken.index(sentence)
    if at and signals.stance(spoken[at - 1].plain) == "told":
        found.append(asked_to_remember(spoken[at - 1], turn))


def _drop(last: list[Claim], found: list[Claim]) -> None:
    if last:
        del found[-len(last) :]
        last.clear()


def _confirmed(claim: Claim, turn: Utterance, said: Sequence[Sentence]) -> Claim:
    confirmation = Evidence(turn=turn.id, start=said[0].start, end=said[-1].end)
    return replace(claim, evidence=(*claim.evidence, confirmation))
