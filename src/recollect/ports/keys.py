"""An API key as it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.domain.access import ApiKey


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKey:
    """A key and the hash of its secret."""

    key: ApiKey
    salt: str
    digest: str
