"""Stores that are derived from the database and follow its changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

FollowerCondition = Literal["current", "behind", "building", "away"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a follower is with one scope.

    It has everything up to `version`; 0 means that it has nothing that could be used. A build leads
    to the version `target`, and `position` is how far it is: a number that only the follower reads,
    at most the number of the scope's next unit.
    """

    scope: int
    version: int = 0
    target: int = 0
    position: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowerState:
    """The state of a store that follows the database, and how far it is behind.

    `lag` counts the writes that it has yet to apply in scopes that it has; scopes that it does not
    have yet are in `to_build`, and those that were forgotten and are still there in `to_erase`.
    `done` of `total` units are in it.
    """

    name: str
    kind: str
    condition: FollowerCondition
    scopes: int = 0
    to_build: int = 0
    to_erase: int = 0
    lag: int = 0
    done: int = 0
    total: int = 0
    problem: str = ""
    """Why it is away, in words for an operator."""
