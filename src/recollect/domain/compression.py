"""Zstandard frames: what archives and original files are stored as."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import BinaryIO, Final

# From Python 3.14 on it is part of the standard library, and what stands in for it before is small.
if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


ZstdError: Final = zstd.ZstdError
_PIECE_BYTES: Final = 1 << 20


def compressed(data: bytes, level: int) -> bytes:
    """Return data as one frame, which also says how long it is."""
    return zstd.compress(data, level)


def compress_file(content: BinaryIO, size: int, stored: BinaryIO, level: int) -> int:
    """Write a file of a known size as one frame; return the size of the frame."""
    compressor = zstd.ZstdCompressor(level)
    compressor.set_pledged_input_size(size)
    written = 0
    while piece := content.read(_PIECE_BYTES):
        written += stored.write(compressor.compress(piece))
    return written + stored.write(compressor.flush())


def decompressed(stored: bytes, size: int) -> bytes:
    """Return the data of a frame, which has a known size."""
    reader = zstd.ZstdDecompressor()
    data = reader.decompress(stored, size + 1)
    if len(data) != size or not reader.eof:
        raise ZstdError(f"expected a frame of {size} bytes")
    return data


def pieces_of(stored: bytes, size: int = _PIECE_BYTES) -> Iterator[bytes]:
    """Yield the data of a frame piece by piece, however long it says it is."""
    reader = zstd.ZstdDecompressor()
    piece = reader.decompress(stored, size)
    while piece or not reader.eof:
        if not piece and reader.needs_input:
            raise ZstdError("the frame is cut short")
        yield piece
        piece = b"" if reader.eof else reader.decompress(b"", size)
