"""Reading an export back in: what is missing is added, nothing that is there is changed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from recollect.domain.progress import Progress
from recollect.domain.scope import Caller
from recollect.domain.transfer import Imported, Item, LineProblem
from recollect.domain.turn import Turn
from recollect.errors import NotAllowed, RecollectError
from recollect.lifecycle.embedding import VectorFiller
from recollect.lifecycle.import_lines import ImportLines, Line
from recollect.ports.transfer import Arrival, Outcome, Transfer

T = TypeVar("T")

_MOST_LISTED: Final = 100


class Importer:
    """Adds the lines of a file in batches; each is durable before the next one is begun."""

    def __init__(self, transfer: Transfer, filler: VectorFiller) -> None:
        self._transfer = transfer
        self._filler = filler

    async def import_from(
        self,
        caller: Caller | None,
        source: str | Path | BinaryIO,
        *,
        skip_bad: bool = False,
        progress: Progress | None = None,
    ) -> Imported:
        """Add what the file holds to the scopes it names; None as caller may write to all."""
        lines = await _beside(lambda: ImportLines(source, caller, skip_bad=skip_bad))
        tally = _Tally(skip_bad=skip_bad)
        try:
            while batch := await _beside(lines.batch):
                await self._add(batch, tally)
                if progress is not None:
                    progress(tally.done, max(tally.done, lines.promised or 0))
        finally:
            # Words find what is new at once; vectors are made in the background.
            if tally.added:
                await self._filler.schedule()
        return tally.result()

    async def _add(self, batch: Sequence[Line], tally: _Tally) -> None:
        contents = [(line.number, line.content) for line in batch]
        arrived = [(number, it) for number, it in contents if isinstance(it, Arrival)]
        outcomes = await self._transfer.add([it for _, it in arrived]) if arrived else []
        for (number, arrival), outcome in zip(arrived, outcomes, strict=True):
            tally.count(number, arrival.item, outcome)
        for number, content in contents:
            if isinstance(content, RecollectError):
                tally.refuse(number, content)


@dataclass(slots=True, kw_only=True)
class _Tally:
    """What became of the lines so far."""

    skip_bad: bool
    added: int = 0
    unchanged: int = 0
    conflicting: int = 0
    bad: int = 0
    problems: list[LineProblem] = field(default_factory=list[LineProblem])

    @property
    def done(self) -> int:
        return self.added + self.unchanged + self.conflicting + self.bad

    def count(self, number: int, item: Item, outcome: Outcome) -> None:
        match outcome:
            case Outcome.ADDED:
                self.added += 1
            case Outcome.UNCHANGED:
                self.unchanged += 1
            case Outcome.ID_TAKEN | Outcome.PLACE_TAKEN | Outcome.FORGOTTEN:
                self.conflicting += 1
                self._list(number, outcome.name.lower(), _conflict(item, outcome))

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
            bad=self.bad,
            problems=tuple(self.problems),
        )

    def _list(self, line: int, code: str, message: str) -> None:
        if len(self.problems) < _MOST_LISTED:
            self.problems.append(LineProblem(line=line, code=code, message=message))


def _conflict(item: Item, outcome: Outcome) -> str:
    if outcome is Outcome.FORGOTTEN:
        ident = item.id if isinstance(item, Turn) else item.current.id
        return f"{ident} was forgotten here, and stays so"
    if not isinstance(item, Turn):
        return f"{item.current.id} is stored with other content, which stays"
    if outcome is Outcome.ID_TAKEN:
        return f"{item.id} is stored with other content, which stays"
    return f"{item.id} would be turn {item.ordinal} of {item.session}, which is another one"


def _way_on(problem: RecollectError) -> str:
    mend = (
        "An operator imports for every scope with --all."
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
