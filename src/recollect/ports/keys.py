"""An API key as it is stored."""

from __future__ import annotations

from recollect.domain.access import ApiKey
from recollect.domain.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key and the hash of its secret."""

    key: ApiKey
    salt: str
    digest: str
