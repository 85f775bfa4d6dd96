"""A model that reads a question together with texts, and how much of what it says counts.

The local answerer is one, and so is a larger model that somebody configured. The steps that order
hits, stay silent and search documents use them alike.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.model_tier import ModelUsage
from recollect.domain.odds import log_odds
from recollect.errors import RecollectError
from recollect.ports.judge import Answerer
from recollect.ports.runtime import IN_TIME, seconds_left
from recollect.ports.store import current_snapshot

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerModelOptions:
    """How many texts a model reads, and how much it is believed."""

    first: int
    """The number of best texts that it reads."""
    most: int
    """If none of them answers, it reads up to this many."""
    in_context: bool = False
    """Whether it reads when, by whom and after what a text was said."""
    reads_all: bool = False
    """Whether it reads numbers and what only tells something, and believes no text for its words.

    The small local model takes "parcel 17" for "parcel 71".
    """
    weight: float = 0.5
    """The weight of what it says compared with the search."""
    threshold: float = 0.5
    """The probability from which a text answers."""
    patience: float = math.inf
    """The seconds after which it is given up."""


class AnswerModel:
    """A model with its options, and a count of its calls."""

    def __init__(self, model: Answerer, options: AnswerModelOptions) -> None:
        self._model = model
        self.options = options
        self._calls = 0
        self._failures = 0

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def most(self) -> int:
        return self.options.most

    @property
    def weight(self) -> float:
        return self.options.weight

    async def logits(self, question: str, texts: Sequence[str]) -> list[float] | str:
        """Return how clearly each text answers, or a note why nobody can say.

        Above 0, a text rather answers; one that the model cannot judge is not a number.
        """
        self._calls += 1
        patience = seconds_left(self.options.patience)
        if self.options.patience < math.inf and (snapshot := current_snapshot()) is not None:
            # It may take long and does not need the database.
            snapshot.let_go()
        try:
            async with asyncio.timeout(None if patience == math.inf else patience):
                found = await self._model.logits(question, texts)
        except TimeoutError:
            if not seconds_left():
                return f"{self.name} did not read the hits {IN_TIME}"
            return self._note_failure(f"did not answer within {patience:g} s")
        except RecollectError as failure:
            return self._note_failure(f"failed: {failure}")
        least = log_odds(self.options.threshold)
        return [float(logit) - least for logit in found]

    def usage(self) -> ModelUsage:
        """Return the number of calls and failures since the process began."""
        return ModelUsage(
            task="rerank", model=self.name, calls=self._calls, failures=self._failures
        )

    def forget(self) -> None:
        """Forget what was read, because a text was forgotten."""
        self._model.forget()

    async def close(self) -> None:
        await self._model.close()

    def _note_failure(self, why: str) -> str:
        self._failures += 1
        note = f"{self.name} {why}"
        _log.warning(note)
        return note
