"""Text that every library can take."""

from __future__ import annotations


def readable(text: str) -> str:
    """The text with a question mark for each half of a surrogate pair, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
