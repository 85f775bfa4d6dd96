"""What came of copying a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """The rows of each table and the archived contents that were copied and compared.

    `lost` names contents that the source refers to and does not have any more.
    """

    rows: Mapping[str, int] = field(hash=False)
    contents: int
    lost: tuple[str, ...] = ()
