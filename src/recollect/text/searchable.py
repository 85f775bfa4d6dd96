"""What of a record or turn is searched: its words and those that tell what it is about."""

from __future__ import annotations

from collections.abc import Iterator

from recollect.domain.record import Episode, Procedure, Record
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits, Unit
from recollect.text.analysis import ANALYZER_VERSION, term_keys, terms
from recollect.text.passages import passages


def record_units(record: Record, *, hidden: bool = False) -> OwnerUnits:
    """The units of a record, one a passage; none while it is hidden, unless asked for."""
    units = _units(record.content, _about(record), _beside(record))
    return OwnerUnits(
        scope=record.scope,
        owner_kind="record",
        owner_id=record.id,
        observed_at=record.observed_at,
        analyzer=ANALYZER_VERSION,
        version=record.version,
        units=tuple(units) if record.is_live or hidden else (),
    )


def turn_units(turn: Turn) -> OwnerUnits:
    """The units of a turn; none when it holds no words, as a bare tool call does."""
    return OwnerUnits(
        scope=turn.scope,
        owner_kind="turn",
        owner_id=turn.id,
        observed_at=turn.at,
        analyzer=ANALYZER_VERSION,
        units=tuple(_units(turn.content, turn.speaker, "")) if turn.content.strip() else (),
    )


def is_searched_alike(one: Record, other: Record) -> bool:
    """Whether two states of a record are found by the same words at the same time."""
    return (
        one.is_live == other.is_live
        and one.observed_at == other.observed_at
        and (one.content, _about(one), _beside(one))
        == (other.content, _about(other), _beside(other))
    )


def _about(record: Record) -> str:
    """What every passage of a record is about."""
    return _lines(record.title, *record.tags)


def _beside(record: Record) -> str:
    """What else a record can be found by. What is stored and shown stays as it was written."""
    more: list[str] = [record.description]
    if isinstance(record.details, Episode):
        more += [*record.details.participants, record.details.outcome, *record.details.artifacts]
    if isinstance(record.details, Procedure):
        more += [record.details.trigger, *record.details.steps]
    return _lines(*more)


def _units(content: str, about: str, beside: str) -> Iterator[Unit]:
    """The whole text first; when it is long, its passages after it."""
    spans = passages(content)
    yield _unit(0, 0, len(content), _lines(about, content, beside))
    if len(spans) > 1:
        for ordinal, (start, end) in enumerate(spans, start=1):
            yield _unit(ordinal, start, end, _lines(about, content[start:end]))


def _unit(ordinal: int, start: int, end: int, text: str) -> Unit:
    return Unit(ordinal=ordinal, start=start, end=end, text=text, terms=term_keys(terms(text)))


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
