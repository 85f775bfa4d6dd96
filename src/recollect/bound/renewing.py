"""The verb of a memory by which everything is indexed and embedded anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.progress import Progress
from recollect.domain.reindexing import Reindexing

if TYPE_CHECKING:
    from recollect.parts import Parts


class RenewingVerbs:
    """Part of `Memory`: keeping the index in step with the model that makes vectors."""

    _parts: Parts

    async def reindex(
        self,
        progress: Progress | None = None,
        *,
        model: str | None = None,
        background: bool = False,
    ) -> int:
        """Make the vectors that are missing, of the settings' model or of another `model`.

        In each scope the old vectors answer until the new ones are all there. What is begun is
        gone on with by any open memory, in the `background` only there. Returns how many pieces
        had no vector of the model.
        """
        return await self._parts.renewal.reindex(progress, model, in_background=background)

    async def reindexing(self) -> Reindexing:
        """How far a change of the model is, or what the model in use has yet to read."""
        return await self._parts.renewal.progress()

    async def stop_reindexing(self) -> bool:
        """End a change of the model, in whichever process it goes on; False if there is none.

        The vectors made so far are kept, and in every scope the model answers that did.
        """
        return await self._parts.renewal.stop()
