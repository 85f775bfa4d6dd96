"""What a database must be able to do beside plain SQL."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Sequence
from typing import Final, Protocol, TypeAlias

from sqlalchemy import Connection

# The terms of a unit as they are stored: the keys, little-endian.
Terms: TypeAlias = bytes
KEY_BYTES: Final = 8
# As many digits of a token are the key; its space comes before.
KEY_DIGITS: Final = 16


class Dialect(Protocol):
    """One kind of database."""

    @property
    def is_server(self) -> bool:
        """Return whether several writers use it at the same time."""
        ...

    def create_tables(self, connection: Connection) -> None:
        """Make the newest schema in an empty database."""
        ...

    def raise_generation(self, connection: Connection) -> None:
        """Begin another generation of scopes.

        What is kept anywhere of a forgotten scope is then never taken for a new one's.
        """
        ...

    def generation(self, connection: Connection) -> int:
        """Return how often a generation of scopes has begun."""
        ...

    def set_generation(self, connection: Connection, number: int) -> None:
        """Go on from this generation: for a copy."""
        ...

    def go_on_numbering(self, connection: Connection, tables: Sequence[str]) -> None:
        """Let new rows of these tables get higher numbers than those that are there."""
        ...

    def clear_tokens(self, connection: Connection) -> None:
        """Empty the full text, to make it anew."""
        ...

    def size(self, connection: Connection) -> int:
        """Return how many bytes the database takes."""
        ...

    def look_for_damage(self, connection: Connection) -> str:
        """Return what the database says is wrong with itself; empty when nothing is."""
        ...

    def look_closely(self, connection: Connection) -> str:
        """Return the same after reading every page, also those of indexes and the full text."""
        ...

    def describe(self, connection: Connection) -> str:
        """Return what an operator wants to know of it: how it writes, or its version."""
        ...

    def unmet(self, connection: Connection) -> list[tuple[str, str]]:
        """Return what the server lacks for us, each with what to do about it."""
        ...

    def add_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        """Make units findable by their terms in the full text."""
        ...

    def remove_tokens(
        self, connection: Connection, space: int, units: Sequence[tuple[int, Terms]]
    ) -> None:
        """Take units out of the full text; their terms must be those they were added with."""
        ...

    def frequencies(
        self, connection: Connection, space: int, keys: Sequence[int]
    ) -> dict[int, int]:
        """Return in how many units of a space each term is; terms in none are left out."""
        ...

    def newest_with(
        self, connection: Connection, space: int, keys: Sequence[int], most: int
    ) -> list[int]:
        """Return the units that have any of these terms, newest first."""
        ...

    def stored_tokens(self, connection: Connection) -> Iterator[tuple[int, str]]:
        """Yield every token of the full text with the unit that has it."""
        ...

    def merge_tokens(self, connection: Connection, *, is_first: bool) -> bool:
        """Do one step of writing the full text anew without what was taken out.

        Returns whether there is more to do.
        """
        ...

    def used_keys(self, connection: Connection, keys: Collection[int]) -> set[int]:
        """Return those of these terms that the full text has in any space."""
        ...

    def says(self, connection: Connection, term: str) -> bool:
        """Return whether the definition of the database itself has this word in it."""
        ...


def token(space: int, key: int) -> str:
    """Return the one word that stands for a term in a space."""
    return f"{space:08x}{key:016x}"


def tokens(space: int, terms: Terms) -> list[str]:
    """Return the words for several terms, each once."""
    beginning = f"{space:08x}"
    # All at once, which takes a third of the time that one number after the other does.
    keys = array("Q", terms)
    keys.byteswap()
    digits = keys.tobytes().hex()
    return [beginning + it for it in {digits[at : at + 16] for at in range(0, len(digits), 16)}]
