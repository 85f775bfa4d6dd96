"""Of what is told about a person, only a true update takes the place of an older record."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.nursery import WARM

# What was known, what is told later that changes none of it, the change, and whom it concerns.
_KNOWN = {
    "en": (
        "I live in Ghent.",
        "My sister lives in Lima.",
        "I'm allergic to walnuts.",
        "I play the cello.",
        "My manager is Odile.",
    ),
    "zh": (
        "我住在昆明。",
        "我姐姐住在桂林。",
        "我对核桃过敏。",
        "我拉大提琴。",
        "我的领导是老范。",
    ),
}
_BESIDE = {
    "en": (
        "My daughter is allergic to eggs.",
        "My cello needs new strings.",
        "Odile is on leave next week.",
    ),
    "zh": (
        "我女儿对鸡蛋过敏。",
        "我的大提琴该换弦了。",
        "老范下周休假。",
    ),
}
_CHANGE = {"en": "I moved to Turin last weekend.", "zh": "我上周搬去厦门了。"}
_ASKED = {"en": "Where do I live?", "zh": "我住在哪里？"}
_ASKED_OF_SISTER = {"en": "Where does my sister live?", "zh": "我姐姐住在哪里？"}

_WRITE = """
import asyncio, json, sys
from datetime import UTC, datetime, timedelta
from recollect import Memory

class Clock:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    def now(self): return self.at

async def main(path, statements):
    clock = Clock()
    async with Memory.open(path, clock=clock) as memory:
        for statement in statements:
            clock.at += timedelta(days=3)
            await memory.write(statement)
        await memory.drain()

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
"""
_READ = """
import asyncio, json, sys
from recollect import Memory

async def main(path, questions):
    async with Memory.open(path) as memory:
        records = {it.id: it for it in (await memory.list()).items}
        followed = {
            (records[link.older].content, records[link.newer].content)
            for record in records.values() for link in record.links
            if link.relation in ("update", "conflict")
        }
        first = [(await memory.recall(question))[0].content for question in questions]
    print(json.dumps({
        "known": [it.content for it in records.values()], "followed": sorted(followed),
        "first": first,
    }))

asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
"""


def _run(program: str, path: Path, given: tuple[str, ...]) -> str:
    command = [WARM, "-c", program, str(path), json.dumps(given)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("language", ["en", "zh"])
def test_only_the_update_is_followed(
    language: str,
    real_model: None,
    database_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("RECOLLECT_WRITING__JUDGE", "auto")
    monkeypatch.setenv("RECOLLECT_RECALL__PATIENCE", "60")
    home, sister, *_ = known = _KNOWN[language]
    change = _CHANGE[language]
    _run(_WRITE, database_path, (*known, *_BESIDE[language], change))

    asked = (_ASKED[language], _ASKED_OF_SISTER[language])
    found = json.loads(_run(_READ, database_path, asked))

    assert sorted(found["known"]) == sorted((*known, *_BESIDE[language], change))
    assert found["followed"] == [[home, change]]
    assert found["first"] == [change, sister]
