"""LoCoMo and LongMemEval in the files that their authors publish: talks, and questions about them.

`locomo10.json` is a list of conversations, each with its sessions and questions; the files of
LongMemEval (`longmemeval_s.json`, `_m`, `_oracle`) are lists of questions, each with its sessions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

from recollect.errors import InvalidInput, NotFound
from recollect.evaluation.replay import RecallSet, SetQuery, SetUnit

_LOCOMO_CATEGORIES: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
_ADVERSARIAL: Final = 5
# Some lines name several turns in one text, or write D30:05.
_TURN: Final = re.compile(r"D:?(\d+):0*(\d+)")
_SESSION: Final = re.compile(r"session_(\d+)")
_ABSTENTION: Final = "_abs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a question is to be answered with; nothing, where the talks do not tell."""

    answer: str
    kind: str
    can_be_answered: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Talks:
    """Conversations of one scope, the questions about them, and what answers these."""

    talks: RecallSet
    expected: Mapping[str, Expected]


def is_original(file: Path) -> bool:
    """Return whether a file is one JSON list, as those of LoCoMo and LongMemEval are."""
    try:
        with file.open("rb") as content:
            return content.read(1_000).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    except OSError:
        # Whoever reads it says so.
        return False


def read_original(file: Path) -> tuple[Talks, ...]:
    """Read a file of LoCoMo or LongMemEval; which one it is, its fields tell."""
    try:
        samples: object = json.loads(file.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}", code="file_missing") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise InvalidInput(f"{file} cannot be read: {problem}", code="not_readable") from None
    listed = cast("list[Mapping[str, Any]]", samples)
    for number, sample in enumerate(listed, 1):
        if not isinstance(sample, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _unlike(file, number, "it is not an object")
    try:
        read = [_read(file, number, sample) for number, sample in enumerate(listed, 1)]
    except RecursionError:
        raise InvalidInput(f"{file} is nested too deeply", code="not_readable") from None
    if not any(it.talks.queries for it in read):
        raise InvalidInput(f"{file} has no questions", code="missing_field", hint=_HINT)
    return tuple(read)


def first_questions(samples: Iterable[Talks], most: int) -> tuple[Talks, ...]:
    """Return the samples with the first questions only, and no sample without any."""
    chosen: list[Talks] = []
    for it in samples:
        queries = it.talks.queries[:most]
        if queries:
            chosen.append(replace(it, talks=replace(it.talks, queries=queries)))
        most -= len(queries)
    return tuple(chosen)


_HINT: Final = (
    "It is to be locomo10.json or a file of LongMemEval as their authors publish them, "
    "or have a question of your own on each line: `recollect eval --help`."
)


def _unlike(file: Path, number: int, problem: str) -> InvalidInput:
    return InvalidInput(
        f"{file}, sample {number}: {problem}", code="unknown_evaluation", hint=_HINT
    )


def _read(file: Path, number: int, sample: Mapping[str, Any]) -> Talks:
    if "conversation" in sample and "qa" in sample:
        read = _read_locomo
    elif "haystack_sessions" in sample and "question" in sample:
        read = _read_longmemeval
    else:
        raise _unlike(file, number, "it has the fields of neither LoCoMo nor LongMemEval")
    try:
        return read(number, sample)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        told = f"the field {problem} is missing" if isinstance(problem, KeyError) else str(problem)
        raise _unlike(file, number, told) from None


def _read_locomo(number: int, sample: Mapping[str, Any]) -> Talks:
    scope = str(sample.get("sample_id", number))
    units = tuple(_locomo_turns(scope, sample["conversation"]))
    known = {unit.id for unit in units}
    queries: list[SetQuery] = []
    expected: dict[str, Expected] = {}
    for at, asked in enumerate(sample["qa"]):
        category = int(asked["category"])
        ident, kind = f"{scope}-{at}", _LOCOMO_CATEGORIES.get(category, str(category))
        can_be_answered = category != _ADVERSARIAL
        expected[ident] = Expected(
            answer=str(asked["answer"]) if can_be_answered else "",
            kind=kind,
            can_be_answered=can_be_answered,
        )
        gold = frozenset(_locomo_evidence(asked.get("evidence"))) & known
        queries.append(
            SetQuery(
                id=ident,
                scope=scope,
                query=str(asked["question"]),
                gold=gold if can_be_answered else frozenset(),
                category=kind,
            )
        )
    talks = RecallSet(name="locomo", units=units, queries=tuple(queries))
    return Talks(talks=talks, expected=expected)


def _locomo_turns(scope: str, conversation: Mapping[str, Any]) -> Iterator[SetUnit]:
    named = (_SESSION.fullmatch(name) for name in conversation)
    for session in sorted(int(it[1]) for it in named if it):
        at = conversation.get(f"session_{session}_date_time")
        for turn in conversation[f"session_{session}"]:
            shown = turn.get("blip_caption")
            yield SetUnit(
                scope=scope,
                id=str(turn["dia_id"]),
                text=f"{turn['text']} [shared image: {shown}]" if shown else str(turn["text"]),
                time=at,
                meta={"session": session, "speaker": str(turn["speaker"])},
            )


def _locomo_evidence(given: object) -> Iterator[str]:
    listed = cast("Sequence[object]", [given] if isinstance(given, str) else given or [])
    for it in listed:
        yield from (f"D{session}:{turn}" for session, turn in _TURN.findall(str(it)))


def _read_longmemeval(number: int, sample: Mapping[str, Any]) -> Talks:
    ident = str(sample.get("question_id", number))
    names = [str(it) for it in sample["haystack_session_ids"]]
    dates, told = sample["haystack_dates"], sample["haystack_sessions"]
    if not len(names) == len(dates) == len(told):
        raise ValueError("it has not as many dates and names as sessions")
    sessions = zip(names, dates, told, strict=True)
    # The units to be found are whole sessions: that is what every file names as evidence.
    units = [
        SetUnit(
            scope=ident,
            id=name,
            text=str(turn["content"]),
            time=at,
            meta={"session": name, "role": str(turn["role"])},
        )
        # Not every file has them in order; the year comes first in their dates.
        for name, at, turns in sorted(sessions, key=lambda it: str(it[1]))
        for turn in turns
    ]
    kind, can_be_answered = str(sample["question_type"]), not ident.endswith(_ABSTENTION)
    gold = frozenset(map(str, sample["answer_session_ids"])) & frozenset(names)
    query = SetQuery(
        id=ident,
        scope=ident,
        query=str(sample["question"]),
        gold=gold if can_be_answered else frozenset(),
        category=kind if can_be_answered else "abstention",
        time=sample.get("question_date"),
    )
    expected = Expected(answer=str(sample["answer"]), kind=kind, can_be_answered=can_be_answered)
    talks = RecallSet(name="longmemeval", units=tuple(units), queries=(query,))
    return Talks(talks=talks, expected={ident: expected})
