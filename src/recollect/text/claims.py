"""What a short claim says, so far as two claims can be compared without a model.

Each language reads a text into pieces: the words that carry meaning, each as the concept it stands
for ("reside" and "live" are one), and the signs that say how they are meant (not, no longer, now,
from, by). The grammar of those signs is the same for both languages and stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from recollect.text.claim_parts import AMOUNTS, LONGEST_CLAIM, SIGNS, TIMES, Claim, Piece, Word
from recollect.text.claims_chinese import chinese_pieces
from recollect.text.claims_english import english_pieces
from recollect.text.folding import fold
from recollect.text.language import language

_NAMED: Final = frozenset({"name", "char"})
_BEGINNING_CLAUSES: Final = frozenset({"change", "end", "not", "now", "done"})
"""Signs behind which "and" does not join two things: left Rome and moved to Oslo."""

_HALVES: Final = {
    **dict.fromkeys(("morning", "dawn", "早上", "上午", "凌晨"), "am"),
    **dict.fromkeys(("afternoon", "evening", "下午", "傍晚", "晚上"), "pm"),
}
_COVERING: Final = frozenset({"from", "taken", "instead", "for"})
_JOINING: Final = frozenset({"joint", "and"})
_NO_TOPIC: Final = TIMES | {"verb"}
_NOT_DENIED: Final = TIMES | {"self", "weak"}
_NO_OBJECT: Final = _NOT_DENIED | {"verb"}


@lru_cache(maxsize=1 << 12)
def claim(text: str) -> Claim:
    """The text read as a claim."""
    folded = fold(text[:LONGEST_CLAIM])
    is_chinese = not folded.isascii() and language(folded) == "zh"
    read = chinese_pieces if is_chinese else english_pieces
    return replace(_Reading().of(read(folded)), is_chinese=is_chinese)


@dataclass(slots=True)
class _Clause:
    words: list[Word] = field(default_factory=list[Word])
    marks: set[str] = field(default_factory=set[str])


class _Reading:
    """A claim while its pieces come in."""

    def __init__(self) -> None:
        self._clauses = [_Clause()]
        self._gone: set[str] = set()
        self._owners: set[str] = set()
        self._origins: set[str] = set()
        self._verb = ""
        self._is_predicated = False
        self._is_symmetric = False
        self._orders = 0
        self._is_passive = False
        self._is_singled_out = False
        self._agent_comes = False
        self._names_agent = False
        self._denies = False
        self._is_apart = True
        self._after_and = False
        self._follows_word = False
        self._under = ""
        """The sign that words stand under until the next one: from, taken, instead, for."""
        self._opens_with_origin = False

    def of(self, pieces: Iterable[Piece]) -> Claim:
        for piece in pieces:
            if piece.kind in SIGNS:
                self._take_sign(piece.kind)
            else:
                self._take_word(piece)
        self.end_clause()
        self._spread_denials()
        holding = self._holding()
        words = _distinct(word for clause in holding for word in clause.words)
        marks = frozenset(mark for clause in holding for mark in clause.marks)
        words = _with_value(_with_half_of_day(words))
        if not self._is_predicated and not self._is_singled_out:
            words = _topic_before_amount(words)
        return Claim(
            words=tuple([word.weighed() for word in words]),
            gone=frozenset(self._gone),
            marks=marks,
            owners=frozenset(self._owners),
            origins=frozenset(self._origins),
            verb=next((word.concept for word in words if word.is_main), ""),
            is_symmetric=self._is_symmetric or self._is_passive,
            names_agent=self._names_agent,
            is_ordered=self._orders > 1,
            clauses=sum(bool(clause.words) for clause in self._clauses),
        )

    def _take_sign(self, kind: str) -> None:
        if self._after_and and kind in _BEGINNING_CLAUSES:
            self.end_clause()
        self._after_and = kind == "and"
        self._is_apart = self._is_apart or kind != "owner"
        take = _TAKERS.get(kind)
        if take:
            take(self)
        elif kind in _COVERING:
            self._under = kind
            self._opens_with_origin = kind == "from" and not self._clauses[-1].words
        elif kind in _JOINING:
            self._under = ""
        else:
            self._clauses[-1].marks.add(kind)
        self._follows_word = False

    def deny(self) -> None:
        self._denies = not self._denies

    def end(self) -> None:
        if self._under == "taken":
            self._gone |= self._origins  # 把车卖了: what was taken is gone with it
        self.deny()
        self.say_over()
        self._is_predicated = True

    def say_over(self) -> None:
        self._clauses[-1].marks.add("ended")

    def go_on(self) -> None:
        self._clauses[-1].marks.add("ongoing")
        self._is_predicated = True

    def predicate(self) -> None:
        self._is_symmetric = not self._verb
        self._is_predicated = True

    def equate(self) -> None:
        """What is said to be something is no verb: "the test is slow", "smoking is bad"."""
        words = self._clauses[-1].words
        if self._follows_word and words[-1].is_main:
            words[-1] = words[-1]._replace(kind="word", is_main=False, is_topic=True)
            self._verb = ""
        self.predicate()

    def compare(self) -> None:
        self._is_symmetric, self._is_predicated = False, True

    def change(self) -> None:
        self._clauses[-1].marks.add("change")
        self._under, self._is_predicated = "", True

    def turn_passive(self) -> None:
        self._is_passive = True

    def put_in_order(self) -> None:
        self._orders += 1

    def own(self) -> None:
        """The last word owns or singles out what follows: Anna's brother, the 8 am train."""
        words = self._clauses[-1].words
        if not self._is_predicated:
            words[:] = [word._replace(is_topic=True) for word in words]
            self._is_singled_out = any(word.kind in AMOUNTS for word in words)
        if self._under == "taken":
            # 把电脑的电池换了: what is taken is what follows.
            self._origins.difference_update(word.concept for word in words[-1:])
        self._owners.update(word.concept for word in words[-1:] if word.kind in _NAMED)

    def expect_agent(self) -> None:
        """What was named so far is acted upon; who acts is named next."""
        for clause in self._clauses:
            clause.words = [word._replace(is_topic=False) for word in clause.words]
        self._agent_comes, self._is_passive = True, False
        self._names_agent = True

    def _take_word(self, piece: Piece) -> None:
        is_verb = piece.kind == "verb"
        if is_verb:
            self._meet_verb()
        words = self._clauses[-1].words
        is_listed, self._after_and = self._after_and and bool(words), False
        if is_listed:
            words[-1] = words[-1]._replace(is_listed=True)
        is_main = is_verb and not self._verb
        word = Word(
            concept=piece.concept,
            kind=piece.kind,
            denied=self._is_denied(piece),
            is_topic=self._is_topic(piece),
            is_main=is_main,
            is_apart=self._is_apart,
            is_listed=is_listed,
        )
        if is_main:
            self._verb, self._is_symmetric = piece.concept, False
        if is_verb:
            self._is_predicated, self._agent_comes = True, False
        self._is_apart, self._follows_word = is_verb, True
        if self._under == "instead":
            self._gone.add(piece.concept)
        elif self._under in ("from", "taken") and piece.kind != "self":
            self._origins.add(piece.concept)
        words.append(word)

    def _meet_verb(self) -> None:
        if self._after_and:
            self.end_clause()
        if self._verb == "want":
            self._wish()
        if self._under in ("taken", "from"):
            self._under = ""

    def _is_denied(self, piece: Piece) -> bool:
        """Whether the word is denied; a denial passes over times and slight words."""
        denied = self._denies and piece.kind not in _NOT_DENIED
        self._denies = self._denies and not denied
        return denied or self._under == "instead"

    def _is_topic(self, piece: Piece) -> bool:
        if piece.kind in _NO_TOPIC:
            return False
        if self._under == "for":
            return piece.kind not in AMOUNTS
        if self._under == "from" and self._opens_with_origin:
            return False
        return not self._is_predicated or self._agent_comes

    def _wish(self) -> None:
        """To want to do something is not yet to do it: the deed is the verb, the wish a mark."""
        self._verb = ""
        for clause in self._clauses:
            self._denies = self._denies or any(it.is_main and it.denied for it in clause.words)
            clause.words = [word for word in clause.words if not word.is_main]
        self._clauses[-1].marks.add("wish")

    def end_clause(self) -> None:
        """A denial that met no word denies what was said last: "I liked it, but not any more"."""
        if self._denies:
            self._denies = False
            spoken = next((it for it in reversed(self._clauses) if it.words), None)
            if spoken:
                at = _deniable(spoken.words)
                spoken.words[at] = spoken.words[at]._replace(denied=not spoken.words[at].denied)
        self._under = ""
        if self._clauses[-1].words or self._clauses[-1].marks:
            self._clauses.append(_Clause())

    def _spread_denials(self) -> None:
        """Beside what is affirmed, a denied verb denies its objects: likes tea, dislikes coffee."""
        spoken = [clause for clause in self._clauses if clause.words]
        if len(spoken) < 2:
            return
        for clause in spoken:
            if any(word.denied and word.kind == "verb" for word in clause.words):
                clause.words = [
                    word._replace(denied=word.denied or _is_object(word)) for word in clause.words
                ]

    def _holding(self) -> Sequence[_Clause]:
        """The clauses that hold now; what is said to be over is gone, all but what it is about."""
        if self._origins and any("change" in clause.marks for clause in self._clauses):
            self._drop_origins()
        for sign in ("formerly", "ended"):
            over = [clause for clause in self._clauses if sign in clause.marks]
            if over and any(clause.words for clause in self._clauses if sign not in clause.marks):
                for clause in over:
                    self._let_go(clause)
        return self._clauses

    def _let_go(self, clause: _Clause) -> None:
        self._gone.update(word.concept for word in clause.words if not word.is_topic)
        clause.words = [word for word in clause.words if word.is_topic]
        clause.marks = {"change"}

    def _drop_origins(self) -> None:
        """What something changed from is gone."""
        self._gone |= self._origins
        for clause in self._clauses:
            clause.words = [word for word in clause.words if word.concept not in self._origins]


_TAKERS: Final[Mapping[str, Callable[[_Reading], None]]] = {
    "break": _Reading.end_clause,
    "not": _Reading.deny,
    "end": _Reading.end,
    "over": _Reading.say_over,
    "ongoing": _Reading.go_on,
    "is": _Reading.equate,
    "be": _Reading.predicate,
    "than": _Reading.compare,
    "change": _Reading.change,
    "passive": _Reading.turn_passive,
    "by": _Reading.expect_agent,
    "owner": _Reading.own,
    "order": _Reading.put_in_order,
}


def _is_object(word: Word) -> bool:
    return word.kind not in _NO_OBJECT and not word.is_topic


def _deniable(words: Sequence[Word]) -> int:
    """Where the verb stands, or else the last word."""
    return next((at for at, word in enumerate(words) if word.is_main), len(words) - 1)


def _distinct(words: Iterable[Word]) -> tuple[Word, ...]:
    kept: dict[tuple[str, str], Word] = {}
    for word in words:
        kept.setdefault((word.concept, word.kind), word)
    found = list(kept.values())
    if any(word.kind == "verb" for word in found) and not any(word.is_main for word in found):
        at = next(at for at, word in enumerate(found) if word.kind == "verb")
        found[at] = found[at]._replace(is_main=True)
    return tuple(found)


def _with_value(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """A slight word is all that is said where nothing else is: "the default branch is main"."""
    said = [word for word in words if not word.is_topic and word.kind != "self"]
    if any(word.kind != "weak" for word in said):
        return words
    return tuple(
        word._replace(kind="word") if word.kind == "weak" and not word.is_topic else word
        for word in words
    )


def _with_half_of_day(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """At nine every morning is at 9 am: beside a time the part of the day tells its half."""
    if not any(word.kind == "clock" for word in words):
        return words
    told = {word.concept for word in words if word.kind == "half"}
    kept: list[Word] = []
    for word in words:
        half = _HALVES.get(word.concept) if word.kind == "daypart" else None
        if half is None or (told and half not in told):
            kept.append(word)
        elif not told:
            kept.append(word._replace(kind="half", concept=half))
    return tuple(kept)


def _topic_before_amount(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Without a verb a claim is about what stands before its first number: "rent: 900 euros"."""
    first = next((at for at, word in enumerate(words) if word.kind in AMOUNTS), -1)
    if first == 0:
        return words  # it begins with what numbers its topic: "302 is booked"
    return tuple(word._replace(is_topic=at < first) for at, word in enumerate(words))
