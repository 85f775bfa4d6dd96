"""Addresses of people and their machines: e-mail, IPv4 and IPv6.

All functions take text in plain spelling (half-width letters and signs) and give places in it.
"""

import re
from collections.abc import Iterator
from ipaddress import IPv6Address

from recollect.language.lexicon import lexicon
from recollect.language.privacy.context_words import cue_before
from recollect.language.privacy.personal_numbers import Span
from recollect.language.scripts import HAN

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
