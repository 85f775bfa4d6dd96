"""How much a sentence is worth keeping, and as what: a decision, a task, a fact with a number.

Judged by rules, in Chinese and English, from the sentence alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from recollect.domain.summary import PointKind
from recollect.text import salience_words as words
from recollect.text.entities import entities
from recollect.text.scripts import HAN
from recollect.text.sentences import sentences

_CLAUSE_END: Final = re.compile(r"(?<=[，；：])|(?<=[,;:])\s+|\s+[-–—]\s+")
_ANY_HAN: Final = re.compile(f"[{HAN}]")
_NUMBER: Final = re.compile(
    r"(?P<money>[$€£¥￥])?(?<![A-Za-z0-9_.-])(?P<digits>\d[\d,]*(?:\.\d+)?)"
    rf"\s?(?P<unit>(?i:{words.UNITS}))?"
)
_CODE: Final = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)+")
_LONG_DIGITS: Final = 4
_DATE: Final = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\bthe \d{1,2}(?:st|nd|rd|th)\b|\b(?:march|april|may|june|july) \d"
    r"|\b(?:january|february|august|september|october|november|december)\b"
    r"|\bend of (?:the |this |next )?\w+|\bnext (?:week|month|quarter|year)\b|\btomorrow\b"
    r"|\d{1,2}月(?:\d{1,2}[日号])?|\d{1,2}[日号]|[一二三四五六七八九十]{1,2}月[底初中]?"
    r"|(?:下|本|这)?(?:周|星期|礼拜)[一二三四五六日天]|下(?:周|个月|季度)|月底|年底|季度末|明天|后天",
    re.IGNORECASE,
)
_QUESTION: Final = re.compile(r"[?？]\s*$|[吗呢]\s*[。！]?\s*$")

_KINDS: Final = (
    PointKind.QUESTION,
    PointKind.DECISION,
    PointKind.TODO,
    PointKind.AGREEMENT,
    PointKind.CONCLUSION,
)
_WORTH: Final[Mapping[PointKind, float]] = {
    PointKind.DECISION: 2.4,
    PointKind.TODO: 2.2,
    PointKind.AGREEMENT: 2.0,
    PointKind.CONCLUSION: 1.6,
    PointKind.QUESTION: 1.6,
    PointKind.FACT: 0.0,
}
_FIRST: Final = 1.2
_FURTHER: Final = 0.4
_MOST: Final = 2.0
_IN_PASSING: Final = 0.3
# A relation or a measure that is named: who owns it, what it costs.
_NAMED: Final = 0.9
# A task or a decision about nothing in particular.
_VAGUE: Final = -0.5
_HYPOTHETICAL: Final = -1.8
# A question is worth something while nobody has answered it, which one sentence cannot tell.
_ASKED: Final = -1.2


_HYPOTHETICAL_ENGLISH: Final = re.compile(
    rf"(?<!\w)(?:{words.HYPOTHETICAL_ENGLISH})(?!\w)", re.IGNORECASE
)
_HYPOTHETICAL_CHINESE: Final = re.compile(words.HYPOTHETICAL_CHINESE)
_LEAD_IN: Final = re.compile(
    rf"{words.LEAD_INS_ENGLISH}\s*|{words.JOINING_ENGLISH}\s+(?=\S+ \S)"
    rf"|{words.LEAD_INS_CHINESE}[，,。！：:]\s*",
    re.IGNORECASE,
)
_ADVICE_ENGLISH: Final = re.compile(words.ADVICE_ENGLISH, re.IGNORECASE)
_ADVICE_CHINESE: Final = re.compile(words.ADVICE_CHINESE)
_SHORT_ENGLISH: Final = 4
_SHORT_CHINESE: Final = 6
_OWN_WORK: Final = re.compile(
    rf"{words.OWN_WORK_ENGLISH}\b|{words.OWN_WORK_CHINESE}", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Salience:
    """What a sentence is, and what it is worth by itself."""

    kind: PointKind
    weight: float
    # Numbers, codes and names, as they are compared between sentences.
    specifics: frozenset[str]


@lru_cache(maxsize=4096)
def salience(sentence: str) -> Salience:
    """What a sentence is worth, from its cue words, numbers, names and codes."""
    is_chinese = _ANY_HAN.search(sentence) is not None
    kind = _kind(sentence, is_chinese)
    numbers, in_passing = _numbers(sentence)
    codes = {*_CODE.findall(sentence), *(it.casefold() for it in _DATE.findall(sentence))}
    names, symbols = _names(sentence)
    weight = _WORTH[kind] + _for_several(len(numbers | codes)) + _for_several(len(names))
    weight += _IN_PASSING * (bool(in_passing) + bool(symbols))
    weight += _NAMED * _has_cue(PointKind.FACT, sentence, is_chinese)
    if kind is not PointKind.FACT and not (numbers or codes or names):
        weight += _VAGUE
    if _is_hypothetical(sentence, is_chinese):
        weight += _HYPOTHETICAL
    if _QUESTION.search(sentence):
        weight += _ASKED
    found = chain(numbers, in_passing, codes, names, symbols)
    return Salience(kind=kind, weight=weight, specifics=frozenset(found))


def is_fragment(sentence: str) -> bool:
    """Whether it is a label rather than a sentence."""
    if any(letter.isdigit() for letter in sentence):
        return False
    han = len(_ANY_HAN.findall(sentence))
    return han < _SHORT_CHINESE if han else len(sentence.split()) < _SHORT_ENGLISH


def gives_advice(sentence: str) -> bool:
    """Whether an assistant tells how things are done in general, with no date to it."""
    pattern = _ADVICE_CHINESE if _ANY_HAN.search(sentence) else _ADVICE_ENGLISH
    return pattern.search(sentence) is not None and not _DATE.search(sentence)


def describes_own_work(sentence: str) -> bool:
    """Whether an assistant tells what it does at this moment, naming nobody and no date."""
    told = _LEAD_IN.sub("", sentence, count=1)
    if not _OWN_WORK.match(told) or _DATE.search(sentence):
        return False
    return not _names(sentence)[0]


def compact(sentence: str, longest: int) -> str:
    """The sentence without words before the matter and, if it is long, without empty clauses."""
    told = sentence.strip()
    while (lead_in := _LEAD_IN.match(told)) and lead_in.end() < len(told):
        told = told[lead_in.end() :]
    told = told.rstrip("。.；;，, ")
    if len(told) > longest // 2:
        told = _telling_clauses(told)
    return told if len(told) <= longest else told[: longest - 1].rstrip() + "…"


def specifics(text: str) -> frozenset[str]:
    """The numbers, codes and names of a text, as they are compared."""
    found = (salience(sentence).specifics for sentence in sentences(text))
    return frozenset(chain.from_iterable(found))


def _kind(sentence: str, is_chinese: bool) -> PointKind:
    """The kind that most cues speak for; a plain statement is a fact."""
    cues = _cues(is_chinese)
    found = {kind: sum(bool(cue.search(sentence)) for cue in cues[kind]) for kind in _KINDS}
    if found[PointKind.QUESTION]:
        return PointKind.QUESTION
    best = max(_KINDS, key=lambda kind: found[kind])
    return best if found[best] else PointKind.FACT


def _has_cue(kind: PointKind, sentence: str, is_chinese: bool) -> bool:
    return any(cue.search(sentence) for cue in _cues(is_chinese)[kind])


@cache
def _cues(is_chinese: bool) -> Mapping[PointKind, Sequence[re.Pattern[str]]]:
    """Made ready when first needed: it would slow down every start."""
    cues = words.CUES_CHINESE if is_chinese else words.CUES_ENGLISH
    frame = "{}" if is_chinese else r"(?<![\w'])(?:{})(?!\w)"
    return {
        kind: [re.compile(frame.replace("{}", pattern), re.IGNORECASE) for pattern in patterns]
        for kind, patterns in cues.items()
    }


def _numbers(sentence: str) -> tuple[set[str], set[str]]:
    """Numbers that measure or count something, and apart from them all others."""
    measured: set[str] = set()
    others: set[str] = set()
    for match in _NUMBER.finditer(sentence):
        digits = match["digits"].replace(",", "").rstrip(".")
        if match["money"] or match["unit"] or "." in digits or len(digits) >= _LONG_DIGITS:
            measured.add(digits)
        else:
            others.add(digits)
    return measured, others


def _names(sentence: str) -> tuple[set[str], set[str]]:
    """Names of people and things, and apart from them names in code and of files."""
    found = entities(sentence)
    symbols = {name for name in found if "_" in name or re.search(r"\w\.\w", name)}
    return set(found) - symbols, symbols


def _for_several(number: int) -> float:
    """The first number or name counts most."""
    if not number:
        return 0.0
    return min(_MOST, _FIRST + _FURTHER * (number - 1))


def _is_hypothetical(sentence: str, is_chinese: bool) -> bool:
    pattern = _HYPOTHETICAL_CHINESE if is_chinese else _HYPOTHETICAL_ENGLISH
    return pattern.search(sentence) is not None


def _telling_clauses(sentence: str) -> str:
    """The clauses that have a cue, a number or a name; all when none has."""
    clauses = [clause.strip() for clause in _CLAUSE_END.split(sentence)]
    telling = [clause for clause in clauses if clause and _tells(clause)]
    if not telling or len(telling) == len(clauses):
        return sentence
    joint = "" if _ANY_HAN.search(sentence) else " "
    return joint.join(telling).rstrip("，、；：,;: ")


def _tells(clause: str) -> bool:
    judged = salience(clause)
    return judged.kind is not PointKind.FACT or bool(judged.specifics)
