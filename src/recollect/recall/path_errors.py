"""Handling of paths that fail or are late: the others answer without them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import Final, TypeVar

from recollect.errors import RecollectError
from recollect.recall.entity_path import EntityPath
from recollect.recall.paths import Found, Path
from recollect.recall.superseded import SupersededPath

_log: Final = logging.getLogger(__name__)

_F = TypeVar("_F")


async def answer_of(
    path: Path | EntityPath | SupersededPath, answer: Awaitable[_F]
) -> _F | RecollectError:
    """Return the path's answer, or the error it failed with."""
    try:
        return await answer
    except RecollectError as failure:
        _log.warning("The %s path failed: %s", path.name, failure)
        return failure


def too_late(path: Path, patience: float) -> Found:
    """Return an empty answer that says the path took too long."""
    note = f"the {path.name} path did not answer within {patience} s"
    _log.warning(note)
    return Found(path=path.name, degraded=(note,))


def as_found(path: Path, answer: Found | RecollectError) -> Found:
    """Return the answer; for an error, an empty one that says why."""
    if isinstance(answer, Found):
        return answer
    return Found(path=path.name, degraded=(f"the {path.name} path failed: {answer}",))
