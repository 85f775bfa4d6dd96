"""Whether work grows with its text, measured against itself: a slow machine decides nothing."""

from __future__ import annotations

import time
from collections.abc import Callable

_TRIES = 3


def grows_in_proportion(work: Callable[[str], object], text: str) -> bool:
    """Whether the whole takes less than forty times what a tenth takes; the square is a hundred."""
    tenth = text[: len(text) // 10]
    work(tenth[:200])  # the first call compiles the rules it needs
    # Another program may get in the way of one try, or of two.
    return any(_seconds(work, text) < 40 * _seconds(work, tenth) + 0.05 for _ in range(_TRIES))


def _seconds(work: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    work(text)
    return time.process_time() - began
