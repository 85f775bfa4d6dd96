"""Finding any of many strings of bytes in one pass.

Every place is looked at by its first four bytes, all places at once; the few that may begin one
of the patterns are then compared exactly. So the time hardly depends on how many there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import numpy as np

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
        """Those that are in a text, each with its first place."""
        found = {it: at for it in self._short if (at := text.find(it)) >= 0}
        for at in self._places(text):
            for pattern in self._by_beginning[text[at : at + _BEGINNING]]:
                if pattern not in found and text.startswith(pattern, at):
                    found[pattern] = at
        return found

    def _places(self, text: bytes) -> list[int]:
        """Where any pattern's beginning is, in rising order."""
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
