"""Stored results of idempotent requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from recollect.domain.change import Idempotency
from recollect.domain.scope import Scope


class KeptResults(Protocol):
    """Results by idempotency key; they are written with the store's commit."""

    async def find(
        self, wanted: Idempotency, principal: str, scope: Scope
    ) -> Mapping[str, Any] | None:
        """Return the earlier result of this request; refuse a key that another request used."""
        ...
