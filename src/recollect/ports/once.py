"""What came of requests that are to happen once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from recollect.domain.change import Idempotency
from recollect.domain.scope import Scope


class KeptResults(Protocol):
    """Results by the keys of their requests; they are written with the store's commit."""

    async def find(
        self, wanted: Idempotency, principal: str, scope: Scope
    ) -> Mapping[str, Any] | None:
        """What came of this request before; a key of another request is refused."""
        ...
