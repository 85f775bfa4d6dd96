"""The claims of a conversation that have a form of their own: which turns are read, and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from recollect.domain.turn import Turn
from recollect.domain.write import Claim
from recollect.language.claims import moods
from recollect.language.extraction.message import confirmed_by_user, said_by_user, work_done
from recollect.language.extraction.utterances import readable, sentences

_MAX_ACKNOWLEDGEMENT_CHARACTERS: Final = 200
# Such a turn tells nothing itself.
_MATERIAL: Final = frozenset({"tool_output", "memory_output", "retracted"})
_NO_CLAIMS: Final = _MATERIAL | {"question"}
_MAX_WISH_CHARACTERS: Final = 200


def extract(turns: Sequence[Turn], *, before: Sequence[Turn] = ()) -> tuple[Claim, ...]:
    """Return the claims of the turns, each once.

    System prompts and tool results are material, not statements: they are not read.
    """
    previous = next((it for it in reversed(before) if not _only_acknowledges(it)), None)
    found: dict[tuple[str, str], Claim] = {}
    for turn in turns:
        for claim in [] if turn.act in _NO_CLAIMS else _claims(turn, previous):
            first = found.setdefault((claim.category, claim.content.casefold()), claim)
            if claim.explicit and not first.explicit:
                # Said first and confirmed later: the wish to keep it counts.
                found[claim.category, claim.content.casefold()] = claim
        if turn.role in {"user", "assistant"} and not _only_acknowledges(turn):
            previous = turn
    return tuple(found.values())


class KeepWish(NamedTuple):
    """A turn that only asks to remember what was said, and the turn that said it, if any."""

    turn: Turn
    said: Turn | None


def keep_wishes(turns: Sequence[Turn], before: Sequence[Turn] = ()) -> list[KeepWish]:
    """Return the turns that are nothing but "remember this", 记住这个."""
    said = next((turn for turn in reversed(before) if _says(turn)), None)
    found: list[KeepWish] = []
    for turn in turns:
        if asks_to_keep(turn):
            found.append(KeepWish(turn, said))
        elif _says(turn):
            said = turn
    return found


def asks_to_keep(turn: Turn) -> bool:
    """Return whether a user's turn only asks to remember what was said."""
    if turn.role != "user" or turn.act in _MATERIAL or len(turn.content) > _MAX_WISH_CHARACTERS:
        return False
    spoken = sentences(readable(turn.content))
    return bool(spoken) and all(moods.keeps_what_was_said(it.plain) for it in spoken)


def _says(turn: Turn) -> bool:
    """Return whether a turn is more than "got it", so that "this" may stand for its words."""
    is_said = turn.role in {"user", "assistant"} and turn.act not in _MATERIAL
    return is_said and not _only_acknowledges(turn)


def _only_acknowledges(said: Turn) -> bool:
    """Return whether an assistant's turn is a mere "got it", which refers to what came before."""
    if said.role != "assistant" or len(said.content) > _MAX_ACKNOWLEDGEMENT_CHARACTERS:
        return False
    return all(moods.acknowledges(sentence.plain) for sentence in sentences(readable(said.content)))


def _claims(said: Turn, previous: Turn | None) -> list[Claim]:
    if said.role == "assistant":
        return work_done(said)
    if said.role != "user":
        return []
    confirmed = confirmed_by_user(said, previous) if previous else []
    return confirmed or said_by_user(said)
