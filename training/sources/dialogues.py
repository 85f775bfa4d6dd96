"""What is said, and what is said next."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from itertools import pairwise


def kdconv(text: str) -> Iterator[list[str]]:
    """Yield the turns of each dialogue of KdConv."""
    for dialogue in json.loads(text):
        yield [turn["message"] for turn in dialogue["messages"]]


def crosswoz(archive: bytes) -> Iterator[list[str]]:
    """Yield the turns of each dialogue of CrossWOZ, whose files are zipped."""
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            if name.endswith(".json") and not name.startswith("__"):
                for dialogue in json.loads(opened.read(name)).values():
                    yield [turn["content"] for turn in dialogue["messages"]]


def schema_guided(text: str) -> Iterator[list[str]]:
    for dialogue in json.loads(text):
        yield [turn["utterance"] for turn in dialogue["turns"]]


def replies(dialogues: Iterable[list[str]]) -> Iterator[tuple[str, str]]:
    """Yield each turn with the next one."""
    for turns in dialogues:
        yield from pairwise(turns)


def column(text: str, name: str) -> list[str]:
    """Return a column of a CSV file with a heading."""
    return [row[name] for row in csv.DictReader(io.StringIO(text))]


def clinc(text: str) -> Iterator[str]:
    for rows in json.loads(text).values():
        yield from (said for said, _ in rows)


def slurp(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield json.loads(line)["sentence"]
