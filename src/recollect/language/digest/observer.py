"""What reads a text line by line, in one pass, and then tells what it found."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recollect.language.digest.findings import Finding
from recollect.language.digest.wording import Wording


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """The beginning and the end of a text, by which its shape is guessed."""

    head: Sequence[str]
    tail: Sequence[str]
    text: str

    @property
    def lines(self) -> list[str]:
        """Return the lines that say something."""
        return [line for line in (*self.head, *self.tail) if line.strip()]


class Observer(ABC):
    """Reads one shape of text."""

    @classmethod
    @abstractmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether a text looks like this shape."""

    @abstractmethod
    def read(self, line: str, number: int) -> bool:
        """Read the next line; return whether it is told of here and need not be quoted."""

    @abstractmethod
    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield what was found."""
