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
    is_wished = shows(said, "wish") and not said.startswith(words.persons)
    if not (is_wished or said.startswith(words.told) or mood(said) == "imperative"):
        return None
    kinds = [(word, words.kinds.get(word, "")) for word in words.split.findall(said)]
    named = {kind for _, kind in kinds}
    chosen = [kind for kind in named if ":" in kind]
    if "" in named:
        kept = (word for word, kind in kinds if not kind or ":" in kind)
        return Instruction("", " ".join(kept), "negations" in named)
    if "answering" in named and len(chosen) == 1:
        matter, _, choice = chosen[0].partition(":")
        return Instruction(matter, choice, "negations" in named)
    return None


class _Words(NamedTuple):
    split: re.Pattern[str]
    told: tuple[str, ...]
    persons: tuple[str, ...]
    kinds: dict[str, str]
    """What each word is for; "matter:choice" if it is for one choice."""


@cache
def _words() -> _Words:
    files = [lexicon(language, "instructions") for language in LANGUAGES]
    kinds: dict[str, str] = {}
    for words in files:
        for name in ("fillers", "answering", "negations"):
            kinds |= dict.fromkeys(words.words(name), name)
        for matter in _MATTERS:
            for choice, spellings in words.table(matter).items():
                kinds |= dict.fromkeys(spellings.split(), f"{matter}:{choice}")
    chinese = sorted((word for word in kinds if not word.isascii()), key=len, reverse=True)
    persons = [word for words in files for word in words.words("persons")]
    return _Words(
        split=re.compile(f"{'|'.join(chinese)}|{_TOKEN.pattern}"),
        told=tuple(word for words in files for word in words.words("told")),
        persons=tuple(f"{word} " if word.isascii() else word for word in persons),
        kinds=kinds,
    )
