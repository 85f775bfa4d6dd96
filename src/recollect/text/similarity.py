"""How alike two claims are, by the words that they share and those that one of them lacks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.text.claim_parts import Claim, Word
from recollect.text.claim_slots import RELATED, are_akin, is_role_of

_SHORTEST_ROOT: Final = 4
_LONGEST_SUFFIX: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Two claims laid over each other, word by word."""

    shared: tuple[tuple[Word, Word], ...]
    """Words of both, the new claim's first."""
    new: tuple[Word, ...]
    """What only the new claim speaks of."""
    old: tuple[Word, ...]

    @property
    def similarity(self) -> float:
        """The weight of what is shared among the weight of everything."""
        common = self.shared_weight
        total = common + weight(self.new) + weight(self.old)
        return common / total if total else 1.0

    @property
    def shared_weight(self) -> float:
        return sum([max(one.weight, other.weight) for one, other in self.shared])

    @property
    def opposed(self) -> list[Word]:
        """The shared words that one claim denies and the other does not."""
        return [one for one, other in self.shared if one.denied != other.denied]


def weight(words: Iterable[Word]) -> float:
    """What words weigh together."""
    return sum([word.weight for word in words])


def contrast(new: Claim, old: Claim) -> Contrast:
    """Which words the claims share: by concept, else by a common root or a kindred verb."""
    waiting = {word.concept: word for word in old.words}
    shared: list[tuple[Word, Word]] = []
    unmatched: list[Word] = []
    for word in new.words:
        other = waiting.pop(word.concept, None)
        if other:
            shared.append((word, other))
        else:
            unmatched.append(word)
    left: list[Word] = []
    _match_names(unmatched, waiting, shared)
    starts = {it.concept[:1] for it in waiting.values() if it.kind in _KINDRED}
    for word in unmatched:
        # Only relatives differ in their beginning: most words need not be compared at all.
        may_be_akin = word.concept[:1] in starts or word.concept in RELATED
        other = _akin(word, waiting.values()) if may_be_akin else None
        if other:
            del waiting[other.concept]
            shared.append((word, other))
        else:
            left.append(word)
    only_new, only_old = _without_lone_ones(left, list(waiting.values()))
    return Contrast(shared=tuple(shared), new=only_new, old=only_old)


def _match_names(
    unmatched: list[Word], waiting: dict[str, Word], shared: list[tuple[Word, Word]]
) -> None:
    """A Chinese name that was told apart in one claim only is found by its characters."""
    loose = {word.concept: word for word in unmatched if word.kind == "char"}
    for name in [word for word in unmatched if word.kind == "name"]:
        if all(part in waiting for part in name.concept):
            others = [waiting.pop(part) for part in dict.fromkeys(name.concept)]
            unmatched.remove(name)
            shared.append((name, others[0]))
    for name in [word for word in waiting.values() if word.kind == "name"]:
        if all(part in loose for part in name.concept):
            del waiting[name.concept]
            shared.append((loose[name.concept[0]], name))
            for part in set(name.concept):
                unmatched.remove(loose[part])


_NAME_ENDS: Final = ("大学", "公司", "集团", "市", "省", "县", "银行", "医院")


def _is_same_name(one: str, other: str) -> bool:
    """Whether a name is the other with what may be left out: 复旦, 复旦大学."""
    short, long = _by_length(one, other)
    return long.startswith(short) and long[len(short) :] in _NAME_ENDS


def _akin(word: Word, others: Iterable[Word]) -> Word | None:
    if word.kind not in _KINDRED:
        return None
    start, is_related = word.concept[:1], word.concept in RELATED
    for it in others:
        may_be = it.concept.startswith(start) or (is_related and it.concept in RELATED)
        if may_be and it.kind in _KINDRED and _is_akin(word, it):
            return it
    return None


_KINDRED: Final = frozenset({"word", "verb", "trade", "kin", "marital", "name"})


def _is_akin(word: Word, other: Word) -> bool:
    if word.kind == other.kind == "verb" and are_akin(word.concept, other.concept):
        return True
    if word.kind == other.kind == "name":
        return _is_same_name(word.concept, other.concept)
    if word.kind != other.kind and are_role_and_deed(word, other):
        return True
    if not {word.kind, other.kind} <= _ROOTED:
        return False
    short, long = _by_length(word.concept, other.concept)
    return (
        len(short) >= _SHORTEST_ROOT
        and len(long) - len(short) <= _LONGEST_SUFFIX
        and long.startswith(short)
        and " " not in long  # the name of a concept, and no form of a word: "overtime pay"
    )


_ROOTED: Final = frozenset({"word", "verb", "trade"})


def _by_length(one: str, other: str) -> tuple[str, str]:
    return (one, other) if len(one) <= len(other) else (other, one)


def are_role_and_deed(word: Word, other: Word) -> bool:
    """Whether one names by a noun what the other tells by a verb: Ann's teacher, Bea teaches."""
    return is_role_of(word.concept, other.concept) or is_role_of(other.concept, word.concept)


def _without_lone_ones(
    new: Sequence[Word], old: Sequence[Word]
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """A "one" that meets no other number is an article: one cat is a cat."""
    numbers = ["number" in [word.kind for word in words] for words in (new, old)]
    if all(numbers) or not any(numbers):
        return tuple(new), tuple(old)
    return tuple(filter(_is_no_one, new)), tuple(filter(_is_no_one, old))


def _is_no_one(word: Word) -> bool:
    return word.kind != "number" or word.concept != "1"


def are_exchanged(new: Sequence[Word], old: Sequence[Word]) -> bool:
    """Whether two parts changed places: Ann lent Bob money, Bob lent Ann money."""
    new, old = _without_common_ends(new, old)
    mine, theirs = _concepts(new), _concepts(old)
    if sorted(mine) != sorted(theirs):
        return False
    for first in range(1, len(new)):
        for second in range(1, len(new) - first + 1):
            between = len(new) - first - second
            if mine == [*theirs[-first:], *theirs[second:-first], *theirs[:second]]:
                moved = (*new[:first], *new[first + between :])
                return _can_be_exchanged(moved, between)
    return False


def _without_common_ends(
    new: Sequence[Word], old: Sequence[Word]
) -> tuple[Sequence[Word], Sequence[Word]]:
    while new and old and new[0].concept == old[0].concept:
        new, old = new[1:], old[1:]
    while new and old and new[-1].concept == old[-1].concept:
        new, old = new[:-1], old[:-1]
    return new, old


def _can_be_exchanged(moved: Sequence[Word], between: int) -> bool:
    """Names side by side may be exchanged; other words only around what lies between them."""
    if any(word.is_listed for word in moved):
        return False
    if not between:
        return all(word.kind in ("name", "char") for word in moved)
    return all(word.kind in ("name", "char", "word", "kin") for word in moved)


def _concepts(words: Iterable[Word]) -> list[str]:
    return [word.concept for word in words]
