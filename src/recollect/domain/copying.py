"""The result of copying a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """How many rows of each table and archived contents were copied and compared.

    `lost` names contents that the source refers to but no longer has.
    """

    rows: Mapping[str, int] = field(hash=False)
    contents: int
    lost: tuple[str, ...] = ()
