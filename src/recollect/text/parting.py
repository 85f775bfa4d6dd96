"""Whether a claim tells that somebody parted with what another one says they have.

The words of the two differ: who broke up has no girlfriend any more, and who sold the car does not
drive the one that was told of.
"""

from __future__ import annotations

from typing import Final

from recollect.text.claim_parts import AMOUNTS, TIMES, Claim, Word
from recollect.text.claim_slots import is_role_of
from recollect.text.leftovers import PEOPLE
from recollect.text.similarity import Contrast

_LOVERS: Final = frozenset({"girlfriend", "boyfriend", "partner", "fiance"})
_SPOUSES: Final = frozenset({"wife", "husband", "partner"})
_SINGLE: Final = frozenset({"single", "singl"})
_DIVORCED: Final = "divorc"
_HAVING: Final = frozenset({"", "name"})
"""Verbs of claims that say no more than that somebody is there, and who."""

_WITHOUT_WORK: Final = frozenset({"job hunt", "unemploy"})
_TAKING_IN: Final = frozenset({"eat", "drink"})
_WORN: Final = frozenset({"old"})
_SLIGHT: Final = TIMES | {"self", "weak"}


def has_parted(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Whether the new claim says that what the old one tells of is no longer the user's."""
    if not _is_told_of_self(new) or not any(word.kind == "self" for word in old.words):
        return False
    return (
        _are_no_pair(new, old, contrast)
        or _has_given_away(new, old)
        or _has_lost(new, old, contrast)
        or _has_found_work(new, old)
        or _has_found_somebody(new, old)
        or _has_given_birth(new, old)
        or _may_eat_again(new, old, contrast)
    )


def _is_told_of_self(it: Claim) -> bool:
    """Whether "I" or "we" did it; "Ann and User broke up" reads the user as a name."""
    is_self = any(word.kind == "self" or word.concept == "user" for word in it.words)
    return is_self and not it.marks & {"wish", "request", "formerly"}


def _are_no_pair(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """They broke up or divorced: who was a partner is none any more."""
    partners = _former(new)
    people = {word.concept for word in old.words if word.kind in PEOPLE}
    if any(word.denied or word.kind == "number" for word in new.words):
        return False  # they did not, or it was the first wife
    if not people or not people <= partners or old.verb not in _HAVING:
        return False
    # Nobody and nothing is named that the old claim does not know: "we broke up the table".
    return all(_is_deed(word) or word.kind in _SLIGHT for word in contrast.new if _is_said(word))


def _former(new: Claim) -> frozenset[str]:
    """Who is left by what the claim tells of."""
    deed = next((word for word in new.words if _is_deed(word)), None)
    if deed is None or deed.denied:
        return frozenset()
    return _SPOUSES if deed.concept == _DIVORCED else _LOVERS


def _is_deed(word: Word) -> bool:
    return word.concept == _DIVORCED or (word.is_main and word.concept == "split")


def _is_said(word: Word) -> bool:
    return word.concept != "user"


def _has_given_away(new: Claim, old: Claim) -> bool:
    """What was sold or lost is named by what it is: the car, rather than the Civic."""
    things = new.gone - _WORN
    if len(things) != 1 or any(word.kind in AMOUNTS for word in old.words):
        return False  # a lost phone leaves its number
    (thing,) = things
    topics = {word.concept for word in old.words if word.is_topic and word.kind != "self"}
    if any(word.kind in PEOPLE for word in (*new.words, *old.words)):
        return False
    return topics == {thing} or (not topics and is_role_of(thing, old.verb))


def _has_lost(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Somebody's pet died: the one they said they have."""
    is_left = all(word.is_main or word.kind in _SLIGHT for word in contrast.new)
    mourned = any(one.is_topic and one.kind == "pet" for one, _ in contrast.shared)
    return new.verb == "die" and not old.verb and is_left and mourned and not contrast.old


def _has_found_work(new: Claim, old: Claim) -> bool:
    """Who started somewhere neither looks for work nor is without."""
    is_new = new.verb == "work" and "change" in new.marks and not _denies(new)
    return (
        is_new
        and _people(new) == _people(old)
        and any(word.concept in _WITHOUT_WORK for word in old.words)
    )


def _has_given_birth(new: Claim, old: Claim) -> bool:
    """The child that was expected is there."""
    is_there = new.verb == "birth" and old.verb == "expect" and not _denies(new)
    return is_there and _people(new) == _people(old)


def _may_eat_again(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Who can eat it now is no longer allergic to it."""
    is_over = new.verb in _TAKING_IN and new.says_change and old.verb == "allergic"
    others = (*contrast.new, *contrast.old)
    is_all = all(word.is_main or word.kind in _SLIGHT for word in others)
    return is_over and is_all and not _denies(new) and not _denies(old)


def _has_found_somebody(new: Claim, old: Claim) -> bool:
    """Who has a partner is not single."""
    was_single = any(word.concept in _SINGLE and not word.denied for word in old.words)
    partners = [word for word in new.words if word.kind in PEOPLE]
    is_one = len(partners) == 1 and partners[0].concept in _LOVERS | _SPOUSES
    is_had = is_one and not partners[0].is_topic and not new.verb and not _denies(new)
    return was_single and is_had and _people(new) == _people(old)


def _people(it: Claim) -> set[str]:
    """Who the claim is about besides the user."""
    return {word.concept for word in it.words if word.kind in PEOPLE and word.is_topic}


def _denies(it: Claim) -> bool:
    return any(word.denied for word in it.words)
