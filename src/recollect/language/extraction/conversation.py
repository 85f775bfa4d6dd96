"""The claims of a conversation that have a form of their own: which turns are read, and how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.claims import moods
from recollect.language.extraction.message import (
    agreed_by_user,
    only_asks_to_keep,
    procedures_told,
    work_done,
)
from recollect.language.extraction.utterances import readable, sentences

_MAX_CHARACTERS: Final = 200
# Such a turn tells nothing itself.
MATERIAL: Final = frozenset({"tool_output", "memory_output", "retracted"})


def claims_of_form(turns: Sequence[Turn], *, before: Sequence[Turn] = ()) -> Iterator[Claim]:
    """Yield the claims of the turns.

    System prompts and tool results are material, not statements: they are not read.
    """
    previous = next(filter(_says, reversed(before)), None)
    for turn in turns:
        if turn.act not in MATERIAL and turn.act != "question":
            if turn.role == "assistant":
                yield from work_done(turn)
            elif turn.role == "user":
                yield from agreed_by_user(turn, previous) if previous else ()
                yield from procedures_told(turn)
        previous = turn if _says(turn) else previous


class KeepWish(NamedTuple):
    """A turn that only asks to remember what was said, and the turn that said it, if any."""

    turn: Turn
    said: Turn | None


def keep_wishes(turns: Sequence[Turn], before: Sequence[Turn] = ()) -> Iterator[KeepWish]:
    """Yield the turns that are nothing but "remember this", 记住这个."""
    said = next(filter(_says, reversed(before)), None)
    for turn in turns:
        if asks_to_keep(turn):
            yield KeepWish(turn, said)
        elif _says(turn):
            said = turn


def asks_to_keep(turn: Turn) -> bool:
    """Return whether a user's turn only asks to remember what was said."""
    if turn.role != "user" or turn.act in MATERIAL or len(turn.content) > _MAX_CHARACTERS:
        return False
    return only_asks_to_keep(sentences(readable(turn.content)))


def _says(turn: Turn) -> bool:
    """Return whether a turn is more than "got it", so that "this" may stand for its words."""
    if turn.role != "assistant" or len(turn.content) > _MAX_CHARACTERS:
        return turn.role in {"user", "assistant"} and turn.act not in MATERIAL
    spoken = sentences(readable(turn.content))
    return not all(moods.only_says(it.plain, "acknowledges") for it in spoken)
