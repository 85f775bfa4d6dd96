"""What is said, and what is said next."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

_BEFORE = re.compile(r"\s+([.,!?;:]|n't\b|'(?:s|m|re|ve|d|ll)\b)")


def kdconv(text: str) -> Iterator[list[str]]:
    """Yield the turns of each dialogue of KdConv."""
    for dialogue in json.loads(text):
        yield [turn["message"] for turn in dialogue["messages"]]


def zipped(archive: bytes) -> dict[str, list[str]]:
    """Return the turns of each dialogue in a zipped file of CrossWOZ or MultiWOZ, by its name."""
    found: dict[str, list[str]] = {}
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        for name in opened.namelist():
            if name.endswith(".json") and not name.startswith("__"):
                for key, dialogue in json.loads(opened.read(name)).items():
                    turns = dialogue.get("messages") or dialogue.get("log")
                    found[key] = [turn.get("content") or turn["text"] for turn in turns]
    return found


def same_turns(
    chinese: Mapping[str, list[str]], english: Mapping[str, list[str]]
) -> Iterator[tuple[str, str]]:
    """Yield the turns of the dialogues that are there in both languages, turn by turn."""
    for key, turns in chinese.items():
        if len(turns) == len(english.get(key, [])):
            yield from zip(turns, english[key], strict=True)


def detokenised(english: str) -> str:
    """Return the text without the spaces that stand before punctuation and endings."""
    return _BEFORE.sub(r"\1", english)


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
