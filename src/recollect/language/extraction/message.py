"""Find by rules what one message says that is worth remembering, in Chinese and English.

What is doubtful is left out: a memory that is wrong does more harm than one that is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any, Final, Literal, NamedTuple

from recollect.domain.context import Tongue
from recollect.domain.record import Episode, Evidence, Kind
from recollect.domain.write import Claim
from recollect.language.claims import moods
from recollect.language.claims.subjects import (
    addressed_in_chinese,
    addressed_in_english,
    named_in_chinese,
    named_in_english,
)
from recollect.language.entities import entities
from recollect.language.extraction.acts import says_something, told_before_question
from recollect.language.extraction.corrections import Earlier, names_only_a_value, told_again
from recollect.language.extraction.forgetting import asks_to_forget
from recollect.language.extraction.own_words import own_end
from recollect.language.extraction.procedures import FoundProcedure, in_sentence, listed
from recollect.language.extraction.utterances import (
    Preface,
    Sentence,
    Utterance,
    clauses,
    part_of,
    preface,
    readable,
    sentences,
)
from recollect.language.lexicon import Lexicon, Signs, bilingual, both, compiled, lexicon
from recollect.language.times.expressions import When, find_times

# --- Rules for extraction: words that show what kind of memory a clause would make ----------------
# They are data: those for users in `data/*/extraction.toml`, those for assistants, whose sentences
# are outcomes of their work or else advice, in `data/*/outcomes.toml`.

# --- Make statements self-contained: "I" becomes "User", orders get a label -----------------------
# Other words stay as they were said. What is an order is kept word for word behind a label.

Label = Literal["asks", "feedback", "todo", "decision", "agreed"]

_EDGE: Final = " \t\n,;:.!，。；：！、~"


def self_contained(text: str, language: Tongue, name: str, *, is_theirs: bool) -> str:
    """Return a statement that names the speaker instead of "I"."""
    words = text.strip(_EDGE)
    trimmed = words[_opening(words) :].strip(_EDGE) or words
    if language == "en":
        return named_in_english(trimmed, name)
    named = named_in_chinese(trimmed, name)
    return name + named if is_theirs and named == trimmed and "我们" not in named else named


def labelled(label: Label, text: str, language: Tongue) -> str:
    """Return an order or a decision word for word, behind its label."""
    words = text.strip(_EDGE)
    if language == "zh" and (opening := _order_opening().match(words)):
        words = words[opening.end() :].strip(_EDGE) or words
    given = lexicon(language, "voice").table("labels")[label]
    return words if words.lower().startswith(given.strip(_EDGE).lower()) else given + words


def speaker_name(speaker: str, role: str, language: Tongue) -> str:
    """Return who "I" is: the speaker if the conversation names one, else their role."""
    roles = lexicon(language, "voice").table("roles")
    return speaker or roles["assistant" if role == "assistant" else "user"]


def _opening(words: str) -> int:
    match = _openings().match(words)
    return match.end() if match else 0


@cache
def _openings() -> re.Pattern[str]:
    return re.compile(f"{both('voice', 'opening')}+", re.IGNORECASE)


@cache
def _order_opening() -> re.Pattern[str]:
    return re.compile(f"{lexicon('zh', 'voice').pattern('order_opening')}+")


# --- Rules for extraction: words that show what kind of memory a clause would make ----------------
# They are data: those for users in `data/*/extraction.toml`, those for assistants, whose sentences
# are outcomes of their work or else advice, in `data/*/outcomes.toml`.

Category = Literal[
    "preference",
    "user",
    "feedback",
    "decision",
    "follow-up",
    "sentiment",
    "project",
    "domain-facts",
    "task-traces",
    "tool-effects",
]


_DEFAULT_CONFIDENCE: Final = 0.8


class Rule(NamedTuple):
    """The words of one kind of clause, and the claim they make."""

    category: Category
    signs: Signs
    also: str
    """A second sign, wherever it stands; the first alone would not be enough."""
    unless: str
    """Words that show it is something else after all."""
    label: Label | None
    """For what is an order and not a statement."""
    confidence: float
    event: bool

    def applies(self, clause: str) -> bool:
        return (
            self.signs.find(clause) is not None
            and not (self.also and compiled(self.also).search(clause) is None)
            and not (self.unless and compiled(self.unless).search(clause))
        )


def first_rule(rules: tuple[Rule, ...], clause: str) -> Rule | None:
    """Return the first rule that applies to the clause."""
    for rule in rules:
        if rule.applies(clause):
            return rule
    return None


@cache
def statement_rules(language: Tongue) -> tuple[Rule, ...]:
    """Return the rules for what a user says."""
    return _rules(lexicon(language, "extraction"))


@cache
def outcome_rules(language: Tongue) -> tuple[Rule, ...]:
    """Return the rules for what an assistant says of its own work."""
    return _rules(lexicon(language, "outcomes"))


def _rules(words: Lexicon) -> tuple[Rule, ...]:
    return tuple(_rule(words, entry) for entry in words.rules())


def _rule(words: Lexicon, entry: Mapping[str, Any]) -> Rule:
    return Rule(
        category=entry["category"],
        signs=words.signs_of(entry),
        also=words.either(entry["also"]) if "also" in entry else "",
        unless=words.either(entry["unless"]) if "unless" in entry else "",
        label=entry.get("label"),
        confidence=entry.get("confidence", _DEFAULT_CONFIDENCE),
        event=entry.get("event", False),
    )


# --- Details of an event: participants, artifacts and time ----------------------------------------

_LINK: Final = re.compile(
    r"https?://[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff<>\"'`]{3,500}"
    r"|(?<![\w/.:])(?:~|\.{1,2})?/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}"
    r"|(?<![\w/.:])[\w-][\w.-]{0,80}(?:/[\w.-]{1,80}){0,12}/[\w-]{1,80}\.[a-z0-9]{1,5}\b"
    r"|\b[A-Za-z]:\\[^\s\"'<>|]{2,300}",
    re.ASCII,
)
_OTHER_ARTIFACT: Final = re.compile(
    r"\b[\w-]{1,60}\.(?:csv|xlsx?|json|pdf|docx?|pptx?|png|jpe?g|svg|md|txt|py|js|ts|css|html|sql|zip|ya?ml"
    r"|toml|parquet|ipynb|go|rs|java)\b"
    r"|\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b"
    r"|\bv?\d{1,4}\.\d{1,6}\.\d{1,6}\b|(?<!\w)#\d{1,8}\b",
    re.ASCII,
)
_TRAILING: Final = ".,;:!?)"
_MAX_CUE_CHARACTERS: Final = 8
_MAX_PARTICIPANTS: Final = 8


def links(text: str) -> tuple[str, ...]:
    """Return the addresses and paths in a text."""
    if "/" not in text and "\\" not in text:
        return ()
    return tuple(match[0].rstrip(_TRAILING) for match in _LINK.finditer(text))


def artifacts(text: str) -> tuple[str, ...]:
    """Return what an event left behind: files, addresses, commits, tickets, versions."""
    rest = _LINK.sub(" ", text)
    others = (match[0] for match in _OTHER_ARTIFACT.finditer(rest))
    return tuple(dict.fromkeys((*links(text), *others)))


def episode(text: str, *, speaker: str, outcome: str, said_at: datetime) -> Episode:
    """Return the details of an event; pass no speaker if they took no part."""
    return Episode(
        participants=_participants(text, speaker),
        outcome=outcome,
        artifacts=artifacts(text),
        timestamp=_time(text, said_at),
    )


def _participants(text: str, speaker: str) -> tuple[str, ...]:
    low = text.casefold()
    found = [speaker] if speaker else []
    for name in entities(text):
        at = low.find(name)
        if at >= 0 and (at == 0 or _beside().search(low, max(0, at - _MAX_CUE_CHARACTERS), at)):
            found.append(text[at : at + len(name)])
    found += (
        match[match.lastindex or 0]
        for match in bilingual("events", "relative", re.IGNORECASE).finditer(text)
    )
    left = set(artifacts(text))
    return tuple(dict.fromkeys(name for name in found if name not in left))[:_MAX_PARTICIPANTS]


@cache
def _beside() -> re.Pattern[str]:
    return re.compile(rf"(?:{both('events', 'beside')}|[,&]) ?$", re.IGNORECASE)


def _time(text: str, said_at: datetime) -> datetime:
    """Return when it happened: a past time named in the text, else when it was said."""
    for time in find_times(text, said_at):
        if isinstance(time, When) and time.start <= said_at:
            return time.start
    return said_at


# --- Find by rules what one message says that is worth remembering, in Chinese and English --------

# --- Build claims from sentences and clauses: self-contained words, with their evidence -----------

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


# --- Find by rules what one message says that is worth remembering, in Chinese and English --------
# What is doubtful is left out: a memory that is wrong does more harm than one that is missing.

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
    if any(moods.is_withheld(it.plain) or asks_to_forget(it.plain) for it in spoken):
        return []
    found = [
        of_procedure(procedure, turn, explicit=False)
        for procedure in listed(turn.text, plain)
        if procedure.start < own_end(turn.text)
    ]
    listing = [(claim.evidence[0].start or 0, claim.evidence[0].end or 0) for claim in found]
    last: list[Claim] = []
    corrects = False
    for sentence in _without_material(spoken, own_end(turn.text)):
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
            # "No wait, I always mix that up. It's the 17th": open until something is told.
            corrects = corrects and not last
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
        kept = last_told(offered)
        return [] if kept is None else [_confirmed(_asked_to_keep(kept, proposal), turn, said)]
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


def _asked_to_keep(sentence: Sentence, said: Utterance) -> Claim:
    """Return the claim for a sentence that the user asked to keep, whoever said it."""
    claim = asked_to_remember(sentence, said)
    if said.role != "assistant":
        return claim
    language = language_of(sentence.plain)
    words, user = words_of(said, sentence).strip(_EDGE), speaker_name("", "user", language)
    is_chinese = language == "zh"
    told = (addressed_in_chinese if is_chinese else addressed_in_english)(words, user)
    return claim if told == words else replace(claim, content=told)


def last_told(spoken: Sequence[Sentence]) -> Sentence | None:
    """Return the last sentence that states something; None if there is none."""
    told = (
        sentence
        for sentence in reversed(spoken)
        if moods.stance(sentence.plain) == "told" and says_something(sentence.plain)
    )
    return next(told, None)


# --- Sentences -----------------------------------------------------------------------------------


def _without_material(spoken: Iterable[Sentence], end: int) -> Iterator[Sentence]:
    """Yield the sentences before pasted text: "Translate this: …"."""
    for sentence in spoken:
        if sentence.start >= end or moods.announces_material(sentence.plain):
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
