"""Find and mask personal data and secrets in Chinese and English text.

What was found is never kept or logged: only its place, its kind, and how many there were.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv6Address
from typing import Literal

from recollect.domain.context import Tongue
from recollect.domain.write import RedactMode
from recollect.language.characters import HAN, language
from recollect.language.lexicon import LANGUAGES, lexicon
from recollect.language.privacy.personal_numbers import (
    Span,
    bank_accounts,
    bank_cards,
    cue_before,
    identity_cards,
    national_ids,
    passports,
    phones,
)
from recollect.language.privacy.secrets import passwords, private_keys, secrets, spoken_secrets

# --- Addresses of people and their machines: e-mail, IPv4 and IPv6 --------------------------------
# All functions take text in plain spelling (half-width letters and signs) and give places in it.

_LETTER = "A-Za-zÀ-ÖØ-öø-ɏ"
_LABEL = f"[{_LETTER}{HAN}0-9-]"
_AT = r"(?:@|\ ?[\[({]\ ?at\ ?[\])}]\ ?)"
_DOT = r"(?:\.|\ ?[\[({]\ ?dot\ ?[\])}]\ ?)"
_EMAIL = re.compile(
    rf"""
    (?<![{_LETTER}0-9_])(?<!//)(?P<name>[{_LETTER}0-9_][{_LETTER}0-9._%+'-]{{0,63}}+){_AT}
    (?:{_LABEL}{{1,63}}{_DOT}){{1,8}}(?P<top>xn--[A-Za-z0-9-]{{2,59}}|[A-Za-z]{{2,24}})
    (?![A-Za-z0-9_]|-[A-Za-z0-9])
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SPOKEN_EMAIL = re.compile(
    r"\b(?:[\w+-]{1,40}+ dot ){0,2}[\w.+-]{1,64}+ at"
    r" [\w-]{1,63}+(?: dot [\w-]{1,63}+){0,3} dot [a-z]{2,10}\b(?! at )",
    re.ASCII | re.IGNORECASE,
)
_PERHAPS_EMAIL = re.compile("@|[aA][tT]")
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = re.compile(
    r"(?<![0-9A-Za-z_.])(?<![A-Za-z][-_/])(?<![=<>~!]=)(?<![~^<>第])"
    rf"(?P<first>{_OCTET})(?:\.{_OCTET}){{3}}(?![0-9A-Za-z_]|\.[0-9]|[-+][A-Za-z])"
)
# 127.0.0.1, 0.0.0.0 and 255.255.255.0 point at nobody; above 223 no machine has its address.
_NOBODY = frozenset({"0", "127"})
_FIRST_RESERVED = 224

_LIKE_A_VERSION = re.compile(r".*\.0|[0-9](?:\.[0-9]){3}")
_VERSION = re.compile(r"\ ?(?:版|release|build)", re.IGNORECASE)

_IPV6 = re.compile(r"(?<![0-9A-Za-z_:.])[0-9A-Fa-f:]{4,39}+(?![0-9A-Za-z_])")
_PERHAPS_IP = re.compile(r"[0-9]\.[0-9]|:[0-9A-Fa-f:]")
_IPV6_GROUP = re.compile("[0-9A-Fa-f]{3,4}")


def emails(text: str) -> Iterator[Span]:
    """Yield e-mail addresses, including those written or spoken with (at) and (dot)."""
    if not _PERHAPS_EMAIL.search(text):
        return
    file_endings = lexicon("en", "addresses").words("file_endings")
    for found in _EMAIL.finditer(text):
        if found["top"].lower() not in file_endings and found["name"] != "git":
            yield found.span()
    for found in _SPOKEN_EMAIL.finditer(text):
        yield found.span()


def ip_addresses(text: str) -> Iterator[Span]:
    """Yield IP addresses of machines, but not version numbers that look like one."""
    if not _PERHAPS_IP.search(text):
        return
    for found in _IPV4.finditer(text):
        first = found["first"]
        if first in _NOBODY or int(first) >= _FIRST_RESERVED:
            continue
        cue = cue_before(text, found.start())
        if cue != "address" and _LIKE_A_VERSION.fullmatch(found[0]):
            continue
        if cue != "version" and not _VERSION.match(text, found.end()):
            yield found.span()
    for found in _IPV6.finditer(text):
        address = found[0].rstrip(":")
        if _is_machine(address):
            yield found.start(), found.start() + len(address)


def _is_machine(address: str) -> bool:
    if address.count(":") < 2 or not _IPV6_GROUP.search(address):
        return False
    try:
        found = IPv6Address(address)
    except ValueError:
        return False
    return not (found.is_loopback or found.is_unspecified)


# --- Find and mask personal data and secrets in Chinese and English text --------------------------
# What was found is never kept or logged: only its place, its kind, and how many there were.

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
