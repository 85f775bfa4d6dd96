"""Whether a claim is supported by the words it is said to come from.

Strict on numbers, names and denial, where a small change makes a claim false; lenient on the words
that only frame a claim ("User prefers …", 用户希望…), so that what a model says in its own words
passes as well. What fails is not wrong for certain, but a person should see it first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from recollect.domain.extraction import Grounded
from recollect.text import signals
from recollect.text.analysis import terms
from recollect.text.entities import entities
from recollect.text.folding import fold
from recollect.text.scripts import HAN
from recollect.text.signal_patterns import at_words, one_of
from recollect.text.stopwords import CHINESE
from recollect.text.words import is_stop_word, stem
from recollect.writing.extract_sentences import LONGEST_SENTENCE, readable, sentences
from recollect.writing.ground_numbers import NUMBER_WORDS, numbers
from recollect.writing.ground_words import FRAME_CHINESE, FRAME_ENGLISH, clauses, same_words

# Of so many terms, one may be a word of the one who made the claim.
_TERMS_A_SLIP: Final = 5
_HAN_A_SLIP: Final = 10
_SHARED_BEGINNING: Final = 5

_HAN_RUN: Final = re.compile(f"[{HAN}]+")
# A word, or a code of any kind: a path, an address, a version, a commit.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_~/\\.:@#+%&=?'-]+")
_CODE: Final = re.compile(r"[/\\_@~]|\w\.\w|\d[A-Za-z]|[A-Za-z]\d|[A-Za-z]-\d")
_TOKEN_END: Final = ".:?'-/&=#%"
# What makes one word or path with the name behind it, and with the name before it.
_INSIDE: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789/.")
_GOES_ON: Final = re.compile(r"[./]?[a-z0-9]")
_LABEL: Final = re.compile(
    r"^(?:user(?:'s)? (?:asks|feedback|agreed)|to do|follow-up|decision"
    r"|用户(?:要求|反馈|同意)|待办|决定|结论)[:：]\s*",
    re.IGNORECASE,
)
_ABOUT_USER: Final = re.compile(r"^(?:the )?user(?!'s|s')\b|^用户(?!的)", re.IGNORECASE)
_MODAL_CLAIM: Final = re.compile(
    at_words(
        r"""
        (?:asked|asks|agreed|might|may|would|could|possibly|plans?|if)\b
        (?:wonder|consider|hypothetical)
        """
    )
    + "|问|想知道|可能|考虑|打算|同意|如果|假设",
    re.IGNORECASE,
)
_RELATIVE: Final = one_of(
    "wife husband partner girlfriend boyfriend son daughter child mother father mom mum dad parents"
    " brother sister friend boss manager colleague neighbou?r doctor teacher cousin uncle aunt"
    " roommate client team"
)
_RELATIVE_CHINESE: Final = one_of(
    "妻子 丈夫 女儿 儿子 孩子 妈 爸 妹妹 弟弟 姐姐 哥哥 爷爷 奶奶 朋友 同事 老板 领导"
    " 男朋友 女朋友 室友 邻居 同学"
)
_OTHER_PERSON: Final = re.compile(
    rf"\b(?:my|our) (?P<who>{_RELATIVE})\b|我的?(?P<who_zh>{_RELATIVE_CHINESE})"
    r"|\b(?:he|she)\b|[他她](?!们)"
)
_USER_IS: Final = re.compile(
    r"(?:the )?user is an? (?:[\w-]+ )*?(?P<what>[\w-]+)\.?$", re.IGNORECASE
)
_USER_IS_CHINESE: Final = re.compile(rf"用户是(?:一[名个位])?(?P<what>[{HAN}]{{2,6}})。?$")
_BEING: Final = re.compile(r"\b(?:i'm|i am|am|as|become|became|being|i was|i've been)\b")
_BEING_CHINESE: Final = re.compile("是|当|做|任|身为|作为|成为|成了|职业|我们?这?行")
_TOLD: Final[frozenset[signals.Stance]] = frozenset({"told", "ordered"})
_TOLD_OF_OTHERS: Final[frozenset[signals.Stance]] = frozenset({"reported"})
_FIRST_PERSON: Final = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|we|we're|we've|me)\b|我")


# The words of a talk come again and again.
_stem_of: Final = lru_cache(maxsize=1 << 12)(stem)


def ground(claim_text: str, source: str, span: tuple[int, int]) -> Grounded:
    """Judge a claim by the span of its source."""
    start, end = max(0, span[0]), min(len(source), span[1])
    quoted = source[start:end] if start < end else ""
    if not quoted.strip() or not claim_text.strip():
        return Grounded(ok=False, reason="empty")
    claim = _LABEL.sub("", claim_text.strip())
    plain, quote = fold(claim).lower(), fold(quoted).lower()
    # What frames the claim goes first: 让用户 must not be read as 使用.
    content, told = same_words(FRAME_CHINESE.sub(" ", plain)), same_words(quote)
    for reason, missing in (
        ("numbers", _missing_numbers(plain, quote)),
        ("names", _missing_names(claim, quote)),
        ("terms", _missing_terms(content, told)),
        ("polarity", _denied(plain, quote)),
    ):
        if missing:
            return Grounded(ok=False, missing=tuple(missing), reason=reason)
    if _is_about_another(claim_text, content, told) or _is_only_mentioned(claim, quote):
        return Grounded(ok=False, reason="subject")
    if not _is_told(claim_text, source, start, end):
        return Grounded(ok=False, reason="not told")
    return Grounded(ok=True)


def _missing_numbers(claim: str, quote: str) -> list[str]:
    """Numbers of the claim that the quote lacks, or counts in another unit."""
    units: dict[str, set[str]] = {}
    for number in numbers(quote):
        units.setdefault(number.value, set()).add(number.unit)
    return [
        f"{it.value} {it.unit}".strip()
        for it in numbers(claim)
        if it.value not in units
        or (it.unit and units[it.value] - {""} and it.unit not in units[it.value])
    ]


# --- Names ---------------------------------------------------------------------------------------


def _missing_names(claim: str, quote: str) -> list[str]:
    """Names, codes and paths of the claim that do not stand in the quote."""
    return [name for name in dict.fromkeys(_names(claim)) if not _stands_in(name, quote)]


def _names(claim: str) -> Iterator[str]:
    folded = fold(claim)
    in_chinese = _HAN_RUN.search(folded) is not None
    for at, word in _words(folded):
        if _is_code(word):
            yield word.lower()
        elif in_chinese or (at and not word.islower()):
            yield from (it for it in word.lower().split("-") if _says_something(it))
    yield from (name for name in entities(claim) if _HAN_RUN.fullmatch(name))


def _stands_in(name: str, quote: str) -> bool:
    if not name.isascii():
        return name in quote or FRAME_CHINESE.fullmatch(name) is not None
    if _is_word_of(quote, name):
        return True
    return name.isalpha() and _is_among(name, _stems(quote))


def _is_word_of(quote: str, name: str) -> bool:
    """Whether the name stands there as it is, and not as part of a longer word or path."""
    at = quote.find(name)
    while at >= 0:
        begins = not at or quote[at - 1] not in _INSIDE
        if begins and not _GOES_ON.match(quote, at + len(name)):
            return True
        at = quote.find(name, at + 1)
    return False


def _words(text: str) -> Iterator[tuple[int, str]]:
    """The words and codes of a text that have letters, and where they stand."""
    for match in _TOKEN.finditer(text):
        word = match[0].rstrip(_TOKEN_END).lstrip("'-").removesuffix("'s")
        if word.isalpha() or any(map(str.isalpha, word)):
            yield match.start(), word


def _is_code(word: str) -> bool:
    return not word.isalpha() and _CODE.search(word) is not None


def _says_something(word: str) -> bool:
    return not (
        word in FRAME_ENGLISH
        or word in NUMBER_WORDS
        or is_stop_word(word)
        or word.isdecimal()
        or len(word) == 1
    )


# --- Terms ---------------------------------------------------------------------------------------


def _missing_terms(claim: str, quote: str) -> list[str]:
    """Words of the claim that the quote lacks, unless they are few among many."""
    stems = _stems(quote)
    asked = list(dict.fromkeys(_content_words(claim)))
    missing = [it for it in asked if not _is_among(it, stems)]
    characters = "".join(_HAN_RUN.findall(claim))
    told = set(quote)
    content = [it for it in characters if it not in CHINESE]
    absent = [it for it in content if it not in told and it not in _LIGHT]
    found = missing if len(missing) > len(asked) // _TERMS_A_SLIP else []
    return found + (absent if len(absent) > len(content) // _HAN_A_SLIP else [])


# Numbers are judged by their value, and the other characters only join words.
_LIGHT: Final = frozenset(
    "零〇一二两三四五六七八九十百千万亿位名只个为是从中里上内外将于由被等及该时后前并且各则即成别勿"
)


def _content_words(claim: str) -> Iterator[str]:
    for _, word in _words(claim):
        if not _is_code(word):
            yield from (it for it in word.split("-") if _says_something(it))


def _stems(quote: str) -> set[str]:
    parts = (part for _, word in _words(quote) for part in word.split("-"))
    return {_stem_of(part) for part in parts} | {it for it in terms(quote) if it.isascii()}


def _is_among(word: str, stems: set[str]) -> bool:
    """Whether a form of the word is there: apologise for apology."""
    one = _stem_of(word)
    return one in stems or any(
        min(len(one), len(other)) >= _SHARED_BEGINNING
        and (one.startswith(other) or other.startswith(one))
        for other in stems
    )


# --- Meaning -------------------------------------------------------------------------------------


def _denied(claim: str, quote: str) -> list[str]:
    """What the claim denies and the quote does not, or the other way round."""
    told, said = clauses(quote), clauses(claim)
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
    """What a clause is about: its words, and pairs of Chinese characters."""
    yield from (word[:_SHARED_BEGINNING] for word in _content_words(clause))
    for run in _HAN_RUN.findall(FRAME_CHINESE.sub(" ", clause)):
        content = [it for it in run if it not in CHINESE]
        yield from content


def _is_about_another(claim_text: str, claim: str, quote: str) -> bool:
    """Whether the claim says of the user what the quote says of somebody else."""
    other = _OTHER_PERSON.search(quote)
    if other is None or not _ABOUT_USER.match(claim_text):
        return False
    who = other["who"] or other["who_zh"]
    if who and who in claim:
        return False
    return _FIRST_PERSON.search(_OTHER_PERSON.sub(" ", quote)) is None


def _is_only_mentioned(claim: str, quote: str) -> bool:
    """Whether the user is made into somebody of whom the quote only speaks: "I saw my doctor"."""
    if (english := _USER_IS.match(claim)) is not None:
        noun = re.escape(english["what"].lower())
        spoken_of = rf"\b(?:my|our|the|his|her|their|your) (?:[\w-]+ )?{noun}\b"
        return bool(re.search(spoken_of, quote)) and not _BEING.search(quote)
    if (chinese := _USER_IS_CHINESE.match(fold(claim))) is not None:
        what = chinese["what"]
        return what in quote and not _BEING_CHINESE.search(quote)
    return False


def _is_told(claim_text: str, source: str, start: int, end: int) -> bool:
    """Whether the quote states something, and neither asks it nor supposes it."""
    if _MODAL_CLAIM.search(claim_text):
        return True
    about_user = _ABOUT_USER.match(claim_text) is not None
    first = max(0, start - LONGEST_SENTENCE)
    plain = readable(source[first : end + LONGEST_SENTENCE])
    start, end = start - first, end - first
    around = [it.plain for it in sentences(plain) if it.start < end and start < it.end]
    stances = set(map(signals.stance, around or [plain[start:end]]))
    return bool(stances & (_TOLD if about_user else _TOLD | _TOLD_OF_OTHERS))
