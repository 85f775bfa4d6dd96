"""Fold spelling variants of the same character into one.

Full-width and half-width, accented and plain, traditional and simplified Chinese become equal here.
Upper case stays: getUserName shows its parts by it.
"""

import unicodedata
from functools import cache, lru_cache

from recollect.language.lexicon import read_data

_MAX_CACHED_CHARACTERS = 1 << 16
_MAX_CACHED_TEXT_CHARACTERS = 1_000
_VOICING_OF_KANA = "\u3099\u309a"
_STROKED = dict(zip("ØøŁłĐđÐðĦħŦŧı", "OoLlDdDdHhTti", strict=True))
_LIGATURES = {"Æ": "Ae", "æ": "ae", "Œ": "Oe", "œ": "oe", "Þ": "Th", "þ": "th"}
_PUNCTUATION = dict(zip("‘’ʼ‐–−", "'''---", strict=True))


def fold(text: str) -> str:
    """Return the text in plain spelling; folding it again changes nothing."""
    if text.isascii():
        return text
    return _folded_lately(text) if len(text) <= _MAX_CACHED_TEXT_CHARACTERS else _folded(text)


def _folded(text: str) -> str:
    # Marks are gone before normalisation, which would sort a long run of them in square time.
    return unicodedata.normalize("NFC", text.translate(_plain))


# A question is folded for its words, its times and its names.
_folded_lately = lru_cache(maxsize=16)(_folded)


class _PlainCharacters(dict[int, str]):
    """A table for str.translate that fills itself with the characters texts are made of."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MAX_CACHED_CHARACTERS:
            self.clear()
        self[code] = plain = _plain_spelling(chr(code))
        return plain


_plain = _PlainCharacters()


def _plain_spelling(character: str) -> str:
    """Return a character without compatibility form, marks and traditional strokes."""
    parts = (
        part
        for part in unicodedata.normalize("NFKD", character)
        if part in _VOICING_OF_KANA or not unicodedata.combining(part)
    )
    composed = unicodedata.normalize("NFC", "".join(parts))
    return "".join(_same_as().get(part, part) for part in composed)


@cache
def _same_as() -> dict[str, str]:
    """Return letters that Unicode does not decompose, and traditional to simplified Chinese."""
    data = read_data("han_variants.txt")
    pairs = "".join(line for line in data.splitlines() if not line.startswith("#"))
    variants = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return _STROKED | _LIGATURES | _PUNCTUATION | variants
