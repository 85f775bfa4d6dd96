"""English text as tokens: words in the form they are listed under, numbers, times and marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from recollect.text import claim_words_english as words
from recollect.text.words import stem

_TOKEN: Final = re.compile(
    r"(?P<address>[\w.+-]+@[\w-]+\.[\w.]*\w|\w+://\S+|[~.]{0,2}/[\w./-]*\w)"
    r"|(?P<clock>\d{1,2}(?:[:.]\d\d)?\s?[AaPp]\.?[Mm]\b|\d{1,2}:\d\d)"
    r"|(?P<date>\d{4}-\d{1,2}-\d{1,2})"
    r"|(?P<code>\d+(?:-\d+)+|[$€£¥]?\d[\d,]*(?:\.\d+)*[kKmM](?![A-Za-z]))"
    r"|(?P<number>\d+(?:,\d{3})*(?:\.\d+)*)(?:st|nd|rd|th)?"
    r"|(?P<word>[^\W\d_][\w+#]*(?:-\w+)*)"
    r"|(?P<short>'(?:s|re|m|ve|ll|d|t)\b)"
    r"|(?P<money>[$€£¥%])"
    r"|(?P<mark>[,;:.!?()\n])"
)
_INTRODUCTION: Final = re.compile(words.POLITE, re.IGNORECASE)
_ENDING: Final = re.compile(words.POLITE_ENDINGS, re.IGNORECASE)
_LIKED_BEST: Final = re.compile(
    r"\b(?:like|love|enjoy)s?\b(?P<what>[^,;.!?]{1,60}?) "
    r"(?:best|most|the most|best of all|above all|more than anything)\b(?=[.!]?\s*$)",
    re.IGNORECASE,
)
_FOUND_SO: Final = re.compile(
    r"\b(?:find|finds|found)\b(?P<what>[^,;.!?]{1,40}?) (?:very |really |quite |so |rather )?"
    r"(?:(?P<bad>annoying|irritating|tiresome|unbearable|boring|awful|terrible|disgusting)|"
    r"(?:great|fun|enjoyable|wonderful|lovely|delightful|fantastic))\b(?=[.!]?\s*$)",
    re.IGNORECASE,
)
"""Finding something annoying is to dislike it."""

_AT_THE_HOUR: Final = re.compile(
    r"(?<=\bat )(?P<hour>1[0-2]|[1-9])(?=[.!,;]?(?:$| on\b| every\b| and\b))"
)
_PAST_THE_HOUR: Final = re.compile(r"\b(half|quarter) (past|to) (\w+)", re.IGNORECASE)


def listed(text: str) -> tuple[str, ...]:
    """The words of a list."""
    return tuple(text.split())


DETERMINERS: Final = frozenset(
    listed("the a an my our your his her their it 's this that these those each every")
)
_BEING: Final = frozenset(listed("he she it that there here what who where how everything i"))

_SMALL: Final = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
_ORDINALS: Final = listed("first second third fourth fifth sixth seventh eighth ninth tenth")
_TENS: Final = listed("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBERS: Final = (
    {word: str(number) for number, word in enumerate(_SMALL)}
    | {word: str(number) for number, word in enumerate(_ORDINALS, 1) if word != "second"}
    | {word: str(number * 10) for number, word in enumerate(_TENS, 2)}
    | {"hundred": "100", "thousand": "1000"}
)


_UNIT: Final = "|".join(word for word in (*_SMALL, *_TENS) if word != "zero")
_SPELLED: Final = re.compile(
    rf"\b(?:(?P<hundreds>{_UNIT}|a|\d+) hundred(?: and)?(?: (?P<rest>{_UNIT}))?"
    rf"(?:[ -](?P<ones>{_UNIT}))?"
    rf"|(?P<tens>{'|'.join(_TENS)})[ -](?P<unit>{'|'.join(_SMALL[1:10])}))\b",
    re.IGNORECASE,
)


def _digits(match: re.Match[str]) -> str:
    """A number of several words in digits: a hundred and fifty, twenty-five."""

    def of(name: str) -> int:
        word = (match[name] or "").casefold()
        return 1 if word == "a" else int(NUMBERS.get(word, word or "0"))

    return str(of("hundreds") * 100 + of("rest") + of("ones") + of("tens") + of("unit"))


class Token(NamedTuple):
    """One of them as it stands in the text."""

    lemma: str
    surface: str
    kind: str
    opens: bool
    """It stands where any word has a capital."""


@lru_cache(maxsize=1 << 14)
def lemma(word: str) -> str:
    """The form under which all forms of a lower-case word are listed."""
    return words.IRREGULAR.get(word) or stem(word)


def tokens_of(text: str) -> Iterator[Token]:
    """The tokens of a text in order, without what only introduces it."""
    text = _without_politeness(text)
    if "past" in text or "quarter" in text:
        text = _PAST_THE_HOUR.sub(_hour_and_minutes, text)
    text = _SPELLED.sub(_digits, text)
    text = _FOUND_SO.sub(lambda it: ("dislike" if it["bad"] else "like") + it["what"], text)
    text = _LIKED_BEST.sub(r"favourite\g<what>", _AT_THE_HOUR.sub(r"\g<hour>:00", text))
    opens = True
    before = ""
    for match in _TOKEN.finditer(text):
        kind, surface = match.lastgroup or "", match[0]
        if kind == "short":
            yield from _shortened(surface, before)
        elif kind == "word":
            low = surface.casefold()
            if low == "cannot":
                yield Token("can", "can", "word", opens)
                low = "not"
            elif low.endswith("n") and text.startswith("'t", match.end()):
                low = {"ca": "can", "wo": "will", "sha": "shall"}.get(low[:-1], low[:-1])
            yield Token(lemma(low), surface, "word", opens)
            before = low
        else:
            yield Token(surface, surface, kind, opens)
        opens = kind == "mark" and surface != ","


def _shortened(surface: str, before: str) -> Iterator[Token]:
    """What is written shortly behind a word: 's, 'm, 't …"""
    meant = {"'t": "not", "'m": "be", "'re": "be", "'ve": "have", "'d": "would"}.get(surface, "")
    if surface == "'s":
        meant = "be" if before in _BEING else "'s"
    if meant:
        yield Token(meant, meant, "word", False)


def _hour_and_minutes(match: re.Match[str]) -> str:
    hour = NUMBERS.get(match[3].casefold(), match[3])
    if not hour.isdecimal():
        return match[0]
    minutes = 30 if match[1].casefold() == "half" else 15
    if match[2].casefold() == "to":
        return f"{(int(hour) - 1) % 12}:{60 - minutes}"
    return f"{hour}:{minutes}"


def _without_politeness(text: str) -> str:
    introduction = _INTRODUCTION.match(text)
    return _ENDING.sub("", text[introduction.end() :] if introduction else text)
