"""Names in Latin script: words that are capitalised although nothing requires it.

A capital at the beginning of a sentence or in a heading says nothing, so a word there is a name
only if it is no everyday word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from typing import Final

from recollect.language.lexicon import lexicon
from recollect.language.words import stem, stop_words

_MAX_ACRONYM_LETTERS: Final = 6
_MIN_WORDS_TO_TELL_LANGUAGE: Final = 5
_LETTERS: Final = "[A-Za-z0-9]{0,39}+"
# Beginning with a plain class of letters lets the search skip everything else. Groups are repeated
# atomically, see `analysis`.
_CAPITALISED: Final = (
    r"[A-Z](?<![A-Za-z0-9_.@'/-].)"
    r"(?:\.(?:[A-Z]\.){0,2}(?= ?[A-Z])"  # the initials of J. K. Rowling
    r"|(?:r|rs|s|rof|t)\.(?= [A-Z])"  # Dr. Mr. Mrs. Ms. Prof. St. Mt.
    rf"|{_LETTERS}(?>(?:['-][A-Z]{_LETTERS}){{0,3}}))"
)
_HUMPED: Final = rf"(?<![A-Za-z0-9_.@'/-])[a-z]{{1,24}}+[A-Z]{_LETTERS}"  # iPhone, getUserName
_JOINT: Final = r"(?: & | (?:of|de|van|von|bin|al|del|di|la)(?: the| la| der)? | )"
_JOINED_INITIALS: Final = re.compile(r"\.(?=[A-Z])")
_HUMP: Final = re.compile("[A-Z](?<=[a-z].)")
_RUNNING_TEXT: Final = re.compile(r"[a-z]{4}(?<![A-Za-z].{4})|[^\x00-\xff]")
# A heading, the first words of a list item up to its colon, or what begins a line in bold.
_LABEL: Final = re.compile(
    r"\s{0,20}(?:#{1,6} .*|\*\*[^*]{1,60}\*"
    r"|(?:[-*•+>]|\d{1,3}[.)]) {1,4}(?:\**[^:*]{1,60}(?:\*|:))?)"
)
_NEXT_WORD: Final = re.compile(r" ([a-z]+)")
_LAST_WORD: Final = re.compile(r"([A-Za-z]+) $")
_STRETCHED: Final = re.compile(r"([a-z])\1\1|(?:ha){2}")
_DERIVED: Final = re.compile(
    r".{2,}(?:(?<![jq])ing|ly|[ts]ions?|ness|ments?|[ai]ble|ful|less|ous|ism|i[sz]ed|ize|[ae]nc[ey]"
    r"|[bcdfgklmnprtwy]s|ies|ers)$"
)
_WITHIN_SENTENCE: Final = ",)'&/%、”》」+=<\0"


def latin_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the names of a text as written, with their positions."""
    words = _words()
    spans = words.span_with_humps if _HUMP.search(text) else words.span
    start = 0
    for line in text.split("\n"):
        found = list(spans.finditer(line))
        if found:
            reader = _Line(line)
            for span in found:
                for at, name in reader.names(span):
                    yield start + at, name
        start += len(line) + 1


class _Line:
    """One line of a text, and how far its capitals can be trusted."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_titled = not _RUNNING_TEXT.search(text)
        label = _LABEL.match(text)
        self._end_of_label = label.end() if label else -1

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self._text.split())

    @property
    def _is_english(self) -> bool:
        """Whether everyday words are known; in another language every word looks strange."""
        return len(self._words) < _MIN_WORDS_TO_TELL_LANGUAGE or not self._words.isdisjoint(
            stop_words()
        )

    def names(self, span: re.Match[str]) -> Iterator[tuple[int, str]]:
        """Yield the names in a run of capitalised words, split at everyday words."""
        known = _words()
        at = begin = span.start()
        titled = self._is_titled or at <= self._end_of_label or self._text[at - 1 : at] == "*"
        opens = self._opens_sentence(at)
        is_opening = opens
        group: list[str] = []
        for word in span[1].split(" "):
            low = word.casefold().rstrip(".")
            joins = group and low in known.joining and not titled
            if not joins and (low in known.breaks or ((opens or titled) and _is_opener(word, low))):
                if name := self._name(group, begin, at - 1, is_opening, titled):
                    yield begin, name
                group, is_opening = [], False
            elif group or word[0].isalpha():
                begin = begin if group else at
                group.append(word)
            at += len(word) + 1
            opens = False
        if span[2] == "'t":
            group = group[:-1]
        if name := self._name(group, begin, at - 1, is_opening, titled):
            yield begin, name

    def _opens_sentence(self, at: int) -> bool:
        before = self._text[max(0, at - 2) : at].rstrip()
        return not (before and (before[-1].isalnum() or before[-1] in _WITHIN_SENTENCE))

    def _name(self, group: list[str], begin: int, end: int, opening: bool, titled: bool) -> str:
        """Return the name that a run of words makes, or an empty string."""
        while group and group[-1].casefold() in _words().joining:
            group.pop()
        if not group or self._text[end : end + 1] in ("_", "-"):
            return ""
        if len(group) == 1:
            return group[0] if self._is_name(group[0], begin, end, opening or titled) else ""
        if _is_shouted(group):
            return ""
        if titled and not all(map(_is_strange, group)):
            return ""
        is_counted = len(group) == 2 and group[1][0].isdigit()  # Room 302, Chapter 5
        letters = group[:1] if is_counted else group
        if (opening or is_counted) and all(is_everyday(word.casefold()) for word in letters):
            return ""
        return _JOINED_INITIALS.sub(". ", " ".join(group))

    def _is_name(self, word: str, begin: int, end: int, is_doubtful: bool) -> bool:
        low = word.casefold()
        if len(word) == 1 or word[-1] == ".":
            return False
        if word.isupper():
            return len(word) <= _MAX_ACRONYM_LETTERS and not is_everyday(low) and word[1:].isalpha()
        if not word[1:].islower():
            return not (word[:-1].isupper() and word[-1] == "s")  # CEOs
        if is_doubtful:
            return self._is_name_at_beginning(low, begin, end)
        if not is_everyday(low):
            return True
        before = _LAST_WORD.search(self._text, max(0, begin - 8), begin)
        return before is None or before[1].casefold() not in _words().determiners

    def _is_name_at_beginning(self, low: str, begin: int, end: int) -> bool:
        words = _words()
        following = _NEXT_WORD.match(self._text, end)
        next_word = following[1] if following else ""
        if is_everyday(low):
            return low in words.names_that_are_words and next_word in words.name_verbs
        if low in self._words or next_word in words.determiners or _STRETCHED.search(low):
            return False
        if begin <= self._end_of_label:
            return next_word in words.name_verbs
        return next_word in words.acts_of_people or (self._is_english and not _is_derived(low))


def _is_strange(word: str) -> bool:
    """Return whether a word makes a name even where all words are capitalised."""
    low = word.casefold()
    return low in _words().name_beginnings or not (is_everyday(low) or _is_derived(low))


def _is_opener(word: str, low: str) -> bool:
    """Return whether a word is capitalised only because it begins a sentence."""
    return not word.isupper() and (
        low in _words().openers or (low[-2:] == "ly" and _is_derived(low))
    )


def _is_shouted(group: list[str]) -> bool:
    loud = [word for word in group if len(word) > 1 and word.isalpha() and word.isupper()]
    return len(loud) > 2 or (len(loud) == 2 and any(is_everyday(word.casefold()) for word in loud))


def _is_derived(low: str) -> bool:
    """Return whether a lower-case word is built like everyday words: setbacks, honestly."""
    return _DERIVED.match(low) is not None and low not in _words().names_built_as_words


@lru_cache(maxsize=1 << 14)
def is_everyday(word: str) -> bool:
    """Return whether a lower-case word is an everyday word, in any of its forms."""
    return word in _words().openers or stem(word) in _everyday_stems()


@cache
def _everyday_stems() -> frozenset[str]:
    return frozenset(map(stem, lexicon("en", "entities").words("everyday") | _words().openers))


# --- Words ---------------------------------------------------------------------------------------


class _Words:
    """The words that tell names from everyday words, and the patterns made of them."""

    def __init__(self) -> None:
        words = lexicon("en", "entities")
        self.acts_of_people = words.words("acts_of_people")
        self.determiners = words.words("determiners")
        self.joining = words.words("joining")
        self.name_beginnings = words.words("name_beginnings")
        self.name_verbs = words.words("name_verbs")
        self.names_built_as_words = words.words("names_built_as_words")
        self.names_that_are_words = words.words("names_that_are_words")
        self.openers = words.words("openers")
        never_names = words.words("never_names") | stop_words()
        self.breaks = never_names - self.names_that_are_words | words.words("months")
        number = (
            r"\d{1,4}(?:\.\d{1,3})?(?![A-Za-z0-9])(?![%:,.-]\w)" rf"(?! {words.pattern('units')}\b)"
        )
        self.span = _span(_CAPITALISED, number)
        self.span_with_humps = _span(f"(?:{_CAPITALISED}|{_HUMPED})", number)


@cache
def _words() -> _Words:
    return _Words()


def _span(word: str, number: str) -> re.Pattern[str]:
    """Match a run of capitalised words, with what is shortened onto its last one ('s, 't) apart."""
    return re.compile(rf"({word}(?>(?:{_JOINT}(?:{word})| {number}){{0,7}}))('[a-z]{{1,2}}\b)?")
