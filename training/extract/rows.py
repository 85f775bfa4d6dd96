"""Make the rows from which reading messages is learnt: `python -m training.extract.rows OUT`.

A part is one part of a user's message, as `recollect.language.extraction.parts` cuts it, with what
stands before it and what the talks' authors say of it, the attribute that it states among that. A
record is what was to be kept of it, as it should stand. A message is a whole one, with what the
assistant said before it and whether its answer needs memory. A tenth of the talks chooses limits,
another tenth measures; neither is trained on.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

from recollect.language.characters import fold
from recollect.language.extraction.parts import last_sentence, parts
from training.answers.histories import read_histories

Row = dict[str, Any]
Talk = dict[str, Any]

DATA = Path(__file__).parent / "data"
HISTORIES = Path(__file__).parents[1] / "answers" / "data"
STATEMENTS = Path(__file__).parents[1] / "facets" / "data"
ENOUGH = 0.5
HELD_BACK = 10
STANCES = {
    "question": "asked",
    "request": "requested",
    "hypothetical": "supposed",
    "quoted": "quoted",
    "negated": "denied",
    "chatter": "chatter",
    "echo": "chatter",
    "task": "task",
    "transient": "told",
    "known": "told",
}
"""How what is skipped is meant, by why it is skipped."""


STANDING = ("instruction", "answer_format")
"""The facets of what holds for all answers to come."""
MAY_WISH = re.compile(r"remember|forget|\bnote\b|keep in mind|记|忘|备忘", re.IGNORECASE)
"""In talks without wishes, words of a part of which it is not known."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    all_talks = talks()
    rows = (*talk_rows(all_talks), *history_rows(), *statement_rows())
    write(given.out / "extract_parts.jsonl", rows)
    write(given.out / "extract_records.jsonl", record_rows(all_talks))
    write(given.out / "extract_messages.jsonl", (*message_rows(all_talks), *single_messages()))
    held = [talk for talk in all_talks if use_of(first_words(talk)) == "measure"]
    write(given.out / "talks_held_back.jsonl", held)
    singles = [row for row in single_messages() if row["held"] == "measure"]
    write(given.out / "messages_held_back.jsonl", singles)


def write(file: Path, rows: Iterable[Row]) -> None:
    counts: Counter[str] = Counter()
    with file.open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
            counts[row.get("held", "measure")] += 1
    print(file.name, dict(counts))


def use_of(text: str) -> str:
    """Return what a text is for; the same whatever is added."""
    return {0: "measure", 1: "choose"}.get(crc32(text.encode()) % HELD_BACK, "train")


def first_words(talk: Talk) -> str:
    return talk["turns"][0]["content"]


def talks(folder: Path = DATA) -> list[Talk]:
    """Return all talks of the folder, each with its name and the turns that need memory."""
    reads = {
        row["talk"]: row["reads"]
        for file in sorted(folder.glob("reads_*.jsonl"))
        for row in map(json.loads, file.read_text("utf-8").splitlines())
    }
    found: list[Talk] = []
    for file in sorted(folder.glob("talks_*.jsonl")):
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            name = f"{file.stem}:{number}"
            found.append({"name": name, "reads": reads.get(name), **json.loads(line)})
    return found


def talk_rows(given: Sequence[Talk]) -> Iterator[Row]:
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
                stance = STANCES.get(skipped["why"]) if skipped else None
                yield {
                    "talk": talk["name"],
                    "turn": number,
                    "text": fold(part.text),
                    "before": fold(part.before),
                    "held": use_of(first_words(talk)),
                    "worth": kept["lasts"] if kept else "not",
                    "stance": "told" if kept else stance,
                    "about": kept.get("whose") if kept else None,
                    "wish": _wish(talk, part.text, kept or skipped),
                    "facet": kept.get("facet") if kept else None,
                    "sure": bool(kept or skipped),
                }


def history_rows(folder: Path = HISTORIES) -> Iterator[Row]:
    """Yield a row for each message of one part that answers a later question: it tells something.

    For how long it is worth keeping, and of whom it tells, is not known.
    """
    for file in sorted(folder.glob("histories_*.txt")):
        for history in read_histories(file):
            answers = {name for asked in history.asked for name in asked.now | asked.was}
            asked = ""
            for number, message in enumerate(history.messages):
                if message.speaker == "a":
                    asked = last_sentence(message.text)
                    continue
                found = parts(message.text, asked)
                asked = ""
                if message.name in answers and len(found) == 1:
                    yield {
                        "talk": f"{file.stem}:{history.who}",
                        "turn": number,
                        "text": fold(found[0].text),
                        "before": fold(found[0].before),
                        "held": use_of(history.who),
                        "worth": "some",
                        "stance": None,
                        "about": None,
                        "wish": None,
                        "facet": None,
                        "sure": True,
                    }


def statement_rows() -> Iterator[Row]:
    """Yield a row for each statement and question with a facet."""
    for tongue in ("en", "zh"):
        lines = (STATEMENTS / f"{tongue}.jsonl").read_text("utf-8").splitlines()
        for number, line in enumerate(lines):
            it = json.loads(line)
            is_told = it["k"] == "s"
            is_chatter = it["f"] == "chatter"
            yield {
                "talk": f"facets_{tongue}:{number}",
                "turn": 0,
                "text": fold(it["t"]),
                "before": "",
                "held": use_of(it["t"]),
                "worth": "some" if is_told and not is_chatter else "not",
                "stance": ("chatter" if is_chatter else "told") if is_told else "asked",
                "about": it["who"] if is_told else None,
                "wish": "standing" if is_told and it["f"] in STANDING else "none",
                "facet": ("" if is_chatter else it["f"]) if is_told else None,
                "sure": True,
            }


def record_rows(given: Sequence[Talk]) -> Iterator[Row]:
    """Yield a row for each record that is to be made of a talk."""
    for talk in given:
        for kept in talk["keep"]:
            if kept.get("record") and kept.get("facet"):
                yield {
                    "talk": talk["name"],
                    "text": fold(kept["record"]),
                    "before": "",
                    "held": use_of(first_words(talk)),
                    "facet": kept["facet"],
                }


def message_rows(given: Sequence[Talk]) -> Iterator[Row]:
    """Yield a row for each message of a talk in which it is known which ones need memory."""
    for talk in given:
        asked = ""
        for number, turn in enumerate(talk["turns"]):
            if turn["role"] != "user":
                asked = last_sentence(turn["content"])
            elif talk["reads"] is not None:
                yield {
                    "talk": talk["name"],
                    "before": fold(asked),
                    "text": fold(turn["content"]),
                    "needs": number in talk["reads"],
                    "held": use_of(first_words(talk)),
                }


def single_messages(folder: Path = DATA) -> Iterator[Row]:
    """Yield the messages that belong to no talk."""
    for file in sorted(folder.glob("messages_*.jsonl")):
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            it = json.loads(line)
            yield {
                **it,
                "talk": f"{file.stem}:{number}",
                "before": fold(it["before"]),
                "text": fold(it["text"]),
                "needs": it["reads"],
                "held": use_of(it["text"]),
            }


def _wish(talk: Talk, text: str, label: Row | None) -> str | None:
    """Return what a part asks memory for; None where its talk does not say."""
    if label is None:
        return None
    if label.get("facet") in STANDING:
        return "standing"
    if label.get("wish", "this") != "this":
        return label["wish"]
    # "Note it down" alone is labelled in either way.
    is_told = talk["name"].startswith("talks_wishes") and "wish" not in label
    return "none" if is_told or not MAY_WISH.search(text) else None


def _spans(talk: Talk, kind: str, turn: int) -> list[tuple[int, int, Row]]:
    said = talk["turns"][turn]["content"]
    found: list[tuple[int, int, Row]] = []
    for it in talk[kind]:
        if it["turn"] == turn:
            start = said.find(it["span"])
            found.append((start, start + len(it["span"]), it))
    return found


def _label(place: tuple[int, int], spans: Sequence[tuple[int, int, Row]]) -> Row | None:
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
