"""The verbs of a memory that lead through the write pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from recollect.domain.fields import RecordFields
from recollect.domain.route import Route, WritePolicy
from recollect.domain.scope import Caller
from recollect.domain.write import Trace, Written

if TYPE_CHECKING:
    from recollect.parts import Parts


class WritingVerbs:
    """Part of `Memory`: what is said is checked, compared with what is known, and kept once."""

    _parts: Parts
    _caller: Caller

    async def write(
        self,
        content: str,
        *,
        namespace: str | tuple[str, str] | None = None,
        explicit: bool = True,
        idempotency_key: str | None = None,
        **fields: Unpack[RecordFields],
    ) -> Written:
        """Remember a claim unless it is known: new, said again, changed or contradicted.

        Unlike `remember` it decides where the claim belongs and compares it with what is stored.
        `metadata={"strategy": …}` says how a change is taken in: overwrite, append or summarise.
        What is not `explicit` must prove itself first, in the short-term buffer.
        """
        return await self._parts.writing.pipeline.write(
            self._caller,
            content,
            namespace=namespace,
            explicit=explicit,
            idempotency_key=idempotency_key,
            **fields,
        )

    async def extract(self, session: str | None = None) -> tuple[Written, ...]:
        """Read now what a session, or all of them, say that is worth remembering.

        It also happens by itself, every few turns and at the end of a session; no turn is read
        twice.
        """
        return await self._parts.writing.extraction.extract(self._caller, session)

    async def trace(self, write_id: str) -> Trace:
        """What each step of a write decided, and why."""
        return await self._parts.writing.trace(self._caller, write_id)

    async def route(self, message: str, *, policy: WritePolicy | None = None) -> Route:
        """Whether a message should be answered with memory, and whether it should become some."""
        return await self._parts.writing.route(self._caller, message, policy)
