"""Patterns mean the same on every Python that is supported."""

import re
from pathlib import Path

import recollect

# Before 3.11.5 Python goes on behind what the last, failed repetition of such a group had read.
_POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[\d,{}]+\})\+")


def test_no_group_is_repeated_possessively():
    sources = Path(recollect.__file__).parent.rglob("*.py")
    found = [
        f"{source.name}: {line.strip()}"
        for source in sources
        for line in source.read_text("utf-8").splitlines()
        if _POSSESSIVE_GROUP.search(line)
    ]
    assert not found
