"""Reading an export back in: what is missing is added, nothing that is there is changed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from recollect.domain.archive import Archive
from recollect.domain.progress import Progress
from recollect.domain.scope import Caller
from recollect.domain.transfer import Imported, Item, LineProblem, ReadMark, name_of
from recollect.domain.turn import Turn
from recollect.errors import NotAllowed, RecollectError
from recollect.lifecycle.embedding import VectorFiller
from recollect.lifecycle.export_archives import WholeContent
from recollect.lifecycle.import_contents import ImportedContents
from recollect.lifecycle.import_lines import ImportLines, Line, Lost
from recollect.ports.archives import Archives
from recollect.ports.blobs import Blobs
from recollect.ports.transfer import Arrival, Outcome, Transfer
from recollect.writing.redaction import Redactor

T = TypeVar("T")

_MOST_LISTED: Final = 100


class Importer:
    """Adds the lines of a file in batches; each is durable before the next one is begun."""

    def __init__(
        self,
        transfer: Transfer,
        filler: VectorFiller,
        archives: Archives,
        blobs: Blobs,
        redactor: Redactor,
    ) -> None:
        self._transfer = transfer
        self._redactor = redactor
        self._filler = filler
        self._archives = archives
        self._blobs = blobs

    async def import_from(
        self,
        caller: Caller | None,
        source: str | Path | BinaryIO,
        *,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Add what the file holds to the scopes it names; None as caller may write to all.

        What was forgotten here stays forgotten: it is told and left out. What may not be stored
        here (`writing.redact`) is masked, or left out and told.
        """
        lines = await _beside(
            lambda: ImportLines(source, caller, skip_bad=skip_bad, redactor=self._redactor)
        )
        contents = ImportedContents(self._archives, self._blobs, self._redactor)
        tally = _Tally(skip_bad=skip_bad)
        try:
            while batch := await _beside(lines.batch):
                await self._add(batch, contents, tally)
                if progress is not None:
                    progress(tally.done, max(tally.done, lines.promised or 0))
        finally:
            await contents.drop_unused()
            # Words find what is new at once; vectors are made in the background.
            if tally.added:
                await self._filler.schedule()
        return tally.result()

    async def _add(self, batch: Sequence[Line], contents: ImportedContents, tally: _Tally) -> None:
        arrived: list[tuple[int, Arrival]] = []
        refused: list[tuple[int, RecollectError]] = []
        for line in batch:
            match line.content:
                case WholeContent() as content:
                    await contents.keep(content)
                case Arrival() as arrival:
                    arrived.append((line.number, _with_content(arrival, contents)))
                case Lost(problem):
                    tally.lose(line.number, problem)
                case problem:
                    refused.append((line.number, problem))
        if arrived:
            await self._write(arrived, contents, tally)
        for number, problem in refused:
            tally.refuse(number, problem)

    async def _write(
        self, arrived: Sequence[tuple[int, Arrival]], contents: ImportedContents, tally: _Tally
    ) -> None:
        added = await self._transfer.add([arrival for _, arrival in arrived])
        told = list(zip(arrived, added.outcomes, strict=True))
        for (number, arrival), outcome in told:
            tally.count(number, arrival.item, outcome)
        archives = [
            arrival.item
            for (_, arrival), outcome in told
            if outcome is Outcome.ADDED and isinstance(arrival.item, Archive)
        ]
        await contents.settle(archives, added.unused_blobs)


def _with_content(arrival: Arrival, contents: ImportedContents) -> Arrival:
    if not isinstance(arrival.item, Archive):
        return arrival
    archive = contents.as_kept(arrival.item)
    return replace(arrival, item=archive, blob=contents.blob_for(archive))


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What became of the lines so far."""

    skip_bad: bool
    added: int = 0
    unchanged: int = 0
    conflicting: int = 0
    lost: int = 0
    bad: int = 0
    problems: list[LineProblem] = field(default_factory=list[LineProblem])

    @property
    def done(self) -> int:
        return self.added + self.unchanged + self.conflicting + self.lost + self.bad

    def count(self, number: int, item: Item, outcome: Outcome) -> None:
        match outcome:
            case Outcome.ADDED:
                self.added += 1
            case Outcome.UNCHANGED:
                self.unchanged += 1
            case Outcome.CONTENT_MISSING:
                self.lost += 1
                self._list(number, outcome.name.lower(), _conflict(item, outcome))
            case _:
                self.conflicting += 1
                self._list(number, outcome.name.lower(), _conflict(item, outcome))

    def lose(self, number: int, problem: RecollectError) -> None:
        """List an archive that came without its content."""
        self.lost += 1
        self._list(number, problem.code, problem.message)

    def refuse(self, number: int, problem: RecollectError) -> None:
        """List a bad line, or stop at it."""
        if not self.skip_bad:
            raise type(problem)(
                f"Line {number}: {problem.message}. What stands before it is in memory: "
                f"{self.added:,} added, {self.unchanged:,} unchanged, "
                f"{self.conflicting:,} conflicting",
                code=problem.code,
                hint=_way_on(problem),
            )
        self.bad += 1
        self._list(number, problem.code, problem.message)

    def result(self) -> Imported:
        return Imported(
            added=self.added,
            unchanged=self.unchanged,
            conflicting=self.conflicting,
            lost=self.lost,
            bad=self.bad,
            problems=tuple(self.problems),
        )

    def _list(self, line: int, code: str, message: str) -> None:
        if len(self.problems) < _MOST_LISTED:
            self.problems.append(LineProblem(line=line, code=code, message=message))


def _conflict(item: Item, outcome: Outcome) -> str:
    name = name_of(item)
    match outcome:
        case Outcome.FORGOTTEN:
            return f"{name} was forgotten here, or is about what was, and stays so"
        case Outcome.CONTENT_MISSING:
            return f"the content of {name} was removed here a moment ago; import it again"
        case Outcome.RECORD_MISSING:
            return f"{name} is between records that are not both here"
        case Outcome.PLACE_TAKEN if isinstance(item, Turn):
            return f"{name} would be turn {item.ordinal} of {item.session}, which is another one"
        case Outcome.PLACE_TAKEN if isinstance(item, ReadMark):
            return f"{name} stands at {item.turn}, and here another turn is in its place"
        case Outcome.PLACE_TAKEN:
            return f"{name} is between records whose conflict is stored already, which stays"
        case _:
            return f"{name} is stored with other content, which stays"


def _way_on(problem: RecollectError) -> str:
    mend = (
        "An operator imports for every scope with --all-scopes."
        if isinstance(problem, NotAllowed)
        else problem.hint or "Mend the line."
    )
    return f"{mend} Importing again adds only what is missing; --skip-bad leaves such lines out."


async def _beside(work: Callable[[], T]) -> T:
    """Run `work` in a thread that does not keep a program from ending, as a silent pipe would."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as problem:  # noqa: BLE001  (it belongs to the one who waits)
            done.set_exception(problem)

    threading.Thread(target=run, name="recollect-import", daemon=True).start()
    return await asyncio.wrap_future(done)
