"""Standing instructions on how to answer, and which of them exclude each other.

Only what cannot be misread counts: an instruction that has nothing but words for answering and for
one choice ("always answer in English", 以后都用中文回答我), or the same words with and without a
negation. Whatever says more is left to a judge.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Final, NamedTuple

from recollect.language.claims.moods import mood, plain, shows
from recollect.language.lexicon import LANGUAGES, lexicon

_MATTERS: Final = ("language", "length", "tone")
"""Matters on which only one thing can hold."""
_TOKEN: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[^\x00-\x7f]")


class Instruction(NamedTuple):
    """What an instruction asks for (a choice in one matter, or other words), or forbids."""

    matter: str
    choice: str
    is_negated: bool


def contradicts(new: str, old: str) -> bool:
    """Return whether following the new instruction means breaking the old one."""
    mine, theirs = instruction(new), instruction(old)
    if mine is None or theirs is None or mine.matter != theirs.matter:
        return False
    if mine.choice == theirs.choice:
        return mine.is_negated != theirs.is_negated
    return bool(mine.matter) and not mine.is_negated and not theirs.is_negated


@lru_cache(maxsize=1 << 10)
def instruction(text: str) -> Instruction | None:
    """Return the instruction in a short text, if its words cannot be misread."""
    words, said = _words(), plain(text)
    if not _is_instruction(said, words):
        return None
    found = words.split.findall(said)
    kinds = [(word, words.kinds.get(word)) for word in found]
    chosen = {kind for _, kind in kinds if kind and kind[0]}
    is_negated = any(kind == ("", "negations") for _, kind in kinds)
    rest = tuple(word for word, kind in kinds if kind is None)
    answers = any(kind == ("", "answering") for _, kind in kinds)
    if not rest and answers and len(chosen) == 1:
        (matter, choice) = chosen.pop()
        return Instruction(matter, choice, is_negated)
    if rest:
        kept = (word for word, kind in kinds if kind is None or kind[0])
        return Instruction("", " ".join(kept), is_negated)
    return None


def _is_instruction(said: str, words: _Words) -> bool:
    if said.startswith(words.told) or mood(said) == "imperative":
        return True
    return shows(said, "wish") and not said.startswith(words.persons)


class _Words(NamedTuple):
    split: re.Pattern[str]
    told: tuple[str, ...]
    persons: tuple[str, ...]
    # Each word's matter and choice, or an empty matter and what the word is for.
    kinds: dict[str, tuple[str, str]]


@cache
def _words() -> _Words:
    files = [lexicon(language, "instructions") for language in LANGUAGES]
    kinds: dict[str, tuple[str, str]] = {}
    for name in ("fillers", "answering", "negations"):
        for words in files:
            kinds.update(dict.fromkeys(words.words(name), ("", name)))
    for matter in _MATTERS:
        for words in files:
            for choice, spellings in words.table(matter).items():
                kinds.update(dict.fromkeys(spellings.split(), (matter, choice)))
    chinese = sorted((word for word in kinds if not word.isascii()), key=len, reverse=True)
    persons = [word for words in files for word in words.words("persons")]
    return _Words(
        split=re.compile(f"{'|'.join(chinese)}|{_TOKEN.pattern}"),
        told=tuple(word for words in files for word in words.words("told")),
        persons=tuple(f"{word} " if word.isascii() else word for word in persons),
        kinds=kinds,
    )
