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


def compressed(data: bytes, level: int, *, has_checksum: bool = False) -> bytes:
    """Return data as one frame, which also says how long it is."""
    if not has_checksum:
        return zstd.compress(data, level)
    names = zstd.CompressionParameter
    return zstd.compress(data, options={names.compression_level: level, names.checksum_flag: 1})


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
    """Yield the data of frames in a row piece by piece, however long they say they are."""
    while stored:
        reader = zstd.ZstdDecompressor()
        piece = reader.decompress(stored, size)
        while piece or not reader.eof:
            if not piece and reader.needs_input:
                raise ZstdError("the frame is cut short")
            if piece:
                yield piece
            piece = b"" if reader.eof else reader.decompress(b"", size)
        stored = reader.unused_data


def joined(stored: bytes, size: int) -> bytes:
    """Return the data of frames in a row, which have a known size together."""
    data = bytearray()
    for piece in pieces_of(stored):
        data += piece
        if len(data) > size:
            break
    if len(data) != size:
        raise ZstdError(f"expected frames of {size} bytes")
    return bytes(data)
