"""Agents: whether they have memory, where it is kept and how it is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recollect.domain.route import WritePolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """An agent as it is set up now, by the settings file and what is kept over it.

    `store` is a name declared under `stores` in the settings file; an empty one is the common
    store. `prefetch_limit` and `write_policy` are None where those of all agents hold.
    """

    name: str
    enabled: bool
    store: str
    prefetch_limit: int | None
    write_policy: WritePolicy | None
    role: str
    children: tuple[str, ...]
    origin: Literal["file", "database"]
    """`database` if something was set that goes before the settings file."""
