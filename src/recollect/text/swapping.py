"""Whether two claims have the same words in other parts: Ann leads Bob, Bob leads Ann."""

from __future__ import annotations

from typing import Final

from recollect.text.claim_parts import AMOUNTS, TIMES, Claim, Word
from recollect.text.similarity import Contrast, are_exchanged, are_role_and_deed

_BEARERS: Final = frozenset({"kin", "trade"})


def are_swapped(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Whether what they share stands in other parts."""
    named = _named(contrast)
    if new.is_ordered and old.is_ordered and _concepts(new.words) != _concepts(old.words):
        return True
    for ours, theirs in ((new.origins, old.origins), (new.owners, old.owners)):
        if ours and theirs and ours.isdisjoint(theirs):
            return True
    if _is_done_to_the_bearer(new, old, contrast) or _is_owned_in_turn(new, old):
        return True
    if new.is_symmetric or old.is_symmetric:
        return False
    if _order(new.words, named) != _order(old.words, named):
        return True
    origins = new.origins & old.origins
    if new.names_agent == old.names_agent and are_exchanged(
        _units(new, origins), _units(old, origins)
    ):
        return True
    shared = contrast.shared
    return any(one.is_topic and not other.is_topic for one, other in shared if _acts(one)) and any(
        other.is_topic and not one.is_topic for one, other in shared if _acts(one)
    )


def _is_done_to_the_bearer(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Ann's teacher is Bea, and Ann teaches Bea: whose the role is, would do the deed."""
    for one, other in contrast.shared:
        if one.kind == other.kind or "married" in (one.concept, other.concept):
            continue
        if not are_role_and_deed(one, other):
            continue
        noun, verb = (old, new) if one.is_main else (new, old)
        served = noun.owners or _bound_to(noun, one if noun is new else other)
        does = {word.concept for word in verb.words if word.is_topic}
        is_turned = "report to" in (one.concept, other.concept)
        if {one.kind, other.kind} & _BEARERS and bool(served & does) != is_turned:
            return True
    return False


def _is_owned_in_turn(one: Claim, other: Claim) -> bool:
    """Bob is my teacher, and I am Bob's teacher."""
    return any(
        bool(mine.owners)
        and not theirs.owners
        and any(word.kind == "self" and not word.is_topic for word in theirs.words)
        and any(word.is_topic and word.concept in mine.owners for word in theirs.words)
        for mine, theirs in ((one, other), (other, one))
    )


def _bound_to(it: Claim, role: Word) -> set[str]:
    """Whose a role is where nobody is named: mine in "my teacher", but not in "my aunt teaches"."""
    if any(word.kind == "kin" and word.concept != role.concept for word in it.words):
        return set()
    return {word.concept for word in it.words if word.kind == "self"}


def _named(contrast: Contrast) -> set[str]:
    """The names that both claims mention without listing them together."""
    return {
        new.concept
        for new, old in contrast.shared
        if new.kind == old.kind == "name" and not (new.is_listed and old.is_listed)
    }


def _concepts(words: tuple[Word, ...]) -> list[str]:
    return [word.concept for word in words]


def _units(it: Claim, origins: frozenset[str]) -> list[Word]:
    """The words that carry content, a Chinese name by its characters: not every one is told.

    Where both come from may be said first or last.
    """
    units: list[Word] = []
    for word in it.words:
        if word.kind == "name" and not word.concept.isascii():
            units += [word._replace(concept=part) for part in word.concept]
        elif word.kind not in ("self", "weak") and word.concept not in origins:
            units.append(word)
    return units


def _order(words: tuple[Word, ...], concepts: set[str]) -> list[str]:
    return [word.concept for word in words if word.concept in concepts]


def _acts(word: Word) -> bool:
    return word.kind not in TIMES and word.kind not in AMOUNTS and word.weight >= 0.5
