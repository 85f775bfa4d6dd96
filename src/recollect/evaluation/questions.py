"""A user's own questions: how often recall answers them from the memory as it is.

A file has one question a line: `{"ask": "…", "want": ["…"]}`. A hit is right when it contains one
of `want`, or is one of the records or turns in `ids`; with `"nothing": true` nothing is to be
found. `group` counts questions apart.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from recollect.domain.hit import Hit
from recollect.errors import InvalidInput, NotFound
from recollect.evaluation.metrics import percentile
from recollect.memory import Memory

_FIELDS: Final = ("ask", "want", "ids", "nothing", "group")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with what answers it; nothing may be said to be the answer."""

    ask: str
    want: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    nothing: bool = False
    group: str = ""

    def is_answered_by(self, hit: Hit) -> bool:
        """Return whether a hit is right."""
        found = _plain(hit.content)
        return hit.id in self.ids or any(_plain(text) in found for text in self.want)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The place of the first right hit, from 1; 0 if none of those that were shown is right."""

    question: Question
    place: int
    found: int
    best: str
    milliseconds: float

    @property
    def is_right(self) -> bool:
        return self.found == 0 if self.question.nothing else self.place > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """How many of some questions are answered, as shares: by the first hit, one of three, any.

    `silent` is the share of the questions without an answer that found nothing. None: not asked.
    """

    questions: int
    first: float | None
    in_three: float | None
    found: float | None
    silent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuestions:
    """The result: over all, by group, how fast, and which questions were not answered."""

    overall: Shares
    groups: Mapping[str, Shares]
    recall_p50_ms: float
    recall_p95_ms: float
    missed: tuple[Answered, ...]


def read_questions(file: Path) -> tuple[Question, ...]:
    """Read a file of questions; a bad line is told with its number."""
    try:
        lines = file.read_text("utf-8-sig").splitlines()
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}", code="file_missing") from None
    except (UnicodeDecodeError, OSError) as problem:
        raise InvalidInput(f"{file} cannot be read: {problem}", code="not_readable") from None
    questions = [_question(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not questions:
        raise InvalidInput(f"{file} has no questions", code="missing_field", hint=_HINT)
    return tuple(questions)


async def ask_all(
    memory: Memory,
    questions: Sequence[Question],
    *,
    limit: int,
    step: Callable[[int, int], None] | None = None,
) -> OwnQuestions:
    """Ask each question of this memory; nothing of it is changed."""
    answered: list[Answered] = []
    for number, question in enumerate(questions, start=1):
        start = time.perf_counter()
        hits = (await memory.recall(question.ask, limit=limit)).hits
        passed = (time.perf_counter() - start) * 1e3
        right = (place for place, hit in enumerate(hits, 1) if question.is_answered_by(hit))
        answered.append(
            Answered(
                question=question,
                place=next(right, 0),
                found=len(hits),
                best=hits[0].content if hits else "",
                milliseconds=passed,
            )
        )
        if step is not None:
            step(number, len(questions))
    groups = sorted({it.question.group for it in answered} - {""})
    times = [it.milliseconds for it in answered]
    return OwnQuestions(
        overall=_shares(answered),
        groups={
            name: _shares(it for it in answered if it.question.group == name) for name in groups
        },
        recall_p50_ms=round(percentile(times, 0.5), 1),
        recall_p95_ms=round(percentile(times, 0.95), 1),
        missed=tuple(it for it in answered if not it.is_right),
    )


_HINT: Final = (
    'Write one question a line: {"ask": "Where does Ann live?", "want": ["Basel"]}, or with'
    ' "ids": ["mem_…"], or with "nothing": true.'
)


def _question(number: int, line: str) -> Question:
    try:
        given: object = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(
            f"Line {number} is not JSON: {problem}", code="bad_json", hint=_HINT
        ) from None
    if not isinstance(given, Mapping):
        raise InvalidInput(f"Line {number} is not an object", code="wrong_type", hint=_HINT)
    fields = cast("Mapping[str, Any]", given)
    unknown = set(fields) - set(_FIELDS)
    if unknown:
        raise InvalidInput(
            f"Line {number} has an unknown field: {', '.join(sorted(unknown))}",
            code="unknown_field",
            hint=_HINT,
        )
    ask = fields.get("ask")
    want, ids = _texts(number, "want", fields), _texts(number, "ids", fields)
    nothing = fields.get("nothing") is True
    if not isinstance(ask, str) or not ask.strip() or nothing == bool(want or ids):
        raise InvalidInput(
            f"Line {number} needs `ask` and one of `want`, `ids` and `nothing`",
            code="missing_field",
            hint=_HINT,
        )
    return Question(
        ask=ask,
        want=want,
        ids=ids,
        nothing=nothing,
        group=str(fields.get("group") or ""),
    )


def _texts(number: int, name: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    value: object = fields.get(name, [])
    listed = cast("list[object]", [value] if isinstance(value, str) else value)
    if not isinstance(listed, list) or not all(isinstance(it, str) and it for it in listed):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"Line {number}: {name} is a text or a list of them", code="wrong_type", hint=_HINT
        )
    return tuple(cast("list[str]", listed))


def _shares(answered: Iterable[Answered]) -> Shares:
    some = list(answered)
    asked = [it for it in some if not it.question.nothing]
    silent = [it for it in some if it.question.nothing]
    return Shares(
        questions=len(some),
        first=_share([it.place == 1 for it in asked]),
        in_three=_share([1 <= it.place <= 3 for it in asked]),
        found=_share([it.place > 0 for it in asked]),
        silent=_share([it.found == 0 for it in silent]),
    )


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
