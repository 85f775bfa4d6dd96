"""Recognise names: people, places, organisations, products, titles, ids, code symbols.

Found by rules, in Chinese and English, quickly enough for every write and every question. A wrong
name links records that have nothing in common, so a doubtful one is left out.

Names lose what their mentions do not share: case, width, the article, the title before a surname
(Dr. Smith is Smith), the sign of an @mention or #tag. A chain of places is named place by place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from recollect.language.characters import fold
from recollect.language.entities.chinese import HAN, chinese_names, is_chinese_title
from recollect.language.entities.latin import is_everyday, latin_names
from recollect.language.lexicon import lexicon

MOST_ENTITIES: Final = 64

# Stands for each character of a name that is found already: neither a letter nor a sentence's end.
_TAKEN: Final = "\0"

_HAN: Final = re.compile(f"[{HAN}]")


def entities(text: str) -> tuple[str, ...]:
    """Return the distinct names in a text, in order, each in one common spelling."""
    found: list[tuple[int, str]] = []
    rest = _take_marked(fold(text).replace(_TAKEN, " "), found)
    found += latin_names(rest)
    if _HAN.search(rest):
        found += chinese_names(rest)
    found.sort(key=_position)
    names = dict.fromkeys(name.casefold() for _, name in found)
    return tuple(islice(names, MOST_ENTITIES))


def _position(found: tuple[int, str]) -> int:
    return found[0]


class _Mark(NamedTuple):
    """Signs by which a writer marks a name, and how to get the name."""

    sign: str  # in every match: most patterns need not be tried on most texts
    pattern: re.Pattern[str]
    name: Callable[[re.Match[str]], str]


def _take_marked(text: str, found: list[tuple[int, str]]) -> str:
    """Return the text without the names that signs mark; append those to `found`."""
    for mark in _marks(with_dots=_INNER_DOT.search(text) is not None):
        if mark.sign in text:
            text = _take(mark, text, found)
    return text


def _take(mark: _Mark, text: str, found: list[tuple[int, str]]) -> str:
    def take(match: re.Match[str]) -> str:
        name = mark.name(match)
        if not name or _TAKEN in name:  # what is marked inside a mark is the name
            return match[0]
        found.append((match.start(), name))
        return _TAKEN * len(match[0])

    return mark.pattern.sub(take, text)


def _marked(match: re.Match[str]) -> str:
    """Return the group of a match, or all of it."""
    return match[match.lastindex or 0].strip(_TAKEN + " ")


_ARTICLE: Final = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_LONG_LOWER_WORD: Final = re.compile(r"(?<![A-Za-z])[a-z]{4,}")
_CUE: Final = re.compile(r"([A-Za-z]+):? ?$")
_MAX_CUE_CHARACTERS: Final = 16


def _quoted(match: re.Match[str]) -> str:
    """Return the quoted text if it is a title rather than speech or irony."""
    inside, start = _marked(match), match.start()
    if _HAN.search(inside):
        return inside if is_chinese_title(match.string, start, match.end(), inside) else ""
    if not inside[:1].isupper() or inside[-1] in ",.!?;:" or _LONG_LOWER_WORD.search(inside):
        return ""
    article = _ARTICLE.match(inside)
    title = inside[article.end() :] if article else inside
    if " " in title:
        return title
    words = lexicon("en", "entities")
    cue = _CUE.search(match.string, max(0, start - _MAX_CUE_CHARACTERS), start)
    is_announced = cue is not None and cue[1].casefold() in words.words("title_cues")
    low = title.casefold()
    return (
        title if is_announced or not (is_everyday(low) or low in words.words("never_names")) else ""
    )


_INNER_DOT: Final = re.compile(r"\.(?=[A-Za-z0-9])")
_BEFORE: Final = r"(?<![A-Za-z0-9_.@/-])"
_AFTER: Final = r"(?![A-Za-z0-9_])"
_LABEL: Final = r"[A-Za-z0-9][A-Za-z0-9-]{0,62}"
_REST_OF_ADDRESS: Final = rf"[^\s{HAN}<>\"'、》」”)]{{0,500}}"
_ADDRESS: Final = rf"[a-z]{{2,8}}://(?:www\.)?({_LABEL}(?:\.{_LABEL}){{0,6}}){_REST_OF_ADDRESS}"
_EMAIL: Final = rf"{_BEFORE}[A-Za-z0-9][A-Za-z0-9_.+-]{{0,63}}@{_LABEL}(?:\.{_LABEL}){{1,5}}"
_MENTION: Final = (
    rf"(?<![A-Za-z0-9_.])@([A-Za-z0-9_][A-Za-z0-9_-]{{0,38}}[A-Za-z0-9_]|[{HAN}]{{2,6}}(?![{HAN}]))"
)
_TAG: Final = rf"#([A-Za-z0-9_{HAN}-]{{1,30}})#|(?<![\w#&/])#([A-Za-z_{HAN}][\w-]{{0,30}})"
_VERSION: Final = rf"{_BEFORE}[vV]\d{{1,4}}(?:\.\d{{1,6}}){{1,3}}(?:-[a-z0-9]{{1,10}})?{_AFTER}"
_SNAKE: Final = (
    rf"(?<![A-Za-z0-9_])_{{0,2}}[A-Za-z][A-Za-z0-9]{{0,40}}(?:_{{1,2}}[A-Za-z0-9]{{1,40}}){{1,8}}"
    rf"{_AFTER}"
)
_TICKET: Final = rf"{_BEFORE}[A-Z][A-Z0-9]{{1,9}}-\d{{1,8}}{_AFTER}"


@cache
def _marks(*, with_dots: bool) -> Sequence[_Mark]:
    """Return the marks to look for; fewer if no word of the text contains a dot."""
    words = lexicon("en", "entities")
    file = (
        r"(?<![A-Za-z0-9_.@-])[A-Za-z0-9_][A-Za-z0-9_-]{0,60}"
        rf"\.{words.pattern('file_endings')}{_AFTER}(?!\.[a-z])"
    )
    host = (
        rf"{_BEFORE}(?:www\.)?({_LABEL}(?:\.{_LABEL}){{0,3}}\.{words.pattern('domain_endings')})"
        rf"{_AFTER}(?:/{_REST_OF_ADDRESS})?"
    )
    marks = (
        _Mark("://", re.compile(_ADDRESS), _marked),
        _Mark("@", re.compile(_EMAIL), _marked),
        _Mark("@", re.compile(_MENTION), _marked),
        _Mark("《", re.compile(r"《([^《》\n]{1,40})》"), _marked),
        _Mark("〈", re.compile(r"〈([^〈〉\n]{1,40})〉"), _marked),
        _Mark("「", re.compile(r"「([^「」\n]{1,60})」"), _quoted),
        _Mark("『", re.compile(r"『([^『』\n]{1,60})』"), _quoted),
        _Mark("“", re.compile(r"“([^“”\n]{1,60})”"), _quoted),
        _Mark('"', re.compile(r'"([^"\n]{1,60})"'), _quoted),
        _Mark("#", re.compile(_TAG), _marked),
        _Mark(".", re.compile(_VERSION), _marked),
        _Mark(".", re.compile(file), _marked),
        _Mark(".", re.compile(host), _marked),
        _Mark("_", re.compile(_SNAKE), _marked),
        _Mark("-", re.compile(_TICKET), _marked),
    )
    return tuple(mark for mark in marks if with_dots or mark.sign != ".")
