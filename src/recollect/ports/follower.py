"""A store that is derived from the database and follows the list of its changes."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from recollect.domain.followers import Difference, Place


class Follower(Protocol):
    """What keeps one derived store equal to the database, scope by scope.

    `recollect.followers.following` calls it, in one process at a time. What it does may be repeated
    after a crash, so every step has the same result when it is done twice. It raises `StoreAway`
    while the store does not answer.
    """

    @property
    def kind(self) -> str:
        """Return what it keeps, in one word, such as "vectors"."""
        ...

    @property
    def name(self) -> str:
        """Return the name of the store, without a password; another place has another name."""
        ...

    @property
    def fewest_units(self) -> int:
        """Return from how many units on a scope is followed; 0 for every scope.

        One that is followed and becomes smaller stays followed.
        """
        ...

    async def advance(self, place: Place) -> Place:
        """Bring the store a step further with a scope and return how far it is then.

        A step takes seconds, not minutes: it is kept after each one how far the follower is, and
        an interrupted build goes on from there. It is called again until the place has reached the
        version of the scope. A place that cannot be followed any more is built anew, from a place
        with the version 0.
        """
        ...

    async def drop(self, scope: int) -> None:
        """Erase everything that the store has of a scope; of scope 0, of all scopes."""
        ...

    async def check(self) -> None:
        """Raise `StoreAway` if the store does not answer."""
        ...


@runtime_checkable
class ComparingFollower(Follower, Protocol):
    """A follower that can compare its store with the database; others are built anew instead."""

    async def compare(self, place: Place, *, repair: bool) -> Difference:
        """Compare what the store has of a scope with what it should have at this place.

        With `repair`, put right what differs.
        """
        ...
