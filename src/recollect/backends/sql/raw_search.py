"""Searching files byte by byte, and the full text token by token."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, text

from recollect.backends.sql.multi_pattern_search import ManyPatterns
from recollect.backends.sql.raw_file import RawFile
from recollect.language.analysis import term_keys, terms

# Enough of a token to know it by: what comes before may be left out where tokens lie in order.
_TAIL: Final = 10
# How the full text numbers its pages: below the segment's number, those without other bits.
_SEGMENT_BITS: Final = 37
_PAGE_BITS: Final = 31
_LEAVES: Final = text(
    f"SELECT block FROM unit_tokens_data WHERE id >= {1 << _SEGMENT_BITS} AND "
    f"(id >> {_PAGE_BITS}) & {(1 << _SEGMENT_BITS - _PAGE_BITS) - 1} = 0"
)


def written_forms(term: str) -> set[str]:
    """A term as it is written in texts: as it is, and escaped in JSON."""
    return {term, "".join(it if it.isascii() else _escaped(it) for it in term)}


def spellings(term: str) -> set[bytes]:
    """A term in every way that text is stored; also in characters of 16 bits."""
    return {term.encode("utf-16-le"), *(form.encode() for form in written_forms(term))}


def keys_of(term: str) -> set[int]:
    """The keys that an index has for a term."""
    return set(term_keys(terms(term)))


def spellings_of_key(key: int) -> set[bytes]:
    """A key as a unit has it, and as the full text has the end of it."""
    return {key.to_bytes(8, "little"), f"{key:016x}"[-_TAIL:].encode()}


def search_file(path: Path, wanted: Mapping[bytes, str]) -> dict[str, int]:
    """What of this is in a file, by name, each with the first byte where it is."""
    longest = max(map(len, wanted), default=0)
    patterns = ManyPatterns(wanted)
    found: dict[str, int] = {}
    for start, chunk in RawFile(path).chunks(overlap=longest):
        for pattern, at in patterns.find(chunk).items():
            found[wanted[pattern]] = min(found.get(wanted[pattern], start + at), start + at)
    return found


def tokens_with(connection: Connection, keys: Collection[int]) -> set[int]:
    """Those of the keys that any token of the full text has, also one that is marked as gone."""
    wanted = {f"{key:016x}".encode(): key for key in keys}
    found: set[int] = set()
    for block in connection.scalars(_LEAVES):
        found |= {wanted[it] for token in _tokens(block) if (it := token[-16:]) in wanted}
    return found


def _tokens(leaf: bytes) -> Iterator[bytes]:
    """The tokens of one page of the full text; each leaves out what it shares with the last."""
    at = int.from_bytes(leaf[2:4])
    place, token = 0, b""
    while at < len(leaf):
        step, at = _varint(leaf, at)
        place += step
        shared, start = (0, place) if not token else _varint(leaf, place)
        length, start = _varint(leaf, start)
        token = token[:shared] + leaf[start : start + length]
        yield token


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where it ends."""
    value = 0
    for count in range(8):
        byte = page[at + count]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + count + 1
    return value << 8 | page[at + 8], at + 9


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[it : it + 2].hex()}" for it in range(0, len(units), 2))
