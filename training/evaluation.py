"""What vectors are worth: recall sets by plain cosine, and translations found among others.

Plain numpy, so that it is tested without torch.
"""

from __future__ import annotations

import gzip
import json
import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
_DEPTH = 10


@dataclass(frozen=True, slots=True)
class Score:
    """A set's nDCG@10, and how often the first unit is one that is wanted."""

    ndcg: float
    hit: float


class RecallSets:
    """Units and questions by the name of their set, as `prepare` wrote them."""

    def __init__(self, sets: Mapping[str, Any]) -> None:
        self._sets = sets
        both = (row for one in sets.values() for row in [*one["units"], *one["queries"]])
        self.texts = sorted({text for _, _, text in both})
        """All that must be embedded to measure, each text once."""
        self._place = {text: place for place, text in enumerate(self.texts)}

    @classmethod
    def read(cls, file: Path) -> RecallSets:
        """Return the sets of a file; none if it is not there."""
        return cls(json.loads(gzip.decompress(file.read_bytes())) if file.is_file() else {})

    def scores(self, vectors: Vectors) -> dict[str, Score]:
        """Return each set's score, given the vectors of `texts` in their order."""
        return {name: self._score(one, vectors) for name, one in self._sets.items()}

    def _score(self, one: Mapping[str, Any], vectors: Vectors) -> Score:
        scopes = defaultdict[str, list[tuple[str, int]]](list)
        for scope, unit, text in one["units"]:
            scopes[scope].append((unit, self._place[text]))
        gains, hits = list[float](), list[bool]()
        for scope, gold, text in one["queries"]:
            ids = [unit for unit, _ in scopes[scope]]
            cosines = vectors[[place for _, place in scopes[scope]]] @ vectors[self._place[text]]
            best = np.argsort(-cosines, kind="stable")[:_DEPTH]
            right = [ids[place] in set(gold) for place in best]
            gains.append(ndcg(right, len(set(gold))))
            hits.append(right[0])
        return Score(sum(gains) / len(gains), sum(hits) / len(hits))


def ndcg(right: list[bool], wanted: int) -> float:
    """Return the nDCG@10 of a ranking, told as which of it is right, of so many that are wanted."""
    gain = sum(hit / math.log2(rank + 2) for rank, hit in enumerate(right[:_DEPTH]))
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(_DEPTH, wanted)))


def translations_found(chinese: Vectors, english: Vectors) -> float:
    """Return the share of Chinese texts whose nearest English text is their own translation."""
    return float(((chinese @ english.T).argmax(axis=1) == np.arange(len(chinese))).mean())


def mean_cosine(first: Vectors, second: Vectors) -> float:
    """Return how near two lists of unit vectors are, row by row."""
    return float((first * second).sum(axis=1).mean())
