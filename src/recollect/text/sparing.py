"""What a claim leaves standing although it denies something or tells that something is over."""

from __future__ import annotations

from recollect.text.claim_parts import AMOUNTS, Claim
from recollect.text.claim_slots import ALCOHOL
from recollect.text.similarity import Contrast


def leaves_standing(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Whether what the new claim denies is something else than what the old one says."""
    return (
        only_wishes(new, old)
        or _loses_a_thing_only(new, contrast)
        or _gives_up_alcohol_only(new, old)
        or not _denies_what_is_shared(new, old, contrast)
    )


def only_wishes(new: Claim, old: Claim) -> bool:
    """What somebody means to give up they have not given up yet."""
    return "wish" in new.marks and "wish" not in old.marks


def _loses_a_thing_only(new: Claim, contrast: Contrast) -> bool:
    """A lost phone leaves its number."""
    is_lost = "ended" in new.marks and not new.verb
    return is_lost and any(word.kind in AMOUNTS for word in contrast.old)


def _gives_up_alcohol_only(new: Claim, old: Claim) -> bool:
    """Who quit drinking, and names no drink, still has coffee."""
    names_one = any(word.kind == "drink" for word in new.words)
    is_given_up = "ended" in new.marks and new.verb == "drink" and not names_one
    drinks = {word.concept for word in old.words if word.kind == "drink"}
    return is_given_up and bool(drinks - ALCOHOL)


def _denies_what_is_shared(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Whether more is denied than what only one of the claims speaks of: cat, no cat food."""
    alone = {id(word) for word in (*contrast.new, *contrast.old)}
    return any(word.denied and id(word) not in alone for word in (*new.words, *old.words))
