"""Modes of redaction of personal data and secrets in texts to store."""

from typing import Literal

RedactMode = Literal["off", "mask", "drop"]
"""Keep them, mask them, or do not store the text."""
