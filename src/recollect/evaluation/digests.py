"""Benchmark of digests: the share of the facts a reader needs that a digest holds."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from recollect.errors import InvalidInput
from recollect.language.digest import digest
from recollect.language.token_estimate import EstimatedTokens

BUDGETS: Final = (60, 200, 600)
LABELS: Final = "labels.jsonl"
_GROUPED: Final = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """A tool result, and the facts that somebody who asked for it would need.

    A fact is found by any of several lists of words; all words of one list must be there.
    """

    name: str
    shape: str
    language: str
    query: str
    text: str
    facts: tuple[tuple[tuple[str, ...], ...], ...]


def read_texts(folder: Path) -> list[LabelledText]:
    """Return the texts of a folder with their labels."""
    labels = folder / LABELS
    texts: list[LabelledText] = []
    for number, line in enumerate(labels.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            texts.append(_text(folder, cast("dict[str, Any]", json.loads(line))))
        except (ValueError, KeyError, TypeError, OSError) as problem:
            raise InvalidInput(
                f"Line {number} of {labels} is not a labelled text: {problem!r}",
                code="bad_text",
                hint='A line is {"file": …, "shape": …, "language": …, "query": …, '
                '"facts": [{"fact": …, "found_by": [[…], …]}]}.',
            ) from None
    return texts


def measure_digests(
    texts: Sequence[LabelledText], *, done: Callable[[int], None]
) -> dict[str, Any]:
    """Return the share of facts in digests of several sizes, beside two simple ways of cutting."""
    count = EstimatedTokens().count
    ways: Mapping[str, Callable[[LabelledText, int], str]] = {
        "digest": lambda text, room: str(digest(text.text, room, count, query=text.query)),
        "head and tail": lambda text, room: _head_and_tail(text.text, room, count),
        "opening": lambda text, room: _opening(text.text, room, count),
    }
    found: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for text in texts:
        for room in BUDGETS:
            for way, shorten in ways.items():
                short = shorten(text, room)
                held = sum(_holds(short, fact) for fact in text.facts)
                for group in ("all", text.language, text.shape):
                    told = found[f"{way} {room}"][group]
                    told[0] += held
                    told[1] += len(text.facts)
        done(1)
    return {
        name: {group: round(held / whole, 3) for group, (held, whole) in groups.items()}
        for name, groups in found.items()
    }


def _text(folder: Path, form: Mapping[str, Any]) -> LabelledText:
    return LabelledText(
        name=form["file"],
        shape=form["shape"],
        language=form["language"],
        query=form.get("query", ""),
        text=(folder / form["file"]).read_text("utf-8"),
        facts=tuple(tuple(tuple(way) for way in fact["found_by"]) for fact in form["facts"]),
    )


def _holds(text: str, fact: tuple[tuple[str, ...], ...]) -> bool:
    plain = _plain(text)
    return any(all(_is_in(_plain(word), plain) for word in way) for way in fact)


def _is_in(word: str, text: str) -> bool:
    """Return whether a text has some words; a number at their border must end there too."""
    before = r"(?<!\d)(?<!\d[.,])" if word[:1].isdigit() else ""
    after = r"(?!\d)(?![.,]\d)" if word[-1:].isdigit() else ""
    return re.search(before + re.escape(word) + after, text) is not None


def _plain(text: str) -> str:
    joined = _GROUPED.sub(lambda number: number[0].replace(",", ""), text)
    return _SPACES.sub(" ", joined).casefold()


def _opening(text: str, room: int, count: Callable[[str], int]) -> str:
    cut = text[: room * 8]
    while cut and (size := count(cut)) > room:
        cut = cut[: min(len(cut) - 1, len(cut) * room // size)]
    return cut


def _head_and_tail(text: str, room: int, count: Callable[[str], int]) -> str:
    head = _opening(text, room // 2, count)
    tail = _opening(text[::-1], room // 2, count)[::-1]
    return f"{head}\n…\n{tail}"
