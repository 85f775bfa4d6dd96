"""The names in records, and which of them are told of together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedFact:
    """A record that names somebody or something."""

    id: str
    content: str
    kind: str
    facet: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphName:
    """A person or a thing, as it was first written, and the records that name it."""

    name: str
    sort: Literal["person", "thing"]
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameLink:
    """Two names that the same records tell of."""

    first: str
    second: str
    records: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameGraph:
    """The names in records, those that most records tell of first, their links and the records.

    `read` is how many records were read, and `more` how many names were left out.
    """

    names: tuple[GraphName, ...]
    links: tuple[NameLink, ...]
    facts: tuple[NamedFact, ...]
    read: int
    more: int = 0
