"""Text that every library accepts."""

from __future__ import annotations


def readable(text: str) -> str:
    """Return the text with a question mark for each lone surrogate, which cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
