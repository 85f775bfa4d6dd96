"""Reranking of the best candidates by a model that reads question and text together.

It is slow and optional: if it fails or takes too long, the order stays as it was.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.hit import ArchivePassage, Boost, Item
from recollect.domain.model_tier import ModelUsage
from recollect.domain.record import Record
from recollect.errors import RecollectError
from recollect.ports.judge import Reranker
from recollect.ports.runtime import IN_TIME, seconds_left
from recollect.recall.candidate_loader import ScoredCandidate
from recollect.recall.question import Question
from recollect.recall.scoring import CandidateScoring

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankingOptions:
    """The number of candidates to rerank, and the weight of the reranker's score."""

    candidates: int = 50
    weight: float = 0.5
    # Seconds after which the order is left as it was.
    patience: float = 5.0


class Reranking:
    """The step that scores candidates again with a reranker."""

    def __init__(self, reranker: Reranker, options: RerankingOptions) -> None:
        self._reranker = reranker
        self._options = options
        self._calls = 0
        self._failures = 0

    @property
    def candidates(self) -> int:
        return self._options.candidates

    @property
    def weight(self) -> float:
        return self._options.weight

    async def judged(
        self,
        question: Question,
        weighed: Sequence[ScoredCandidate],
        items: Mapping[str, Item],
        weighing: CandidateScoring,
    ) -> list[ScoredCandidate] | str:
        """Return the candidates in their new order, or a note why there is none."""
        present = [candidate for candidate in weighed if candidate.fused.owner_id in items]
        if not present:
            return present
        texts = [readable_text(candidate, items[candidate.fused.owner_id]) for candidate in present]
        scores = await self.scores(question.text, texts)
        if isinstance(scores, str):
            return scores
        anew = [
            self._rescore(weighing, candidate, score)
            for candidate, score in zip(present, scores, strict=True)
        ]
        return sorted(anew, key=lambda candidate: -candidate.score)

    async def scores(self, question: str, texts: Sequence[str]) -> list[float] | str:
        """Return the reranker's score of each text, or a note why there is none."""
        self._calls += 1
        patience = seconds_left(self._options.patience)
        try:
            found = await asyncio.wait_for(self._reranker.scores(question, texts), patience)
            return [float(score) for score in found]
        except TimeoutError:
            if not seconds_left():
                return f"the reranker {self._reranker.name} did not answer {IN_TIME}"
            return self._note_failure(f"did not answer within {patience} s")
        except RecollectError as failure:
            return self._note_failure(f"failed: {failure}")

    def usage(self) -> ModelUsage:
        """Return the number of calls and failures of the model since the process began."""
        name = self._reranker.name
        return ModelUsage(task="rerank", model=name, calls=self._calls, failures=self._failures)

    async def close(self) -> None:
        await self._reranker.close()

    def _rescore(
        self, weighing: CandidateScoring, candidate: ScoredCandidate, judgement: float
    ) -> ScoredCandidate:
        """Mix the reranker's score into the relevance; everything else is scored as before."""
        share = self._options.weight
        relevance = (1 - share) * candidate.fused.score + share * judgement
        score = weighing.score(candidate.standing, relevance)
        reason = f"reranker {self._reranker.name} says {judgement:.2f}"
        boost = Boost(reason=reason, factor=relevance / candidate.fused.score)
        return candidate._replace(score=score, boosts=(*candidate.boosts, boost))

    def _note_failure(self, why: str) -> str:
        self._failures += 1
        note = f"the reranker {self._reranker.name} {why}"
        _log.warning(note)
        return note


def readable_text(candidate: ScoredCandidate, item: Item) -> str:
    """Return what the model reads of a candidate: title or speaker, and what was found."""
    if isinstance(item, ArchivePassage):
        return item.content
    found = candidate.fused
    passage = item.content[slice(*found.span)] if found.is_found else item.content
    if isinstance(item, Record):
        return f"{item.title}\n{passage}" if item.title else passage
    return f"{item.speaker}: {passage}" if item.speaker else passage
