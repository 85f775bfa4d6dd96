"""Pairs that were written before anybody looked into the rules for them, in three sets.

Set A and then B were looked at while the rules were widened; C was measured once, then looked at.
"""

import hashlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect.writing.reconcile import relate

_PAIRS = Path(__file__).parents[1] / "data" / "reconcile_more.tsv"
_AS_WRITTEN = "4d7125a9604ce2c3e84dd82354aa81e348297ee00390d7fc58d8c8569e80fc8e"
_THEN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _judged(language: str) -> Counter[tuple[str, str]]:
    """How many pairs of each label were judged how, without an embedder."""
    _, *lines = _PAIRS.read_text(encoding="utf-8").splitlines()
    counts: Counter[tuple[str, str]] = Counter()
    for its_language, _, label, _, days, new, old in (line.split("\t") for line in lines):
        if its_language == language:
            said = _THEN + timedelta(days=float(days))
            judged = relate(new, old, cosine=None, new_at=said, old_at=_THEN)
            counts[label, judged.relation] += 1
    return counts


def test_the_pairs_are_as_they_were_written():
    assert hashlib.sha256(_PAIRS.read_bytes()).hexdigest() == _AS_WRITTEN


@pytest.mark.parametrize("language", ["en", "zh"])
def test_duplicates_and_updates_are_recognised_and_nothing_else_is_merged(language: str):
    counts = _judged(language)
    of = Counter[str]()
    for (label, _), number in counts.items():
        of[label] += number
    assert counts["same", "same"] / of["same"] >= 0.88
    assert counts["update", "update"] / of["update"] >= 0.88
    assert counts["different", "different"] / of["different"] >= 0.95
    assert sum(counts[label, "same"] for label in of if label != "same") == 0
