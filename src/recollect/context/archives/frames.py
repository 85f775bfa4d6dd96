"""Compressed contents of which a part can be read alone.

A small content is one zstd frame. A large one is several frames in a row, each with a checksum, and
behind them an index in a frame that every reader of zstd skips: how long each frame is, compressed
and as it was, and how many characters and line ends are in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from struct import Struct
from typing import Final

from recollect.domain.archive import ContentRange

_LEVEL: Final = 3
# A part is at least so large; the whole is compressed almost as well as in one frame.
FRAME_BYTES: Final = 1 << 20
# So much of the end holds the index of a content of 4 GB.
TAIL_BYTES: Final = 1 << 16
_LOSSLESS: Final = "surrogatepass"
_HEAD: Final = Struct("<II")
_SKIPPED_MAGIC: Final = 0x184D2A5C
_ENTRY: Final = Struct("<IIII")
_FOOT: Final = Struct("<I4s")
_FOOT_MAGIC: Final = b"RcI1"


@dataclass(frozen=True, slots=True)
class Frame:
    """A part of a content: its size in the store and as it was, its characters and line ends."""

    stored: int
    size: int
    chars: int
    newlines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """The bytes of the store that hold a range, and what precedes the first of them."""

    start: int
    end: int
    size: int
    chars: int
    newlines: int


def compressed(data: bytes, *, is_text: bool = False) -> bytes:
    """Return data compressed for the blob store; a large text can be read in parts."""
    from recollect.domain import compression

    if not is_text or len(data) <= 2 * FRAME_BYTES:
        return compression.compressed(data, _LEVEL)
    stored: list[bytes] = []
    index: list[bytes] = []
    for part in _parts(data):
        stored.append(compression.compressed(part, _LEVEL, has_checksum=True))
        chars = len(part.decode("utf-8", _LOSSLESS))
        index.append(_ENTRY.pack(len(stored[-1]), len(part), chars, part.count(b"\n")))
    payload = b"".join([*index, _FOOT.pack(len(index), _FOOT_MAGIC)])
    return b"".join([*stored, _HEAD.pack(_SKIPPED_MAGIC, len(payload)), payload])


def decompressed(stored: bytes, size: int) -> bytes:
    """Return the original data of a known size."""
    from recollect.domain import compression

    if stored.endswith(_FOOT_MAGIC):
        return compression.joined(stored, size)
    return compression.decompressed(stored, size)


def index_in(tail: bytes) -> list[Frame]:
    """Return the frames of a content by the end of it; none if it is in one piece."""
    if len(tail) < _FOOT.size:
        return []
    count, magic = _FOOT.unpack_from(tail, len(tail) - _FOOT.size)
    start = len(tail) - _FOOT.size - count * _ENTRY.size
    if magic != _FOOT_MAGIC or start < _HEAD.size:
        return []
    return [Frame(*_ENTRY.unpack_from(tail, start + n * _ENTRY.size)) for n in range(count)]


def extract_of(frames: list[Frame], wanted: ContentRange) -> Extract | None:
    """Return where a range of characters or lines lies; None if the content ends before it."""
    is_lines = wanted.unit == "lines"
    counts = [frame.newlines if is_lines else frame.chars for frame in frames]
    ends = list(accumulate(counts))
    # Line n begins behind line end n - 1 and goes up to line end n.
    begin = max(wanted.first, 1) - 1 if is_lines else wanted.first
    first = next((n for n, end in enumerate(ends) if end >= begin), None)
    if first is None or (not is_lines and ends[-1] <= begin):
        return None
    last = next((n for n, end in enumerate(ends) if end >= wanted.last), len(frames) - 1)
    places = [0, *accumulate(frame.stored for frame in frames)]
    before, chosen = frames[:first], frames[first : max(last, first) + 1]
    return Extract(
        start=places[first],
        end=places[max(last, first) + 1],
        size=sum(frame.size for frame in chosen),
        chars=sum(frame.chars for frame in before),
        newlines=sum(frame.newlines for frame in before),
    )


def text_in(stored: bytes, extract: Extract, wanted: ContentRange) -> str:
    """Return a range of a text from the frames that hold it; damage raises an error."""
    from recollect.domain import compression

    text = compression.joined(stored, extract.size).decode("utf-8", _LOSSLESS)
    before = extract.newlines if wanted.unit == "lines" else extract.chars
    first = max(wanted.first, 1) if wanted.unit == "lines" else wanted.first
    return ContentRange(unit=wanted.unit, first=first - before, last=wanted.last - before).of(text)


def _parts(data: bytes) -> list[bytes]:
    """Cut a text between characters."""
    parts: list[bytes] = []
    start = 0
    while start < len(data):
        end = min(start + FRAME_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        parts.append(data[start:end])
        start = end
    return parts
