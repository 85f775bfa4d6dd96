"""Searching files byte by byte."""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np

from recollect.language.analysis import term_keys, terms

# Enough of a token to know it by: what comes before may be left out where tokens lie in order.
_TAIL: Final = 10


def written_forms(term: str) -> set[str]:
    """Return a term as it is written in texts: as it is, and escaped in JSON."""
    return {term, "".join(it if it.isascii() else _escaped(it) for it in term)}


def spellings(term: str) -> set[bytes]:
    """Return a term in every way that text is stored; also in characters of 16 bits."""
    return {term.encode("utf-16-le"), *(form.encode() for form in written_forms(term))}


def keys_of(term: str) -> set[int]:
    """Return the keys that an index has for a term."""
    return set(term_keys(terms(term)))


def spellings_of_key(key: int) -> set[bytes]:
    """Return a key as a unit has it, and as the full text has the end of it.

    The full text keeps tokens of removed units until it is merged, and SQL does not show them.
    """
    return {key.to_bytes(8, "little"), f"{key:016x}"[-_TAIL:].encode()}


def search_file(path: Path, wanted: Mapping[bytes, str]) -> dict[str, int]:
    """Return the names of the patterns found in a file, each with its first position."""
    longest = max(map(len, wanted), default=0)
    patterns = ManyPatterns(wanted)
    found: dict[str, int] = {}
    for start, chunk in RawFile(path).chunks(overlap=longest):
        for pattern, at in patterns.find(chunk).items():
            found[wanted[pattern]] = min(found.get(wanted[pattern], start + at), start + at)
    return found


# Keys of a line of a log, and what tells its kind and not what happened.
_FRAME: Final = re.compile(
    rb'"(?:at|level|logger|method|operation)": "[^"]*"|"message": "request"|"[a-z_]+": '
)
_LINE: Final = b'{"at": "'


def search_log(path: Path, wanted: Mapping[bytes, str]) -> dict[str, int]:
    """Return the names of the patterns that a log says, each with its first position in the file.

    The words that frame every line prove nothing: "operation" is there whatever was said.
    """
    found = search_file(path, wanted)
    if not found:
        return found
    patterns = ManyPatterns(it for it, name in wanted.items() if name in found)
    said: set[str] = set()
    with path.open("rb") as lines:
        for line in lines:
            text = _FRAME.sub(b"", line) if line.startswith(_LINE) else line
            said.update(wanted[it] for it in patterns.find(text))
    return {name: at for name, at in found.items() if name in said}


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[it : it + 2].hex()}" for it in range(0, len(units), 2))


# --- Finding any of many strings of bytes in one pass ---------------------------------------------
#
# Every place is looked at by its first four bytes, all places at once; the few that may begin one
# of the patterns are then compared exactly. So the time hardly depends on how many there are.


# Four bytes are mixed into a number of sixteen bits.
_MIX: Final = np.uint32(0x9E3779B1)
_SHIFT: Final = np.uint32(16)
# So many bytes of a pattern are compared before the whole; a shorter one is searched by itself.
_BEGINNING: Final = 6
_MASK: Final = np.uint64((1 << 8 * _BEGINNING) - 1)
_PADDING: Final = bytes(8)


class ManyPatterns:
    """Several strings of bytes that are looked for together."""

    def __init__(self, patterns: Iterable[bytes]) -> None:
        self._short: list[bytes] = []
        self._by_beginning: defaultdict[bytes, list[bytes]] = defaultdict(list)
        for pattern in patterns:
            if len(pattern) < _BEGINNING:
                self._short.append(pattern)
            else:
                self._by_beginning[pattern[:_BEGINNING]].append(pattern)
        numbers = [int.from_bytes(it, "little") for it in self._by_beginning]
        self._beginnings = np.array(numbers, np.uint64)
        self._may_begin = np.zeros(1 << 16, np.bool_)
        self._may_begin[_mixed((self._beginnings & np.uint64(0xFFFFFFFF)).astype(np.uint32))] = True

    def find(self, text: bytes) -> dict[bytes, int]:
        """Return the patterns found in a text, each with its first position."""
        found = {it: at for it in self._short if (at := text.find(it)) >= 0}
        for at in self._places(text):
            for pattern in self._by_beginning[text[at : at + _BEGINNING]]:
                if pattern not in found and text.startswith(pattern, at):
                    found[pattern] = at
        return found

    def _places(self, text: bytes) -> list[int]:
        """Return where any pattern's beginning is, in rising order."""
        if not len(self._beginnings):
            return []
        padded = text + _PADDING
        # A number at every byte: these overlap, and are no copies.
        fours = np.ndarray(len(text), "<u4", padded, strides=(1,))
        likely = np.flatnonzero(self._may_begin[_mixed(fours)])
        eights = np.ndarray(len(text), "<u8", padded, strides=(1,))
        return likely[np.isin(eights[likely] & _MASK, self._beginnings)].tolist()


def _mixed(
    fours: np.ndarray[tuple[int], np.dtype[np.uint32]],
) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return (fours * _MIX) >> _SHIFT


# --- A database's files as bytes, read and written beside SQLite ----------------------------------
#
# On POSIX systems, closing any handle of a file lets go of all locks that the process has on it,
# SQLite's own too. So a handle is opened once for each file and never closed.


_CHUNK: Final = 1 << 20

# By device and number of a file; the lock is held from going to a place until it is read.
_handles: dict[tuple[int, int], tuple[int, threading.Lock]] = {}
_opening = threading.Lock()


class RawFile:
    """A file of a database as it lies on the disk."""

    def __init__(self, path: Path) -> None:
        with _opening:
            status = path.stat()
            which = (status.st_dev, status.st_ino)
            if which not in _handles:
                handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
                _handles[which] = handle, threading.Lock()
            self._handle, self._lock = _handles[which]

    @property
    def size(self) -> int:
        return os.fstat(self._handle).st_size

    def read(self, start: int, length: int) -> bytes:
        with self._lock:
            os.lseek(self._handle, start, os.SEEK_SET)
            return os.read(self._handle, length)

    def write(self, start: int, content: bytes) -> None:
        with self._lock:
            os.lseek(self._handle, start, os.SEEK_SET)
            os.write(self._handle, content)

    def sync(self) -> None:
        os.fsync(self._handle)

    def chunks(self, overlap: int = 0) -> Iterator[tuple[int, bytes]]:
        """Yield the whole file in overlapping pieces, each with its position."""
        start, size = 0, self.size
        while start < size:
            yield start, self.read(start, _CHUNK + overlap)
            start += _CHUNK
