"""Rerankers, which judge how well texts answer a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reranker(Protocol):
    """A model that reads a question and a text together. Safe to call from several tasks.

    A failure raises `NotAvailable`, whose `retryable` says whether to retry; after `close`, calls
    raise `Closed`.
    """

    @property
    def name(self) -> str:
        """Return the name of the model in the settings."""
        ...

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one score per text, in order, from 0 (does not answer) to 1 (does)."""
        ...

    async def close(self) -> None: ...
