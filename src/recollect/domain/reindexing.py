"""How far a change of the embedding model, or of the analyzer, is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Reindexing:
    """The model whose vectors are made everywhere, as settings name it, and what is left to do.

    Without a change that goes on, `model` is the one of the settings, empty if there is none.
    `units` are all pieces that can be recalled, `lacking` those of them without a vector of the
    model; a text that the model cannot read stays among them. `stale` are those found by the words
    as an earlier version of Recollect read them; they are read again by themselves. `served` has
    the pieces that each model answers for now, under "" those that no model does.
    """

    model: str
    is_going_on: bool
    units: int
    lacking: int
    stale: int
    served: Mapping[str, int] = field(hash=False)
