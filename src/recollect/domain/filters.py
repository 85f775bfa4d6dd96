"""The filter for records, turns and archives, which each back-end compiles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypedDict, TypeVar, Unpack

from recollect.domain.archive import Archive
from recollect.domain.facets import checked_facet
from recollect.domain.fields import MAX_LABEL, checked_items, checked_text
from recollect.domain.record import Kind, Record, Status, with_aliases
from recollect.domain.times import aware
from recollect.domain.turn import Turn
from recollect.domain.unit import ARCHIVE, OWNER_KINDS, RECORD, TURN, OwnerKind
from recollect.errors import InvalidInput

# Archives are left out by default: tool results are not memories.
_DEFAULT_OWNERS: Final[frozenset[OwnerKind]] = frozenset({RECORD, TURN})
_Member = TypeVar("_Member", Kind, Status)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that must all hold. Empty means any; a category includes its aliases.

    `since` and `until` refer to when something happened, `as_of` to when it was known,
    `valid_at` to when it was true. Conditions that only records have exclude turns and archives.
    """

    kinds: frozenset[Kind] = frozenset()
    categories: frozenset[str] = frozenset()
    facets: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    task: str | None = None
    as_of: datetime | None = None
    valid_at: datetime | None = None
    owners: frozenset[OwnerKind] = _DEFAULT_OWNERS

    @property
    def all_categories(self) -> frozenset[str]:
        return frozenset[str]().union(*(with_aliases(name) for name in self.categories))

    @property
    def wants_records(self) -> bool:
        return RECORD in self.owners

    @property
    def wants_turns(self) -> bool:
        return TURN in self.owners and not self._is_about_records

    @property
    def wants_archives(self) -> bool:
        # An archive belongs to no task, and has no history.
        is_possible = self.task is None and self.as_of is None
        return ARCHIVE in self.owners and not self._is_about_records and is_possible

    @property
    def without_archives(self) -> Filter:
        return replace(self, owners=self.owners - {ARCHIVE})

    @property
    def is_indexed(self) -> bool:
        """Return whether the live index holds everything that the filter can accept."""
        return self.as_of is None and self.statuses == frozenset({Status.ACTIVE})

    def accepts_record(self, record: Record, now: datetime) -> bool:
        """Return whether a record matches; the compiled form of every back-end does the same."""
        return (
            self.wants_records
            and (not self.kinds or record.kind in self.kinds)
            and (not self.categories or record.category in self.all_categories)
            and (not self.facets or record.facet in self.facets)
            and self.tags.issubset(record.tags)
            and record.status in self.statuses
            and not self._has_expired(record, now)
            and self._in_range(record.observed_at)
            and self.session in (None, record.session)
            and self.task in (None, record.task)
            and (self.valid_at is None or _is_valid(record, self.valid_at))
        )

    def accepts_turn(self, turn: Turn) -> bool:
        """Return whether a turn matches."""
        return (
            self.wants_turns
            and self._in_range(turn.at)
            and self.session in (None, turn.session)
            and self.task in (None, turn.task)
            and (self.as_of is None or turn.recorded_at <= self.as_of)
        )

    def accepts_archive(self, archive: Archive, now: datetime) -> bool:
        """Return whether an archive matches."""
        return (
            self.wants_archives
            and self._in_range(archive.created_at)
            and self.session in (None, archive.session)
            and not archive.is_expired(now)
        )

    @property
    def _is_about_records(self) -> bool:
        by_record = self.kinds or self.categories or self.facets or self.tags or self.valid_at
        return bool(by_record) or Status.ACTIVE not in self.statuses

    def _in_range(self, moment: datetime) -> bool:
        after = self.since is None or moment >= self.since
        return after and (self.until is None or moment < self.until)

    def _has_expired(self, record: Record, now: datetime) -> bool:
        # An expired record no longer counts as active, even before a sweep marks it.
        if record.status is not Status.ACTIVE or record.expires_at is None:
            return False
        return record.expires_at <= (self.as_of or now) and Status.EXPIRED not in self.statuses


_DEFAULT: Final = Filter()


class CommonFilters(TypedDict, total=False):
    """The filters that every call accepts: one value or several, strings or enum members."""

    kind: Kind | str | Iterable[Kind | str] | None
    category: str | Iterable[str] | None
    facet: str | Iterable[str] | None
    tags: str | Iterable[str] | None
    status: Status | str | Iterable[Status | str] | None
    since: datetime | None
    until: datetime | None
    task: str | None
    as_of: datetime | None
    valid_at: datetime | None
    owners: OwnerKind | Iterable[OwnerKind]


class FilterFields(CommonFilters, total=False):
    """All filters that a caller may use."""

    session: str | None


def make_filter(**fields: Unpack[FilterFields]) -> Filter:
    """Return a filter from the caller's fields, or raise `InvalidInput`."""
    if not fields:
        return _DEFAULT
    unknown = set(fields) - set(FilterFields.__annotations__)
    if unknown:
        raise InvalidInput(f"Unknown filter: {', '.join(sorted(unknown))}", code="unknown_field")
    kinds = _several("kind", fields.get("kind"))
    statuses = _several("status", fields.get("status"))
    return Filter(
        kinds=frozenset(_member(Kind, "kind", kind) for kind in kinds),
        categories=_labels("category", fields.get("category")),
        facets=frozenset(
            checked_facet(facet, "facet") for facet in _several("facet", fields.get("facet"))
        ),
        tags=_labels("tags", fields.get("tags")),
        statuses=frozenset(_member(Status, "status", status) for status in statuses)
        or frozenset({Status.ACTIVE}),
        since=_moment("since", fields.get("since")),
        until=_moment("until", fields.get("until")),
        session=_label("session", fields.get("session")),
        task=_label("task", fields.get("task")),
        as_of=_moment("as_of", fields.get("as_of")),
        valid_at=_moment("valid_at", fields.get("valid_at")),
        owners=frozenset(_owner(owner) for owner in _several("owners", fields.get("owners")))
        or _DEFAULT_OWNERS,
    )


def _moment(name: str, value: datetime | None) -> datetime | None:
    return None if value is None else aware(value, name)


def _owner(value: str) -> OwnerKind:
    for known in OWNER_KINDS:
        if value == known:
            return known
    raise InvalidInput(
        f"owners {value!r} is not one of: {', '.join(OWNER_KINDS)}", code="unknown_value"
    )


def _label(name: str, value: str | None) -> str | None:
    return None if value is None else checked_text(value, name, MAX_LABEL, blank=True)


def _labels(name: str, value: str | Iterable[str] | None) -> frozenset[str]:
    labels = _several(name, value)
    return frozenset(checked_text(label, name, MAX_LABEL, blank=True) for label in labels)


def _several(name: str, value: str | Iterable[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else checked_items(value, name)


def _member(names: type[_Member], name: str, value: str) -> _Member:
    try:
        return names(value)
    except ValueError:
        raise InvalidInput(
            f"{name} {value!r} is not one of: {', '.join(names)}", code="unknown_value"
        ) from None


def _is_valid(record: Record, moment: datetime) -> bool:
    began = record.valid_from is None or record.valid_from <= moment
    return began and (record.valid_to is None or moment < record.valid_to)
