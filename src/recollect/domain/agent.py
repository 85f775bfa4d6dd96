"""Agents: whether they have memory, where it is stored and how it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.domain.write import WritePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent as it is configured now, by the settings file and by overrides in the database.

    `store` is a name declared under `stores` in the settings file; empty means the common
    store. `prefetch_limit` and `write_policy` are None where the common settings apply.
    """

    name: str
    enabled: bool
    store: str
    prefetch_limit: int | None
    write_policy: WritePolicy | None
    role: str
    children: tuple[str, ...]
    origin: Literal["file", "database"]
    """`database` if the database overrides the settings file."""
