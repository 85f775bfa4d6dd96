"""Details of an event: participants, artifacts and time."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Final

from recollect.domain.record import Episode
from recollect.language.entities.recognition import entities
from recollect.language.lexicon import bilingual, both
from recollect.language.times.expressions import When, find_times

_LINK: Final = re.compile(
    r"https?://[^\s\u3000-\u303f\uff00-\uffef\u4e00-\u9fff<>\"'`]{3,500}"
    r"|(?<![\w/.:])(?:~|\.{1,2})?/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,12}"
    r"|(?<![\w/.:])[\w-][\w.-]{0,80}(?:/[\w.-]{1,80}){0,12}/[\w-]{1,80}\.[a-z0-9]{1,5}\b"
    r"|\b[A-Za-z]:\\[^\s\"'<>|]{2,300}",
    re.ASCII,
)
_OTHER_ARTIFACT: Final = re.compile(
    r"\b[\w-]{1,60}\.(?:csv|xlsx?|json|pdf|docx?|pptx?|png|jpe?g|svg|md|txt|py|js|ts|css|html|sql|zip|ya?ml"
    r"|toml|parquet|ipynb|go|rs|java)\b"
    r"|\b(?=[0-9a-f]{0,39}\d)(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{7,40}\b|\b[A-Z][A-Z0-9]{1,9}-\d{1,8}\b"
    r"|\bv?\d{1,4}\.\d{1,6}\.\d{1,6}\b|(?<!\w)#\d{1,8}\b",
    re.ASCII,
)
_TRAILING: Final = ".,;:!?)"
_MAX_CUE_CHARACTERS: Final = 8
_MAX_PARTICIPANTS: Final = 8


def links(text: str) -> tuple[str, ...]:
    """Return the addresses and paths in a text."""
    if "/" not in text and "\\" not in text:
        return ()
    return tuple(match[0].rstrip(_TRAILING) for match in _LINK.finditer(text))


def artifacts(text: str) -> tuple[str, ...]:
    """Return what an event left behind: files, addresses, commits, tickets, versions."""
    rest = _LINK.sub(" ", text)
    others = (match[0] for match in _OTHER_ARTIFACT.finditer(rest))
    return tuple(dict.fromkeys((*links(text), *others)))


def episode(text: str, *, speaker: str, outcome: str, said_at: datetime) -> Episode:
    """Return the details of an event; pass no speaker if they took no part."""
    return Episode(
        participants=_participants(text, speaker),
        outcome=outcome,
        artifacts=artifacts(text),
        timestamp=_time(text, said_at),
    )


def _participants(text: str, speaker: str) -> tuple[str, ...]:
    low = text.casefold()
    found = [speaker] if speaker else []
    for name in entities(text):
        at = low.find(name)
        if at >= 0 and (at == 0 or _beside().search(low, max(0, at - _MAX_CUE_CHARACTERS), at)):
            found.append(text[at : at + len(name)])
    found += (
        match[match.lastindex or 0]
        for match in bilingual("events", "relative", re.IGNORECASE).finditer(text)
    )
    left = set(artifacts(text))
    return tuple(dict.fromkeys(name for name in found if name not in left))[:_MAX_PARTICIPANTS]


@cache
def _beside() -> re.Pattern[str]:
    return re.compile(rf"(?:{both('events', 'beside')}|[,&]) ?$", re.IGNORECASE)


def _time(text: str, said_at: datetime) -> datetime:
    """Return when it happened: a past time named in the text, else when it was said."""
    for time in find_times(text, said_at):
        if isinstance(time, When) and time.start <= said_at:
            return time.start
    return said_at
