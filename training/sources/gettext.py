"""Translations from gettext files (`.po`): msgid and msgstr are one sentence in two languages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from training.sources.markup import plain_rst

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(.)")
_CONTROL = {"n": "\n", "t": " ", "r": ""}


def entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield msgstr and msgid of each entry that is translated and not fuzzy."""
    for block in re.split(r"\n\s*\n", text):
        fields = {"msgid": "", "msgstr": ""}
        current, fuzzy = "", False
        for line in block.splitlines():
            if line.startswith("#"):
                fuzzy |= line.startswith("#,") and "fuzzy" in line
                continue
            keyword, _, rest = line.partition(" ")
            if keyword in fields:
                current, line = keyword, rest
            elif keyword.startswith("msg"):
                current = ""
            if current and (quoted := _QUOTED.search(line)):
                fields[current] += quoted[1]
        if fields["msgid"] and fields["msgstr"] and not fuzzy:
            yield _unescaped(fields["msgstr"]), _unescaped(fields["msgid"])


def plain_entries(text: str) -> Iterator[tuple[str, str]]:
    """Yield the entries without reStructuredText's marks."""
    for chinese, english in entries(text):
        yield plain_rst(chinese), plain_rst(english)


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _CONTROL.get(found[1], found[1]), text)
