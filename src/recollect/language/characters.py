"""Characters: the ranges of scripts, folding of variants, and the language of a text."""

import re
import unicodedata
from functools import cache, lru_cache
from typing import Literal

from recollect.language.lexicon import read_data

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
KANA = "\u3041-\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
BOPOMOFO = "\u3105-\u312f\u31a0-\u31bf"
CJK = HAN + KANA + HANGUL + BOPOMOFO

# Thai, Lao, Tibetan, Burmese and Khmer put no spaces between words either.
SPACELESS = CJK + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u109d\u1780-\u17d3"

# Indian scripts write vowels as signs inside a word, which `\w` leaves out.
VOWEL_SIGNS = "\u0900-\u0963\u0966-\u0df3"


# --- Fold spelling variants of the same character into one ----------------------------------------
# Full-width and half-width, accented and plain, traditional and simplified Chinese become equal
# here. Upper case stays: getUserName shows its parts by it.

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


# --- The main language of a text, judged cheaply by its letters -----------------------------------

Language = Literal["zh", "en", "other"]

# A text shows its language early; a long one is not read to its end for this.
_READ_CHARACTERS = 2000

# A Chinese character says about as much as a Latin word, so a few of them among English names
# (用React写的) make a Chinese sentence.
_CHINESE_SHARE = 0.2

# Japanese and Korean mix Han characters with letters of their own.
_HAN_SHARE = 0.8

_LETTERS = re.compile(r"[^\W\d_]+")
_CJK_LETTERS = re.compile(f"[{CJK}]+")
_HAN_LETTERS = re.compile(f"[{HAN}]+")
_LATIN_LETTERS = re.compile("[A-Za-z]+")


def script_share(text: str) -> float:
    """Return the share of Chinese, Japanese and Korean letters among the first letters."""
    beginning = fold(text[:_READ_CHARACTERS])
    return _count(_CJK_LETTERS, beginning) / max(1, _count(_LETTERS, beginning))


def language(text: str) -> Language:
    """Return Chinese, English, or other.

    All Latin text counts as English: its letters do not tell European languages apart.
    """
    beginning = fold(text[:_READ_CHARACTERS])
    if beginning.isascii():
        return "en" if _LATIN_LETTERS.search(beginning) else "other"
    letters = _count(_LETTERS, beginning)
    cjk = _count(_CJK_LETTERS, beginning)
    if cjk and cjk >= _CHINESE_SHARE * letters:
        return "zh" if _count(_HAN_LETTERS, beginning) > _HAN_SHARE * cjk else "other"
    return "en" if letters and _count(_LATIN_LETTERS, beginning) > letters / 2 else "other"


def _count(letters: re.Pattern[str], text: str) -> int:
    return sum(map(len, letters.findall(text)))


# --- One printable line --------------------------------------------------------------------------


def one_line(text: str, limit: int) -> str:
    """Return the text in one printable line, cut to `limit` with an ellipsis."""
    # Spaces may be removed, so somewhat more than the limit is read.
    line = " ".join(text[: 4 * limit + 100].split())
    if not line.isprintable():
        visible = (letter if letter.isprintable() else " " for letter in line)
        line = " ".join("".join(visible).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
