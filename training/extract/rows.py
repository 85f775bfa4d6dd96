"""Make the rows the reader learns from: `python -m training.extract.rows OUT`.

A row is one part of a user's message, as `recollect.language.extraction.parts` cuts it, with what
stands before it and what the talks' authors say of it. A tenth of the talks is held back.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from recollect.language.extraction.parts import last_sentence, parts

DATA = Path(__file__).parent / "data"
STATEMENTS = Path(__file__).parents[1] / "facets" / "data"
ENOUGH = 0.5
HELD_BACK = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows = [*talk_rows(talks()), *statement_rows()]
    with (given.out / "extract_rows.jsonl").open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    held = [talk for talk in talks() if is_held_back(talk)]
    with (given.out / "talks_held_back.jsonl").open("w", encoding="utf-8") as file:
        for talk in held:
            file.write(json.dumps(talk, ensure_ascii=False) + "\n")
    print(
        {
            name: sum(row["held"] is held for row in rows)
            for name, held in (("train", False), ("held back", True))
        }
    )


def talks(folder: Path = DATA) -> list[dict[str, Any]]:
    """Return all talks of the folder, each with its name."""
    return [
        {"name": f"{file.stem}:{number}", **json.loads(line)}
        for file in sorted(folder.glob("talks_*.jsonl"))
        for number, line in enumerate(file.read_text("utf-8").splitlines())
    ]


def is_held_back(talk: dict[str, Any]) -> bool:
    """Return whether a talk is kept for measuring; the same talks whatever is added."""
    return crc32(talk["turns"][0]["content"].encode()) % HELD_BACK == 0


def talk_rows(given: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each part of what the users say."""
    for talk in given:
        asked = ""
        for number, turn in enumerate(talk["turns"]):
            if turn["role"] != "user":
                asked = last_sentence(turn["content"])
                continue
            keep = _spans(talk, "keep", number)
            skip = _spans(talk, "skip", number)
            for part in parts(turn["content"], asked):
                place = part.clause.start, part.clause.end
                kept, skipped = _label(place, keep), _label(place, skip)
                yield {
                    "talk": talk["name"],
                    "turn": number,
                    "place": place,
                    "text": part.text,
                    "before": part.before,
                    "held": is_held_back(talk),
                    "worth": kept["lasts"] if kept else "not",
                    "facet": kept["facet"] if kept else None,
                    "sure": bool(kept or skipped),
                }


def statement_rows() -> Iterator[dict[str, Any]]:
    """Yield a row for each statement and question with a facet."""
    for tongue in ("en", "zh"):
        lines = (STATEMENTS / f"{tongue}.jsonl").read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            it = json.loads(line)
            is_told = it["k"] == "s"
            yield {
                "talk": f"facets_{tongue}:{number}",
                "turn": 0,
                "place": [0, len(it["t"])],
                "text": it["t"],
                "before": "",
                "held": crc32(it["t"].encode()) % HELD_BACK == 0,
                "worth": None if is_told and it["f"] != "chatter" else "not",
                "facet": it["f"],
                "sure": True,
            }


def _spans(talk: dict[str, Any], kind: str, turn: int) -> list[tuple[int, int, dict[str, Any]]]:
    said = talk["turns"][turn]["content"]
    found: list[tuple[int, int, dict[str, Any]]] = []
    for it in talk[kind]:
        if it["turn"] == turn:
            start = said.find(it["span"])
            found.append((start, start + len(it["span"]), it))
    return found


def _label(
    place: tuple[int, int], spans: Sequence[tuple[int, int, dict[str, Any]]]
) -> dict[str, Any] | None:
    """Return the item whose span the part shares most with; None if that is not half of either."""
    best, label = 0.0, None
    for start, end, it in spans:
        shared = min(end, place[1]) - max(start, place[0])
        if shared <= 0:
            continue
        share = max(shared / (place[1] - place[0]), shared / (end - start))
        if share >= ENOUGH and share > best:
            best, label = share, it
    return label


if __name__ == "__main__":
    main()
