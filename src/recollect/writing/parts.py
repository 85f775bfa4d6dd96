"""The services of the write path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.domain.fields import MAX_TITLE, checked_text
from recollect.domain.scope import Caller
from recollect.domain.write import Route, Trace, WritePolicy
from recollect.errors import InvalidInput, NotFound
from recollect.recall.user_names import UserNames
from recollect.writing.candidates import Candidates
from recollect.writing.extraction import Extraction
from recollect.writing.judges import JudgeChain
from recollect.writing.pipeline import WritePipeline
from recollect.writing.redaction import Redactor
from recollect.writing.routing import Router
from recollect.writing.strategy import Merger
from recollect.writing.user_names import Naming

if TYPE_CHECKING:
    from recollect.writing.rows import SqlWrites


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingParts:
    """The write pipeline and the services around it."""

    pipeline: WritePipeline
    extraction: Extraction
    candidates: Candidates
    judge: JudgeChain
    merger: Merger
    router: Router
    redactor: Redactor
    writes: SqlWrites
    policy: Callable[[Caller], WritePolicy]
    names: UserNames
    naming: Naming

    async def trace(self, caller: Caller, write_id: str) -> Trace:
        """Return the steps of a write that this caller may see."""
        checked_text(write_id, "id", MAX_TITLE, blank=True)
        found = await self.writes.trace(caller.readable, write_id)
        if found is None:
            raise NotFound(
                f"There is no write {write_id!r} in {caller.scope.key}",
                hint="write and extract give the id of each write.",
            )
        return found

    async def route(
        self, caller: Caller, message: str, policy: WritePolicy | None, *, before: str = ""
    ) -> Route:
        """Route a message that follows `before`; by default under the caller's own policy."""
        if not isinstance(message, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"message must be text, not {type(message).__name__}", code="wrong_type"
            )
        allowed = self.policy(caller) if policy is None else policy
        return await self.router.route(message, allowed, before=before)
