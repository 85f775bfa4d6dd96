"""Find by rules what one message says that is worth remembering, in Chinese and English.

What is doubtful is left out: a memory that is wrong does more harm than one that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from recollect.domain.record import Evidence
from recollect.domain.write import Claim
from recollect.language.claims import moods
from recollect.language.extraction.acts import told_before_question
from recollect.language.extraction.claims import (
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
from recollect.language.extraction.corrections import Earlier, names_only_a_value, told_again
from recollect.language.extraction.events import links
from recollect.language.extraction.procedures import in_sentence, listed
from recollect.language.extraction.rule import (
    Rule,
    first_rule,
    outcome_rules,
    statement_rules,
)
from recollect.language.extraction.sentences import (
    Preface,
    Sentence,
    Utterance,
    clauses,
    part_of,
    preface,
    readable,
    sentences,
)
from recollect.language.extraction.voice import labelled
from recollect.language.lexicon import lexicon

_LINKED_CONFIDENCE: Final = 0.8
_AGREED_CONFIDENCE: Final = 0.75

# Categories whose statements may be about a link; the others only mention it.
_MAY_BE_REFERENCE: Final = frozenset({"project", "domain-facts", "user"})
_FACTS: Final = frozenset({"user", "preference", "project", "domain-facts"})
_MIN_WORDS: Final = 2
_MAX_ANSWER_SENTENCES: Final = 2
_MIN_HAN_CHARACTERS: Final = 4
# "I'm Maria", "I'm 34": two words, and the first thing to know of somebody.
_INTRODUCTION: Final = re.compile(r"I['’]m (?:[A-Z][a-z]+|\d{1,3})[.!,]*$")
_CONDITION: Final = re.compile(
    r"(?:(?:and|but|so|or|even|only|well),? )*(?:if|unless|whether|in case)\b"
)
_QUESTION_MARKS: Final = "?？"


def nothing_before() -> Earlier:
    return Earlier()


def said_by_user(turn: Utterance, earlier: Callable[[], Earlier] = nothing_before) -> list[Claim]:
    """Return the claims of a user's message; call `earlier` where it only names a value."""
    plain = readable(turn.text)
    spoken = sentences(plain)
    if any(moods.is_withheld(sentence.plain) for sentence in spoken):
        return []
    found = [
        of_procedure(procedure, turn, explicit=False) for procedure in listed(turn.text, plain)
    ]
    listing = [(claim.evidence[0].start or 0, claim.evidence[0].end or 0) for claim in found]
    last: list[Claim] = []
    corrects = False
    for sentence in _without_material(spoken):
        if any(start <= sentence.start < end for start, end in listing):
            continue
        if moods.takes_back(sentence.plain):
            _drop(last, found)
        elif moods.keeps_what_was_said(sentence.plain):
            _keep(last, found, spoken, sentence, turn)
        elif (before := preface(sentence.plain)).corrects and before.length == len(sentence.plain):
            corrects = True
        elif again := _told_again(sentence, before, corrects, turn, last, earlier):
            last, corrects = [again], False
            found += last
        else:
            corrects = corrects or before.corrects
            last = [
                replace(claim, corrects=corrects) for claim in _told(sentence, before.length, turn)
            ]
            found += last
            corrects = False
    return found


def told_by_assistant(turn: Utterance) -> list[Claim]:
    """Return what an assistant says it has done or found out; its advice is not a claim."""
    found: list[Claim] = []
    for sentence in sentences(readable(turn.text)):
        if moods.asks(sentence.plain):
            continue
        if rule := first_rule(outcome_rules(language_of(sentence.plain)), sentence.plain):
            found.append(of_event(rule, sentence, turn, explicit=False))
    return with_events_joined(found, turn)


def confirmed_by_user(turn: Utterance, proposal: Utterance) -> list[Claim]:
    """Return what an assistant proposed and the user's short answer accepted or asked to keep."""
    said = sentences(readable(turn.text))
    if not 0 < len(said) <= _MAX_ANSWER_SENTENCES:
        return []
    offered = sentences(readable(proposal.text))
    if all(moods.keeps_what_was_said(sentence.plain) for sentence in said):
        kept = next(
            (sentence for sentence in reversed(offered) if not moods.asks(sentence.plain)), None
        )
        return [] if kept is None else [_confirmed(asked_to_remember(kept, proposal), turn, said)]
    if proposal.role != "assistant" or not all(moods.confirms(sentence.plain) for sentence in said):
        return []
    explicit = any(moods.is_wish(sentence.plain) for sentence in said)
    for sentence in reversed(offered):
        language = language_of(sentence.plain)
        if lexicon(language, "outcomes").regex("proposed").search(sentence.plain):
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
    """Yield the sentences before pasted text: "Translate this: …"."""
    for sentence in spoken:
        if moods.announces_material(sentence.plain):
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
    """Return the earlier claim with the value that this sentence gives: "No, it's 21 June"."""
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
    """Return the claims of a sentence, without its preface unless that is part of an order."""
    if preface:
        rest = list(_of_sentence(part_of(sentence, preface, len(sentence.plain)), turn))
        if rest and all(claim.category in _FACTS for claim in rest):
            return rest
    return list(_of_sentence(sentence, turn))


def _of_sentence(sentence: Sentence, turn: Utterance) -> Iterator[Claim]:
    stance = moods.stance(sentence.plain)
    if stance in {"told", "supposed"} and (
        procedure := in_sentence(turn.text, sentence.plain, sentence.start)
    ):
        yield of_procedure(procedure, turn, explicit=moods.is_wish(sentence.plain))
        return
    told = sentence if stance == "told" else None
    if stance == "asked":
        told = told_before_question(sentence)
    if told is None:
        return
    remember = moods.asks_to_remember(told.plain)
    found = list(_of_clauses(told, turn, remember=remember))
    if not found and remember:
        found = [asked_to_remember(told, turn)]
    yield from with_events_joined(found, turn)


def _of_clauses(sentence: Sentence, turn: Utterance, *, remember: bool) -> Iterator[Claim]:
    for clause, rule in _ruled(sentence):
        explicit = remember or moods.is_wish(clause.plain)
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
    """Return the clauses that rules know, each together with clauses that explain it."""
    ruled: list[tuple[Sentence, Rule | None]] = []
    for clause in clauses(sentence):
        rule = first_rule(statement_rules(language_of(clause.plain)), clause.plain)
        if ruled and (rule is None or ruled[-1][1] is None):
            before, its = ruled.pop()
            start, end = before.start - sentence.start, clause.end - sentence.start
            ruled.append((part_of(sentence, start, end), its or rule))
        else:
            ruled.append((clause, rule))
    return ruled


def _says_enough(clause: str, rule: Rule) -> bool:
    """Return whether there is more than a cue; "that's wrong" alone is nothing to remember."""
    words = lexicon(language_of(clause), "extraction")
    if rule.label == "feedback" and words.regex("mere_complaint").fullmatch(clause):
        return False
    if words.regex("brief").fullmatch(clause):
        return True
    han = len(HAN_LETTER.findall(clause))
    return han >= _MIN_HAN_CHARACTERS or (han + len(clause.split())) > _MIN_WORDS


def _keep(
    last: list[Claim],
    found: list[Claim],
    spoken: Sequence[Sentence],
    sentence: Sentence,
    turn: Utterance,
) -> None:
    """Make the claims before "remember this" explicit, or claim the sentence before it."""
    if last:
        found[-len(last) :] = map(made_explicit, last)
        return
    at = spoken.index(sentence)
    if at and moods.stance(spoken[at - 1].plain) == "told":
        found.append(asked_to_remember(spoken[at - 1], turn))


def _drop(last: list[Claim], found: list[Claim]) -> None:
    if last:
        del found[-len(last) :]
        last.clear()


def _confirmed(claim: Claim, turn: Utterance, said: Sequence[Sentence]) -> Claim:
    confirmation = Evidence(turn=turn.id, start=said[0].start, end=said[-1].end)
    return replace(claim, evidence=(*claim.evidence, confirmation))
