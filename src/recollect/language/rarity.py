"""How unusual words are within a conversation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from recollect.language.analysis import terms
from recollect.language.sentences import sentences

# Stands among counted terms for the sentences themselves; no term is empty.
_SENTENCES: Final = ""
# Where nothing can be compared.
_UNKNOWN: Final = 0.5


class Rarity:
    """How unusual the words of a sentence are in a conversation, from 0 to 1.

    Numbers and names in code are left out: they are always rare, and are weighed apart.
    """

    def __init__(self, counts: Iterable[Counter[str]]) -> None:
        self._counts: Counter[str] = Counter()
        for count in counts:
            self._counts.update(count)
        self._number = self._counts[_SENTENCES]

    def of(self, text: str) -> float:
        found = plain_terms(text)
        if not found or self._number < 2:
            return _UNKNOWN
        most = math.log(self._number + 1)
        rare = (math.log((self._number + 1) / (self._counts[term] + 1)) for term in found)
        return max(0.0, sum(rare) / len(found) / most)


def sentence_counts(text: str) -> Counter[str]:
    """Return in how many sentences of a text each term occurs, as `Rarity` adds them up."""
    counts: Counter[str] = Counter()
    for sentence in sentences(text):
        counts[_SENTENCES] += 1
        counts.update(plain_terms(sentence))
    return counts


@lru_cache(maxsize=4096)
def plain_terms(text: str) -> frozenset[str]:
    """Return the words of a text without numbers, names in code and single characters."""
    return frozenset(term for term in terms(text) if len(term) > 1 and term.isalpha())
