"""Injections: what entered one prompt or tool result, and what the same question gives now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, cast

from recollect.domain.audit import INJECT, AuditEntry, NewAuditEntry
from recollect.domain.context import LeftOut, Reason
from recollect.domain.document import Passage
from recollect.domain.filters import Filter, FilterFields, make_filter
from recollect.domain.hit import Hit
from recollect.domain.profile import ProfileLine
from recollect.domain.scope import Scope
from recollect.domain.unit import ARCHIVE

PROFILE: Final = "profile"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenItem:
    """A record, turn, archive or document that entered a prompt, as it was then."""

    id: str
    # A record's kind, `turn`, `archive`, `document`, or `profile` for a record that stands there;
    # only records have versions.
    kind: str
    version: int | None
    score: float

    @classmethod
    def of(cls, hit: Hit) -> GivenItem:
        record = hit.record
        return cls(
            id=hit.id,
            kind=record.kind.value if record else ARCHIVE if hit.archive else "turn",
            version=None if record is None else record.version,
            score=round(hit.score, 4),
        )

    @classmethod
    def of_passage(cls, passage: Passage) -> GivenItem:
        """Return a passage of a document that entered; its id is the document's."""
        return cls(
            id=passage.citation.document,
            kind="document",
            version=None,
            score=round(passage.score, 4),
        )

    @classmethod
    def of_line(cls, line: ProfileLine) -> GivenItem:
        """Return a line of the profile, which nothing was compared with."""
        return cls(id=line.id, kind=PROFILE, version=line.version, score=1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Injection:
    """A recall whose results entered a prompt or the result of a tool, beside the profile.

    `scope` and `actor` say who asked, `scopes` where they looked. `form` is the form of the block,
    or the name of the tool.
    """

    recall_id: str
    scope: Scope
    actor: str
    at: datetime
    question: str
    scopes: tuple[Scope, ...]
    where: Filter
    limit: int | None
    clause_hits: int = 0
    min_score: float | None
    asked_at: datetime | None
    items: tuple[GivenItem, ...]
    profile: tuple[GivenItem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    form: str
    session: str
    run: str | None = None

    def entry(self) -> NewAuditEntry:
        """Return the audit entry that stores the injection."""
        payload: dict[str, Any] = {
            "question": self.question,
            "scopes": [[one.org, one.workspace, one.agent, one.user] for one in self.scopes],
            "filter": filter_form(self.where),
            "limit": self.limit,
            "clause_hits": self.clause_hits or None,
            "min_score": self.min_score,
            "asked_at": self.asked_at and self.asked_at.isoformat(),
            "items": [[item.id, item.kind, item.version, item.score] for item in self.items],
            "profile": [[line.id, line.version] for line in self.profile],
            "left_out": [[item.id, item.reason.value] for item in self.left_out],
            "form": self.form,
            "session": self.session,
            "run": self.run,
            "agent": self.scope.agent,
        }
        return NewAuditEntry(
            scope=self.scope,
            action=INJECT,
            target=self.recall_id,
            payload={name: value for name, value in payload.items() if value not in (None, [], {})},
            at=self.at,
            actor=self.actor,
        )

    @classmethod
    def from_entry(cls, entry: AuditEntry) -> Injection:
        """Return the injection that an audit entry stores."""
        payload = entry.payload
        asked_at = payload.get("asked_at")
        return cls(
            recall_id=entry.target,
            scope=entry.scope,
            actor=entry.actor,
            at=entry.at,
            question=payload["question"],
            scopes=tuple(
                Scope(org=org, workspace=workspace, agent=agent, user=user)
                for org, workspace, agent, user in payload["scopes"]
            ),
            where=filter_from(payload.get("filter", {})),
            limit=payload.get("limit"),
            clause_hits=payload.get("clause_hits", 0),
            min_score=payload.get("min_score"),
            asked_at=None if asked_at is None else datetime.fromisoformat(asked_at),
            items=tuple(
                GivenItem(id=ident, kind=kind, version=version, score=score)
                for ident, kind, version, score in payload.get("items", ())
            ),
            profile=tuple(
                GivenItem(id=ident, kind=PROFILE, version=version, score=1.0)
                for ident, version in payload.get("profile", ())
            ),
            left_out=tuple(
                LeftOut(id=ident, reason=Reason(reason))
                for ident, reason in payload.get("left_out", ())
            ),
            form=payload["form"],
            session=payload["session"],
            run=payload.get("run"),
        )


# --- Conversion of a filter to JSON and back, with the names that callers use ---------------------


_TIMES: Final = ("since", "until", "as_of", "valid_at")
_USUAL: Final = Filter()


def filter_form(where: Filter) -> dict[str, Any]:
    """Return the conditions that differ from the defaults."""
    if where == _USUAL:
        return {}
    form: dict[str, Any] = {
        "kind": sorted(where.kinds),
        "category": sorted(where.categories),
        "facet": sorted(where.facets),
        "tags": sorted(where.tags),
        "status": [] if where.statuses == _USUAL.statuses else sorted(where.statuses),
        "owners": [] if where.owners == _USUAL.owners else sorted(where.owners),
        "session": where.session,
        "task": where.task,
    }
    form |= {name: moment.isoformat() for name in _TIMES if (moment := getattr(where, name))}
    return {name: value for name, value in form.items() if value not in (None, [])}


def filter_from(form: Mapping[str, Any]) -> Filter:
    """Return the filter that was converted to this form."""
    fields = {
        name: datetime.fromisoformat(value) if name in _TIMES else value
        for name, value in form.items()
    }
    return make_filter(**cast("FilterFields", fields))


# --- Replays of past recalls: what was given then, and what the same question gives now -----------


# The state of an item now; a `not_recalled` one is unchanged, but others answer better.
Fate = Literal[
    "same",
    "changed",
    "deleted",
    "expired",
    "superseded",
    "quarantined",
    "forgotten",
    "not_recalled",
    "new",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedItem:
    """A record or turn that was given then, or that is found now.

    `score` is its score then, None if it was not given. `score_then` is its score for the question
    over what was known then, by words only. `score_now` is None if the question no longer finds
    it.
    """

    id: str
    # A record's kind, `turn`, or `profile` for a line of it; turns have no versions.
    kind: str
    fate: Fate
    version: int | None
    version_now: int | None
    score: float | None
    score_then: float | None
    score_now: float | None
    content: str
    """Its content then, or now if it is new; empty if it was forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A replayed recall: the items that were given, in their order, then the new ones.

    `profile` are the records whose lines stood in the profile.
    """

    DERIVED: ClassVar = ("is_same",)

    recall_id: str
    at: datetime
    actor: str
    scope: Scope
    question: str
    form: str
    session: str
    run: str | None
    items: tuple[ReplayedItem, ...]
    profile: tuple[ReplayedItem, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Return whether the same items and lines of the profile would be given now."""
        return all(item.fate == "same" for item in (*self.items, *self.profile))
