"""Extraction over a conversation: which of its turns may say something, and what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Protocol

from recollect.domain.extraction import Claim
from recollect.domain.turn import Turn
from recollect.text import signals
from recollect.writing.extract_corrections import Earlier
from recollect.writing.extract_rules import confirmed_by_user, said_by_user, told_by_assistant
from recollect.writing.extract_sentences import Utterance, readable, sentences

_LONGEST_ACKNOWLEDGEMENT: Final = 200


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
    talk = [_utterance(turn) for turn in before]
    previous = _last_saying(before)
    found: dict[tuple[str, str], Claim] = {}
    for said in map(_utterance, turns):
        for claim in _claims(said, previous, partial(_told_before, tuple(talk))):
            first = found.setdefault((claim.category, claim.content.casefold()), claim)
            if claim.explicit and not first.explicit:
                # Said first and confirmed later: the wish to keep it counts.
                found[claim.category, claim.content.casefold()] = claim
        talk.append(said)
        if said.role in {"user", "assistant"} and not _only_acknowledges(said):
            previous = said
    return tuple(found.values())


def _last_saying(before: Sequence[Turn]) -> Utterance | None:
    """The last of the turns that says something."""
    return next(
        (it for it in map(_utterance, reversed(before)) if not _only_acknowledges(it)), None
    )


def _only_acknowledges(said: Utterance) -> bool:
    """Whether an assistant's turn is a mere "got it": what is to be kept stands before it."""
    if said.role != "assistant" or len(said.text) > _LONGEST_ACKNOWLEDGEMENT:
        return False
    return all(signals.acknowledges(it.plain) for it in sentences(readable(said.text)))


def _claims(
    said: Utterance, previous: Utterance | None, earlier: Callable[[], Earlier]
) -> list[Claim]:
    if said.role == "assistant":
        return told_by_assistant(said)
    if said.role != "user":
        return []
    confirmed = confirmed_by_user(said, previous) if previous else []
    return confirmed or said_by_user(said, earlier)


def _told_before(talk: Sequence[Utterance]) -> Earlier:
    """What the user's last message told, and what was replied to it."""
    at = next((at for at in reversed(range(len(talk))) if talk[at].role == "user"), None)
    if at is None:
        return Earlier()
    claims = said_by_user(talk[at], partial(_told_before, talk[:at]))
    replies = [it.text for it in talk[at + 1 :] if it.role == "assistant"]
    return Earlier(claims, replies)


def _utterance(turn: Turn) -> Utterance:
    return Utterance(
        id=turn.id, role=turn.role, speaker=turn.speaker, text=turn.content, at=turn.at
    )
