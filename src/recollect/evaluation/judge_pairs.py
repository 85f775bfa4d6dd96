"""Benchmark of the judge: labelled pairs of statements, written one after the other."""

from __future__ import annotations

import json
import lzma
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, cast

from recollect.domain.relation import Relation
from recollect.errors import InvalidInput
from recollect.evaluation.scratch import empty_memory
from recollect.memory import Memory
from recollect.ports.judge import CLASSES
from recollect.settings import Settings
from recollect.writing.judges import normalised

Became = Literal["merged", "replaced", "same", "update", "conflict", "apart"]
"""The outcome of a pair: one record with either text, two with a link, or two without."""

_BETWEEN: Final = timedelta(days=3)
_FIRST: Final = datetime(2026, 1, 5, 9, tzinfo=UTC)
# The figures for each label, and the outcomes that they count. Of what is different, the fewer the
# better.
_FIGURES: Final[Mapping[Relation, Mapping[str, frozenset[Became]]]] = {
    "same": {"once": frozenset({"merged", "replaced", "same"})},
    "update": {"followed": frozenset({"replaced", "update", "conflict"})},
    "conflict": {"surfaced": frozenset({"update", "conflict"})},
    "different": {
        "lost": frozenset({"merged", "replaced"}),
        "linked": frozenset({"update", "conflict"}),
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two statements, the older one first, and their relation."""

    label: Relation
    old: str
    new: str
    language: str
    is_generated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeResult:
    """The outcomes of all pairs, by label."""

    judge: str
    seconds: float
    outcomes: Sequence[tuple[LabelledPair, Became]]

    def as_json(self) -> dict[str, Any]:
        by_hand = [outcome for outcome in self.outcomes if not outcome[0].is_generated]
        generated = [outcome for outcome in self.outcomes if outcome[0].is_generated]
        groups = {"hand": by_hand, "auto": generated}
        return {
            "judge": self.judge,
            "pairs": len(self.outcomes),
            "seconds": round(self.seconds, 1),
            **{name: _by_language(outcomes) for name, outcomes in groups.items() if outcomes},
        }


class _SetClock:
    def __init__(self) -> None:
        self.time = _FIRST

    def now(self) -> datetime:
        return self.time


def read_pairs(file: Path) -> list[LabelledPair]:
    """Return the pairs of a file of JSON lines: label, old, new, lang, optionally auto.

    A file that ends in .xz is unpacked.
    """
    pairs: list[LabelledPair] = []
    packed = file.read_bytes()
    lines = lzma.decompress(packed) if file.suffix == ".xz" else packed
    for number, line in enumerate(lines.decode("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            form = cast("dict[str, Any]", json.loads(line))
            pair = LabelledPair(
                label=form["label"],
                old=form["old"],
                new=form["new"],
                language=form.get("lang", ""),
                is_generated=bool(form.get("auto")),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise InvalidInput(
                f"Line {number} of {file.name} is not a labelled pair: {problem!r}",
                code="bad_pair",
                hint='A line is {"label": …, "old": …, "new": …, "lang": …}.',
            ) from None
        if pair.label not in CLASSES:
            raise InvalidInput(
                f"Line {number} of {file.name} has the label {pair.label!r}, which is not one of: "
                f"{', '.join(CLASSES)}",
                code="bad_pair",
            )
        pairs.append(pair)
    return pairs


async def measure_judge(
    pairs: Sequence[LabelledPair], settings: Settings, *, done: Callable[[int], None]
) -> JudgeResult:
    """Write every pair in a scope of its own, days apart, in a memory that is thrown away."""
    clock = _SetClock()
    outcomes: list[tuple[LabelledPair, Became]] = []
    started = time.perf_counter()
    async with empty_memory(settings, clock=clock) as root:
        for number, pair in enumerate(pairs):
            memory = root.scope(user=f"pair-{number}")
            await memory.write(pair.old)
            clock.time += _BETWEEN
            await memory.write(pair.new)
            outcomes.append((pair, await _became(memory, pair)))
            done(1)
        judge = (await root.stats()).judge
    return JudgeResult(judge=judge, seconds=time.perf_counter() - started, outcomes=outcomes)


async def _became(memory: Memory, pair: LabelledPair) -> Became:
    records = (await memory.list()).items
    said = [normalised(record.content) for record in records]
    has_old = any(normalised(pair.old) in content for content in said)
    has_new = any(normalised(pair.new) in content for content in said)
    if not has_old or not has_new:
        return "replaced" if has_new else "merged"
    for link in (link for record in records for link in record.links):
        return cast("Became", link.relation)
    return "apart" if normalised(pair.old) != normalised(pair.new) else "merged"


def _by_language(outcomes: Sequence[tuple[LabelledPair, Became]]) -> dict[str, Any]:
    grouped: defaultdict[str, list[tuple[LabelledPair, Became]]] = defaultdict(list)
    for outcome in outcomes:
        grouped[outcome[0].language].append(outcome)
    parts = {"all": outcomes, **dict(sorted(grouped.items()))}
    return {name: _figures(part) for name, part in parts.items()}


def _figures(outcomes: Iterable[tuple[LabelledPair, Became]]) -> dict[str, Any]:
    counts: defaultdict[Relation, Counter[Became]] = defaultdict(Counter)
    for pair, became in outcomes:
        counts[pair.label][became] += 1
    figures: dict[str, Any] = {}
    for label in CLASSES:
        of = counts[label].total()
        if of:
            figures[label] = {
                "of": of,
                **{
                    name: round(sum(map(counts[label].__getitem__, counted)) / of, 4)
                    for name, counted in _FIGURES[label].items()
                },
                "became": dict(sorted(counts[label].items())),
            }
    return figures
