"""Readers of facets: which attribute a statement states or a question asks for, and of whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from recollect.ports.units import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetGuess:
    """What a statement states, or a question asks for, and whom it is about."""

    facet: str | None = None
    """Empty if no facet is likely enough; None if that could not be decided now."""
    about: str = ""
    """user, other or thing; empty if that is not likely enough."""
    probability: float = 0.0
    """The probability of the most likely facet, or that it states none."""
    facets: Mapping[str, float] = field(default_factory=dict[str, float], hash=False)
    """The probability of each facet; empty text stands for none of them."""
    abouts: Mapping[str, float] = field(default_factory=dict[str, float], hash=False)
    """The same of whom it is about."""

    def overlap(self, other: FacetGuess) -> float:
        """Return how likely both state one facet, relative to how certain they are: 0 to 1."""
        mine, theirs = self.facets, other.facets
        both = sum(share * theirs.get(name, 0.0) for name, share in mine.items())
        squares = (sum(it * it for it in shares.values()) for shares in (mine, theirs))
        first, second = squares
        return both / (first * second) ** 0.5 if first and second else 1.0


UNDECIDED: Final = FacetGuess()


class FacetReader(Protocol):
    """Tells facets. Safe to call from several tasks at once; a failure gives undecided guesses."""

    @property
    def model(self) -> str:
        """Return the name of the embedder whose vectors it reads."""
        ...

    async def read(
        self, statements: Sequence[str], vectors: Sequence[Vector | None] = ()
    ) -> Sequence[FacetGuess]:
        """Return what each statement states; `vectors` are those that are known already."""
        ...

    async def asked(self, question: str) -> FacetGuess:
        """Return what a question asks for."""
        ...
