"""Words of a conversation that a record was made from before extraction reads them.

An agent or a person may write a record from a turn and name its words as evidence. Extraction reads
the turn later; a claim found in the same words is then not stored a second time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recollect.domain.record import Evidence, Record
from recollect.language.analysis import terms

# Evidence may be a whole turn that says several things. A claim found there is known if the record
# has this part of its terms, or if the claim makes up nearly all of the evidence.
_MIN_SHARED_TERMS_RATIO: Final = 0.5
_MIN_SHARE_OF_EVIDENCE: Final = 0.8
# A quotation may leave out the end of a sentence.
_MIN_COVERED_RATIO: Final = 0.7


def taken_by(claim: Record, stored: Sequence[Record]) -> Record | None:
    """Return the stored record that was made from the words of a claim, if there is one."""
    shared = {record.id: _shared(claim.content, record.content) for record in stored}
    return max(
        (
            record
            for record in stored
            if (covering := _covering(claim.evidence, record.evidence))
            and (shared[record.id] >= _MIN_SHARED_TERMS_RATIO or _fills(claim.evidence, covering))
        ),
        key=lambda record: shared[record.id],
        default=None,
    )


def _covering(words: Sequence[Evidence], stored: Sequence[Evidence]) -> set[Evidence]:
    """Return the stored evidence that covers all the words; none if a part is not covered."""
    found = [_around(evidence, stored) for evidence in words]
    return set() if None in found else {evidence for evidence in found if evidence is not None}


def _fills(words: Sequence[Evidence], covering: set[Evidence]) -> bool:
    """Return whether the covering evidence names hardly more than the words."""
    room = sum(map(_length, covering))
    return room > 0 and sum(map(_length, words)) >= _MIN_SHARE_OF_EVIDENCE * room


def _around(words: Evidence, evidence: Sequence[Evidence]) -> Evidence | None:
    """Return the piece of evidence that the words are a part of."""
    return next((it for it in evidence if it.turn == words.turn and _covers(it, words)), None)


def _covers(evidence: Evidence, words: Evidence) -> bool:
    if evidence.start is None or evidence.end is None:
        return True
    if words.start is None or words.end is None:
        return False
    overlap = min(evidence.end, words.end) - max(evidence.start, words.start)
    return overlap >= _MIN_COVERED_RATIO * (words.end - words.start)


def _length(evidence: Evidence) -> int:
    """Return the number of characters; 0 if a whole turn is meant."""
    if evidence.start is None or evidence.end is None:
        return 0
    return evidence.end - evidence.start


def _shared(claim: str, stored: str) -> float:
    """Return which part of the claim's terms the stored text has."""
    mine = set(terms(claim))
    return len(mine & set(terms(stored))) / len(mine) if mine else 0.0
