"""The type of a file, by its name and its first bytes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import PurePath
from typing import Final

from recollect.domain.document import DocumentType
from recollect.errors import InvalidInput

BINARY_TYPES: Final[frozenset[DocumentType]] = frozenset({"pdf", "docx", "pptx", "xlsx"})


@dataclass(frozen=True, slots=True)
class _Formats:
    types: Mapping[str, DocumentType]
    unreadable: frozenset[str]
    media: Mapping[DocumentType, str]


def type_of(name: str, data: bytes = b"") -> DocumentType:
    """Return the type of a file; raise an error if it cannot be read."""
    ending = _ending(name)
    if data.startswith(b"%PDF-"):
        return "pdf"
    formats = _formats()
    if ending in formats.unreadable:
        raise _unknown(name)
    if ending in formats.types:
        return formats.types[ending]
    if data[:512].lstrip().lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    return "text"


def is_readable(name: str) -> bool:
    """Return whether a file has a type that the knowledge base can read."""
    return _ending(name) in _formats().types


def media_type(kind: DocumentType) -> str:
    """Return the media type of a document type, for the library that reads it."""
    return _formats().media[kind]


def _ending(name: str) -> str:
    path = PurePath(name)
    return (path.suffix.removeprefix(".") or path.name).lower()


@lru_cache(maxsize=1)
def _formats() -> _Formats:
    data = tomllib.loads(
        files("recollect.knowledge").joinpath("formats.toml").read_text(encoding="utf-8")
    )
    return _Formats(
        types={ending: kind for kind, endings in data["types"].items() for ending in endings},
        unreadable=frozenset(data["unreadable"]["endings"]),
        media=data["media"],
    )


def _unknown(name: str) -> InvalidInput:
    return InvalidInput(
        f"{PurePath(name).name} has a type that cannot be read; it was not stored",
        code="unknown_type",
        hint="Use Markdown, text, HTML, source code, JSON or CSV, or with "
        "recollect[documents] PDF, DOCX, PPTX or XLSX.",
    )
