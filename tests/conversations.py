"""Long sessions as they happen, with things planted in them that a summary must not lose.

The sentences lie in tests/data: planted.tsv, chatter.tsv and pools.tsv, each with a part that
rules were written by ("seen") and a part that was held back ("held").
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from recollect.domain.message import ImagePart, Message, TextPart, ToolCall

Part = Literal["seen", "held"]
KINDS = ("decision", "number", "name", "todo")

_DATA = Path(__file__).parent / "data"
_SLOT = re.compile(r"\{(\w+)\}")
_SENTENCES_OF_ANSWER = {"en": (15, 36), "zh": (13, 32)}
_PROMPTS = {
    "en": "You are a careful engineering assistant. Answer briefly and say what you changed.",
    "zh": "你是一名细心的工程助手。回答要简短，并说明改了什么。",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """One thing to be kept: a sentence, where it was said, and what of it must come through."""

    kind: str
    sentence: str
    keys: tuple[str, ...]
    position: int

    def is_in(self, text: str) -> bool:
        """Whether one line of the text has all of it."""
        keys = [*map(_plain, self.keys)]
        return any(all(key in line for key in keys) for line in _plain(text).split("\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """A session, and what was planted in it."""

    messages: tuple[Message, ...]
    planted: tuple[Planted, ...]

    def kept_in(self, messages: tuple[Message, ...]) -> float:
        """The share of what was planted that can still be read."""
        text = "\n".join(message.text for message in messages)
        return sum(one.is_in(text) for one in self.planted) / len(self.planted)


def long_log(seed: int, language: str, part: Part, *, length: int = 200, facts: int = 40) -> Log:
    """A working session of about 250 tokens a message."""
    chance = random.Random(f"{seed} {language} {part}")
    fill = _Fill(chance, language, part)
    roles = _roles(chance, length)
    speakers = [i for i, role in enumerate(roles) if role in ("user", "assistant")]
    places = sorted(chance.choices(speakers, k=facts))
    planted: dict[int, list[Planted]] = {}
    for place, (kind, template) in zip(places, _facts(chance, language, part, facts), strict=True):
        sentence, keys = fill.sentence(template)
        one = Planted(kind=kind, sentence=sentence, keys=keys, position=place)
        planted.setdefault(place, []).append(one)
    said = [
        _message(i, role, chance, fill, [one.sentence for one in planted.get(i, ())])
        for i, role in enumerate(roles)
    ]
    return Log(messages=tuple(said), planted=tuple(it for row in planted.values() for it in row))


def _roles(chance: random.Random, length: int) -> list[str]:
    """Who speaks when; in more than half of the exchanges a tool is called."""
    roles = ["system"]
    while len(roles) < length:
        roles += ["user", "call", "tool", "assistant"] if chance.random() < 0.62 else []
        roles += ["user", "assistant"] if chance.random() < 0.5 else []
    roles = roles[:length]
    return [*roles[:-1], "assistant"] if roles[-1] == "call" else roles


def _facts(
    chance: random.Random, language: str, part: str, number: int
) -> Iterator[tuple[str, str]]:
    """As many of each kind, every phrasing about as often."""
    chosen: list[tuple[str, str]] = []
    for kind in KINDS:
        phrasings = [row[3] for row in _rows("planted") if row[:3] == (language, kind, part)]
        repeated = phrasings * (number // len(phrasings) + 1)
        chance.shuffle(phrasings)
        chosen += [(kind, phrasing) for phrasing in (phrasings + repeated)[: number // len(KINDS)]]
    chance.shuffle(chosen)
    yield from chosen


def _message(
    index: int,
    role: str,
    chance: random.Random,
    fill: _Fill,
    facts: list[str],
) -> Message:
    language = fill.language
    if role == "system":
        return Message(role="system", parts=(TextPart(text=_PROMPTS[language]),))
    if role == "call":
        call = ToolCall(id=f"call_{index}", name="run", arguments=json.dumps({"step": index}))
        text = TextPart(text=fill.chatter("say", 1))
        return Message(role="assistant", parts=(text,), tool_calls=(call,), id=f"turn_{index}")
    if role == "tool":
        output = TextPart(text=tool_output(chance, fill))
        return Message(
            role="tool", parts=(output,), answers=f"call_{index - 1}", id=f"turn_{index}"
        )
    if role == "user":
        sentences = [fill.chatter("user", 1) for _ in range(chance.randint(0, 4))]
        sentences += [fill.chatter("ask", 1)]
    else:
        low, high = _SENTENCES_OF_ANSWER[language]
        sentences = [fill.chatter("say", 1) for _ in range(chance.randint(low, high))]
    for fact in facts:
        sentences.insert(chance.randint(0, len(sentences)), fact)
    parts = [TextPart(text=_joined(sentences, chance, language))]
    if role == "user" and chance.random() < 0.04:
        picture = ImagePart(source={"url": f"https://example.com/{index}.png"})
        return Message(role="user", parts=(*parts, picture), id=f"turn_{index}")
    return Message(role=role, parts=tuple(parts), id=f"turn_{index}")  # type: ignore[arg-type]


def _joined(sentences: list[str], chance: random.Random, language: str) -> str:
    """Paragraphs, and now and then a list."""
    space = " " if language == "en" else ""
    if len(sentences) > 6 and chance.random() < 0.3:
        return space.join(sentences[:3]) + "\n\n" + "\n".join(f"- {s}" for s in sentences[3:])
    middle = len(sentences) // 2
    if middle > 3:
        return space.join(sentences[:middle]) + "\n\n" + space.join(sentences[middle:])
    return space.join(sentences)


class _Fill:
    """Fills slots; an area is used for one fact only, so that a fact is known by it."""

    def __init__(self, chance: random.Random, language: str, part: str) -> None:
        self.language = language
        self._chance = chance
        self._pools = {
            row[1]: row[3].split("|") for row in _rows("pools") if _fits(row, language, part)
        }
        self._areas = self._pools["area"].copy()
        chance.shuffle(self._areas)
        self._chatter = {
            who: [row[2] for row in _rows("chatter") if row[:2] == (language, who)]
            for who in ("ask", "user", "say")
        }

    def sentence(self, template: str) -> tuple[str, tuple[str, ...]]:
        """A sentence, and what was filled in that must be kept."""
        keys: list[str] = []

        def value(slot: re.Match[str]) -> str:
            name = slot[1]
            chosen = self._areas.pop() if name == "area" else self._value(name.removeprefix("_"))
            if not name.startswith("_"):
                keys.append(chosen)
            return chosen

        return _SLOT.sub(value, template), tuple(keys)

    def chatter(self, who: str, number: int) -> str:
        said = self._chance.choices(self._chatter[who], k=number)
        return " ".join(_SLOT.sub(lambda slot: self._value(slot[1]), one) for one in said)

    def _value(self, name: str) -> str:
        chance, is_chinese = self._chance, self.language == "zh"
        match name:
            case "money":
                if is_chinese:
                    return f"{chance.randint(11, 980) / 10:g} 万元"
                return f"${chance.randint(11, 980) * 100:,}"
            case "count":
                return f"{chance.randint(1_200, 980_000):,}"
            case "percent":
                return f"{chance.randint(21, 780) / 10:g}%"
            case "ms":
                return f"{chance.randint(12, 1900)} {'毫秒' if is_chinese else 'ms'}"
            case "n":
                return str(chance.randint(2, 90))
            case "file":
                return f"{chance.choice(_STEMS)}_{chance.choice(_STEMS)}.py"
            case "symbol":
                return f"{chance.choice(_VERBS)}_{chance.choice(_STEMS)}"
            case _:
                return chance.choice(self._pools[name])


_STEMS = (
    *("batch", "token", "queue", "parser", "worker", "report", "user"),
    *("cache", "index", "page", "event", "mail", "sync", "task"),
)
_VERBS = ("load", "read", "merge", "check", "build", "parse", "send", "update", "flush", "collect")


def tool_output(chance: random.Random, fill: _Fill) -> str:
    """What tools give back: a log, code, JSON, a table, or the words of a page."""
    match chance.randrange(5):
        case 0:
            return "\n".join(_log_line(chance, fill) for _ in range(chance.randint(16, 36)))
        case 1:
            return "\n".join(_code(chance, fill) for _ in range(chance.randint(12, 24)))
        case 2:
            rows = [_record(chance, fill) for _ in range(chance.randint(16, 40))]
            return json.dumps({"status": "ok", "rows": rows}, ensure_ascii=False)
        case 3:
            cells = (
                f"| {fill.chatter('ask', 1)[:18]} | {chance.random():.4f} |" for _ in range(45)
            )
            return "\n".join(("| item | value |", "|---|---|", *cells))
        case _:
            return fill.chatter("say", chance.randint(28, 60))


def _log_line(chance: random.Random, fill: _Fill) -> str:
    at = f"2026-02-{chance.randint(1, 28):02} {chance.randint(0, 23):02}:{chance.randint(0, 59):02}"
    words = fill._value("symbol")
    return (
        f"{at} INFO {words} finished in {chance.randint(1, 900)} ms id={chance.getrandbits(32):x}"
    )


def _code(chance: random.Random, fill: _Fill) -> str:
    name, other = fill._value("symbol"), fill._value("symbol")
    return (
        f"def {name}(items):\n    result = [{other}(item) for item in items]\n    return result\n"
    )


def _record(chance: random.Random, fill: _Fill) -> dict[str, object]:
    return {"id": chance.randint(1, 9999), "name": fill._value("symbol"), "ok": chance.random() < 1}


def _fits(row: tuple[str, ...], language: str, part: str) -> bool:
    return row[0] in (language, "*") and row[2] == part


def _plain(text: str) -> str:
    """Without what a summary may write otherwise: spaces and the comma of thousands."""
    return re.sub(r"[ \t]+|(?<=\d),(?=\d{3})", "", text)


@cache
def _rows(name: str) -> tuple[tuple[str, ...], ...]:
    lines = (_DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line and line[0] != "#")
