"""Extraction of claims from stored turns, each turn once.

Turns are durable before they are read. Claims are stored in the same transaction as the mark that
their turns were read: a process that is killed in between has done neither, and the next one reads
the turns again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Final, cast

from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.filters import Filter
from recollect.domain.job import Job
from recollect.domain.page import Cursor
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn
from recollect.domain.write import Claim, Watermark, WritePolicy, Written
from recollect.errors import ModelError, NotAvailable, NotFound, StaleVersion
from recollect.language.extraction.message import asks_to_keep
from recollect.ports.runtime import give_way
from recollect.ports.store import Store
from recollect.writing.batch import ms_since
from recollect.writing.forget_wishes import ForgetWishes, holds_forget_wish
from recollect.writing.intake import Extracted
from recollect.writing.jobs import RereadQueue, is_outage
from recollect.writing.keep_wishes import KeepWishes, Kept
from recollect.writing.pipeline import WritePipeline
from recollect.writing.plain_reader import PlainReader
from recollect.writing.reader_extraction import Extractor, ReaderExtractor
from recollect.writing.schedule import Judging, session_of

if TYPE_CHECKING:
    from recollect.writing.rows import SqlWrites

_log: Final = logging.getLogger(__name__)

# How many turns are read together, and how many before them for context.
_BATCH_TURNS: Final = 30
_CONTEXT_TURNS: Final = 4
_MAX_ATTEMPTS: Final = 20
# About what a step of reading takes, so how long it gives way to callers.
_PIECE_SECONDS: Final = 0.05
# Sorts after every id, so that reading continues with the next ordinal.
_LAST_ID: Final = "~"


class Extraction:
    """The extraction of claims from unread turns, and their storage."""

    def __init__(
        self,
        store: Store,
        writes: SqlWrites,
        pipeline: WritePipeline,
        policy: Callable[[Caller], WritePolicy],
        model: Extractor | None = None,
        rereading: RereadQueue | None = None,
        forgetting: ForgetWishes | None = None,
        keeping: KeepWishes | None = None,
        *,
        judging: Judging | None = None,
        reader: Extractor | None = None,
    ) -> None:
        self._store = store
        self._writes = writes
        self._pipeline = pipeline
        self._policy = policy
        self._model = model
        self._rereading = rereading
        self._forgetting = forgetting
        self._keeping = keeping
        self._reader = reader
        self._rules = ReaderExtractor(PlainReader())
        # Makes the jobs that relate the new turns to what is known.
        self._judging = judging

    async def run(self, job: Job) -> None:
        """Run the job."""
        caller, session = session_of(job)
        await self.extract(caller, session)

    async def run_again(self, job: Job) -> None:
        """Run a job that was postponed because the model could not be reached."""
        caller, _ = session_of(job)
        if self._rereading is not None and self._policy(caller) != "off":
            await self._rereading.read(job, self._model)

    async def run_lost(self, job: Job) -> None:
        """Run a job that reads turns again; what was kept of them stays as it is."""
        caller, session = session_of(job)
        mark, last = cast("int", job.payload["after"]), cast("int", job.payload["to"])
        while self._policy(caller) != "off":
            before, unread = await self._turns(caller, session, mark)
            turns = [turn for turn in unread if turn.ordinal <= last]
            if not turns:
                break
            claims, extracted = await self._extract_claims(turns, before)
            jobs = self._judging(caller, turns) if self._judging else ()
            await self._pipeline.take(caller, claims, (*before, *turns), extracted, jobs=jobs)
            mark = turns[-1].ordinal

    async def extract(self, caller: Caller, session: str | None = None) -> tuple[Written, ...]:
        """Read the unread turns of a session, or of all the caller's sessions."""
        if session is not None:
            checked_text(session, "session", MAX_LABEL, blank=True)
        if self._policy(caller) == "off":
            return ()
        sessions = (
            await self._writes.unread_sessions(caller.scope) if session is None else [session]
        )
        written: list[Written] = []
        for each in sessions:
            written += await self._read(caller, each)
        return tuple(written)

    async def _read(self, caller: Caller, session: str) -> list[Written]:
        written: list[Written] = []
        refused = 0
        while True:
            await give_way(_PIECE_SECONDS)
            mark = await self._writes.watermark(caller.scope, session)
            before, turns = await self._turns(caller, session, mark)
            if not turns:
                return written
            turns = _up_to_wish(turns)
            claims, extracted = await self._extract_claims(turns, before)
            forgets = await self._forgetting.meant(caller, turns) if self._forgetting else ()
            keeps = (
                await self._keeping.meant(caller, session, turns, before) if self._keeping else ()
            )
            claims = _without_kept(claims, turns, keeps)
            await give_way(_PIECE_SECONDS)
            if self._rereading is not None and is_outage(extracted.degraded):
                await self._rereading.note(caller, session, turns)
            reached = Watermark(
                scope=caller.scope, session=session, ordinal=turns[-1].ordinal, before=mark
            )
            try:
                written += await self._pipeline.take(
                    caller,
                    claims,
                    (*before, *turns),
                    extracted,
                    watermark=reached,
                    forgets=forgets,
                    keeps=keeps,
                    jobs=self._judging(caller, turns) if self._judging else (),
                )
            except (StaleVersion, NotFound):
                # Another process has read these turns, or changed a record they are about.
                refused += 1
                if refused >= _MAX_ATTEMPTS:
                    raise

    async def _turns(
        self, caller: Caller, session: str, mark: int
    ) -> tuple[Sequence[Turn], Sequence[Turn]]:
        """Return the last turns that were read, and the next unread ones."""
        found = await self._store.turns(
            [caller.scope],
            Filter(session=session),
            after=Cursor(at=max(0, mark - _CONTEXT_TURNS), id=_LAST_ID),
            limit=_CONTEXT_TURNS + _BATCH_TURNS,
        )
        before = [turn for turn in found if turn.ordinal <= mark]
        return before, [turn for turn in found if turn.ordinal > mark][:_BATCH_TURNS]

    async def _extract_claims(
        self, turns: Sequence[Turn], before: Sequence[Turn]
    ) -> tuple[Sequence[Claim], Extracted]:
        began = perf_counter()
        claims, extracted = await self._claims_by_best(turns, before)
        return claims, replace(extracted, ms=ms_since(began))

    async def _claims_by_best(
        self, turns: Sequence[Turn], before: Sequence[Turn]
    ) -> tuple[Sequence[Claim], Extracted]:
        degraded = ""
        if self._model is not None:
            try:
                claims = await self._model.extract(turns, before=before)
                return claims, Extracted(by="model")
            except ModelError as problem:
                degraded = problem.code
                others = "rules" if self._reader is None else "the reader"
                _log.warning("claims are found by %s, not by the model: %s", others, problem)
        if self._reader is not None:
            try:
                claims = await self._reader.extract(turns, before=before)
                return claims, Extracted(by="reader", degraded=degraded)
            except NotAvailable as problem:
                degraded = degraded or problem.code
                _log.warning("claims are found by rules, not by the reader: %s", problem)
        return await self._rules.extract(turns, before=before), Extracted(
            by="rules", degraded=degraded
        )


def _up_to_wish(turns: Sequence[Turn]) -> Sequence[Turn]:
    """Return the turns before the first wish to remember or forget; or that turn alone.

    What was told before the wish is stored by then, and can be meant.
    """
    wishes = (at for at, turn in enumerate(turns) if holds_forget_wish(turn) or asks_to_keep(turn))
    return turns[: max(1, next(wishes, len(turns)))]


def _without_kept(
    claims: Sequence[Claim], turns: Sequence[Turn], keeps: Sequence[Kept]
) -> Sequence[Claim]:
    """Return the claims without those that only say "remember this" or repeat what is kept."""
    wishes = {turn.id for turn in turns if asks_to_keep(turn)}
    kept = {keep.wish.turn for keep in keeps}
    return [
        claim
        for claim in claims
        if not (claim.evidence and claim.evidence[0].turn in wishes)
        and kept.isdisjoint(evidence.turn for evidence in claim.evidence)
    ]
