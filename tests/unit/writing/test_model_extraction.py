"""What a language model finds is checked by a reader."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import pytest

from recollect.domain.scope import Scope
from recollect.domain.turn import new_turn
from recollect.domain.write import Claim
from recollect.ports.language_model import Filled, LanguageModel
from recollect.ports.reader import Reading, Stance
from recollect.writing.forms import ExtractionForm
from recollect.writing.model_extraction import ModelExtractor

_SAID = "Berlin is home to me"


class _FakeReader:
    """Takes everything the same way."""

    def __init__(self, stance: Stance) -> None:
        self._stance: Stance = stance

    async def read(self, parts: Sequence[tuple[str, str]]) -> Sequence[Reading]:
        return [Reading(score=1.0, lasts="long", stance=self._stance) for _ in parts]

    async def needs(self, messages: Sequence[tuple[str, str]]) -> Sequence[float]:
        return [-1.0 for _ in messages]


class _FakeModel:
    """Finds the same statement in everything."""

    name = "fake:model"

    async def fill(self, prompt: object, shape: object) -> Filled[ExtractionForm]:
        found = {"category": "user", "content": "User lives in Berlin", "turn": 1, "quote": _SAID}
        form = ExtractionForm.model_validate(
            {"statements": [found], "events": [], "procedures": []}
        )
        return Filled(value=form, input_tokens=0, output_tokens=0)


async def _found(stance: Stance) -> Sequence[Claim]:
    turn = new_turn({"role": "user", "content": _SAID}, Scope(), "s", datetime.now(UTC), None)
    extractor = ModelExtractor(cast("LanguageModel", _FakeModel()), _FakeReader(stance))
    return await extractor.extract([turn])


@pytest.mark.parametrize("stance", ["asked", "requested", "supposed", "quoted", "chatter", "task"])
async def test_what_a_reader_takes_for_something_else_is_no_claim(stance: Stance):
    assert await _found(stance) == ()


@pytest.mark.parametrize("stance", ["told", "denied"])
async def test_what_is_told_is_one(stance: Stance):
    assert [claim.content for claim in await _found(stance)] == ["User lives in Berlin"]
