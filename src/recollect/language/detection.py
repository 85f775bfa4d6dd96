"""The main language of a text, judged cheaply by its letters."""

import re
from typing import Literal

from recollect.language.folding import fold
from recollect.language.scripts import CJK, HAN

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
