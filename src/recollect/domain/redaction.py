"""What becomes of personal data and secrets in a text that is to be remembered."""

from typing import Literal

RedactMode = Literal["off", "mask", "drop"]
"""Kept, masked, or not stored at all."""
