"""Judges of how statements relate, and models that tell whether texts answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.domain.embedding import JudgeCalibration
    from recollect.domain.relation import Relation, Verdict

MOST_JUDGED: Final = 8
"""The maximum number of stored statements that are judged for one new one."""

CLASSES: Final[tuple[Relation, ...]] = ("same", "update", "conflict", "different")
"""The order of the logits of a local model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement, when it was made, and where it comes from."""

    text: str
    said_at: datetime
    source: str = ""
    near: float | None = field(default=None, compare=False)
    """For a stored one: the cosine of its vector and the new one's, if both are known."""
    facet: str = ""
    """Which attribute it states, if a person said so."""
    about: str = ""
    """Whom it is about, if that is known: user, other or thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict for each stored statement, in order, and why a better judge did not answer."""

    verdicts: tuple[Verdict, ...]
    degraded: str = ""


class Judge(Protocol):
    """Decides how statements relate. Safe to call from several tasks at once."""

    @property
    def name(self) -> str: ...

    async def judge(self, new: Statement, stored: Sequence[Statement]) -> Judged:
        """Judge at most MOST_JUDGED stored statements. A model that fails raises `ModelError`."""
        ...


class PairClassifier(Protocol):
    """A local model that reads two statements together, the older one first."""

    @property
    def name(self) -> str: ...

    @property
    def calibration(self) -> JudgeCalibration: ...

    def logits(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.floating]:
        """Return one row per pair, in the order of CLASSES."""
        ...


class Answerer(Protocol):
    """A model that reads a question and a text together. Safe to call from several tasks.

    A failure raises `NotAvailable`, whose `retryable` says whether to retry; after `close`, calls
    raise `Closed`.
    """

    @property
    def name(self) -> str:
        """Return the name of the model, as settings have it."""
        ...

    async def logits(self, question: str, texts: Sequence[str]) -> NDArray[np.floating]:
        """Return one number per text: the odds that it answers the question, as a logarithm.

        A text that the model cannot judge is not a number.
        """
        ...

    def forget(self) -> None:
        """Forget what was read, because a text was forgotten."""
        ...

    async def close(self) -> None: ...
