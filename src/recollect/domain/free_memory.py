"""Giving memory back to the system."""

from __future__ import annotations

import ctypes
import sys
from typing import Any


def give_back() -> None:
    """Give the system what was needed for a moment, such as for opening a model.

    glibc keeps it for each thread otherwise: a quarter of what a process held after 600 recalls.
    """
    if sys.platform != "linux":
        return
    trim: Any = getattr(ctypes.CDLL(None), "malloc_trim", None)
    # Other libraries of C have no such function, and keep less.
    if trim is not None:
        trim(0)
