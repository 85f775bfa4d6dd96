"""What a path says or, when it fails or is late, why it says nothing: the others answer then."""

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
    """The answer, or the failure that there is instead."""
    try:
        return await answer
    except RecollectError as failure:
        _log.warning("The %s path failed: %s", path.name, failure)
        return failure


def too_late(path: Path, patience: float) -> Found:
    """Nothing, since the path took too long."""
    note = f"the {path.name} path did not answer within {patience} s"
    _log.warning(note)
    return Found(path=path.name, degraded=(note,))


def as_found(path: Path, answer: Found | RecollectError) -> Found:
    """What was found, or nothing and why."""
    if isinstance(answer, Found):
        return answer
    return Found(path=path.name, degraded=(f"the {path.name} path failed: {answer}",))
