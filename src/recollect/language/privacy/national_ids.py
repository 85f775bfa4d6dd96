"""National identity numbers, tax numbers and bank accounts of people, in many countries.

`data/national_ids.toml` lists the numbers: their shape, the words that announce them, and the
module of python-stdnum that checks them. All functions take text in plain spelling (half-width
digits and signs) and give places in it.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any, Literal

from recollect.language.lexicon import read_data
from recollect.language.privacy.context_words import cue_before
from recollect.language.privacy.personal_numbers import (
    OF_A_THING,
    WHOLE_AFTER,
    WHOLE_BEFORE,
    Span,
    has_number,
)

NumberKind = Literal["national_id", "bank_account"]

# How far from its number a word may stand.
_REACH_AFTER_CHARACTERS = 48
_REACH_BEFORE_CHARACTERS = 24
_SENTENCE_END = re.compile(r"[\n。!?;]|\.\s(?=[A-Z])")
_BETWEEN = re.compile("[ .]")
_LATIN = re.compile("[a-z]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Number:
    """One kind of number: how it is written and how it is checked."""

    shape: re.Pattern[str]
    alone: re.Pattern[str] | None
    check: str | None

    def is_possible(self, written: str) -> bool:
        """Return whether a number of this shape can have been issued."""
        if self.check is None:
            return True
        is_valid = import_module(f"stdnum.{self.check}").is_valid
        number = written.upper()
        return bool(is_valid(number) or is_valid(_BETWEEN.sub("", number)))


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """All numbers of one kind, and which of them each word announces."""

    numbers: Sequence[_Number]
    announced_by: Mapping[str, Sequence[_Number]]


def national_ids(text: str) -> Iterator[Span]:
    """Return the places of identity and tax numbers of people."""
    return _places(text, "national_id")


def bank_accounts(text: str) -> Iterator[Span]:
    """Return the places of international bank account numbers."""
    return _places(text, "bank_account")


def _places(text: str, kind: NumberKind) -> Iterator[Span]:
    if not has_number(text):
        return
    catalogue = _catalogue(kind)
    for number in catalogue.numbers:
        if number.alone is not None:
            for found in number.alone.finditer(text):
                is_thing = cue_before(text, found.start()) in OF_A_THING
                if not is_thing and number.is_possible(found[0]):
                    yield found.span()
    lower = text.lower()
    said = tuple(word for word in catalogue.announced_by if word in lower)
    for word in _any_of(said).finditer(text) if said else ():
        start, end = _around(text, word)
        for number in catalogue.announced_by[word[0].lower()]:
            for begun in number.shape.finditer(text, start, end):
                # The stretch may have ended inside a longer number.
                found = number.shape.match(text, begun.start())
                if found is not None and number.is_possible(found[0]):
                    yield found.span()


def _around(text: str, word: re.Match[str]) -> Span:
    """Return the part of the word's sentence in which its number may stand."""
    before = text[max(0, word.start() - _REACH_BEFORE_CHARACTERS) : word.start()]
    after = _SENTENCE_END.split(
        text[word.end() : word.end() + _REACH_AFTER_CHARACTERS], maxsplit=1
    )[0]
    start = word.start() - len(_SENTENCE_END.split(before)[-1])
    return start, word.end() + len(after)


@cache
def _catalogue(kind: NumberKind) -> _Catalogue:
    data = tomllib.loads(read_data("national_ids.toml"))
    numbers: list[_Number] = []
    announced_by: dict[str, list[_Number]] = {}
    for entry in data["number"]:
        if entry.get("kind", "national_id") != kind:
            continue
        number = _number(entry)
        numbers.append(number)
        for word in entry["words"]:
            announced_by.setdefault(word, []).append(number)
    if kind == "national_id":
        checked = [number for number in numbers if number.check]
        for word in data["any"]["words"]:
            announced_by.setdefault(word, []).extend(checked)
    return _Catalogue(numbers=numbers, announced_by=announced_by)


@lru_cache(maxsize=64)
def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    longest_first = sorted(words, key=len, reverse=True)
    return re.compile("|".join(map(_whole_word, longest_first)), re.IGNORECASE)


def _number(entry: dict[str, Any]) -> _Number:
    alone = entry.get("alone")
    return _Number(
        shape=_pattern(entry["shape"]),
        alone=None if alone is None else _pattern(alone),
        check=entry.get("check"),
    )


def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(f"{WHOLE_BEFORE}(?:{shape}){WHOLE_AFTER}", re.ASCII | re.IGNORECASE)


def _whole_word(word: str) -> str:
    if not _LATIN.match(word):
        return re.escape(word)
    return rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])"
