"""Names in Chinese text, which has neither capitals nor spaces.

Known names are looked up. A person is a surname with a title, or with one or two characters that
given names are made of, where the characters around allow a name. Organisations and places that
are not known end in what they are: 大学, 公司, 路.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from recollect.text import entity_words_chinese as words

HAN: Final = "\u3400-\u9fff"
"""The characters that names are written in. The rare ones beyond cost each pattern milliseconds."""

Found = tuple[int, int]
"""Where a name begins and ends."""

_LONGEST_TITLE: Final = 20
_SHORTEST_STEM: Final = 2
_LONGEST_STEM: Final = 9
_DOTS: Final = "·・•‧"


def chinese_names(text: str) -> Iterator[tuple[int, str]]:
    """Where the names of a text begin, and the names; the longer wins where two overlap."""
    found = [*_known_and_built(text), *_people(text), *_called(text)]
    if any(dot in text for dot in _DOTS):
        found += (match.span() for match in _TRANSCRIBED.finditer(text))
    found.sort(key=_earlier_then_longer)
    taken = 0
    for start, end in found:
        if start >= taken:
            yield start, text[start:end]
            taken = end


def is_chinese_title(text: str, start: int, end: int, inside: str) -> bool:
    """Whether what stands in quotes from start to end is a title, and neither speech nor irony."""
    if not 1 < len(inside) <= _LONGEST_TITLE or _SPEECH.search(inside):
        return False
    return (
        _TITLE_CUE.search(text, max(0, start - 6), start) is not None
        or _AFTER_TITLE.match(text, end) is not None
        or inside.endswith(words.TITLE_ENDINGS)
        or (text[start] in "「『" and not _SPEAKING.search(text, max(0, start - 2), start))
    )


def _earlier_then_longer(found: Found) -> tuple[int, int]:
    return found[0], -found[1]


# --- People --------------------------------------------------------------------------------------

_SURNAMES: Final = "".join(sorted(words.SURNAMES))
_GIVEN: Final = "".join(sorted(words.GIVEN_NAMES))
_TITLE: Final = re.compile(
    "|".join(sorted(words.PERSON_TITLES, key=len, reverse=True))
    + "".join(f"|{title}(?![{another}])" for title, another in words.SHORT_TITLES.items())
)
_TITLE_BEGINNINGS: Final = "".join(
    {title[0] for title in words.PERSON_TITLES | words.SHORT_TITLES.keys()}
)
_PERSON_BEGINNINGS: Final = _SURNAMES + "".join({name[0] for name in words.COMPOUND_SURNAMES})
_PERSON: Final = re.compile(
    f"(?=[{_PERSON_BEGINNINGS}])(?:[{_SURNAMES}](?=[{_GIVEN}{_TITLE_BEGINNINGS}])"
    f"|{'|'.join(sorted(words.COMPOUND_SURNAMES))})"
)
_CALL: Final = re.compile(
    f"[老小](?:[{words.CALLED_BY_SURNAME}]|[{words.CALLED_BY_SURNAME_WITH_CARE}]"
    f"(?=[^{HAN}]|$|[{words.RIGHT_OF_NAMES}]))"
    f"|[小阿][{words.CALLED_BY_GIVEN_NAME}](?=[^{HAN}]|$|[{words.RIGHT_OF_NAMES}])"
)
_CALLED: Final = re.compile(f"(?:叫做|叫|名为|取名|起名|名字是|小名是)([{HAN}]{{2,4}})(?![{HAN}])")
_TRANSCRIBED: Final = re.compile(
    f"[{words.TRANSCRIBING}]{{1,8}}(?:[{_DOTS}][{words.TRANSCRIBING}]{{1,8}}){{1,3}}"
)
_HAN: Final = re.compile(f"[{HAN}]")


def _people(text: str) -> Iterator[Found]:
    for match in _CALL.finditer(text):
        start, end = match.span()
        if text[start - 1 : start] not in words.LEFT_OF_SMALL or not start:
            yield start, end
    taken = 0
    for match in _PERSON.finditer(text):
        start, end = match.span()
        if start < taken or text[start : start + 2] in words.WORDS_BEGUN_BY_SURNAMES:
            continue
        if start and text[start - 1 : end] in words.WORDS_ENDED_BY_SURNAMES:
            continue
        title = _TITLE.match(text, end)
        taken = title.end() if title else _end_of_name(text, start, end)
        if taken > end:
            yield start, taken


def _end_of_name(text: str, start: int, end: int) -> int:
    """Where the given name after a surname ends; where the surname ends if no name fits here."""
    before = text[max(0, start - 2) : start]
    announced = before in words.ROLES or before[-1:] == "叫"
    if not (announced or _may_precede(before)):
        return end
    one, two = text[end : end + 1], text[end + 1 : end + 2]
    if one not in words.GIVEN_NAMES:
        return end
    if _may_follow(text, end + 1) and not (two in words.GIVEN_NAMES and _may_follow(text, end + 2)):
        return end + 1
    if _is_word(text, end + 1):
        return end + 1
    certain = two in words.GIVEN_NAMES and text[start] not in words.SURNAMES_THAT_ARE_WORDS
    return end + 2 if certain or announced or _may_follow(text, end + 2) else end


def _may_precede(before: str) -> bool:
    last = before[-1:]
    return last in words.LEFT_OF_NAMES or before in words.AROUND_NAMES or not _HAN.match(last)


def _may_follow(text: str, at: int) -> bool:
    following = text[at : at + 1]
    return following in words.RIGHT_OF_NAMES or not _HAN.match(following) or _is_word(text, at)


def _is_word(text: str, at: int) -> bool:
    """Whether a word begins here that is said of people and is made of name characters."""
    return text[at : at + 2] in words.AROUND_NAMES


def _called(text: str) -> Iterator[Found]:
    """What someone or something is said to be called, up to the end of the clause."""
    if "叫" in text or "名" in text:
        for match in _CALLED.finditer(text):
            if match[1] not in words.NOT_CALLED and not _UP_TO_CUT.match(match[1]):
                yield match.span(1)


# --- Known names, and those built on them or on an ending ---------------------------------------


def _any_of(names: frozenset[str]) -> str:
    """A pattern for the longest of many names; two classes of characters rule out most places."""
    endings: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        endings.setdefault(name[0], []).append(name[1:])
    firsts, seconds = "".join(endings), "".join({name[1] for name in names})
    branches = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in endings.items())
    return f"(?=[{firsts}][{seconds}])(?:{branches})"


def _ending(ending: str) -> str:
    """An ending where its neighbours do not make another word of it."""
    left, right = words.NO_ENDINGS.get(ending, ("", ""))
    return ending + (f"(?<![{left}]{ending})" if left else "") + (f"(?![{right}])" if right else "")


@cache
def _known_or_ending() -> re.Pattern[str]:
    """Made when first needed: it is the one pattern whose making would slow a start down."""
    endings = sorted(words.INSTITUTIONS | words.VENUES, key=len, reverse=True)
    beginnings = "".join({ending[0] for ending in endings})
    return re.compile(
        f"({_any_of(words.PLACES | words.KNOWN_NAMES)})"
        f"|(?=[{beginnings}])(?:{'|'.join(map(_ending, endings))})"
    )


_UP_TO_CUT: Final = re.compile(
    f".*(?:[{words.PLACE_CUES}{words.CUTS}]|[^{HAN}A-Za-z0-9]|{words.CUTS_IN_CONTEXT})", re.DOTALL
)
_UP_TO_WORD: Final = re.compile(f".*(?:{'|'.join(words.CUTTING_WORDS)})")
_GENERIC: Final = re.compile(f"(?:{'|'.join(words.GENERIC)})*")


def _known_and_built(text: str) -> Iterator[Found]:
    known: list[Found] = []
    for match in _known_or_ending().finditer(text):
        if match[1]:
            known.append(match.span())
            yield match.span()
        else:
            begin = _beginning(text, match, known)
            if match.start() - begin >= _SHORTEST_STEM:
                yield begin, match.end()


def _beginning(text: str, ending: re.Match[str], known: list[Found]) -> int:
    """Where the name with this ending begins; where the ending begins if it makes no name."""
    start = ending.start()
    earliest = max(0, start - _LONGEST_STEM)
    place = known[-1] if known and known[-1][1] >= earliest else None
    cut = _UP_TO_CUT.match(text, place[1] if place else earliest, start)
    begin = cut.end() if cut else earliest
    if place and not cut:
        begin = _beyond(place, text, ending)
    elif not (cut or begin == 0) or not _is_plausible(text, begin, ending[0]):
        return start
    if word := _UP_TO_WORD.match(text, begin, start):
        begin = word.end()
    return start if _GENERIC.fullmatch(text, begin, start) else begin


def _beyond(place: Found, text: str, ending: re.Match[str]) -> int:
    """Where a name begins that a place precedes: 深圳市|腾飞公司, 杭州|西湖区, but 浙江大学."""
    begin, after = place
    left = ending.start() - after
    if left and text[after] in "市省区县":
        return after + 1
    return after if len(ending[0]) == 1 and left >= _SHORTEST_STEM else begin


def _is_plausible(text: str, begin: int, ending: str) -> bool:
    """Whether a name may begin here; that of a place only where someone is, or goes."""
    before = text[begin - 1 : begin] if begin else ""
    if ending not in words.VENUES:
        return True
    return before in words.PLACE_CUES if _HAN.match(before) else ending in ("区", "县")


# --- Titles in quotes ----------------------------------------------------------------------------

_SPEECH: Final = re.compile("[我你他她您它们吗呢吧啊呀嘛哦嗯,。!?;:…、]|什么|怎么|了$")
_SPEAKING: Final = re.compile("[说道问答喊讲:,]$")
_TITLE_CUE: Final = re.compile(f"(?:{words.TITLE_CUES})$")
_AFTER_TITLE: Final = re.compile(words.AFTER_TITLES)
