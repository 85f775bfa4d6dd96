"""Embedding everything anew with another model, while the old one's vectors answer.

Scope after scope gets the new vectors beside the old ones; then, in one step that no question
sees half of, the new model answers there. The old vectors are removed in the end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Final

from recollect.domain.embedding import REEMBED
from recollect.domain.job import Job, NewJob
from recollect.domain.progress import Progress
from recollect.domain.scope import Scope
from recollect.lifecycle.embedding import VectorFiller
from recollect.lifecycle.vectors import VectorMaker
from recollect.ports.serving import Serving
from recollect.recall.meaning import Meaning
from recollect.recall.reader import Reader

_BATCH: Final = 64
_SCOPES: Final = 100
_DISCARDED: Final = 2_000


def reembed_job(choice: str) -> NewJob:
    """The work of changing to a model; there is one at a time, and the last one asked for holds."""
    return NewJob(kind=REEMBED, key="model", payload={"choice": choice})


class Reembedder:
    """Lets one model answer in all scopes, with the vectors of all that it can read."""

    def __init__(
        self, serving: Serving, maker: VectorMaker, filler: VectorFiller, meaning: Meaning
    ) -> None:
        self._serving = serving
        self._maker = maker
        self._filler = filler
        self._meaning = meaning
        self._tell: Callable[[int], None] = lambda seen: None
        self._working: asyncio.Task[None] | None = None

    async def run(self, job: Job) -> None:
        """The job's work; begun anew after a kill, it finds the vectors that were made before."""
        self._working = asyncio.current_task()
        try:
            await self.change_to(await self._meaning.open(job.payload["choice"]))
        finally:
            self._working = None

    async def change_to(self, reader: Reader) -> None:
        """Bring every scope to this reader's model."""
        async with self._maker.alone:
            while scopes := await self._serving.others(reader.model, limit=_SCOPES):
                for scope in scopes:
                    await self._move(scope, reader)
            await self._filler.fill(reader, self._tell)
            while await self._serving.discard(reader.model, limit=_DISCARDED):
                pass

    def stop(self) -> None:
        """End the work that goes on here as a job; whose job it was, sees it as taken away."""
        if self._working is not None:
            self._working.cancel()

    @contextmanager
    def telling(self, progress: Progress | None, total: int) -> Generator[None]:
        """Tell how far the work is, of so many units, while it goes on in this process."""
        seen = 0

        def tell(more: int) -> None:
            nonlocal seen
            seen += more
            if progress is not None:
                progress(seen, max(total, seen))

        before, self._tell = self._tell, tell
        try:
            yield
        finally:
            self._tell = before

    async def _move(self, scope: Scope, reader: Reader) -> None:
        model, after = reader.model, 0
        # What is written meanwhile has the old model's vectors only, and is done before the step.
        while not await self._serving.switch(scope, model, after=after):
            while batch := await self._serving.lacking(
                model, scope=scope, after=after, limit=_BATCH
            ):
                after = batch[-1].unit
                await self._maker.make(batch, reader)
                self._tell(len(batch))
        self._meaning.notice([scope], {model})
