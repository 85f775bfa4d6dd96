"""Judging how well texts answer a question, whichever model does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Reranker(Protocol):
    """One model that reads a question and a text together. Safe to call from several tasks.

    What goes wrong is a `NotAvailable`, whose `retryable` tells whether later may be better; after
    `close` it is `Closed`.
    """

    @property
    def name(self) -> str:
        """The model as settings name it."""
        ...

    async def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """One score a text, in their order, from 0 (does not answer) to 1 (does)."""
        ...

    async def close(self) -> None: ...
