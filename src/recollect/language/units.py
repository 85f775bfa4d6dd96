"""The searchable units of records, turns and archives: their words, and what they are about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import lru_cache

from recollect.domain.archive import Archive
from recollect.domain.record import Episode, Procedure, Record
from recollect.domain.times import to_micros
from recollect.domain.turn import Turn
from recollect.domain.unit import ACT_TRAITS, ARCHIVE, OwnerUnits, Setting, Trait, Unit
from recollect.language.analysis import (
    ANALYZER_VERSION,
    new_term_key,
    term_key,
    term_keys,
    terms,
    text_keys,
)
from recollect.language.characters import HAN
from recollect.language.entities import entities
from recollect.language.sentences import passages, reading_size
from recollect.language.times.calendar import date_terms

# Whether a text says much shows in its beginning; so do the names it is about.
_READ_CHARACTERS = 500
_LINKED = 4_000
_QUESTION_MARKS = ("?", "\uff1f")
_HAN = re.compile(f"[{HAN}]")


def record_units(record: Record, *, hidden: bool = False) -> OwnerUnits:
    """Return the units of a record, one per passage; none while it is hidden, unless asked for."""
    replaced = tuple(map(turn_key, replaced_turns(record)))
    units = _units(record.content, _about(record), _beside(record), record.observed_at, replaced)
    return OwnerUnits(
        scope=record.scope,
        owner_kind="record",
        owner_id=record.id,
        observed_at=record.observed_at,
        analyzer=ANALYZER_VERSION,
        setting=_record_setting(record),
        version=record.version,
        units=tuple(units) if record.is_live or hidden else (),
    )


def turn_units(turn: Turn) -> OwnerUnits:
    """Return the units of a turn; none if it was retracted or has no words, like a bare call."""
    units = _units(turn.content, turn.speaker, "", turn.at)
    return OwnerUnits(
        scope=turn.scope,
        owner_kind="turn",
        owner_id=turn.id,
        observed_at=turn.at,
        analyzer=ANALYZER_VERSION,
        setting=_turn_setting(turn),
        units=tuple(units) if turn.content.strip() and turn.act != "retracted" else (),
    )


def archive_units(archive: Archive, text: str) -> OwnerUnits:
    """Return the units of an archive: its description, then its passages as far as indexed.

    The first one has not all the words of the text, which are many; the passages have them.
    """
    searched = text[: archive.indexed_chars]
    asked = _lines(archive.tool, archive.query)
    about = _lines(asked, archive.summary, *archive.sources)
    units = [_unit(0, 0, len(searched), about)]
    for ordinal, (start, end) in enumerate(passages(searched), start=1):
        units.append(_unit(ordinal, start, end, _lines(asked, searched[start:end])))
    return OwnerUnits(
        scope=archive.scope,
        owner_kind=ARCHIVE,
        owner_id=archive.id,
        observed_at=archive.created_at,
        analyzer=ANALYZER_VERSION,
        units=tuple(units) if searched else (),
    )


def is_searched_alike(one: Record, other: Record) -> bool:
    """Return whether two states of a record have the same units."""
    return (
        one.is_live == other.is_live
        and one.observed_at == other.observed_at
        and (one.content, _about(one), _beside(one), replaced_turns(one))
        == (other.content, _about(other), _beside(other), replaced_turns(other))
    )


def replaced_turns(record: Record) -> tuple[str, ...]:
    """Return the turns whose words the record replaced; they are among its related ids."""
    return tuple(related for related in record.related if related.startswith("turn_"))


def turn_key(turn: str) -> int:
    """Return a turn as a term, under which the record that replaced its words is found."""
    # No name begins so, see `entity_keys`.
    return new_term_key(f"\0\0{turn}")


def _about(record: Record) -> str:
    """Return what every passage of a record is about."""
    return _lines(record.title, *record.tags)


def _beside(record: Record) -> str:
    """Return further words by which a record is found; stored text is not changed."""
    more: list[str] = [record.description]
    if isinstance(record.details, Episode):
        more += [*record.details.participants, record.details.outcome, *record.details.artifacts]
    if isinstance(record.details, Procedure):
        more += [record.details.trigger, *record.details.steps]
    return _lines(*more)


def _record_setting(record: Record) -> Setting:
    """Return the setting of a record: what happened on the same day, in its order."""
    return Setting(
        # Below zero, where no session's key is.
        cluster=-record.observed_at.toordinal(),
        place=to_micros(record.observed_at),
        traits=script_of(record.content),
        size=reading_size(record.content, 0, len(record.content)),
        variety=_variety(record.content),
    )


def _turn_setting(turn: Turn) -> Setting:
    """Return the setting of a turn: its session, and its place there."""
    traits = script_of(turn.content)
    if turn.content.rstrip().endswith(_QUESTION_MARKS):
        traits |= Trait.ASKS
    if turn.role == "assistant":
        traits |= Trait.BY_ASSISTANT
    if turn.act is not None:
        traits |= ACT_TRAITS[turn.act]
    return Setting(
        cluster=number_of(turn.session),
        place=turn.ordinal,
        speaker=speaker_key(turn.speaker),
        traits=traits,
        size=reading_size(turn.content, 0, len(turn.content)),
        variety=_variety(turn.content),
    )


def script_of(text: str) -> Trait:
    """Return the trait that tells whether a text is Chinese."""
    is_chinese = not text.isascii() and _HAN.search(text[:_LINKED])
    return Trait.NONE if is_chinese else Trait.NOT_CHINESE


@lru_cache(maxsize=256)
def speaker_key(name: str) -> int:
    """Return the key of the term that names a speaker; 0 for nobody."""
    found = terms(name)
    if not found:
        return 0
    # A first name (Caroline Smith) or, of a name without spaces, its longest part (张伟).
    term = found[0] if found[0].isascii() else max(found, key=len)
    return signed(term_key(term))


def number_of(session: str) -> int:
    """Return a session as a positive number, the same in every process."""
    return term_key(session) >> 1


def signed(key: int) -> int:
    """Return a term key as the signed 64-bit number that databases store."""
    return key - (1 << 64) if key >> 63 else key


def entity_keys(text: str) -> tuple[int, ...]:
    """Return the names in a text as terms of their own, which link texts with the same names."""
    return tuple(term_key(f"\0{name}") for name in entities(text))


def _units(
    content: str, about: str, beside: str, at: datetime, more: Sequence[int] = ()
) -> Iterator[Unit]:
    """Yield the whole text and, if it is long, its passages.

    The date, the names and what was replaced are something to be found by, not something that was
    said: they are in no text that a vector is made of.
    """
    spans = passages(content)
    dated = _date_keys(at.date())
    whole = _lines(about, content, beside)
    yield _unit(0, 0, len(content), whole, (*dated, *entity_keys(whole[:_LINKED]), *more))
    if len(spans) > 1:
        for ordinal, (start, end) in enumerate(spans, start=1):
            yield _unit(ordinal, start, end, _lines(about, content[start:end]), dated)


def _unit(ordinal: int, start: int, end: int, text: str, more: Sequence[int] = ()) -> Unit:
    keys = [*_keys(text), *more]
    return Unit(ordinal=ordinal, start=start, end=end, text=text, terms=keys)


def _variety(content: str) -> int:
    """Return how many different terms the beginning of a text has."""
    return len(set(_keys(content[:_READ_CHARACTERS])))


def _keys(text: str) -> Sequence[int]:
    """Return the keys of a text; cached because a short text is also its own beginning."""
    return _short_keys(text) if len(text) <= _READ_CHARACTERS else text_keys(text)


@lru_cache(maxsize=16)
def _short_keys(text: str) -> tuple[int, ...]:
    return tuple(text_keys(text))


@lru_cache(maxsize=4096)
def _date_keys(day: date) -> tuple[int, ...]:
    return tuple(term_keys(date_terms(day)))


def _lines(*parts: str) -> str:
    return "\n".join(part for part in parts if part)
