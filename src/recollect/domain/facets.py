"""Facets: which attribute a record states, such as home, employer or allergy.

The vocabulary is data: `facets.toml` beside this file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from recollect.errors import InvalidInput

# Whom a record is about; empty if that is unknown.
ABOUT: Final = ("user", "other", "thing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """An attribute that records state, with its label in both languages."""

    name: str
    en: str
    zh: str
    # Whether a person has one value of it at a time.
    single: bool = False
    # Its place in the profile; none if it does not belong there.
    profile: int | None = None
    # Whether it concerns a person's health, so that it has the first claim to room.
    vital: bool = False
    # Another one that a single statement often states as well; none if empty.
    near: str = ""


@cache
def facets() -> Mapping[str, Facet]:
    """Return the vocabulary by name."""
    data = tomllib.loads((files("recollect.domain") / "facets.toml").read_text("utf-8"))
    return {name: Facet(name=name, **fields) for name, fields in data.items()}


def with_near(name: str) -> frozenset[str]:
    """Return a facet with the one that statements of it often state as well."""
    near = facets()[name].near if name in facets() else ""
    return frozenset(filter(None, (name, near)))


def checked_facet(value: object, name: str = "facet") -> str:
    """Return the name of a known facet, or empty text for an unknown one."""
    if isinstance(value, str) and (not value or value in facets()):
        return value
    raise InvalidInput(
        f"{name} {value!r} is not one of: {', '.join(facets())}",
        code="unknown_value",
        hint="Empty text stands for an unknown one.",
    )


def checked_about(value: object, name: str = "about") -> str:
    """Return whom a record is about, or empty text if that is unknown."""
    if isinstance(value, str) and (not value or value in ABOUT):
        return value
    raise InvalidInput(f"{name} {value!r} is not one of: {', '.join(ABOUT)}", code="unknown_value")
