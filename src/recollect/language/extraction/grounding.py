"""Check that a claim is supported by the words it is said to come from.

Strict on numbers, names and denial, where a small change makes a claim false; lenient on the words
that only frame a claim ("User prefers …", 用户希望…), so that what a model says in its own words
passes as well. What fails is not wrong for certain, but a person should see it first. Whether the
words tell something, or only ask or suppose it, a reader decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final

from recollect.domain.write import Grounded
from recollect.language.analysis import terms
from recollect.language.characters import HAN, fold
from recollect.language.entities import entities
from recollect.language.lexicon import LANGUAGES, bilingual, lexicon
from recollect.language.quantities import number_words, numbers
from recollect.language.words import is_stop_word, stem, stop_characters

# Of so many terms, one may be a word of the one who made the claim.
_TERMS_PER_SLIP: Final = 5
_HAN_PER_SLIP: Final = 10
_SHARED_PREFIX_CHARACTERS: Final = 5

_WORD: Final = re.compile(r"\b(?:e-mails?|[a-z0-9_]+)\b")
_HAN_RUN: Final = re.compile(f"[{HAN}]+")
# A word, or a code of any kind: a path, an address, a version, a commit.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_~/\\.:@#+%&=?'-]+")
_CODE: Final = re.compile(r"[/\\_@~]|\w\.\w|\d[A-Za-z]|[A-Za-z]\d|[A-Za-z]-\d")
_TOKEN_END: Final = ".:?'-/&=#%"


# The words of a talk come again and again.
_stem_of: Final = lru_cache(maxsize=1 << 12)(stem)


def ground(claim_text: str, source: str, span: tuple[int, int]) -> Grounded:
    """Judge a claim by the span of its source."""
    start, end = max(0, span[0]), min(len(source), span[1])
    quoted = source[start:end] if start < end else ""
    if not quoted.strip() or not claim_text.strip():
        return Grounded(ok=False, reason="empty")
    claim = bilingual("grounding", "label", re.IGNORECASE).sub("", claim_text.strip())
    plain, quote = fold(claim).lower(), fold(quoted).lower()
    # What frames the claim goes first: 让用户 must not be read as 使用.
    content, told = _same_words(_chinese_frame().sub(" ", plain)), _same_words(quote)
    for reason, missing in (
        ("numbers", _missing_numbers(plain, quote)),
        ("names", _missing_names(claim, quote)),
        ("terms", _missing_terms(content, told)),
        ("polarity", _denied(plain, quote)),
    ):
        if missing:
            return Grounded(ok=False, missing=tuple(missing), reason=reason)
    if _is_about_another(claim_text, content, told):
        return Grounded(ok=False, reason="subject")
    return Grounded(ok=True)


def _missing_numbers(claim: str, quote: str) -> list[str]:
    """Return the numbers of the claim that the quote lacks, or gives in another unit."""
    units: dict[str, set[str]] = {}
    for number in numbers(quote):
        units.setdefault(number.value, set()).add(number.unit)
    return [
        f"{number.value} {number.unit}".strip()
        for number in numbers(claim)
        if number.value not in units
        or (number.unit and units[number.value] - {""} and number.unit not in units[number.value])
    ]


# --- Names ---------------------------------------------------------------------------------------


def _missing_names(claim: str, quote: str) -> list[str]:
    """Return the names, codes and paths of the claim that are not in the quote."""
    return [name for name in dict.fromkeys(_names(claim)) if not _stands_in(name, quote)]


def _names(claim: str) -> Iterator[str]:
    folded = fold(claim)
    in_chinese = _HAN_RUN.search(folded) is not None
    for at, word in _words(folded):
        if _is_code(word):
            yield word.lower()
        elif in_chinese or (at and not word.islower()):
            yield from filter(_says_something, word.lower().split("-"))
    yield from filter(_HAN_RUN.fullmatch, entities(claim))


def _stands_in(name: str, quote: str) -> bool:
    if not name.isascii():
        return name in quote or _chinese_frame().fullmatch(name) is not None
    # By itself, not inside a longer word or path.
    is_there = re.search(rf"(?<![a-z0-9/.]){re.escape(name)}(?![./]?[a-z0-9])", quote)
    return is_there is not None or (name.isalpha() and _is_among(name, _stems(quote)))


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the words and codes of a text that have letters, with their positions."""
    for match in _TOKEN.finditer(text):
        word = match[0].rstrip(_TOKEN_END).lstrip("'-").removesuffix("'s")
        if any(map(str.isalpha, word)):
            yield match.start(), word


def _is_code(word: str) -> bool:
    return not word.isalpha() and _CODE.search(word) is not None


def _says_something(word: str) -> bool:
    is_frame = word in lexicon("en", "grounding").words("frame") or word in number_words()
    return not (is_frame or is_stop_word(word) or word.isdecimal() or len(word) == 1)


# --- Terms ---------------------------------------------------------------------------------------


def _missing_terms(claim: str, quote: str) -> list[str]:
    """Return the words of the claim that the quote lacks, unless they are few among many."""
    stems, light = _stems(quote), lexicon("zh", "grounding").letters("light")
    words, characters = dict.fromkeys(_content_words(claim)), [*_content_characters(claim)]
    missing = [word for word in words if not _is_among(word, stems)]
    absent = [it for it in characters if it not in quote and it not in light]
    found = missing if len(missing) > len(words) // _TERMS_PER_SLIP else []
    return found + (absent if len(absent) > len(characters) // _HAN_PER_SLIP else [])


def _content_words(claim: str) -> Iterator[str]:
    for _, word in _words(claim):
        if not _is_code(word):
            yield from filter(_says_something, word.split("-"))


def _content_characters(claim: str) -> Iterator[str]:
    return (it for it in claim if _HAN_RUN.match(it) and it not in stop_characters())


def _stems(quote: str) -> set[str]:
    parts = (part for _, word in _words(quote) for part in word.split("-"))
    return {_stem_of(part) for part in parts} | {term for term in terms(quote) if term.isascii()}


def _is_among(word: str, stems: set[str]) -> bool:
    """Return whether a form of the word is there: apologise for apology."""
    one = _stem_of(word)
    return one in stems or any(
        min(len(one), len(other)) >= _SHARED_PREFIX_CHARACTERS
        and (one.startswith(other) or other.startswith(one))
        for other in stems
    )


# --- Meaning -------------------------------------------------------------------------------------


def _denied(claim: str, quote: str) -> list[str]:
    """Return what the claim denies and the quote affirms, or the other way round."""
    told, said = _clauses(quote), _clauses(claim)
    if not any(negative for _, negative in (*told, *said)):
        return []
    against: list[str] = []
    agreeing = 0
    for piece, negative in said:
        for word in _marks(piece):
            ways = {its for other, its in told if word in other}
            if ways == {not negative}:
                against.append(word)
            agreeing += ways == {negative}
    return against if len(against) > agreeing else []


def _marks(clause: str) -> Iterator[str]:
    """Yield what a clause is about: its words, and its Chinese characters."""
    yield from (word[:_SHARED_PREFIX_CHARACTERS] for word in _content_words(clause))
    yield from _content_characters(_chinese_frame().sub(" ", clause))


def _is_about_another(claim_text: str, claim: str, quote: str) -> bool:
    """Return whether the claim says of the user what the quote says of somebody else."""
    other_person = bilingual("grounding", "other_person")
    other = other_person.search(quote)
    if other is None or not bilingual("grounding", "about_user", re.IGNORECASE).match(claim_text):
        return False
    who = other["who"] or other["who_zh"]
    if who and who in claim:
        return False
    return bilingual("grounding", "first_person").search(other_person.sub(" ", quote)) is None


# --- Words ---------------------------------------------------------------------------------------


def _clauses(text: str) -> list[tuple[str, bool]]:
    """Return the clauses of a text in lower case, and whether each denies what it says."""
    negative = bilingual("grounding", "negative")
    harmless = bilingual("grounding", "harmless").sub(lambda match: "_" * len(match[0]), text)
    return [
        (piece, len(negative.findall(piece)) % 2 == 1)
        for piece in bilingual("grounding", "clause_end").split(harmless)
        if piece.strip()
    ]


def _same_words(text: str) -> str:
    """Return the text in lower case with one word for each meaning."""
    same, chinese = _same()
    text = _WORD.sub(lambda match: same.get(match[0], match[0]), text)
    return text if text.isascii() else chinese.sub(lambda match: same[match[0]], text)


@cache
def _same() -> tuple[dict[str, str], re.Pattern[str]]:
    same = {
        other: first
        for language in LANGUAGES
        for first, others in lexicon(language, "grounding").table("same").items()
        for other in others.split()
    }
    longest_first = sorted(same, key=len, reverse=True)
    return same, re.compile("|".join(word for word in longest_first if not word.isascii()))


def _chinese_frame() -> re.Pattern[str]:
    return lexicon("zh", "grounding").regex("frame")
