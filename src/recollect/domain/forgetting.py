"""Forgetting: what is to go, what went, and the proof that it is gone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from recollect.domain.scope import Scope

# The kind of the job that finishes a forgetting.
FORGET: Final = "forget"


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A user of a workspace, whichever agents worked for them."""

    org: str
    workspace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to forget: scopes, a person, sessions, or single records, turns and documents.

    `with_evidence` takes the turns along that the records rest on, if they lie `within` these
    scopes: anybody can write down the id of somebody else's turn.
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
        """Whether all that was said in a session goes."""
        person = self.person
        is_theirs = person is not None and (scope.org, scope.workspace, scope.user) == (
            person.org,
            person.workspace,
            person.name,
        )
        return is_theirs or scope in self.scopes or (scope, session) in self.sessions


@dataclass(frozen=True, slots=True, kw_only=True)
class Remains:
    """A term of what was forgotten, and where it was found all the same.

    `place` is said in words; `detail` is the table, or the file and the byte in it.
    """

    term: str
    place: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a search for the forgotten content found, in every store and every file.

    `also_said` are terms that others' memory holds too, with where: they prove nothing and were
    not searched for. `copies` are older copies of the database that keep what they kept.
    """

    terms: int
    searched: tuple[str, ...]
    traces: tuple[Remains, ...]
    also_said: Mapping[str, str] = field(hash=False)
    copies: tuple[str, ...] = ()

    @property
    def is_gone(self) -> bool:
        return not self.traces


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, in numbers by kind, or in a dry run what would be.

    `evidence_left` are turns that still say what a forgotten record rested on. `erasure_pending`
    says that nobody can ask for what was forgotten, but remains in the files are removed later, by
    a job, because the file is large or somebody was reading; `verification` is None until then.
    `wal_pending` is its former name. `unused_room_kept` says that a database of more than 2^25
    pages (128 GB) is too large to be overwritten in place: copies of rows may be left until a
    `VACUUM`.
    """

    forget_id: str
    counts: Mapping[str, int] = field(hash=False)
    evidence_left: tuple[str, ...] = ()
    is_dry_run: bool = False
    erasure_pending: bool = False
    wal_pending: bool = False
    unused_room_kept: bool = False
    verification: Verification | None = None

    @property
    def records(self) -> int:
        return self.counts.get("records", 0)

    @property
    def turns(self) -> int:
        return self.counts.get("turns", 0)
