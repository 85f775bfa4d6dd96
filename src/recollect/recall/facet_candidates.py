"""Records that state what a question asks for, however differently they are worded.

"Where do I live?" and "we have had the keys to the flat in Bristol since Monday" share no word, but
one asks for a home and the other states one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from recollect.domain.record import Record
from recollect.ports.facets import UNDECIDED, FacetGuess, FacetReader
from recollect.ports.store import Store
from recollect.recall.question import Question

# The latest records of a facet that are read beside the best candidates.
_MAX_RECORDS: Final = 4
_MAX_LOOKED_AT: Final = 24


class FacetCandidates:
    """A search for the latest records of the facet that a question asks for."""

    def __init__(self, store: Store, reader: Callable[[], FacetReader | None]) -> None:
        """`reader` opens the model, and is called when a question is asked."""
        self._store = store
        self._reader = reader

    async def of(self, question: Question) -> tuple[FacetGuess, Sequence[Record]]:
        """Return what is asked for, and the latest records that may answer.

        There are none if no facet is likely enough.
        """
        if question.where.facets or not question.where.wants_records:
            return UNDECIDED, ()
        asked = await self._asked(question)
        if not asked.facet:
            return asked, ()
        where = replace(question.where, facets=frozenset({asked.facet}))
        found = await self._store.records(
            question.scopes, where, now=question.now, limit=_MAX_LOOKED_AT
        )
        latest = sorted(found, key=lambda record: record.last_confirmed, reverse=True)
        fitting = [record for record in latest if may_be_about(record, asked.about)]
        return asked, fitting[:_MAX_RECORDS]

    async def _asked(self, question: Question) -> FacetGuess:
        reader = self._reader()
        return UNDECIDED if reader is None else await reader.asked(question.text)


def may_be_about(record: Record, about: str) -> bool:
    """Return whether a record may be about the same; what is unknown may be."""
    return not record.about or not about or record.about == about
