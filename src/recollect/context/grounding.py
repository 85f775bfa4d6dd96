"""Checking that the numbers and names in a model's answer are in its source."""

from __future__ import annotations

import asyncio
import re
from typing import Final

from recollect.language.characters import fold
from recollect.language.entities.recognition import entities
from recollect.ports.language_model import LanguageModel, Prompt

_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3})")
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
# Small numbers are often spelled out where a summary writes a digit.
_SPELLED: Final = (
    *(("1", r"\bone\b|一"), ("2", r"\btwo\b|\bboth\b|二|两"), ("3", r"\bthree\b|三")),
    *(("4", r"\bfour\b|四"), ("5", r"\bfive\b|五"), ("6", r"\bsix\b|六")),
    *(("7", r"\bseven\b|七"), ("8", r"\beight\b|八"), ("9", r"\bnine\b|九")),
    *(("10", r"\bten\b|十"), ("11", r"\beleven\b|十一"), ("12", r"\btwelve\b|\bdozen\b|十二")),
)


class Ground:
    """A text that claims are checked against."""

    def __init__(self, text: str) -> None:
        self._text = fold(text).casefold()
        spelled = {digits for digits, words in _SPELLED if re.search(words, self._text)}
        self._numbers = _numbers(self._text) | spelled

    def supports(self, claim: str) -> bool:
        """Return whether every number and name of the claim is in the text."""
        if not _numbers(fold(claim)) <= self._numbers:
            return False
        return all(name in self._text for name in entities(claim))


async def grounded_answer(model: LanguageModel, prompt: Prompt, source: str) -> str | None:
    """Return a model's answer in one line; None if it is cut off or not grounded.

    A model that fails raises a `ModelError`.
    """
    written = await model.write(prompt)
    answer = " ".join(written.text.split())
    if not answer or written.is_cut:
        return None
    is_grounded = await asyncio.to_thread(lambda: Ground(source).supports(answer))
    return answer if is_grounded else None


def _numbers(text: str) -> set[str]:
    return {found.lstrip("0") or "0" for found in _NUMBER.findall(_THOUSANDS.sub("", text))}
