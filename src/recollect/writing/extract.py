"""Extraction over a conversation: which of its turns may say something, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from recollect.domain.extraction import Claim
from recollect.domain.turn import Turn
from recollect.writing.extract_rules import confirmed_by_user, said_by_user, told_by_assistant
from recollect.writing.extract_sentences import Utterance


class Extractor(Protocol):
    """Finds claims in turns: by rules, or by asking a model."""

    async def extract(
        self, turns: Sequence[Turn], *, before: Sequence[Turn] = ()
    ) -> tuple[Claim, ...]:
        """The claims of the turns; those before were read already and only explain them."""
        ...


class RuleExtractor:
    """The extractor that needs no model."""

    async def extract(
        self, turns: Sequence[Turn], *, before: Sequence[Turn] = ()
    ) -> tuple[Claim, ...]:
        return extract(turns, before=before)


def extract(turns: Sequence[Turn], *, before: Sequence[Turn] = ()) -> tuple[Claim, ...]:
    """What the turns say that is worth remembering, each thing once.

    System prompts and tool results are material, not statements: they are not read.
    """
    previous = _utterance(before[-1]) if before else None
    found: dict[tuple[str, str], Claim] = {}
    for said in map(_utterance, turns):
        for claim in _claims(said, previous):
            found.setdefault((claim.category, claim.content.casefold()), claim)
        if said.role in {"user", "assistant"}:
            previous = said
    return tuple(found.values())


def _claims(said: Utterance, previous: Utterance | None) -> list[Claim]:
    if said.role == "assistant":
        return told_by_assistant(said)
    if said.role != "user":
        return []
    confirmed = confirmed_by_user(said, previous) if previous else []
    return confirmed or said_by_user(said)


def _utterance(turn: Turn) -> Utterance:
    return Utterance(
        id=turn.id, role=turn.role, speaker=turn.speaker, text=turn.content, at=turn.at
    )
