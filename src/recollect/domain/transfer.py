"""What an export and an import transfer, and their results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

from recollect.domain.archive import Archive
from recollect.domain.document import Document
from recollect.domain.item import StoredItem
from recollect.domain.record import Procedure, Record, Version
from recollect.domain.relation import Conflict, Link
from recollect.domain.scope import Scope
from recollect.domain.sharing import Proposal
from recollect.domain.turn import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordHistory:
    """A record with all its versions, oldest first; the last one is the current one."""

    versions: tuple[Version, ...]

    @property
    def current(self) -> Record:
        return self.versions[-1].record

    def holds(self, other: RecordHistory) -> bool:
        """Return whether it has every version of the other, apart from usage counts.

        What a version states may have been decided since, if it was not.
        """
        known = {version.number: version for version in self.versions}
        return all(
            version.number in known and _repeats(known[version.number], version)
            for version in other.versions
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMark:
    """How far extraction has read a session; `turn` is the last turn that was read.

    By that turn the importing side knows whether its session is the same.
    """

    scope: Scope
    session: str
    ordinal: int
    turn: str


# Things that refer to records and turns, which must be imported before.
Attached = Conflict | Link | ReadMark | Proposal | StoredItem
Item = RecordHistory | Turn | Archive | Document | Attached


def name_of(item: Item) -> str:
    """Return the name of an item for people."""
    match item:
        case RecordHistory():
            return item.current.id
        case ReadMark():
            return f"the watermark of {item.session}"
        case Link():
            return f"the link from {item.newer} to {item.older}"
        case _:
            return item.id


def scope_of(item: Item) -> Scope:
    return item.current.scope if isinstance(item, RecordHistory) else item.scope


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedContents:
    """How many archived contents were copied; missing and damaged ones were not.

    `agents_left_out` have a store of their own, which is not in this copy.
    """

    copied: int
    lost: tuple[str, ...] = ()
    agents_left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportCounts:
    """The counts of an export; each item except a version is one line.

    `lost` counts archives that were written without their content, which was missing or damaged.
    """

    records: int
    versions: int
    turns: int
    archives: int = 0
    documents: int = 0
    conflicts: int = 0
    links: int = 0
    watermarks: int = 0
    proposals: int = 0
    items: int = 0
    lost: tuple[str, ...] = ()

    @property
    def lines(self) -> int:
        attached = self.conflicts + self.links + self.watermarks + self.proposals + self.items
        return self.records + self.turns + self.archives + self.documents + attached


@dataclass(frozen=True, slots=True, kw_only=True)
class LineProblem:
    """Why a line of a file was not imported."""

    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of an import by line; only the first problems are listed.

    `lost` counts archives that were left out because the export has no content for them.
    """

    added: int
    unchanged: int
    conflicting: int
    lost: int
    bad: int
    problems: tuple[LineProblem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChats:
    """The result of an import of chat histories by message.

    `known` messages were already stored, `empty` ones have no text; only the first problems are
    listed, each with the number of its entry in the file.
    """

    conversations: int
    added: int = 0
    known: int = 0
    empty: int = 0
    bad: int = 0
    problems: tuple[LineProblem, ...] = ()


# --- Moving in from another memory ----------------------------------------------------------------

Origin = Literal["mem0", "langmem", "langgraph", "letta", "zep", "chatgpt", "claude"]
"""Whose memory is moved in. `langgraph` copies a store as items, `langmem` reads its memories."""

ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many of one kind were added and were here already; the rest is in `left_out`."""

    added: int = 0
    known: int = 0

    def __add__(self, other: Counted) -> Counted:
        return Counted(added=self.added + other.added, known=self.known + other.known)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMoved:
    """What could not be carried over: why, how many, and one of them."""

    reason: str
    count: int
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedIn:
    """The result of moving in from another memory, or with `dry_run` what it would be.

    `owners` counts the memories and messages found for each `agent/user`.
    """

    origin: Origin
    dry_run: bool
    records: Counted = field(default_factory=Counted)
    messages: Counted = field(default_factory=Counted)
    items: Counted = field(default_factory=Counted)
    conversations: int = 0
    owners: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    left_out: tuple[NotMoved, ...] = ()


def _repeats(known: Version, other: Version) -> bool:
    if other.record.facet is None and known.record.facet is not None:
        undecided = known.record.evolve(facet=None, about="", facet_fixed=False)
        known = replace(known, record=undecided)
    return _said(known) == _said(other)


def _said(version: Version) -> tuple[Record, str, str]:
    record = version.record.evolve(access_count=0, last_accessed=None, helped=0, rejected=0)
    if isinstance(record.details, Procedure):
        record = record.evolve(details=record.details.with_uses_of(Procedure()))
    return record, version.changed_by, version.reason


# --- The result of copying a store ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """How many rows of each table and archived contents were copied and compared.

    `lost` names contents that the source refers to but no longer has.
    """

    rows: Mapping[str, int] = field(hash=False)
    contents: int
    lost: tuple[str, ...] = ()
