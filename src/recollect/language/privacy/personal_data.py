"""Find and mask personal data and secrets in Chinese and English text.

What was found is never kept or logged: only its place, its kind, and how many there were.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from recollect.domain.context import Tongue
from recollect.domain.write import RedactMode
from recollect.language.detection import language
from recollect.language.lexicon import LANGUAGES, lexicon
from recollect.language.privacy.national_ids import bank_accounts, national_ids
from recollect.language.privacy.network_addresses import emails, ip_addresses
from recollect.language.privacy.passwords import passwords, spoken_secrets
from recollect.language.privacy.personal_numbers import Span, bank_cards, identity_cards, passports
from recollect.language.privacy.phones import phones
from recollect.language.privacy.secrets import private_keys, secrets

RedactKind = Literal[
    "email",
    "phone",
    "cn_id",
    "national_id",
    "bank_account",
    "bank_card",
    "passport",
    "ip",
    "secret",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A place in a text that holds personal data; the data itself is not kept here."""

    start: int
    end: int
    kind: RedactKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text without its personal data, and how much of each kind was found."""

    text: str
    counts: Mapping[RedactKind, int] = field(default_factory=dict[RedactKind, int])
    dropped: bool = False


# Where two claim the same place, the first in this order has it.
_FINDERS: tuple[tuple[RedactKind, Callable[[str], Iterable[Span]]], ...] = (
    ("secret", secrets),
    ("secret", passwords),
    ("secret", spoken_secrets),
    ("email", emails),
    ("cn_id", identity_cards),
    ("national_id", national_ids),
    ("bank_account", bank_accounts),
    ("bank_card", bank_cards),
    ("phone", phones),
    ("passport", passports),
    ("ip", ip_addresses),
)

# Full-width forms become half-width, other spaces, hyphens and quotes the common ones: one
# character for one, so that places stay where they are.
_PLAIN = (
    {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
    | dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u202f\u3000"), " ")
    | dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013"), "-")
    | dict.fromkeys(map(ord, "“”「」『』"), '"')
)

_LINE = re.compile("[^\n]+")


def find_personal(text: str) -> tuple[Redaction, ...]:
    """Return all personal data and secrets in the text, in order, without overlaps."""
    plain = text.translate(_PLAIN)
    # Only these go over several lines.
    found = [Redaction(start=start, end=end, kind="secret") for start, end in private_keys(plain)]
    plain = _replace(plain, found, _line_ends)
    # No word is read in a mask or across it.
    plain = _any_mask().sub(lambda mask: "\n" * len(mask[0]), plain)
    pending = [line.span() for line in _LINE.finditer(plain)]
    while pending:
        start, end = pending.pop()
        places = _find_in_line(plain[start:end], start)
        found += places
        # What lies between was read beside them, and is read again as it will stand between masks:
        # so a text that was masked once has nothing more to find.
        ends = [start, *(place.end for place in places)]
        starts = [*(place.start for place in places), end]
        pending += [(a, b) for a, b in zip(ends, starts, strict=True) if places and a < b]
    return tuple(sorted(found, key=lambda place: place.start))


def redact(text: str, mode: RedactMode) -> Redacted:
    """Return the text with personal data masked, or refused as a whole."""
    found = find_personal(text) if mode != "off" else ()
    if not found:
        return Redacted(text=text)
    counts: Counter[RedactKind] = Counter(place.kind for place in found)
    if mode == "drop":
        return Redacted(text="", counts=counts, dropped=True)
    masks = _masks("zh" if language(text) == "zh" else "en")
    return Redacted(text=_replace(text, found, lambda place: masks[place.kind]), counts=counts)


def _find_in_line(line: str, offset: int) -> list[Redaction]:
    taken = bytearray(len(line))
    places: list[Redaction] = []
    for kind, finder in _FINDERS:
        for start, end in finder(line):
            if taken.find(1, start, end) < 0:
                taken[start:end] = b"\1" * (end - start)
                places.append(Redaction(start=offset + start, end=offset + end, kind=kind))
    return sorted(places, key=lambda place: place.start)


def _line_ends(place: Redaction) -> str:
    return "\n" * (place.end - place.start)


def _replace(
    text: str, places: Iterable[Redaction], replacement: Callable[[Redaction], str]
) -> str:
    pieces: list[str] = []
    end = 0
    for place in places:
        pieces += (text[end : place.start], replacement(place))
        end = place.end
    return "".join((*pieces, text[end:]))


def _masks(language: Tongue) -> Mapping[str, str]:
    """Return the mask for each kind of personal data."""
    return lexicon(language, "masks").table("masks")


@cache
def _any_mask() -> re.Pattern[str]:
    masks = (mask for language in LANGUAGES for mask in _masks(language).values())
    return re.compile("|".join(map(re.escape, masks)))
