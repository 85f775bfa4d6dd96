"""Whether two claims give different values to what can have only one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from recollect.text.claim_parts import AMOUNTS, DATES, TIMES, Claim, Word
from recollect.text.claim_slots import (
    ASKED_FOR,
    ATTRIBUTES,
    DEEDS,
    DWELLINGS,
    ONCE,
    ONE_VALUE,
    ONE_VALUE_FOR_A_PURPOSE,
    are_akin,
)
from recollect.text.leftovers import is_request, tells_apart
from recollect.text.similarity import Contrast

_SORTS: Final = {
    "name": "thing",
    "word": "thing",
    "char": "thing",
    "half": "clock",
    "often": "period",
}
_NO_VALUES: Final = frozenset({"self", "weak", "verb", "when", "direction"})
_WISHES: Final = frozenset({"want", "prefer", "like"})
_ONE_DAY: Final = frozenset({"yesterday", "today", "tomorrow"})
_SOMEBODY: Final = frozenset({"self", "kin", "pronoun", "name"})


def are_rivals(new: Claim, old: Claim, contrast: Contrast) -> bool:
    """Whether each claim has a value of its own for the same slot of the same thing."""
    return _Rivalry(new, old, contrast).is_over_one_slot()


class _Rivalry:
    def __init__(self, new: Claim, old: Claim, contrast: Contrast) -> None:
        self._new = new
        self._old = old
        self._contrast = contrast
        self._new_sorts = _sorts(contrast.new)
        self._old_sorts = _sorts(contrast.old)
        if any(word.kind == "often" for word in (*contrast.new, *contrast.old)):
            # Every Friday, or every other one.
            self._new_sorts |= _how_often(contrast.new)
            self._old_sorts |= _how_often(contrast.old)
        self._shared_sorts = self._new_sorts & self._old_sorts
        """Sorts of which each claim has another member: these may exclude each other."""

    def is_over_one_slot(self) -> bool:
        new, old = self._new, self._old
        verb = self._new.verb or self._old.verb
        if not self._shared_sorts or not self._is_of_one_verb():
            return False
        if self._is_of_one_day() or self._is_of_a_death() or self._has_other_homes():
            return False
        if self._is_of_a_goal() or self._is_only_wished():
            return False
        if any(_asks(a) and _tells(b) for a, b in ((new, old), (old, new))):
            return False  # who writes Go at work may ask for code in Rust
        if self._counts_other_things():
            return False
        times = self._shared_sorts & TIMES
        if verb in ONE_VALUE or verb in ONCE or (not verb and self._is_attribute()):
            # Another day and another thing are another event, unless one place can hold only one.
            return verb in ONE_VALUE or not (times and self._shared_sorts - TIMES)
        if self._shared_sorts - TIMES and (times or self._shared_sorts & AMOUNTS):
            return self._shared_sorts <= AMOUNTS and not times
        return self._new.says_change or self._has_one_value(verb)

    def _counts_other_things(self) -> bool:
        """Two bathrooms and two bedrooms: the same number of something else."""
        return self._shared_sorts == frozenset({"thing"}) and any(
            word.kind == "number" and not word.is_topic and not other.is_topic
            for word, other in self._contrast.shared
        )

    def _is_of_one_day(self) -> bool:
        """Yesterday it was another time than it is every day."""
        is_one = any(word.concept in _ONE_DAY for word in self._contrast.new)
        was_one = any(word.kind == "when" for word in self._old.words)
        return is_one and not was_one and not self._new.says_change

    def _is_of_a_goal(self) -> bool:
        """What somebody aims at is not yet so."""
        words = (*self._contrast.new, *self._contrast.old)
        return any(word.concept == "goal" for word in words)

    def _is_only_wished(self) -> bool:
        """Somebody would rather be a nurse, and is a teacher."""
        words = (*self._contrast.new, *self._contrast.old)
        return any(word.concept in ("prefer", "want") and not word.is_main for word in words)

    def _is_of_a_death(self) -> bool:
        return "die" in (self._new.verb, self._old.verb) and self._new.verb != self._old.verb

    def _has_other_homes(self) -> bool:
        """One names a dwelling and the other where it is, or who lives there is no one person."""
        new, old = (
            any(word.concept in DWELLINGS for word in words)
            for words in (self._contrast.new, self._contrast.old)
        )
        if self._old.verb == "live" != self._new.verb:
            return True
        is_home = self._new.verb == self._old.verb == "live"
        moved = (*self._contrast.new, *self._contrast.old)
        return is_home and (new != old or any(map(tells_apart, moved)))

    def _is_of_one_verb(self) -> bool:
        """Both say it with one verb, or one says only what it is, or that it changed."""
        new, old = self._new, self._old
        if new.verb and (are_akin(new.verb, old.verb) or self._is_asked_for()):
            return True
        if new.verb and old.verb:
            return False
        is_told = new.verb == old.verb or new.says_change or bool(self._shared_sorts & AMOUNTS)
        return is_told and (self._shares_frame() or bool(self._shared_sorts - AMOUNTS - {"thing"}))

    def _is_asked_for(self) -> bool:
        """What one asks to be done is what the other wants: write it in French, wants French."""
        verbs = {self._new.verb, self._old.verb}
        return bool(verbs & {"want", "prefer"}) and bool(verbs & ASKED_FOR)

    def _shares_frame(self) -> bool:
        """Whether the claims share what the values belong to."""
        return any(
            word.is_main
            or word.kind not in ("self", "weak", "verb")
            or (word.kind == "weak" and (word.is_topic or word.concept == "age"))
            for word, _ in self._contrast.shared
        )

    def _has_one_value(self, verb: str) -> bool:
        sorts = self._shared_sorts
        if sorts & DATES and self._is_deed(verb):
            return False
        if sorts & AMOUNTS:
            return True
        if verb:
            return verb in ONE_VALUE_FOR_A_PURPOSE and self._is_one_for_another(verb)
        if sorts <= {"pet"}:
            return False  # who has a dog may have a cat
        if sorts - {"thing"}:
            return not (self._new_sorts - sorts and self._old_sorts - sorts)
        return self._has_names()

    def _is_deed(self, verb: str) -> bool:
        """Whether somebody did something: on another day it was done again."""
        is_by_somebody = any(word.is_topic and word.kind in _SOMEBODY for word in self._new.words)
        return is_by_somebody and (not verb or verb in DEEDS)

    def _is_one_for_another(self, verb: str) -> bool:
        """Whether one thing stands for one other, and for the same purpose if one is needed."""
        sides = (self._contrast.new, self._contrast.old)
        is_single = all(
            sum(it.is_apart or it.kind == "name" for it in words if _is_value(it)) <= 1
            for words in sides
        )
        if all(_has_more_than_a_name(words) for words in sides):
            return False  # uses OAuth to sign in, uses Go to build: each for a purpose of its own
        return is_single and (verb == "prefer" or self._shares_purpose())

    def _shares_purpose(self) -> bool:
        return any(
            (word.weight >= 1 or word.kind == "verb")
            and not word.is_main
            and word.kind != "kin"
            # Written in Go and using OAuth, a thing has both.
            and (self._new.verb == self._old.verb or not word.is_topic)
            for word, _ in self._contrast.shared
        )

    def _is_attribute(self) -> bool:
        return any(
            word.is_topic and (word.concept in ATTRIBUTES or self._is_ones_own(word))
            for word, _ in self._contrast.shared
        )

    def _is_ones_own(self, word: Word) -> bool:
        """Whether it is somebody's own expert: my dentist, Anna's lawyer."""
        return word.kind == "trade" and (
            bool(self._new.owners & self._old.owners)
            or any(it.kind == "self" and it.is_topic for it, _ in self._contrast.shared)
        )

    def _has_names(self) -> bool:
        """Whether both call something other than a person by a name: my laptop is a ThinkPad."""
        return all(
            any(word.kind == "name" for word in words)
            for words in (self._contrast.new, self._contrast.old)
        ) and any(
            word.is_topic and word.kind in ("word", "char") for word, _ in self._contrast.shared
        )


def _asks(it: Claim) -> bool:
    """Whether the claim tells what somebody asks for: "User asks: …", "wants … to be done"."""
    return "wish" in it.marks or is_request(it) or any(word.concept == "ask" for word in it.words)


def _tells(it: Claim) -> bool:
    """Whether the claim tells what somebody does, rather than wants."""
    is_of_somebody = any(word.is_topic and word.kind in _SOMEBODY for word in it.words)
    is_wish = _asks(it) or any(word.concept in _WISHES for word in it.words)
    return is_of_somebody and bool(it.verb) and not is_wish


def _how_often(words: Iterable[Word]) -> frozenset[str]:
    is_told = any(word.kind == "weak" and word.concept == "every" for word in words)
    return frozenset({"period"} if is_told else ())


def _is_value(word: Word) -> bool:
    return not word.is_main and word.kind != "self"


def _has_more_than_a_name(words: tuple[Word, ...]) -> bool:
    names = [word for word in words if word.kind == "name"]
    others = [word for word in words if word.kind != "name" and word.weight >= 0.5]
    return bool(names) and bool(others)


def _sorts(words: Iterable[Word]) -> frozenset[str]:
    """The sorts of values that words give: members of one sort exclude each other."""
    return frozenset(
        _SORTS.get(word.kind, word.kind) for word in words if word.kind not in _NO_VALUES
    )
