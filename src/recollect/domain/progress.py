"""The callback by which long work reports its progress."""

from __future__ import annotations

from collections.abc import Callable

# Called with the amount done and the total.
Progress = Callable[[int, int], None]
