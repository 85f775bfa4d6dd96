"""A second look at the best candidates by a model that reads question and text together.

It is slow and optional: when it fails or takes too long, the order stays as it was.
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
from recollect.ports.reranker import Reranker
from recollect.recall.candidate_loader import Weighed
from recollect.recall.question import Question
from recollect.recall.scoring import Weighing

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankingOptions:
    """How many are looked at again and how much that counts beside what the paths found."""

    candidates: int = 50
    weight: float = 0.5
    # Seconds after which it is left out.
    patience: float = 5.0


class Reranking:
    """Judges candidates anew with a reranker."""

    def __init__(self, reranker: Reranker, options: RerankingOptions) -> None:
        self._reranker = reranker
        self._options = options
        self._calls = 0
        self._failures = 0

    @property
    def candidates(self) -> int:
        return self._options.candidates

    async def judged(
        self,
        question: Question,
        weighed: Sequence[Weighed],
        items: Mapping[str, Item],
        weighing: Weighing,
    ) -> list[Weighed] | str:
        """These in their new order, or why there is none."""
        present = [it for it in weighed if it.fused.owner_id in items]
        if not present:
            return present
        texts = [_text(it, items[it.fused.owner_id]) for it in present]
        self._calls += 1
        try:
            asked = self._reranker.scores(question.text, texts)
            scores = await asyncio.wait_for(asked, self._options.patience)
        except TimeoutError:
            return self._without(f"did not answer within {self._options.patience} s")
        except RecollectError as failure:
            return self._without(f"failed: {failure}")
        anew = [
            self._anew(weighing, it, float(score))
            for it, score in zip(present, scores, strict=True)
        ]
        return sorted(anew, key=lambda it: -it.score)

    def usage(self) -> ModelUsage:
        """What the model was asked since the process began, and how often in vain."""
        name = self._reranker.name
        return ModelUsage(task="rerank", model=name, calls=self._calls, failures=self._failures)

    async def close(self) -> None:
        await self._reranker.close()

    def _anew(self, weighing: Weighing, it: Weighed, judgement: float) -> Weighed:
        """The model's judgement takes its share of the relevance; all else is weighed as before."""
        share = self._options.weight
        relevance = (1 - share) * it.fused.score + share * judgement
        score = weighing.score(it.standing, relevance)
        reason = f"reranker {self._reranker.name} says {judgement:.2f}"
        boost = Boost(reason=reason, factor=relevance / it.fused.score)
        return it._replace(score=score, boosts=(*it.boosts, boost))

    def _without(self, why: str) -> str:
        self._failures += 1
        note = f"the reranker {self._reranker.name} {why}"
        _log.warning(note)
        return note


def _text(it: Weighed, item: Item) -> str:
    """What the model reads of a candidate: the passage that was found, under its title."""
    if isinstance(item, ArchivePassage):
        return item.content
    title = f"{item.title}\n" if isinstance(item, Record) and item.title else ""
    return title + item.content[slice(*it.fused.span)]
