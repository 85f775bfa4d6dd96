"""The names a text mentions: people, places, organisations, products, titles, ids, code symbols.

Found by rules, in Chinese and English, quickly enough for every write and every question. A wrong
name links records that have nothing in common, so a doubtful one is left out.

Names lose what their mentions do not share: case, width, the article, the title before a surname
(Dr. Smith is Smith), the sign of an @mention or #tag. A chain of places is named place by place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import Final, NamedTuple

from recollect.text.entities_chinese import HAN, chinese_names, is_chinese_title
from recollect.text.entities_latin import is_everyday, latin_names
from recollect.text.entity_words import DOMAIN_ENDINGS, FILE_ENDINGS, NEVER_NAMES, TITLE_CUES
from recollect.text.folding import fold

MOST_ENTITIES: Final = 64

# Stands for each character of a name that is found already: neither a letter nor a sentence's end.
_TAKEN: Final = "\0"

_HAN: Final = re.compile(f"[{HAN}]")


def entities(text: str) -> tuple[str, ...]:
    """The distinct names in a text, in order, each in the spelling in which its mentions agree."""
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
    """Signs by which a writer marks a name, and the name they mark, if it is one."""

    sign: str  # in every match: most patterns need not be tried on most texts
    pattern: re.Pattern[str]
    name: Callable[[re.Match[str]], str]


def _take_marked(text: str, found: list[tuple[int, str]]) -> str:
    """The text without the names that signs mark, which are noted in found."""
    for mark in _MARKS if _INNER_DOT.search(text) else _MARKS_WITHOUT_DOT:
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
    """The part of a match that is grouped, or all of it."""
    return match[match.lastindex or 0].strip(_TAKEN + " ")


_ARTICLE: Final = re.compile(r"(?:the|an?) ", re.IGNORECASE)
_LONG_LOWER_WORD: Final = re.compile(r"(?<![A-Za-z])[a-z]{4,}")
_CUE: Final = re.compile(r"([A-Za-z]+):? ?$")
_LONGEST_CUE: Final = 16


def _quoted(match: re.Match[str]) -> str:
    """What stands in quotes when it is a title rather than speech or irony."""
    inside, start = _marked(match), match.start()
    if _HAN.search(inside):
        return inside if is_chinese_title(match.string, start, match.end(), inside) else ""
    if not inside[:1].isupper() or inside[-1] in ",.!?;:" or _LONG_LOWER_WORD.search(inside):
        return ""
    article = _ARTICLE.match(inside)
    title = inside[article.end() :] if article else inside
    if " " in title:
        return title
    cue = _CUE.search(match.string, max(0, start - _LONGEST_CUE), start)
    is_announced = cue is not None and cue[1].casefold() in TITLE_CUES
    low = title.casefold()
    return title if is_announced or not (is_everyday(low) or low in NEVER_NAMES) else ""


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
_FILE: Final = (
    rf"(?<![A-Za-z0-9_.@-])[A-Za-z0-9_][A-Za-z0-9_-]{{0,60}}\.(?:{FILE_ENDINGS}){_AFTER}(?!\.[a-z])"
)
_HOST: Final = (
    rf"{_BEFORE}(?:www\.)?({_LABEL}(?:\.{_LABEL}){{0,3}}\.(?:{DOMAIN_ENDINGS})){_AFTER}"
    rf"(?:/{_REST_OF_ADDRESS})?"
)
_SNAKE: Final = (
    rf"(?<![A-Za-z0-9_])_{{0,2}}[A-Za-z][A-Za-z0-9]{{0,40}}(?:_{{1,2}}[A-Za-z0-9]{{1,40}}){{1,8}}"
    rf"{_AFTER}"
)
_TICKET: Final = rf"{_BEFORE}[A-Z][A-Z0-9]{{1,9}}-\d{{1,8}}{_AFTER}"

_MARKS: Final = (
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
    _Mark(".", re.compile(_FILE), _marked),
    _Mark(".", re.compile(_HOST), _marked),
    _Mark("_", re.compile(_SNAKE), _marked),
    _Mark("-", re.compile(_TICKET), _marked),
)
_MARKS_WITHOUT_DOT: Final = tuple(mark for mark in _MARKS if mark.sign != ".")
