"""Benchmark of routing: messages with whether they need memory, and whether to keep them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from recollect.domain.context import Tongue
from recollect.errors import InvalidInput
from recollect.evaluation.scratch import empty_memory
from recollect.language.summary import tongue_of
from recollect.settings import Settings

Flag = Literal["reads", "writes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledMessage:
    """A message behind what an assistant said, and how it should be routed, as far as known."""

    before: str
    text: str
    flags: Mapping[Flag, bool]

    @property
    def language(self) -> Tongue:
        return tongue_of([self.text])


def read_messages(file: Path) -> list[LabelledMessage]:
    """Return the messages of a file of JSON lines: messages, or talks with their user turns."""
    messages: list[LabelledMessage] = []
    for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            form = cast("dict[str, Any]", json.loads(line))
            messages += _of_talk(form) if "turns" in form else [_message(form)]
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise InvalidInput(
                f"Line {number} of {file.name} is not a labelled message: {problem!r}",
                code="bad_message",
                hint='A line is {"before": …, "text": …, "reads": …, "writes": …}, or a talk: '
                '{"turns": [{"role": …, "content": …}], "keep": [{"turn": …}], "reads": […]}.',
            ) from None
    return messages


async def measure_routes(
    messages: Sequence[LabelledMessage], settings: Settings, *, done: Callable[[int], None]
) -> dict[str, Any]:
    """Route each message; return how often each flag is right, by language."""
    counts: Counter[tuple[str, Flag, str]] = Counter()
    async with empty_memory(settings) as memory:
        for message in messages:
            found = await memory.route(message.text, policy="auto", context=message.before)
            said: dict[Flag, bool] = {"reads": found.should_read, "writes": found.should_write}
            for flag, wanted in message.flags.items():
                result = "right" if said[flag] == wanted else f"wrong_{_YES[said[flag]]}"
                counts[message.language, flag, result] += 1
            done(1)
    return {
        language: {flag: _figures(counts, language, flag) for flag in ("reads", "writes")}
        for language in ("en", "zh")
        if any(its == language for its, _, _ in counts)
    }


_YES = {True: "yes", False: "no"}


def _figures(counts: Counter[tuple[str, Flag, str]], language: str, flag: Flag) -> dict[str, float]:
    right, yes, no = (counts[language, flag, it] for it in ("right", "wrong_yes", "wrong_no"))
    whole = right + yes + no
    accuracy = round(right / whole, 3) if whole else 0.0
    return {"messages": whole, "accuracy": accuracy, "wrong_yes": yes, "wrong_no": no}


def _message(form: Mapping[str, Any]) -> LabelledMessage:
    flags: dict[Flag, bool] = {"reads": bool(form["reads"]), "writes": bool(form["writes"])}
    return LabelledMessage(
        before=str(form.get("before") or ""), text=str(form["text"]), flags=flags
    )


def _of_talk(form: Mapping[str, Any]) -> Iterator[LabelledMessage]:
    kept = {int(item["turn"]) for item in form["keep"]}
    reads = {int(turn) for turn in form["reads"]} if "reads" in form else None
    before = ""
    for number, turn in enumerate(form["turns"]):
        if turn["role"] == "user":
            flags: dict[Flag, bool] = {"writes": number in kept}
            if reads is not None:
                flags["reads"] = number in reads
            yield LabelledMessage(before=before, text=str(turn["content"]), flags=flags)
        before = str(turn["content"]) if turn["role"] == "assistant" else ""
