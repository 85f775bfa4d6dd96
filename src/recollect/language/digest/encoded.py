"""Data that is not meant to be read: base64 and data URIs."""

from __future__ import annotations

import base64
import re
from typing import Final

_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s_-]++={0,2}\s*+")
_DATA_URI: Final = re.compile(r"data:([\w.+/-]+)[;,]")
_HEAD_CHARS: Final = 4_096
_MIN_CHARS: Final = 200
MAGIC: Final = {
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
    b"%PDF": "PDF",
    b"PK\x03\x04": "ZIP",
    b"\x1f\x8b": "GZIP",
    b"RIFF": "RIFF",
    b"\x7fELF": "ELF",
    b"SQLite": "SQLite",
}


def kind_of(data: bytes) -> str:
    """Return the kind of some bytes by how they begin."""
    return next((name for mark, name in MAGIC.items() if data.startswith(mark)), "binary")


def encoded_kind(text: str) -> tuple[str, int] | None:
    """Return the kind and size of encoded data, or None if the text is to be read."""
    head = text[:_HEAD_CHARS].strip()
    if uri := _DATA_URI.match(head):
        return uri[1], len(text) * 3 // 4
    words = head.split(None, 3)
    if len(text) < _MIN_CHARS or not _BASE64.fullmatch(head) or len(words[0]) < 60:
        return None
    try:
        begin = base64.b64decode("".join(head.split())[:64], validate=False)
    except ValueError:
        return None
    return kind_of(begin), len(text) * 3 // 4
