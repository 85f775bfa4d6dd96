"""Embedding models: their choice and state, their calibration, and their vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast

from recollect.domain.caches import CacheStats
from recollect.domain.scope import Scope

GAP_LASTS: Final = timedelta(minutes=5)
"""How long units may lack vectors that no job makes until that is a problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """The name of a model, which changes whenever its vectors would, and their dimension.

    `choice` is its name in the settings, with which any process can open it; empty for a model
    that only the caller who passed it in can open.
    """

    name: str
    dimension: int
    choice: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitVector:
    """The vector of a unit that was stored without one."""

    scope: Scope
    unit: int
    # The owner identifies the unit too, since its number may have been reused.
    owner: str
    vector: bytes


# --- The progress of changing the embedding model or the analyzer ---------------------------------


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


# --- Embedders: the choice in the settings, the state of each, and the result of a check ----------


EmbedderCondition = Literal["ready", "unprepared", "not_found", "damaged", "not_installed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChoice:
    """An embedder as settings name it.

    `model` is empty for the local default, `none` for no embedder at all, or one of
    `folder:PATH`, `openai:NAME`, `fastembed:NAME`, `sentence-transformers:NAME`. Fields that are
    left empty are read from the model's own files or have the defaults of the model.
    """

    model: str = ""
    dimension: int | None = None
    folder: Path | None = None
    pooling: Literal["mean", "cls"] | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    longest: int | None = None
    languages: tuple[str, ...] = ()
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    batch_size: int = 64
    timeout: float = 30.0
    retries: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderState:
    """An embedder that can be chosen, and what is missing to use it."""

    name: str
    condition: EmbedderCondition
    where: str = ""
    detail: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderCheck:
    """The result of trying an embedder on a few texts."""

    name: str
    works: bool
    model: str = ""
    dimension: int = 0
    first_ms: float = 0.0
    query_ms: float = 0.0
    notes: tuple[str, ...] = ()
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingCacheStats(CacheStats):
    """Statistics of the embedding cache, with the memory that it uses."""

    bytes: int
    budget_bytes: int


# --- Calibration of a model: figures measured once for each model, in its `calibration.json` ------


Section = TypeVar(
    "Section", "MemoryCalibration", "JudgeCalibration", "ReaderCalibration", "AnswererCalibration"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCalibration:
    """How to interpret the cosines of a model when records and turns are searched.

    The other figures were measured with cosines whose `unrelated` and `related` are the defaults
    here; cosines of another model are mapped to that scale first.
    """

    unrelated: float = 0.05
    """The usual cosine of texts about different things."""
    related: float = 0.55
    """The usual cosine of a question and its answer."""
    vector_weight: float = 0.7
    """The weight of similarity compared with that of words."""
    nearness: float = 2.0
    """How much a cosine says about relevance, compared with the same share of words."""
    doubtful: float = 0.3
    """If the best candidate is less relevant than this, nothing is found."""
    sure: float = 0.7
    """From this relevance on, the best candidate is certain."""
    question_doubtful: float = 0.45
    """The lower limit for a message that is a single question: its answer is about all of it."""
    question_sure: float = 0.95
    """The upper limit for such a message; for a task, being about a part of it is enough."""
    foreign: float = 0.1
    """A candidate that is less relevant than this is unrelated to the question."""
    fitting: float = 0.4
    """A candidate that is at least this relevant keeps its full score."""
    translation: float = 0.5
    """The words that a text in another language is taken to share, as a share of its cosine."""

    @property
    def scale(self) -> tuple[float, float]:
        """Return the slope and the offset that map a cosine to the common scale."""
        usual = MemoryCalibration()
        width = max(self.related - self.unrelated, 0.01)
        slope = (usual.related - usual.unrelated) / width
        return slope, usual.unrelated - slope * self.unrelated


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalibration:
    """The probabilities from which on the local judge makes each decision."""

    temperature: float = 1.0
    """The temperature: scores are divided by it, so that probabilities are calibrated."""
    update: float = 0.8
    """Keep both, linked as an update: p(update)."""
    surface: float = 0.8
    """Keep both, linked as update or conflict: p(update) + p(conflict), in both directions."""
    margin: float = 0.1
    """A statement changes one record: those less similar than the nearest by this are skipped."""
    replace: float = 0.8
    """Add a version to the stored record: the probability of a change, in both directions."""
    replace_near: float = 2.0
    """The similarity that a new version needs as well; above 1 means never."""
    same: float = 0.4
    """Keep both, linked as the same: p(same), in both directions."""
    facets: float = 0.0
    """Statements whose facets overlap less than this neither update nor contradict each other."""
    merge: float = 2.0
    """Confirm the stored record and drop the new one; above 1 means never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCalibration:
    """The figures of a reader; odds are logarithms."""

    limit: float = -0.2
    """The odds from which a part of a message is kept: that it is told, and worth keeping."""
    need: float = 0.0
    """The odds from which a message needs memory."""
    about: float = 0.8
    """The probability from which it is said whom a part is about."""
    wish: float = 0.8
    """The probability from which a part is taken for a wish."""
    facet: float = 0.5
    """The probability from which it is said which attribute a part states."""
    facet_temperature: float = 1.0
    """The temperature of that head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswererCalibration:
    """The figures of an answerer."""

    shift: float = 0.0
    """Added to its logits, so that what answers is as often above 0 as with other models."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The figures of a model, by use."""

    memory: MemoryCalibration = field(default_factory=MemoryCalibration)
    judge: JudgeCalibration = field(default_factory=JudgeCalibration)
    reader: ReaderCalibration = field(default_factory=ReaderCalibration)
    answerer: AnswererCalibration = field(default_factory=AnswererCalibration)
    is_measured: bool = False
    """Whether the figures were measured with this model; otherwise they are the defaults."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Calibration:
        """Return the figures of a `calibration.json`, with defaults for what it leaves out."""
        return cls(
            memory=_taken(MemoryCalibration(), values.get("memory")),
            judge=_taken(JudgeCalibration(), values.get("judge")),
            reader=_taken(ReaderCalibration(), values.get("reader")),
            answerer=_taken(AnswererCalibration(), values.get("answerer")),
            is_measured="memory" in values,
        )


def _taken(usual: Section, given: object) -> Section:
    values = cast("Mapping[str, Any]", given if isinstance(given, dict) else {})
    known = {field.name for field in fields(usual)}
    return replace(usual, **{name: float(value) for name, value in values.items() if name in known})
