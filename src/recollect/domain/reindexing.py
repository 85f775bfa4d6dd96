"""The progress of changing the embedding model or the analyzer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexing:
    """The target model, as the settings name it, and what is left to do.

    If no change is under way, `model` is the one in the settings, empty if there is none.
    `units` counts all units that can be recalled, `lacking` those without a vector of the model,
    including texts that the model cannot embed. `stale` counts units whose terms come from an
    earlier analyzer; they are analysed again automatically. `served` has the number of units that
    each model serves now, and under "" those that no model serves.
    """

    model: str
    is_going_on: bool
    units: int
    lacking: int
    stale: int
    served: Mapping[str, int] = field(hash=False)
