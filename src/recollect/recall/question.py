"""A question: its text, scopes and filter, and what can be derived from them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Final

from recollect.domain.filters import Filter
from recollect.domain.lazy_value import lazy_value
from recollect.domain.scope import Scope
from recollect.language.analysis import query_terms, slight_terms, term_keys
from recollect.language.characters import fold
from recollect.language.claims.moods import Mood, mood, plain
from recollect.language.claims.subjects import asked_by_user, with_user
from recollect.language.intent import without_asking
from recollect.language.sentences import sentences
from recollect.language.times.calendar import date_terms
from recollect.language.times.expressions import AfterEvent, When, find_times
from recollect.recall.intent import IntentFactors, Judged, judge, lean_of

_SAID: Final = (
    "said|told|suggested|recommended|advised|proposed|mentioned|gave|listed|provided|explained|"
    "wrote|answered|shared|described"
)
_SAY: Final = (
    "say|tell|suggest|recommend|advise|propose|mention|give|list|provide|explain|write|answer|"
    "share|describe"
)
# Asks for something that the assistant said, not for something that it should say now.
_ABOUT_ANSWERS: Final = re.compile(
    rf"\b(?:you|assistant|agent)\b(?:\s+\w+){{0,2}}\s+(?:{_SAID})\b"
    rf"|\bdid\s+(?:you|the\s+(?:assistant|agent))\b(?:\s+\w+){{0,2}}\s+(?:{_SAY})\b"
    r"|\byour\s+(?:\w+\s+)?(?:answer|reply|suggestion|recommendation|advice|response)s?\b"
    "|(?:你|您|助手)[^，。？！,.?!]{0,6}(?:说|讲|提|推荐|建议|告诉|回答|列|给|写|解释)(?:过|了|的)",
    re.IGNORECASE,
)
# Asks for a past state; "before Friday" and "开会之前" are about the future.
_ABOUT_PAST: Final = re.compile(
    r"\bbefore(?:\s+(?:that|then|now|this))?\s*(?:[?.!,]|$)"
    r"|\b(?:previous(?:ly)?|former(?:ly)?|used\s+to|originally|back\s+then|in\s+the\s+past)\b"
    r"|\bdid\s(?:\w+\s){1,3}use\s+to\b"
    "|(?:^|[我你您他她们的，,。 ])(?:[以之从先]前|过去)"
    "|曾经?(?!国)|原[先本]|原来(?!如此|是)|当[时初]",
    re.IGNORECASE,
)
_BETWEEN_CLAUSES: Final = re.compile(r"[,;:，；：](?=\D)")


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question, asked at one moment."""

    text: str
    scopes: tuple[Scope, ...]
    where: Filter = field(default_factory=Filter)
    limit: int
    min_score: float
    now: datetime
    # When it was asked, if that is not now: a conversation may be imported later.
    asked_at: datetime | None = None
    # The names of the user whose memory is asked, in lower case.
    names: frozenset[str] = frozenset()
    # An intent that is given; otherwise it is judged.
    forced: Judged | None = None

    def analyse(self) -> None:
        """Derive everything now; what is derived is kept."""
        _ = self.terms, self.slight, self.judged, self.wants_something, self.times
        _ = self.is_about_answers, self.is_about_past

    @lazy_value
    def by_user(self) -> str:
        """Return the question as the user would ask it.

        Agents ask where Ann lives; what Ann told them says "I" or "User".
        """
        return asked_by_user(self.text, self.names)

    def about_user(self, text: str) -> str:
        """Return a text that may answer, with "User" where it names the user."""
        return with_user(text, self.names) if self.names else text

    @lazy_value
    def subject(self) -> str:
        """Return what the question is about, without the words that only ask."""
        return without_asking(self.by_user)

    @lazy_value
    def terms(self) -> dict[int, str]:
        """Return the question's terms by their keys.

        The words of a time are left out unless they are a date: "last Wednesday" must not make a
        question about a dinner a worse fit.
        """
        named = [time for time in self.times if isinstance(time, When)]
        said = without_asking(self.text)
        dates: list[str] = []
        if named:
            said = fold(said)
            for time in named:
                said = said.replace(time.text, " ")
                dated = {*date_terms(time.start.date()), *date_terms(time.end.date())}
                dates += [term for term in query_terms(time.text) if term in dated]
        terms = [*query_terms(said), *dates]
        return dict(zip(term_keys(terms), terms, strict=True))

    @lazy_value
    def slight(self) -> frozenset[int]:
        """Return the keys of the terms that only say who asks, or whose memory it is."""
        terms = self.terms.values()
        own = {term for name in self.names for term in query_terms(name)}
        named = [term for term in terms if term in own] if self.by_user != self.text else []
        slight = {*slight_terms(terms), *named}
        return frozenset(term_keys(slight)) if len(slight) < len(self.terms) else frozenset()

    @lazy_value
    def judged(self) -> Judged:
        """Return the intent of the message and the words that decided it."""
        return self.forced or judge(self.text)

    @lazy_value
    def lean(self) -> IntentFactors:
        """Return how the intent changes the recall."""
        return lean_of(self.judged.intent)

    @lazy_value
    def mood(self) -> Mood | None:
        """Return the mood of the message; none if it has several clauses."""
        is_one = _BETWEEN_CLAUSES.search(self.text) is None and len(sentences(self.text)) == 1
        return mood(plain(self.text)) if is_one else None

    @lazy_value
    def only_asks(self) -> bool:
        """Return whether it is a single question in one clause, and nothing else."""
        return self.mood == "interrogative"

    @lazy_value
    def wants_something(self) -> bool:
        """Return whether a clause asks or orders, or it may be a question without its verb.

        "Student number" may be one; several clauses that only tell something want nothing.
        """
        if self.mood == "declarative":
            return self.judged.intent == "question"
        clauses = chain.from_iterable(map(_BETWEEN_CLAUSES.split, sentences(self.text)))
        return any(mood(plain(clause)) in {"interrogative", "imperative"} for clause in clauses)

    @lazy_value
    def is_about_answers(self) -> bool:
        """Return whether it asks for something that the assistant said."""
        return _ABOUT_ANSWERS.search(self.text) is not None

    @lazy_value
    def is_about_past(self) -> bool:
        """Return whether it asks for a past state."""
        return is_about_past(self.text)

    @lazy_value
    def times(self) -> tuple[When | AfterEvent, ...]:
        """Return the times that it names."""
        return find_times(self.text, self.asked_at or self.now)


def is_about_past(text: str) -> bool:
    """Return whether a message asks for a past state, which may have changed since."""
    return _ABOUT_PAST.search(text) is not None
