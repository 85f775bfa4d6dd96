"""How long work tells how far it is."""

from __future__ import annotations

from collections.abc import Callable

# Called with how much is done, and of how much.
Progress = Callable[[int, int], None]
