"""Which attribute records state and whom they are about, decided when they are written."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final

from recollect.domain.job import Job, NewJob
from recollect.domain.record import Record
from recollect.language.sentences import passages
from recollect.ports.facets import FacetGuess, FacetReader

if TYPE_CHECKING:
    from recollect.domain.unit import OwnerUnits
    from recollect.embedding.service import Embedded
    from recollect.ports.jobs import Jobs
    from recollect.ports.units import Vector
    from recollect.writing.undecided import SqlUndecidedRecords


class Facets:
    """Decides the facets of records with a reader, if there is one."""

    def __init__(self, reader: FacetReader | None) -> None:
        self._reader = reader

    async def decided(self, records: Sequence[Record], embedded: Embedded) -> tuple[Record, ...]:
        """Return the records with their facets, as far as they are live and can be read now."""
        if self._reader is None:
            return tuple(records)
        places = [place for place, record in enumerate(records) if _is_open(record)]
        if not places:
            return tuple(records)
        is_fitting = embedded.model is not None and embedded.model.name == self._reader.model
        units = {owner.owner_id: owner for owner in embedded.owners} if is_fitting else {}
        read = [records[place] for place in places]
        vectors = [vector_of(units.get(record.id)) for record in read]
        found = list(records)
        for place, guess in zip(places, await guessed(self._reader, read, vectors), strict=True):
            found[place] = with_facet(records[place], guess)
        return tuple(found)


def _is_open(record: Record) -> bool:
    return record.is_live and (record.facet is None or (record.version == 1 and not record.about))


async def guessed(
    reader: FacetReader, records: Sequence[Record], vectors: Sequence[Vector | None]
) -> Sequence[FacetGuess]:
    """Return what each record states; one of several passages states more than one thing."""
    guesses = [FacetGuess(facet="")] * len(records)
    places = [place for place, record in enumerate(records) if _states_one_thing(record)]
    read = await reader.read(
        [records[place].content for place in places], [vectors[place] for place in places]
    )
    for place, guess in zip(places, read, strict=True):
        guesses[place] = guess
    return guesses


def _states_one_thing(record: Record) -> bool:
    return not record.is_session_episode and len(passages(record.content)) == 1


def with_facet(record: Record, guess: FacetGuess) -> Record:
    """Return the record with what is guessed of it; what a caller set stays."""
    if guess.facet is None:
        return record
    facet = guess.facet if record.facet is None else record.facet
    about = record.about or (_about(record, guess) if facet else "")
    return record.evolve(facet=facet, about=about)


def _about(record: Record, guess: FacetGuess) -> str:
    """Return whom a record is about; one that names the user may be about the user."""
    from recollect.language.claims.subjects import is_named, names_of_id

    if guess.about == "other" and is_named(record.content, names_of_id(record.scope.user)):
        return ""
    return guess.about


def vector_of(owner: OwnerUnits | None) -> Vector | None:
    """Return the vector of a whole text, if it has one."""
    return _vector(owner.units[0].vector if owner is not None and owner.units else None)


def _vector(stored: bytes | None) -> Vector | None:
    if stored is None:
        return None
    # Imported here: saving without a model needs no numbers.
    import numpy as np

    return np.frombuffer(stored, "<f2").astype(np.float32)


# --- A job that decides the facets of records stored before facets existed, or without models -----

_Work = Callable[[Job], Coroutine[Any, Any, None]]

DECIDE_FACETS: Final = "decide_facets"
_RECORDS_PER_BATCH: Final = 100


class FacetDecider:
    """The job's work; an interrupted run resumes where it stopped."""

    def __init__(
        self, records: SqlUndecidedRecords, jobs: Jobs, reader: FacetReader | None
    ) -> None:
        self._records = records
        self._jobs = jobs
        self._reader = reader

    async def schedule(self) -> None:
        """Queue the work if there is any and it can be done."""
        reader = self._reader
        if reader is not None and await self._records.first(reader.model, after="", limit=1):
            await self._jobs.add([NewJob(kind=DECIDE_FACETS, key=DECIDE_FACETS)])

    def after(self, work: _Work) -> _Work:
        """Return work that makes vectors, followed by queueing what can be decided with them."""

        async def both(job: Job) -> None:
            await work(job)
            await self.schedule()

        return both

    async def run(self, job: Job) -> None:
        """Decide the facet of every record that has none, as far as it can be read."""
        reader, last = self._reader, ""
        if reader is None:
            return
        while some := await self._records.first(reader.model, after=last, limit=_RECORDS_PER_BATCH):
            records = [record for record, _ in some]
            guesses = await guessed(reader, records, [_vector(vector) for _, vector in some])
            decided = map(with_facet, records, guesses)
            await self._records.decide([it for it in decided if it.facet is not None])
            last = records[-1].id
