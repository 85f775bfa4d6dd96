"""The outcome of a new record: which stored records it concerns, and how both look afterwards.

A stored record is changed only if the relation is certain, a model decided it, or the confidence is
above a measured threshold. Otherwise both records stay, with a link between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from recollect.domain.profile import author_of, written_by
from recollect.domain.record import Evidence, Kind, Procedure, Record, Status, Tier, with_aliases
from recollect.domain.relation import RULES, UNRELATED, Relation, Strategy, Verdict
from recollect.language.analysis import terms
from recollect.language.claims.instructions import contradicts
from recollect.ports.judge import MOST_JUDGED, Judge
from recollect.writing.candidates import Candidate
from recollect.writing.judges import normalised, statement_of
from recollect.writing.saver import replacing

CALLER: Final = "caller"
"""The value of `decided_by` if the caller named the record to be changed."""

# Of several related records, one that says the same counts most, then one that is updated.
_WEIGHT: Final[Mapping[Relation, int]] = {"same": 3, "update": 2, "conflict": 1, "different": 0}
# Statements within this time were made together: neither is the later one.
_MAX_SIMULTANEOUS_GAP: Final = timedelta(minutes=1)
# A correction this soon after a statement that shares this many words refers to that statement.
_MAX_CORRECTION_DELAY: Final = timedelta(minutes=10)
_MIN_SHARED_TERMS_RATIO: Final = 0.5
# Events further apart are two events, whatever their words.
_MAX_EVENT_GAP: Final = timedelta(days=1)
_MAX_EVIDENCE: Final = 100
_CONFIRMATION_GAIN: Final = 0.2
_MAX_CONFIDENCE: Final = 0.99
# As extraction gives them to what the user asks to remember.
_ASKED_CONFIDENCE: Final = 0.95
_ASKED_IMPORTANCE: Final = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """A stored record that a new one relates to, and how."""

    record: Record
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The outcome for a new record.

    It confirms or updates the record of `changed`, if there is one; the records of `linked` stay,
    with a link to it.
    """

    changed: Related | None = None
    linked: tuple[Related, ...] = ()
    is_known: bool = False
    """Whether the same evidence was counted before."""
    degraded: str = field(default="", compare=False)
    """Why a better judge was not available."""

    @property
    def verdict(self) -> Verdict:
        """Return the verdict that counts most."""
        if self.changed is not None:
            return self.changed.verdict
        return self.linked[0].verdict if self.linked else UNRELATED


def is_earlier(said_at: datetime, old: Record) -> bool:
    """Return whether something was said clearly before what a stored record says."""
    return said_at < old.last_confirmed - _MAX_SIMULTANEOUS_GAP


async def decide(
    new: Record,
    said_at: datetime,
    candidates: Sequence[Candidate],
    judge: Judge,
    *,
    corrects: bool = False,
    about: Sequence[Evidence] = (),
    ends_facts: bool = False,
) -> Decision:
    """Return which candidates the new record repeats, updates or contradicts.

    A record that refers to earlier words is `about` the records made from them; one that `corrects`
    updates what it contradicts. An event may update a fact only if it `ends_facts`.
    """
    compared = [
        candidate
        for candidate in candidates
        if ends_facts or not is_fact_beside_event(new, candidate.record)
    ]
    records = [candidate.record for candidate in compared]
    if corrects:
        about = (*about, *_said_right_before(new, said_at, records))
    named = [
        Related(record=record, verdict=verdict)
        for record in records
        if (verdict := _named_verdict(new, record, about)) is not None
    ]
    if named:
        return _decision(new, named)
    stored = records[:MOST_JUDGED]
    judged = await judge.judge(
        statement_of(new, said_at),
        [
            statement_of(candidate.record, near=candidate.near)
            for candidate in compared[:MOST_JUDGED]
        ],
    )
    found = (
        Related(record=old, verdict=_adjust(new, old, verdict, corrects=corrects))
        for old, verdict in zip(stored, judged.verdicts, strict=True)
    )
    related = [related for related in found if related.verdict.relation != "different"]
    return replace(_decision(new, related), degraded=judged.degraded)


def _said_right_before(
    new: Record, said_at: datetime, compared: Sequence[Record]
) -> tuple[Evidence, ...]:
    """Return the previous statement of this session, if a correction refers to it."""
    here = [
        candidate
        for candidate in compared
        if candidate.session == new.session is not None
        and candidate.category in with_aliases(new.category)
        and timedelta() <= said_at - candidate.last_confirmed <= _MAX_CORRECTION_DELAY
    ]
    last = max(here, key=lambda record: (record.last_confirmed, record.id), default=None)
    if last is None:
        return ()
    mine, theirs = set(terms(new.content)), set(terms(last.content))
    speaks_of_it = len(mine & theirs) >= _MIN_SHARED_TERMS_RATIO * min(len(mine), len(theirs))
    return last.evidence if speaks_of_it else ()


def _decision(new: Record, related: Sequence[Related]) -> Decision:
    """Return the decision: change the best candidate, link the others."""
    ordered = sorted(related, key=lambda other: _rank(other.verdict), reverse=True)
    changed = next(
        (other for other in ordered if other.verdict.is_sure and _changes(other.verdict)), None
    )
    if changed is None:
        return Decision(linked=tuple(ordered))
    evidence = set(changed.record.evidence)
    return Decision(
        changed=changed,
        linked=tuple(other for other in ordered if other is not changed),
        is_known=bool(new.evidence) and set(new.evidence) <= evidence,
    )


def _changes(verdict: Verdict) -> bool:
    """Return whether the verdict changes a stored record; in a conflict both stay."""
    return verdict.relation in ("same", "update")


def _rank(verdict: Verdict) -> tuple[int, float]:
    return _WEIGHT[verdict.relation], verdict.probability


def _named_verdict(new: Record, old: Record, about: Sequence[Evidence]) -> Verdict | None:
    """Return the verdict if the words or the caller say which record is meant."""
    if not set(about).isdisjoint(old.evidence):
        return _certain("update", "sets right what was said right before", RULES)
    if contradicts(new.content, old.content):
        return _certain("update", "the later of two opposite instructions holds", RULES)
    if len(new.evidence) > 1 and new.evidence[0] in old.evidence:
        return _certain("same", "asked to be remembered", RULES)
    if new.kind is old.kind is not Kind.EPISODIC and _have_one_name(new, old):
        says_more = normalised(new.content) != normalised(old.content) or _has_other_steps(new, old)
        return _certain("update" if says_more else "same", "has the same name", CALLER)
    return None


def _certain(relation: Relation, reason: str, decided_by: str) -> Verdict:
    return Verdict(
        relation=relation, probability=1.0, reason=reason, decided_by=decided_by, is_sure=True
    )


def _have_one_name(new: Record, old: Record) -> bool:
    """Return whether both have the same key or title."""
    mine, theirs = new.metadata.get("key"), old.metadata.get("key")
    if isinstance(mine, str) and mine:
        return mine == theirs
    title = normalised(new.title)
    return bool(title) and title == normalised(old.title) and new.category == old.category


def _adjust(new: Record, old: Record, verdict: Verdict, *, corrects: bool) -> Verdict:
    """Return the judge's verdict, adjusted by what is known of the two records."""
    if new.kind is old.kind is Kind.EPISODIC:
        # Events do not change: two accounts that differ are about two events.
        is_one = abs(new.observed_at - old.observed_at) < _MAX_EVENT_GAP
        if verdict.relation != "same" or not is_one:
            return replace(verdict, relation="different", reason="another event", is_sure=False)
    if verdict.relation == "same" and _has_other_steps(new, old):
        return replace(verdict, relation="update", reason="the same with other steps")
    is_changed = verdict.relation in ("update", "conflict")
    if is_changed and new.metadata.get("strategy") is not None:
        # Whoever says how a change is applied wants it applied.
        return replace(verdict, relation="update", is_sure=True)
    if corrects and is_changed:
        return replace(
            verdict, relation="update", reason="the new statement corrects", is_sure=True
        )
    return verdict


def is_fact_beside_event(new: Record, old: Record) -> bool:
    """Return whether the stored record is a fact and the new one an event."""
    return new.kind is Kind.EPISODIC and old.kind is Kind.SEMANTIC


def _has_other_steps(new: Record, old: Record) -> bool:
    mine, theirs = new.details, old.details
    if not isinstance(mine, Procedure) or not isinstance(theirs, Procedure):
        return False
    return bool(mine.steps) and (mine.trigger, mine.steps) != (theirs.trigger, theirs.steps)


# --- Afterwards ----------------------------------------------------------------------------------


def confirmed(old: Record, new: Record, said_at: datetime, now: datetime) -> Record:
    """Return the stored record, confirmed once more."""
    surer = old.confidence + (1 - old.confidence) * _CONFIRMATION_GAIN * new.confidence
    # What a model saved is vouched for by a person who writes the same.
    is_vouched = author_of(old) == "model" and author_of(new) is None and not new.evidence
    metadata = written_by(old.metadata, "person") if is_vouched else old.metadata
    return old.evolve(
        evidence_count=old.evidence_count + new.evidence_count,
        evidence=_evidence(old, new),
        confidence=max(old.confidence, min(surer, _MAX_CONFIDENCE)),
        importance=max(old.importance, new.importance),
        last_confirmed=max(old.last_confirmed, said_at),
        metadata=metadata,
        **_lifetime(old, new),
        updated_at=now,
        version=old.version + 1,
    )


def kept(old: Record, wish: Evidence, said_at: datetime, now: datetime) -> Record:
    """Return the stored record, for good because the user asked to remember it."""
    is_short = old.tier is Tier.SHORT
    return old.evolve(
        evidence=_all_evidence(old.evidence, (wish,)),
        evidence_count=old.evidence_count + 1,
        confidence=max(old.confidence, _ASKED_CONFIDENCE),
        importance=max(old.importance, _ASKED_IMPORTANCE),
        last_confirmed=max(old.last_confirmed, said_at),
        tier=Tier.LONG,
        expires_at=None if is_short else old.expires_at,
        updated_at=now,
        version=old.version + 1,
    )


def renewed(
    old: Record, new: Record, content: str, strategy: Strategy, said_at: datetime, now: datetime
) -> Record:
    """Return the stored record with the new content; `overwrite` keeps nothing of the old."""
    overwrites = strategy == "overwrite"
    if is_fact_beside_event(new, old):
        new = new.evolve(kind=old.kind, details=None)  # the state after the event is a fact
    # Of the words of a model something stays unless they are overwritten.
    author = "model" if author_of(old) == "model" and not overwrites else None
    tags = new.tags if overwrites and new.tags else tuple(dict.fromkeys((*old.tags, *new.tags)))
    after = old.evolve(
        content=content,
        # What is merged of both states what both state.
        facet=new.facet or (None if new.facet is None else old.facet),
        about=new.about,
        facet_fixed=new.facet_fixed,
        title=new.title or old.title,
        description=new.description or old.description,
        tags=tags,
        details=_details(old, new),
        confidence=new.confidence,
        importance=max(old.importance, new.importance),
        evidence_count=new.evidence_count + (0 if overwrites else old.evidence_count),
        evidence=new.evidence if overwrites else _evidence(old, new),
        source=new.source or old.source,
        related=tuple(dict.fromkeys((*old.related, *new.related))),
        session=new.session or old.session,
        task=new.task or old.task,
        last_confirmed=max(old.last_confirmed, said_at),
        metadata={**written_by(old.metadata, author), **new.metadata},
        **_renewed_lifetime(old, new),
        updated_at=now,
        version=old.version + 1,
    )
    if not overwrites:
        return after
    ends = new.valid_to
    after = replacing(after, old.evidence, new.evidence)
    return after.evolve(first_observed=said_at, valid_from=new.valid_from or said_at, valid_to=ends)


def outdated(new: Record, old: Record, said_at: datetime) -> Record:
    """Return the new record as superseded by the stored one."""
    began = new.valid_from or said_at
    ended = old.valid_from or old.first_observed
    return new.evolve(
        status=Status.SUPERSEDED,
        related=tuple(dict.fromkeys((*new.related, old.id))),
        valid_from=began,
        valid_to=ended if ended > began else None,
    )


def _evidence(old: Record, new: Record) -> tuple[Evidence, ...]:
    return _all_evidence(old.evidence, new.evidence)


def _all_evidence(old: Sequence[Evidence], new: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Return all evidence once; if there is much, the first and the latest."""
    together = tuple(dict.fromkeys((*old, *new)))
    if len(together) <= _MAX_EVIDENCE:
        return together
    return (together[0], *together[1 - _MAX_EVIDENCE :])


def _lifetime(old: Record, new: Record) -> dict[str, Any]:
    """Return the changes to tier and expiry when something is said again."""
    if old.tier is Tier.LONG:
        return {}
    if new.tier is Tier.LONG:
        return {"tier": Tier.LONG, "expires_at": new.expires_at}
    times = [time for time in (old.expires_at, new.expires_at) if time is not None]
    return {"expires_at": max(times, default=None)}


def _renewed_lifetime(old: Record, new: Record) -> dict[str, Any]:
    """Return the changes to tier and expiry when a record is updated."""
    if new.tier is Tier.LONG:
        return {"tier": Tier.LONG, "expires_at": new.expires_at}
    # A long-term record stays long-term when it changes.
    return {"tier": old.tier, "expires_at": None if old.tier is Tier.LONG else new.expires_at}


def _details(old: Record, new: Record) -> Any:
    if isinstance(old.details, Procedure) and isinstance(new.details, Procedure):
        mine = new.details if new.details.steps else replace(new.details, steps=old.details.steps)
        return mine.with_uses_of(old.details)
    return new.details or old.details
