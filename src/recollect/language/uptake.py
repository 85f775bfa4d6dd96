"""How far a text takes up what another one says: the share of its words that recur."""

from __future__ import annotations

from recollect.language.analysis import terms


def uptake(text: str, said: str) -> float:
    """Return which part of the words of `said` the text has, from 0 to 1."""
    wanted = set(terms(said))
    return len(wanted & set(terms(text))) / len(wanted) if wanted else 0.0
