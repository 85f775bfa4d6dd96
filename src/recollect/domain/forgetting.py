"""Forgetting: the target, the result, and the verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from recollect.domain.scope import Scope

# The kind of the job that finishes a forgetting.
FORGET: Final = "forget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of a workspace, across all agents."""

    org: str
    workspace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to forget: scopes, a person, sessions, or single records, turns and documents.

    `with_evidence` includes the turns that are evidence of the records, if they are `within` these
    scopes: anybody could cite the id of somebody else's turn.
    """

    scopes: tuple[Scope, ...] = ()
    person: Person | None = None
    sessions: tuple[tuple[Scope, str], ...] = ()
    records: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    with_evidence: bool = False
    within: tuple[Scope, ...] = ()

    def takes_session(self, scope: Scope, session: str) -> bool:
        """Return whether all turns of a session are forgotten."""
        person = self.person
        is_theirs = person is not None and (scope.org, scope.workspace, scope.user) == (
            person.org,
            person.workspace,
            person.name,
        )
        return is_theirs or scope in self.scopes or (scope, session) in self.sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """A term of forgotten content that was found, and where.

    `place` is a description; `detail` is the table, or the file and the byte offset in it.
    """

    term: str
    place: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of searching every store and file for the forgotten content.

    `also_said` are terms that the memory of others holds too, and where: they prove nothing and
    were not searched for. `copies` are older copies of the database, which were not changed. A
    search for no term at all proves nothing.
    """

    terms: int
    searched: tuple[str, ...]
    traces: tuple[Remains, ...]
    also_said: Mapping[str, str] = field(hash=False)
    copies: tuple[str, ...] = ()

    @property
    def is_gone(self) -> bool:
        """Return whether something was searched for, and not found."""
        return self.terms > 0 and not self.traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """How much was forgotten of each kind, or would be in a dry run.

    `evidence_left` are turns that were evidence of a forgotten record and stay. `erasure_pending`
    means that the content is no longer reachable, but a job has yet to erase it: because the file
    is large or was being read, or because stores are `away`, such as Redis or S3; `verification` is
    None until then. `wal_pending` is its former name. `unused_room_kept` means that a database of
    more than 2^25 pages (128 GB) is too large to be overwritten in place: copies of rows may be
    left until a `VACUUM`.
    """

    forget_id: str
    counts: Mapping[str, int] = field(hash=False)
    evidence_left: tuple[str, ...] = ()
    is_dry_run: bool = False
    erasure_pending: bool = False
    wal_pending: bool = False
    unused_room_kept: bool = False
    away: tuple[str, ...] = ()
    verification: Verification | None = None

    @property
    def records(self) -> int:
        return self.counts.get("records", 0)

    @property
    def turns(self) -> int:
        return self.counts.get("turns", 0)
