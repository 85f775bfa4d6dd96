"""How far a text takes up what another one says: the share of its words that recur.

An answer takes up a fact if it has at least half of the words by which the fact says more than the
question. That is measured on words, so a fact in other words, or in another language, is missed.
"""

from __future__ import annotations

from typing import Final

from recollect.language.analysis import terms

_MIN_TAKEN_UP: Final = 0.5
# Records call the user so, whom an answer calls "you".
_SUBJECTS: Final = frozenset(terms("User 用户"))


def uptake(text: str, said: str) -> float:
    """Return which part of the words of `said` the text has, from 0 to 1."""
    wanted = set(terms(said))
    return len(wanted & set(terms(text))) / len(wanted) if wanted else 0.0


def takes_up(answer: str, fact: str, question: str) -> bool:
    """Return whether an answer takes up what a fact says beyond the question."""
    news = set(terms(fact)) - _SUBJECTS - set(terms(question))
    return bool(news) and len(news & set(terms(answer))) >= _MIN_TAKEN_UP * len(news)
