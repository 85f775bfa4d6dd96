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


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a store has of one scope, compared with the database."""

    items: int = 0
    missing: int = 0
    extra: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciled:
    """What a derived store has, compared with the database.

    `items` are what both should have in the `scopes` that were compared; `missing` are not in the
    store, and `extra` are only there. Those were put right if it is `repaired`. What the store was
    yet to apply is in `state` and is no difference.
    """

    name: str
    kind: str
    repaired: bool
    state: FollowerState
    scopes: int = 0
    items: int = 0
    missing: int = 0
    extra: int = 0
