"""Synthetic text that resembles real text: words by Zipf's law, half Chinese, half English.

Compared with public conversations, the share of texts with a word of a question (.03 to .05) is
about the same, and a question has some more tokens than a person's.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from recollect.evaluation import vocabulary

_WORDS: Final = 30_000
# Start here, since an index leaves out the most frequent words of a language.
_FIRST_RANK: Final = 10
_LONGEST_PIECE: Final = 5


class Writer:
    """Writes texts and questions, deterministically for each seed.

    Common words are real; rare ones are made of two pieces, like many names and terms.
    """

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        pieces = [word for word in vocabulary.ENGLISH if len(word) <= _LONGEST_PIECE]
        self._english = self._with_rare_words(vocabulary.ENGLISH, pieces)
        self._chinese = self._with_rare_words(vocabulary.CHINESE, vocabulary.common_characters())
        ranks = range(_FIRST_RANK, _FIRST_RANK + _WORDS)
        self._weights = list(accumulate(1 / rank for rank in ranks))

    def text(self, number: int) -> str:
        """Return a text of about 25 words or 50 characters; every second one is Chinese."""
        length = self._random.randint(15, 35)
        return self._zh(length) + "。" if number % 2 else " ".join(self._en(length)) + "."

    def question(self, number: int) -> str:
        """Return a question with at least 12 distinct English words or 25 Chinese pairs."""
        if number % 2:
            return self._zh(13) + "？"
        return " ".join(list(dict.fromkeys(self._en(40)))[:13]) + "?"

    def _en(self, words: int) -> list[str]:
        return self._random.choices(self._english, cum_weights=self._weights, k=words)

    def _zh(self, words: int) -> str:
        return "".join(self._random.choices(self._chinese, cum_weights=self._weights, k=words))

    def _with_rare_words(self, common: Sequence[str], pieces: Sequence[str]) -> list[str]:
        words = dict.fromkeys(common)
        while len(words) < _WORDS:
            words["".join(self._random.choices(pieces, k=2))] = None
        return list(words)
