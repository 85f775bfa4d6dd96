"""What the figures of a model mean: measured once a model and kept in its `calibration.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, cast

Section = TypeVar("Section", "MemoryCalibration", "JudgeCalibration")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCalibration:
    """How far a cosine of the model can be believed when memories are searched.

    The other figures were measured with cosines whose `unrelated` and `related` are the defaults
    here; those of another model are brought onto that scale first.
    """

    unrelated: float = 0.05
    """The cosine that texts about different things usually have."""
    related: float = 0.55
    """The cosine that a question and its answer usually have."""
    vector_weight: float = 0.7
    """How much nearness counts beside words."""
    nearness: float = 2.0
    """How much a cosine says about a fit, compared with the same share of words."""
    doubtful: float = 0.3
    """A best fit below this is none."""
    sure: float = 0.7
    """A best fit from here on is certain."""
    question_doubtful: float = 0.45
    """The same for a message that is one question: what answers it is about all of it,"""
    question_sure: float = 0.95
    """while a task is served by what bears on a part of it."""
    foreign: float = 0.1
    """A memory that itself fits less than this has nothing to do with the question."""
    fitting: float = 0.4
    """A memory that fits this well counts in full."""

    @property
    def scale(self) -> tuple[float, float]:
        """Return the slope and the offset that bring a cosine onto the common scale."""
        usual = MemoryCalibration()
        width = max(self.related - self.unrelated, 0.01)
        slope = (usual.related - usual.unrelated) / width
        return slope, usual.unrelated - slope * self.unrelated


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalibration:
    """From which probability on the local judge decides what."""

    temperature: float = 1.0
    """The scores are divided by it, so that the probabilities are honest."""
    update: float = 0.8
    """Both stay, linked as an update: p(update)."""
    surface: float = 0.8
    """Both stay, linked as update or conflict: p(update) + p(conflict), in both directions."""
    near: float = 0.3
    """Whatever is less near is neither changed nor contradicted."""
    margin: float = 0.1
    """A statement changes one thing: what is farther than the nearest by this is left alone."""
    replace: float = 0.8
    """The stored record gets a new version: an update whose change is so likely both ways,"""
    replace_near: float = 2.0
    """and which is so near; above 1 = never."""
    same: float = 0.4
    """Both stay, linked as the same: p(same), in both directions."""
    merge: float = 2.0
    """The stored record is confirmed and the new one dropped; above 1 = never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The measured figures of a model, by use."""

    memory: MemoryCalibration = field(default_factory=MemoryCalibration)
    judge: JudgeCalibration = field(default_factory=JudgeCalibration)
    is_measured: bool = False
    """Whether they were measured with this model, or are the usual ones."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Calibration:
        """Return the figures of a `calibration.json`; what it leaves out is as usual."""
        return cls(
            memory=_taken(MemoryCalibration(), values.get("memory")),
            judge=_taken(JudgeCalibration(), values.get("judge")),
            is_measured="memory" in values,
        )


def _taken(usual: Section, given: object) -> Section:
    values = cast("Mapping[str, Any]", given if isinstance(given, dict) else {})
    known = {it.name for it in fields(usual)}
    return replace(usual, **{name: float(value) for name, value in values.items() if name in known})
