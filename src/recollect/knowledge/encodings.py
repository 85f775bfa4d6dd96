"""Decoding of text files in any encoding."""

from __future__ import annotations

import codecs
import re
from typing import Final

from recollect.errors import InvalidInput

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?([A-Za-z0-9_\-]+)", re.IGNORECASE)
# The two bytes of a common Chinese character in GB2312 and its successors.
_CHINESE_PAIR: Final = re.compile(rb"[\xb0-\xf7][\xa1-\xfe]")
_HIGH_BYTE: Final = re.compile(rb"[\x80-\xff]")
_CONTROLS: Final = re.compile(r"[\x01-\x08\x0e-\x1a\x1c-\x1f]")
_SAMPLE_SIZE: Final = 65_536
_DECLARATION_BYTES: Final = 2_048
# Text has hardly any control characters.
_MAX_CONTROL_SHARE: Final = 0.02
_MIN_CHINESE_SHARE: Final = 0.6


def decode(data: bytes, *, declared: bool = False) -> str:
    """Return the text of these bytes; with `declared` the file may name its own encoding.

    A byte order mark is left out; a NUL character becomes U+FFFD.
    """
    text = _decode(data, declared=declared)
    sample = text[:_SAMPLE_SIZE]
    if len(_CONTROLS.findall(sample)) > _MAX_CONTROL_SHARE * len(sample):
        raise InvalidInput(
            "The file is not text",
            code="not_text",
            hint="Give a text file, or install recollect[documents] for PDF and Office files.",
        )
    return text.replace("\x00", "\ufffd")


def _decode(data: bytes, *, declared: bool) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    if encoding := _wide_encoding(data[:_SAMPLE_SIZE]):
        return data.decode(encoding, "replace")
    named = _DECLARED.search(data[:_DECLARATION_BYTES]) if declared else None
    candidates = [named[1].decode("ascii")] if named else []
    for encoding in (*candidates, "utf-8"):
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if _is_chinese(data[:_SAMPLE_SIZE]):
        return data.decode("gb18030", "replace")
    # UTF-8 with a few broken bytes, else the common single-byte encoding.
    lenient = data.decode("utf-8", "replace")
    if lenient.count("\ufffd") <= len(_HIGH_BYTE.findall(data)) // 10:
        return lenient
    return data.decode("cp1252", "replace")


def _wide_encoding(sample: bytes) -> str | None:
    """Return UTF-16 if every other byte of mostly Latin text is zero."""
    pairs = len(sample) // 2
    if pairs < 2:
        return None
    if sample[1::2].count(0) > pairs * 0.4 and sample[0::2].count(0) < pairs * 0.1:
        return "utf-16-le"
    if sample[0::2].count(0) > pairs * 0.4 and sample[1::2].count(0) < pairs * 0.1:
        return "utf-16-be"
    return None


def _is_chinese(sample: bytes) -> bool:
    high = len(_HIGH_BYTE.findall(sample))
    return high > 0 and 2 * len(_CHINESE_PAIR.findall(sample)) >= _MIN_CHINESE_SHARE * high
