r"""The words and patterns of a language. They are data: TOML files in `data/en` and `data/zh`.

A file has up to seven sections:

    [words]       sets of words: one string, or a list where an entry has several words; sorted
    [letters]     sets of characters, which stand inside the `[...]` of a pattern; sorted
    [tables.X]    what words stand for: keys and values
    [patterns]    regular expressions; a line is one way, and the first that matches counts
    [at_words]    the same, where each way begins at the beginning of a word
    [signs.X]     how a sentence shows something: at its `start`, `at_words`, or `anywhere`
    [[rules]]     rules in the order in which they are tried; who reads them says what they hold

In a pattern, `{name}` stands for the words, letters or pattern of that name, and `{file.name}` for
those of another file of the same language. Every repetition is bounded, so that the time stays
linear in the text; an English pattern begins at a word, which rules out most places at once.

A file is read, and a pattern compiled, when it is first needed: all together would slow down every
start.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from recollect.domain.context import Tongue

LANGUAGES: Final[tuple[Tongue, ...]] = ("en", "zh")
SECTIONS: Final = frozenset(
    {"words", "letters", "tables", "patterns", "at_words", "signs", "rules"}
)
_REFERENCE: Final = re.compile(r"\{(?:(?P<file>[a-z_]+)\.)?(?P<name>[a-z][a-z_]*)\}")


class Signs(NamedTuple):
    """Ways to show something: at the beginning of a sentence, or anywhere in it."""

    start: str = ""
    anywhere: str = ""

    def find(self, sentence: str) -> re.Match[str] | None:
        """Return the words that show it, if there are any."""
        found = compiled(self.start).match(sentence) if self.start else None
        if found is None and self.anywhere:
            found = compiled(self.anywhere).search(sentence)
        return found


class Lexicon:
    """The words and patterns of one file."""

    def __init__(self, language: Tongue, data: Mapping[str, Any]) -> None:
        self._language: Final[Tongue] = language
        self._data = data
        self._patterns: dict[str, str] = {}
        self._sets: dict[str, frozenset[str]] = {}

    def words(self, name: str) -> frozenset[str]:
        """Return a set of words."""
        if name not in self._sets:
            self._sets[name] = frozenset(entries(self._data["words"][name]))
        return self._sets[name]

    def all_words(self) -> frozenset[str]:
        """Return the words of all sets."""
        return frozenset[str]().union(*map(self.words, self._data["words"]))

    def letters(self, name: str) -> str:
        """Return a set of characters as one string."""
        return "".join(self._data["letters"][name].split())

    def all_letters(self) -> frozenset[str]:
        """Return the characters of all sets."""
        return frozenset[str]().union(*map(self.letters, self._data["letters"]))

    def table(self, name: str) -> Mapping[str, Any]:
        """Return a table."""
        return self._data["tables"][name]

    def pattern(self, name: str) -> str:
        """Return a regular expression that stands for words or for a pattern."""
        if name not in self._patterns:
            self._patterns[name] = self._build(name)
        return self._patterns[name]

    def regex(self, name: str, flags: int = 0) -> re.Pattern[str]:
        """Return a pattern, compiled."""
        return compiled(self.pattern(name), flags)

    def signs(self, name: str) -> Signs:
        """Return the ways to show something."""
        return self.signs_of(self._data["signs"][name])

    def signs_of(self, entry: Mapping[str, Any]) -> Signs:
        """Return the ways listed by a rule, or by a section of signs."""
        anywhere = [
            *([rf"\b{self.either(entry['at_words'])}"] if "at_words" in entry else []),
            *([self.either(entry["anywhere"])] if "anywhere" in entry else []),
        ]
        start = self.either(entry["start"]) if "start" in entry else ""
        return Signs(start, "|".join(anywhere))

    def rules(self) -> Sequence[Mapping[str, Any]]:
        """Return the rules in their order."""
        return self._data["rules"]

    def either(self, ways: str) -> str:
        """Return a group of the ways, each a line, with names replaced by what they stand for."""
        lines = (line.strip() for line in ways.strip().splitlines())
        return f"(?:{'|'.join(_REFERENCE.sub(self._referenced, line) for line in lines)})"

    def _referenced(self, reference: re.Match[str]) -> str:
        file, name = reference["file"], reference["name"]
        return (lexicon(self._language, file) if file else self).pattern(name)

    def _build(self, name: str) -> str:
        if name in self._data.get("patterns", {}):
            return self.either(self._data["patterns"][name])
        if name in self._data.get("at_words", {}):
            return rf"\b{self.either(self._data['at_words'][name])}"
        if name in self._data.get("letters", {}):
            return self.letters(name)
        # Chinese words have no borders, so that the longest must be tried first.
        words = sorted(entries(self._data["words"][name]), key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, words))})"


def entries(words: str | Sequence[str]) -> Sequence[str]:
    """Return the words of an entry in the order of the file."""
    return words.split() if isinstance(words, str) else words


@cache
def lexicon(language: Tongue, name: str) -> Lexicon:
    """Return the words and patterns of a file: `lexicon("en", "moods")`."""
    return Lexicon(language, tomllib.loads(read_data(f"{language}/{name}.toml")))


def read_data(path: str) -> str:
    """Return the text of a file under `data`."""
    return (files("recollect.language") / "data" / path).read_text(encoding="utf-8")


def both(file: str, name: str) -> str:
    """Return one pattern for what has that name in both languages, English first."""
    return f"(?:{'|'.join(lexicon(language, file).pattern(name) for language in LANGUAGES)})"


@cache
def bilingual(file: str, name: str, flags: int = 0) -> re.Pattern[str]:
    """Return one pattern for what has that name in both languages, compiled."""
    return compiled(both(file, name), flags)


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern, compiled when it is first needed."""
    return re.compile(pattern, flags)
