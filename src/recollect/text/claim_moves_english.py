"""Verbs that say what changes only with what follows them: to move, to join, to leave.

Who moves to Munich lives there, who moves to Kafka does not; who joins Bosch works there, who joins
a gym does not; who leaves the company is gone, who leaves the keys at home has them still.
"""

from __future__ import annotations

from typing import Final

from recollect.text.claim_parts import Piece
from recollect.text.claim_tokens_english import DETERMINERS, Token, lemma, listed
from recollect.text.places import english_companies, english_places, is_tool, may_be_a_place

ORGANISATIONS: Final = frozenset(
    lemma(word)
    for word in listed(
        "department team shop company business division unit store restaurant cafe group office "
        "school club lab studio agency firm branch bakery bar hotel clinic charity project"
    )
)
_MOVING: Final = (Piece("change"), Piece("verb", "live"))
_STARTING_WORK: Final = (Piece("change"), Piece("verb", "work"))
_FIRMS: Final = frozenset(
    lemma(word)
    for word in listed(
        "company startup start-up firm bank agency hospital university school institute ministry "
        "business studio lab consultancy newspaper"
    )
)
_GIVING_UP: Final = (Piece("end"),)
_LEFT_FOR_GOOD: Final = (
    ORGANISATIONS
    | _FIRMS
    | frozenset(
        lemma(word)
        for word in listed(
            "job role position church party band course class program programme plan idea habit "
            "country city town army industry university requirement feature support"
        )
    )
)
"""What is over for those who leave or drop it."""

_BEHIND_PLACES: Final = frozenset(
    lemma(word)
    for word in listed(
        "in on at last this next with from for because since after before when where and but so a "
        "an the two three four five six to about recently yesterday today now again together just "
        "permanently temporarily ago during over as while by earlier which"
    )
)
"""Words that follow where somebody moved, and make no other thing of it."""

_LONGEST_NAME: Final = 3
_LONGEST_HOME: Final = 5
_HOMES: Final = frozenset(
    lemma(word)
    for word in listed(
        "house home flat apartment place city town village country countryside suburb coast "
        "neighbourhood neighborhood area dorm condo farm island district state province capital "
        "abroad overseas downtown"
    )
)
"""What somebody lives in who moves there."""


def as_meant(
    tokens: list[Token], at: int, used: int, pieces: tuple[Piece, ...]
) -> tuple[Piece, ...]:
    """The pieces of these words, or others where what follows shows that they mean less."""
    if pieces == _MOVING:
        return _where_to(tokens, at, used)
    if used == 1 and _is_put_down(tokens, at, pieces):
        return (Piece("verb", "put"),)
    if pieces == _STARTING_WORK and tokens[at].lemma == "join" and not _joins_firm(tokens, at):
        return (Piece("verb", "join"),)
    return pieces


def _where_to(tokens: list[Token], at: int, used: int) -> tuple[Piece, ...]:
    """What somebody changes who moves: where they live, or work, or only something."""
    ahead = tokens[at + used : at + used + _LONGEST_HOME]
    if tokens[at + used - 1].lemma != "to" or not ahead:
        return _MOVING
    is_ours = any(it.lemma == "we" for it in tokens[:at])
    known = {ahead[0].surface.casefold()}
    if known & english_companies():
        return _STARTING_WORK
    if _names_place(ahead) or any(it.lemma in _HOMES for it in ahead):
        return _MOVING
    return _MOVING if may_be_a_place(ahead[0].surface) and not is_ours else (Piece("change"),)


def _is_put_down(tokens: list[Token], at: int, pieces: tuple[Piece, ...]) -> bool:
    """Whether a thing was only put down: left my keys at home."""
    ahead = tokens[at + 1 : at + 1 + _LONGEST_HOME]
    return (
        tokens[at].lemma in ("leave", "drop")
        and pieces == _GIVING_UP
        and bool(ahead)
        and ahead[0].lemma in DETERMINERS
        and not any(it.lemma in _LEFT_FOR_GOOD for it in ahead)
    )


def _names_place(ahead: list[Token]) -> bool:
    """Whether a known place is named, and nothing that is only called by it: Paris time."""
    for end in range(1, min(_LONGEST_NAME, len(ahead)) + 1):
        if " ".join(it.surface for it in ahead[:end]).casefold() in english_places():
            following = ahead[end] if end < len(ahead) else None
            return (
                following is None
                or following.kind != "word"
                or following.surface[0].isupper()
                or following.lemma in _BEHIND_PLACES
            )
    return False


def _joins_firm(tokens: list[Token], at: int) -> bool:
    """Whether somebody joins where they work, rather than a gym, a call or a chat."""
    ahead = tokens[at + 1 : at + 1 + _LONGEST_HOME]
    if not ahead or ahead[0].lemma in DETERMINERS:
        return any(it.lemma in _FIRMS for it in ahead)
    return not is_tool(ahead[0].surface)
