"""Names in Chinese text, which has neither capitals nor spaces.

Known names are looked up. A person is a surname with a title, or with one or two characters that
given names are made of, where the characters around allow a name. Organisations and places that
are not known end in what they are: 大学, 公司, 路.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from recollect.language.lexicon import lexicon

HAN: Final = "\u3400-\u9fff"
"""The characters that names are written in. The rare ones beyond cost each pattern milliseconds."""

Found = tuple[int, int]
"""Where a name begins and ends."""

_MAX_TITLE_CHARACTERS: Final = 20
_MIN_STEM_CHARACTERS: Final = 2
_MAX_STEM_CHARACTERS: Final = 9
_DOTS: Final = "·・•‧"
_HAN: Final = re.compile(f"[{HAN}]")
_SPEECH: Final = re.compile("[我你他她您它们吗呢吧啊呀嘛哦嗯,。!?;:…、]|什么|怎么|了$")
_SPEAKING: Final = re.compile("[说道问答喊讲:,]$")


def chinese_names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the names of a text with their positions; where two overlap, the longer wins."""
    found = [*_known_and_built(text), *_people(text), *_called(text)]
    if any(dot in text for dot in _DOTS):
        found += (match.span() for match in _words().transcribed.finditer(text))
    found.sort(key=_earlier_then_longer)
    taken = 0
    for start, end in found:
        if start >= taken:
            yield start, text[start:end]
            taken = end


def is_chinese_title(text: str, start: int, end: int, inside: str) -> bool:
    """Return whether the quoted text is a title rather than speech or irony."""
    if not 1 < len(inside) <= _MAX_TITLE_CHARACTERS or _SPEECH.search(inside):
        return False
    words = _words()
    return (
        words.title_cue.search(text, max(0, start - 6), start) is not None
        or words.after_title.match(text, end) is not None
        or inside.endswith(words.title_endings)
        or (text[start] in "「『" and not _SPEAKING.search(text, max(0, start - 2), start))
    )


def _earlier_then_longer(found: Found) -> tuple[int, int]:
    return found[0], -found[1]


_CALLED: Final = re.compile(f"(?:叫做|叫|名为|取名|起名|名字是|小名是)([{HAN}]{{2,4}})(?![{HAN}])")


# --- People --------------------------------------------------------------------------------------


def _people(text: str) -> Iterator[Found]:
    words = _words()
    for match in words.nickname.finditer(text):
        start, end = match.span()
        if not start or text[start - 1] not in words.left_of_small:
            yield start, end
    taken = 0
    for match in words.person.finditer(text):
        start, end = match.span()
        if start < taken or text[start : start + 2] in words.begun_by_surname:
            continue
        if start and text[start - 1 : end] in words.ended_by_surname:
            continue
        title = words.title.match(text, end)
        taken = title.end() if title else _end_of_name(text, start, end)
        if taken > end:
            yield start, taken


def _end_of_name(text: str, start: int, end: int) -> int:
    """Return the end of the given name, or of the surname if no given name fits here."""
    words = _words()
    before = text[max(0, start - 2) : start]
    announced = before in words.roles or before[-1:] == "叫"
    if not (announced or _may_precede(before)):
        return end
    one, two = text[end : end + 1], text[end + 1 : end + 2]
    if one not in words.given:
        return end
    if _may_follow(text, end + 1) and not (two in words.given and _may_follow(text, end + 2)):
        return end + 1
    if _is_word(text, end + 1):
        return end + 1
    certain = two in words.given and text[start] not in words.everyday_surnames
    return end + 2 if certain or announced or _may_follow(text, end + 2) else end


def _may_precede(before: str) -> bool:
    words, last = _words(), before[-1:]
    return last in words.left_of_names or before in words.around_names or not _HAN.match(last)


def _may_follow(text: str, at: int) -> bool:
    following = text[at : at + 1]
    return not _HAN.match(following) or following in _words().right_of_names or _is_word(text, at)


def _is_word(text: str, at: int) -> bool:
    """Return whether a word begins here that is said of people, though made of name characters."""
    return text[at : at + 2] in _words().around_names


def _called(text: str) -> Iterator[Found]:
    """Yield what someone or something is said to be called, up to the end of the clause."""
    if "叫" in text or "名" in text:
        words = _words()
        for match in _CALLED.finditer(text):
            if match[1] not in words.not_called and not words.up_to_cut.match(match[1]):
                yield match.span(1)


# --- Known names, and those built on them or on an ending ---------------------------------------


def _known_and_built(text: str) -> Iterator[Found]:
    known: list[Found] = []
    for match in _words().known_or_ending.finditer(text):
        if match[1]:
            known.append(match.span())
            yield match.span()
        else:
            begin = _beginning(text, match, known)
            if match.start() - begin >= _MIN_STEM_CHARACTERS:
                yield begin, match.end()


def _beginning(text: str, ending: re.Match[str], known: list[Found]) -> int:
    """Return the start of the name with this ending; the start of the ending if there is none."""
    words, start = _words(), ending.start()
    earliest = max(0, start - _MAX_STEM_CHARACTERS)
    place = known[-1] if known and known[-1][1] >= earliest else None
    cut = words.up_to_cut.match(text, place[1] if place else earliest, start)
    begin = cut.end() if cut else earliest
    if place and not cut:
        begin = _beyond(place, text, ending)
    elif not (cut or begin == 0) or not _is_plausible(text, begin, ending[0]):
        return start
    if word := words.up_to_word.match(text, begin, start):
        begin = word.end()
    return start if words.generic.fullmatch(text, begin, start) else begin


def _beyond(place: Found, text: str, ending: re.Match[str]) -> int:
    """Return the start of a name behind a place: 深圳市|腾飞公司, 杭州|西湖区, but 浙江大学."""
    begin, after = place
    left = ending.start() - after
    if left and text[after] in "市省区县":
        return after + 1
    return after if len(ending[0]) == 1 and left >= _MIN_STEM_CHARACTERS else begin


def _is_plausible(text: str, begin: int, ending: str) -> bool:
    """Return whether a name may begin here; a place name only after a word of place."""
    before = text[begin - 1 : begin] if begin else ""
    words = _words()
    if ending not in words.venues:
        return True
    return before in words.place_cues if _HAN.match(before) else ending in ("区", "县")


# --- Words ---------------------------------------------------------------------------------------


class _Words:
    """The words that reveal names, and the patterns made of them."""

    def __init__(self) -> None:
        words = lexicon("zh", "entities")
        self.given = frozenset(words.letters("given_names"))
        self.everyday_surnames = frozenset(words.letters("surnames_that_are_words"))
        self.left_of_names = frozenset(words.letters("left_of_names"))
        self.left_of_small = frozenset(words.letters("left_of_small"))
        self.right_of_names = frozenset(words.letters("right_of_names"))
        self.place_cues = frozenset(words.letters("place_cues"))
        self.around_names = words.words("around_names")
        self.begun_by_surname = words.words("words_begun_by_surnames")
        self.ended_by_surname = words.words("words_ended_by_surnames")
        self.not_called = words.words("not_called")
        self.roles = words.words("roles")
        self.venues = words.words("venues")
        self.title_endings = tuple(words.words("title_endings"))

        surnames, compound = words.letters("surnames"), words.words("compound_surnames")
        titles, short_titles = words.words("person_titles"), words.table("short_titles")
        given, follows = words.letters("given_names"), words.letters("right_of_names")
        beginnings = "".join({title[0] for title in titles | short_titles.keys()})
        self.person = re.compile(
            f"(?=[{surnames}{''.join({name[0] for name in compound})}])"
            f"(?:[{surnames}](?=[{given}{beginnings}])|{'|'.join(sorted(compound))})"
        )
        self.title = re.compile(
            "|".join(sorted(titles, key=len, reverse=True))
            + "".join(f"|{title}(?![{another}])" for title, another in short_titles.items())
        )
        self.nickname = re.compile(
            f"[老小](?:[{words.letters('called_by_surname')}]"
            f"|[{words.letters('called_by_surname_with_care')}](?=[^{HAN}]|$|[{follows}]))"
            f"|[小阿][{words.letters('called_by_given_name')}](?=[^{HAN}]|$|[{follows}])"
        )
        syllable = f"[{words.letters('transcribing')}]"
        self.transcribed = re.compile(f"{syllable}{{1,8}}(?:[{_DOTS}]{syllable}{{1,8}}){{1,3}}")

        endings = words.words("institutions") | self.venues
        no_endings: Mapping[str, Sequence[str]] = words.table("no_endings")
        self.known_or_ending = re.compile(
            f"({_any_of(words.words('places') | words.words('known_names'))})"
            f"|(?=[{''.join({ending[0] for ending in endings})}])(?:"
            + "|".join(
                _ending(ending, *no_endings.get(ending, ("", "")))
                for ending in sorted(endings, key=len, reverse=True)
            )
            + ")"
        )
        self.up_to_cut = re.compile(
            f".*(?:[{words.letters('place_cues')}{words.letters('cuts')}]|[^{HAN}A-Za-z0-9]"
            f"|{words.pattern('cuts_in_context')})",
            re.DOTALL,
        )
        self.up_to_word = re.compile(f".*{words.pattern('cutting_words')}")
        self.generic = re.compile(f"{words.pattern('generic')}*")
        self.title_cue = re.compile(f"{words.pattern('title_cues')}$")
        self.after_title = re.compile(words.pattern("after_titles"))


@cache
def _words() -> _Words:
    return _Words()


def _any_of(names: frozenset[str]) -> str:
    """Return a pattern for the longest of many names.

    Two classes of characters rule out most places at once.
    """
    endings: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        endings.setdefault(name[0], []).append(name[1:])
    firsts, seconds = "".join(endings), "".join({name[1] for name in names})
    branches = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in endings.items())
    return f"(?=[{firsts}][{seconds}])(?:{branches})"


def _ending(ending: str, left: str, right: str) -> str:
    """Return a pattern for an ending where its neighbours do not make another word of it."""
    return ending + (f"(?<![{left}]{ending})" if left else "") + (f"(?![{right}])" if right else "")
