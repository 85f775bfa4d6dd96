"""What two claims have to do with each other, judged by their words.

What an embedder thinks of them only adds where everything that can be told apart (names, numbers,
negation, who does what) agrees already: vectors find "likes coffee" and "does not like coffee"
nearly equal.
"""

from __future__ import annotations

from functools import cached_property
from itertools import starmap
from typing import Final

from recollect.domain.relation import Relation
from recollect.text.claim_parts import AMOUNTS, DATES, TIMES, Claim, Word
from recollect.text.claim_slots import (
    ASKED_FOR,
    BLAND,
    ENDED_BY,
    GIVEN_UP_WHOLLY,
    HELD_BY_ONE,
    ONCE,
    STANCES,
    UNCHANGING,
)
from recollect.text.favourites import has_another_favourite
from recollect.text.leftovers import (
    PEOPLE,
    are_heavy,
    denials_in,
    goes_on,
    has_verb,
    is_addition,
    is_request,
    is_weighty,
    name_times,
    people_in,
    tells_apart,
)
from recollect.text.parting import has_parted
from recollect.text.rivalry import are_rivals
from recollect.text.similarity import Contrast, are_role_and_deed, contrast, weight
from recollect.text.sparing import leaves_standing, only_wishes
from recollect.text.swapping import are_swapped

_NEAR: Final = 0.90
"""From this cosine on, other words for the rest are taken to say the same."""

_SLIGHT: Final = 0.75
_NOTHING: Final = 0.25
_FEW_WORDS: Final = 2.5
_CLEARLY: Final = 3.0

_SAID_ANYWAY: Final = frozenset({"buy", "use"})
"""Verbs that a denial need not repeat: what one bought one has, what is used is there."""

_SETTLING: Final = frozenset({"done", "now", "ended"})
"""Marks of what is no longer going on when it is told."""

_WISHES: Final = frozenset({"want", "prefer"})
_ANY_WAY: Final = _WISHES | {"use", "format"}
"""Verbs that leave open what is done: who wants PDF, or uses PDF, may be sent one."""

_ASKED: Final = ASKED_FOR | _WISHES
_NO_VALUES: Final = TIMES | {"self", "weak"}
_PLAIN: Final = frozenset({"word", "char", "verb", "weak", "self", "when"})


class Comparison:
    """Two claims beside each other."""

    def __init__(self, new: Claim, old: Claim, cosine: float | None) -> None:
        self._new = new
        self._old = old
        self._cosine = cosine
        self._contrast: Contrast = contrast(new, old)
        self._only_new = self._contrast.new
        self._only_old = self._contrast.old

    @property
    def similarity(self) -> float:
        by_words = self._contrast.similarity
        if self._cosine is None:
            return by_words
        return (by_words + min(1.0, max(0.0, self._cosine))) / 2

    @property
    def corrects(self) -> bool:
        """Whether the new claim says that it sets something right."""
        return "correct" in self._new.marks

    @property
    def says_change(self) -> bool:
        return self._new.says_change

    @property
    def is_fixed(self) -> bool:
        """Whether the claims are about what does not change with time."""
        shared = {word.concept for word, _ in self._contrast.shared}
        if shared & UNCHANGING or (self._new.verb in ONCE and self._old.verb in ONCE):
            return True
        return all("done" in it.marks and not it.says_change for it in (self._new, self._old))

    @cached_property
    def ends_the_old(self) -> bool:
        """Whether the new claim itself says that what is stored is over."""
        if only_wishes(self._new, self._old):
            return False
        if has_parted(self._new, self._old, self._contrast):
            return True
        is_comparable = not (self._is_about_others() or self._is_lost_in_translation())
        return is_comparable and self._ends_the_old()

    def judge(self) -> tuple[Relation, str]:
        """The relation so far as the claims alone tell, where any contradiction is a conflict."""
        if self.ends_the_old:
            return "update", "says that the stored claim is over"
        if self._is_about_others():
            return "different", "the two are about different people"
        if self._is_lost_in_translation():
            return "different", "in another language, and not known to be the same or another value"
        if not self._is_opposed and has_another_favourite(self._new, self._old, self._contrast):
            return "conflict", "another favourite"
        if self._is_about_other_things and not self._takes_over():
            return "different", "about something else"
        if self._says_the_same():
            return "same", "says the same"
        if self._contradicts():
            return "conflict", "one denies what the other says"
        if self._has_rival_value():
            return "conflict", "another value of the same thing"
        if self._adds():
            return "update", "says the same and more"
        return "different", "neither the same nor another value of it"

    # --- What the claims are about --------------------------------------------------------------

    def _is_about_others(self) -> bool:
        only_new, only_old = people_in(self._only_new), people_in(self._only_old)
        return bool(only_new or only_old) or self._is_self_and_other()

    def _is_lost_in_translation(self) -> bool:
        """Whether each has a word of its own language left that the other's may translate."""
        if self._new.is_chinese == self._old.is_chinese:
            return False
        chinese, english = self._only_new, self._only_old
        if self._old.is_chinese:
            chinese, english = english, chinese
        return any(not word.concept.isascii() for word in chinese) and any(
            word.weight >= 0.5 and word.kind not in AMOUNTS and word.kind not in TIMES
            for word in english
        )

    def _is_self_and_other(self) -> bool:
        """The user in one claim, somebody who is named in the other."""
        return any(
            any(word.concept == "user" for word in mine)
            and not any(word.kind == "self" for word in whole)
            and weight(word for word in others if tells_apart(word)) >= 1
            for mine, others, whole in (
                (self._only_new, self._only_old, self._old.words),
                (self._only_old, self._only_new, self._new.words),
            )
        )

    @cached_property
    def _is_about_other_things(self) -> bool:
        topics = [
            [word for word in words if tells_apart(word)]
            for words in (self._only_new, self._only_old)
        ]
        return all(topics) or any(are_heavy(topic) for topic in topics)

    def _takes_over(self) -> bool:
        """Somebody else does what only one can do: lead that team, win that race."""
        return (
            self._new.verb == self._old.verb
            and self._new.verb in HELD_BY_ONE
            and any(not word.is_topic and word.kind != "verb" for word, _ in self._contrast.shared)
        )

    # --- The same -------------------------------------------------------------------------------

    def _says_the_same(self) -> bool:
        if (
            not self._agrees_in_manner()
            or are_swapped(self._new, self._old, self._contrast)
            or not self._shares_content()
        ):
            return False
        only_new = self._without_spare_verb(self._only_new, self._old, self._only_old)
        only_old = self._without_spare_verb(self._only_old, self._new, self._only_new)
        if weight(only_new) + weight(only_old) <= _SLIGHT:
            return not (goes_on(only_new, self._new) or goes_on(only_old, self._old))
        if weight(only_new) <= _NOTHING and self._is_detail(only_old, self._old):
            return True
        return self._means_the_same()

    def _shares_content(self) -> bool:
        """Whether more is shared than who and when; a rise and a fall share nothing."""
        if all(any(it.kind == "direction" for it in w) for w in (self._only_new, self._only_old)):
            return False
        return any(
            word.kind not in TIMES and word.kind != "self" for word, _ in self._contrast.shared
        )

    def _without_spare_verb(
        self, words: tuple[Word, ...], other: Claim, only_other: tuple[Word, ...]
    ) -> tuple[Word, ...]:
        """The words without a verb that the other claim need not say."""
        return tuple(
            word
            for word in words
            if not (word.is_main and self._is_spare(word.concept, other, only_other))
        )

    def _is_spare(self, verb: str, other: Claim, only_other: tuple[Word, ...]) -> bool:
        if verb == "use" or (not other.verb and verb in BLAND):
            return True
        if verb in _WISHES and is_request(other):
            return True
        verbs = {verb, other.verb}
        if self._is_request() and verbs <= _ASKED and not verbs.isdisjoint(_ANY_WAY):
            return True
        if verb == "start" and not other.verb and self._is_timed():
            return True
        is_clear = self._contrast.shared_weight >= _CLEARLY and not has_verb(only_other)
        return is_clear and verb not in STANCES

    def _is_timed(self) -> bool:
        return any(word.kind in DATES for word, _ in self._contrast.shared)

    def _means_the_same(self) -> bool:
        """One says a few words more, and the embedder takes both for the same."""
        less, more = sorted((self._only_new, self._only_old), key=weight)
        longer = self._new if more is self._only_new else self._old
        return (
            self._cosine is not None
            and self._cosine >= _NEAR
            and weight(less) <= _NOTHING
            and weight(more) <= _FEW_WORDS
            and all(word.kind in _PLAIN and not tells_apart(word) for word in (*less, *more))
            and not any(word.is_main and word.concept in STANCES for word in more)
            and is_addition(more, longer)
        )

    def _agrees_in_manner(self) -> bool:
        """Both are said to be so, or both not; both still, or both formerly; done, or wished."""
        new, old = self._new, self._old
        wishes = ("wish" in new.marks) == ("wish" in old.marks) or self._is_request()
        past = self._is_formerly(new) == self._is_formerly(old)
        return not self._is_opposed and wishes and past and not self._is_done_and_ongoing()

    def _is_done_and_ongoing(self) -> bool:
        """One tells that it was done, the other that it is being done."""
        return any(
            not _SETTLING.isdisjoint(one.marks)
            and "ongoing" in other.marks
            and "ongoing" not in one.marks
            for one, other in ((self._new, self._old), (self._old, self._new))
        )

    @staticmethod
    def _is_formerly(it: Claim) -> bool:
        return "formerly" in it.marks

    def _is_request(self) -> bool:
        return is_request(self._new) or is_request(self._old)

    @cached_property
    def _is_opposed(self) -> bool:
        """Whether one denies what the other says; "eats no meat" and "does not eat meat" agree."""
        if denials_in(self._new) != denials_in(self._old):
            return True
        opposed = self._contrast.opposed
        if self._new.clauses == self._old.clauses == 1:
            return sum(word.kind == "verb" for word in opposed) > 1
        return bool(opposed)

    def _is_detail(self, words: tuple[Word, ...], whole: Claim) -> bool:
        """Words that say more of the same thing, and are too slight to be what matters."""
        return (
            weight(words) <= weight(whole.words) / 2
            and not any(word.denied or is_weighty(word) for word in words)
            and is_addition(words, whole)
        )

    # --- Updates and contradictions -------------------------------------------------------------

    def _contradicts(self) -> bool:
        if self._is_formerly(self._new) or self._is_formerly(self._old):
            return False
        less, more = sorted((self._only_new, self._only_old), key=weight)
        return (
            self._is_opposed
            and not leaves_standing(self._new, self._old, self._contrast)
            and self._shares_content()
            and weight(less) <= _NOTHING
            and not any(word.is_main and word.concept not in _SAID_ANYWAY for word in more)
        )

    def _ends_the_old(self) -> bool:
        """Whether it says so in the words of the old one."""
        if self._completes_the_old() or self._gives_up_the_old():
            return True
        gone = self._new.gone
        if not gone:
            return False
        if any(word.kind == "name" and word.concept in gone for word in self._old.words):
            return self._is_of_the_same() or self._is_replaced_for_all()
        values = [
            word
            for word in self._old.words
            if word.kind not in ("self", "weak", "verb") and not word.is_topic
        ]
        if not values:
            return self._old.verb in gone
        return weight(word for word in values if word.concept in gone) * 2 >= weight(values)

    def _completes_the_old(self) -> bool:
        """What was going on is done: in negotiation, then signed; studying, then graduated."""
        new, old = self._new, self._old
        if not new.verb or self._is_opposed or self._is_about_other_things:
            return False
        said = {word.concept for word in self._only_old}
        others = [it for it in self._only_new if not it.is_main and it.kind not in _NO_VALUES]
        if new.verb == "finish" and others:
            return False  # who finished the book still learns
        if not ENDED_BY.get(new.verb, frozenset()).isdisjoint(said):
            return any(word.kind != "self" or word.is_topic for word, _ in self._contrast.shared)
        is_done = new.verb == "finish" or not _SETTLING.isdisjoint(new.marks) or new.is_symmetric
        was_open = "ongoing" in old.marks and "ongoing" not in new.marks
        return was_open and is_done and self._shares_topic() and not name_times(self._only_new)

    def _gives_up_the_old(self) -> bool:
        """What somebody does with a thing is over with the thing: plays the violin, gave it up."""
        if self._new.verb in GIVEN_UP_WHOLLY and self._new.verb == self._old.verb:
            is_bare = all(it.kind in _NO_VALUES - {"period"} for it in self._only_new)
            return is_bare and "ended" in self._new.marks and bool(self._contrast.opposed)
        return (
            "ended" in self._new.marks
            and not self._new.verb
            and bool(self._contrast.opposed)
            and not any(word.denied for word in self._old.words)
            and weight(self._only_new) <= _NOTHING
            and all(word.is_main or word.weight <= _NOTHING for word in self._only_old)
        )

    def _shares_topic(self) -> bool:
        """Whether both speak of one thing: the contract, or that something broke."""
        return any(
            (one.is_topic and other.is_topic and one.kind != "self") or other.is_main
            for one, other in self._contrast.shared
        )

    def _is_replaced_for_all(self) -> bool:
        """We replaced Jenkins: whatever of ours ran on it does so no more."""
        about = [word for word in self._new.words if word.is_topic]
        if any(word.concept == "user" and word.is_topic for word in self._old.words):
            return False  # what is the user's own was not ours
        return all(word.kind == "self" for word in about) and not any(
            word.is_topic and (word.kind == "name" or word.kind in PEOPLE)
            for word in self._old.words
        )

    def _is_of_the_same(self) -> bool:
        return self._shares_content() or any(
            word.kind == "self" and other.is_topic for word, other in self._contrast.shared
        )

    def _has_rival_value(self) -> bool:
        if self._is_opposed or self._is_formerly(self._new) != self._is_formerly(self._old):
            return False
        # About other things only where somebody else does what only one can do.
        return self._is_about_other_things or are_rivals(self._new, self._old, self._contrast)

    def _adds(self) -> bool:
        new = self._only_new
        return (
            self._agrees_in_manner()
            and self._shares_content()
            and weight(self._only_old) <= _NOTHING
            and not (self._old.verb and has_verb(new))
            and not any(word.is_main and word.concept in STANCES for word in new)
            and not any(starmap(are_role_and_deed, self._contrast.shared))
            and is_addition(new, self._new)
        )
