"""What `sources.toml` says of each source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent.parent / "sources.toml"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A repository (owner/name) at a commit."""

    name: str
    commit: str


@dataclass(frozen=True, slots=True)
class Source:
    """One source; `key` is the first column of its rows."""

    key: str
    title: str
    repositories: tuple[Wanted, ...]
    licence: str
    share_alike: bool


def read_catalogue(file: Path = FILE) -> list[Source]:
    return [_source(it) for it in tomllib.loads(file.read_text("utf-8"))["source"]]


def _source(listed: dict[str, Any]) -> Source:
    return Source(
        key=listed["key"],
        title=listed["title"],
        repositories=tuple(
            Wanted(*repository.split("@")) for repository in listed.get("repositories", [])
        ),
        licence=listed["licence"],
        share_alike=listed.get("share_alike", False),
    )
