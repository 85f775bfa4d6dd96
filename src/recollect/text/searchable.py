"""What of a record or turn is searched: its words and those that tell what it is about."""

from __future__ import annotations

from recollect.domain.record import Episode, Procedure, Record
from recollect.domain.turn import Turn
from recollect.domain.unit import OwnerUnits, Unit
from recollect.text.analysis import ANALYZER_VERSION, term_keys, terms


def record_units(record: Record) -> OwnerUnits:
    """The units of a record; none while it is hidden."""
    return OwnerUnits(
        scope=record.scope,
        owner_kind="record",
        owner_id=record.id,
        observed_at=record.observed_at,
        analyzer=ANALYZER_VERSION,
        version=record.version,
        units=(_unit(record.content, record_text(record)),) if record.is_live else (),
    )


def turn_units(turn: Turn) -> OwnerUnits:
    """The units of a turn; none when it holds no words, as a bare tool call does."""
    return OwnerUnits(
        scope=turn.scope,
        owner_kind="turn",
        owner_id=turn.id,
        observed_at=turn.at,
        analyzer=ANALYZER_VERSION,
        units=(_unit(turn.content, turn_text(turn)),) if turn.content.strip() else (),
    )


def record_text(record: Record) -> str:
    """All words a record can be found by. What is stored and shown stays as it was written."""
    parts = [record.title, record.content, record.description, *record.tags]
    if isinstance(record.details, Episode):
        parts += [*record.details.participants, record.details.outcome, *record.details.artifacts]
    if isinstance(record.details, Procedure):
        parts += [record.details.trigger, *record.details.steps]
    return "\n".join(part for part in parts if part)


def turn_text(turn: Turn) -> str:
    """A turn is found by its words and by who said them."""
    return f"{turn.speaker}\n{turn.content}" if turn.speaker else turn.content


def _unit(content: str, searched: str) -> Unit:
    return Unit(ordinal=0, start=0, end=len(content), terms=term_keys(terms(searched)))
