"""The one English gloss that stands for a Chinese word, chosen from its CC-CEDICT entries.

An entry is a line such as
`南京 南京 [Nan2 jing1] /Nanjing subprovincial city on the Changjiang, capital of .../`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from recollect.language.characters import HAN, fold

_ENTRY: Final = re.compile(r"\S+ (?P<word>\S+) \[(?P<pinyin>[^\]]*)\] /(?P<glosses>.*)/")
_SURNAME: Final = re.compile(r"(?:two-character )?surname (\w+)|(\w+) \(surname\)")

_TONE: Final = re.compile(r"\d")

# Glosses that speak about the word instead of translating it.
_ABOUT_THE_WORD: Final = re.compile(
    r"CL:|[\w ]*variant of|(?:two-character )?surname |\w+ \(surname\)|used in |used to "
    r"|also written|also pr\.|abbr\. |see |same as |short name for|classifier|measure word"
    r"|Taiwan pr|pr\. |\(Tw\)|Kangxi radical|lit\. "
)
_ASIDE: Final = re.compile(rf"\([^()]*\)|\[[^\]]*\]|[{HAN}|]+")
_ARTICLE: Final = re.compile(r"(?:fig\. )?(?:to be |to |an? |the )?(?=\S)")
_PLACEHOLDERS: Final = frozenset({"sb", "sth", "sb's", "etc"})
_INSIDE_NAMES: Final = frozenset({"of", "the", "and", "de"})
_LONGEST_GLOSS: Final = 6


@dataclass(frozen=True, slots=True)
class Glosses:
    """Simplified words with their gloss; surnames and single characters with their spelling."""

    words: dict[str, str] = field(default_factory=dict[str, str])
    surnames: dict[str, str] = field(default_factory=dict[str, str])
    readings: dict[str, str] = field(default_factory=dict[str, str])


def entries(lines: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each simplified word with its meanings as they stand in the dictionary."""
    for entry in filter(None, map(_ENTRY.match, lines)):
        yield entry["word"], entry["glosses"].split("/")


def choose(lines: Iterable[str]) -> Glosses:
    """The glosses of a whole dictionary.

    Of several entries for a word, a common noun or verb is taken before a name, and then the one
    with most meanings, which is the everyday one (会 "can" has six, 会 "accounting" three).
    """
    glosses = Glosses()
    rank: dict[str, tuple[bool, int]] = {}
    for entry in filter(None, map(_ENTRY.match, lines)):
        word = fold(entry["word"])
        is_name = entry["pinyin"][:1].isupper()
        meanings = entry["glosses"].split("/")
        if is_name and (surname := _surname(meanings)):
            glosses.surnames.setdefault(word, surname)
        gloss = next(filter(None, (_plain(meaning, is_name=is_name) for meaning in meanings)), "")
        place = (not is_name, 0 if is_name else len(meanings))
        if gloss and place > rank.get(word, (False, -1)):
            rank[word] = place
            glosses.words[word] = gloss
            if len(word) == 1:
                glosses.readings[word] = _spelled(entry["pinyin"])
    for surname, spelled in glosses.surnames.items():
        # One character means something else more often (王 king), two hardly ever do (欧阳).
        if len(surname) > 1:
            glosses.words.setdefault(surname, spelled)
    return glosses


def _spelled(pinyin: str) -> str:
    """How passports spell it: without tones (wei3, lu:4)."""
    return _TONE.sub("", pinyin.lower()).replace("u:", "u")


def _surname(meanings: list[str]) -> str:
    found = filter(None, map(_SURNAME.match, meanings))
    return next((match[1] or match[2] for match in found), "")


def _plain(meaning: str, *, is_name: bool) -> str:
    """A few words of English, or nothing when the meaning is not a translation."""
    if _ABOUT_THE_WORD.match(meaning):
        return ""
    plain = re.split("[;,]", _ASIDE.sub("", meaning))[0].strip()
    words = plain if is_name else plain[_article_ends(plain) :]
    kept = [word for word in words.strip(" .!?~-:").split() if word not in _PLACEHOLDERS]
    return " ".join(_name(kept) if is_name else kept[:_LONGEST_GLOSS])


def _article_ends(gloss: str) -> int:
    match = _ARTICLE.match(gloss)
    return match.end() if match else 0


def _name(words: list[str]) -> list[str]:
    """The name itself, without the description that follows it (Nanjing subprovincial city …)."""
    length = 0
    for word in words:
        if not (word[0].isupper() or word[0].isdigit() or word in _INSIDE_NAMES):
            break
        length += 1
    return words[: length or _LONGEST_GLOSS]


def read_glosses(file: Path) -> dict[str, str]:
    """Return word → gloss of a file of both, everyday words as people say them."""
    glosses: dict[str, str] = {}
    for listed in (file, Path(__file__).parent / "common_words.tsv"):
        for line in listed.read_text("utf-8").splitlines():
            word, gloss = line.split("\t")
            glosses[word] = gloss
    return glosses
