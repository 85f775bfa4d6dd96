"""Made-up text with the shape of real text: words by Zipf's law, half Chinese, half English."""

from __future__ import annotations

import random
from itertools import accumulate
from typing import Final

_SYLLABLES: Final = (
    *("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu"),
    *("va", "we", "xi", "yo", "zu", "bre", "cla", "dro", "fle", "gri", "pla", "ste", "tro"),
)
_WORDS: Final = 30_000
_CHARACTERS: Final = 3_500
_FIRST_CHARACTER: Final = 0x4E00


class Writer:
    """Writes texts and questions that are the same for the same seed."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self._english = [self._pseudo_word() for _ in range(_WORDS)]
        self._chinese = [self._pseudo_zh_word() for _ in range(_WORDS)]
        self._ranks = list(accumulate(1 / rank for rank in range(1, _WORDS + 1)))

    def text(self, number: int) -> str:
        """A text of about 25 words or 40 characters; every second one is Chinese."""
        length = self._random.randint(15, 35)
        return self._zh(length) + "。" if number % 2 else " ".join(self._en(length)) + "."

    def question(self, number: int) -> str:
        """A question with at least 12 English words or 25 pairs of Chinese characters."""
        return self._zh(15) + "？" if number % 2 else " ".join(self._en(18)) + "?"

    def _en(self, words: int) -> list[str]:
        return self._random.choices(self._english, cum_weights=self._ranks, k=words)

    def _zh(self, words: int) -> str:
        return "".join(self._random.choices(self._chinese, cum_weights=self._ranks, k=words))

    def _pseudo_word(self) -> str:
        return "".join(self._random.choices(_SYLLABLES, k=self._random.randint(2, 4)))

    def _pseudo_zh_word(self) -> str:
        # Squaring makes some characters common in many words, as 的 and 人 are.
        picks = (self._random.random() ** 2 for _ in range(2))
        return "".join(chr(_FIRST_CHARACTER + int(_CHARACTERS * pick)) for pick in picks)
