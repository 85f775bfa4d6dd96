"""What becomes of a new record beside the stored ones: which of them it concerns, and how both
look afterwards.

Where the stored one stands although the new one differs (it is the later or the surer), the new one
is kept as a superseded record that points to it: versions are numbered by when we learnt of them,
so what was true before cannot be put between them afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from recollect.domain.category import with_aliases
from recollect.domain.record import Evidence, Kind, Procedure, Record, Status, Tier
from recollect.domain.relation import Judgement, Relation, Strategy
from recollect.text.analysis import terms
from recollect.writing.candidates import Candidate
from recollect.writing.reconcile import relate
from recollect.writing.replacing import replacing
from recollect.writing.strategy import strategy_of

# Of many that fit, what says the same counts most, then what it changes.
_WEIGHT: Final[Mapping[Relation, int]] = {"same": 3, "update": 2, "conflict": 1, "different": 0}
# Two events of different days are two events, whatever their words.
_ONE_EVENT: Final = timedelta(days=1)
_EVIDENCE_KEPT: Final = 100
_SURER_BY: Final = 0.2
_SUREST: Final = 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How a new record relates to the stored one that it concerns; to none, it is different."""

    judgement: Judgement
    old: Record | None = None
    is_known: bool = False
    """The very same words were taken before: there is nothing to count again."""

    @property
    def relation(self) -> Relation:
        return self.judgement.relation


_NOTHING_ALIKE: Final = Decision(
    judgement=Judgement(relation="different", reason="nothing stored is about it", similarity=0.0)
)


_SET_RIGHT: Final = Judgement(
    relation="update", reason="sets right what was said right before", similarity=1.0
)


def decide(
    new: Record,
    said_at: datetime,
    candidates: Iterable[Candidate],
    threshold: float,
    *,
    corrects: bool = False,
    about: Sequence[Evidence] = (),
    ends_facts: bool = False,
) -> Decision:
    """Which of the candidates the new record says again, changes or contradicts.

    One that points back to words is `about` what was made of them. An event may take the place of
    a fact only where it `ends_facts`.
    """
    best = _NOTHING_ALIKE
    for candidate in candidates:
        if is_fact_beside_event(new, candidate.record) and not ends_facts:
            continue
        if not set(about).isdisjoint(candidate.record.evidence):
            return Decision(judgement=_SET_RIGHT, old=candidate.record)
        judgement = _judged(new, said_at, candidate, threshold, corrects=corrects)
        if _rank(judgement) > _rank(best.judgement):
            best = Decision(judgement=judgement, old=candidate.record)
    if best.old is not None and new.evidence and set(new.evidence) <= set(best.old.evidence):
        return replace(best, is_known=True)
    return best


def _rank(judgement: Judgement) -> tuple[int, float]:
    return _WEIGHT[judgement.relation], judgement.similarity


def _judged(
    new: Record, said_at: datetime, candidate: Candidate, threshold: float, *, corrects: bool
) -> Judgement:
    old = candidate.record
    if _confirms(new, old):
        return Judgement(relation="same", reason="asked to be remembered", similarity=1.0)
    judgement = relate(
        new.content,
        old.content,
        cosine=candidate.cosine,
        new_at=said_at,
        old_at=old.last_confirmed,
        new_confidence=new.confidence,
        old_confidence=old.confidence,
        replaces=_was_written(new) and strategy_of(new, old) == "overwrite",
        corrects=corrects,
        is_event=is_fact_beside_event(new, old),
    )
    if judgement.relation == "same" and judgement.similarity < threshold:
        return replace(judgement, relation="different", reason="less alike than duplicates are")
    if judgement.relation in ("update", "conflict") and not _share_a_subject(new, old):
        return replace(judgement, relation="different", reason="about something else")
    if new.kind is old.kind is Kind.EPISODIC and _are_two_events(new, old, judgement):
        return replace(judgement, relation="different", reason="another event")
    if judgement.relation == "same" and _has_other_steps(new, old):
        return replace(judgement, relation="update", reason="the same with other steps")
    return judgement


def is_fact_beside_event(new: Record, old: Record) -> bool:
    """Whether the stored one is a fact and the new one tells of something that happened."""
    return new.kind is Kind.EPISODIC and old.kind is Kind.SEMANTIC


def _was_written(new: Record) -> bool:
    """Whether somebody wrote it to be kept: what was found in turns may have been said together."""
    return new.tier is Tier.LONG and not new.evidence


def _confirms(new: Record, old: Record) -> bool:
    """Whether the very words that made the old one were taken up again: "remember this"."""
    return len(new.evidence) > 1 and new.evidence[0] in old.evidence


def _share_a_subject(new: Record, old: Record) -> bool:
    """Whether two records without a common word are at least of one sort: "moved to Munich" and
    "lives in Berlin" are, a preference and a decision are not."""
    is_one_sort = old.category in with_aliases(new.category)
    return is_one_sort or not set(terms(new.content)).isdisjoint(terms(old.content))


def _are_two_events(new: Record, old: Record, judgement: Judgement) -> bool:
    # What happened stays so: two accounts that differ are of two events.
    is_other = judgement.relation == "conflict" or judgement.stands == "old"
    return is_other or abs(new.observed_at - old.observed_at) >= _ONE_EVENT


def _has_other_steps(new: Record, old: Record) -> bool:
    mine, theirs = new.details, old.details
    if not isinstance(mine, Procedure) or not isinstance(theirs, Procedure):
        return False
    return bool(mine.steps) and (mine.trigger, mine.steps) != (theirs.trigger, theirs.steps)


# --- Afterwards ----------------------------------------------------------------------------------


def confirmed(old: Record, new: Record, said_at: datetime, now: datetime) -> Record:
    """The stored record, said once more."""
    surer = old.confidence + (1 - old.confidence) * _SURER_BY * new.confidence
    return old.evolve(
        evidence_count=old.evidence_count + new.evidence_count,
        evidence=_evidence(old, new),
        confidence=max(old.confidence, min(surer, _SUREST)),
        importance=max(old.importance, new.importance),
        last_confirmed=max(old.last_confirmed, said_at),
        **_lifetime(old, new),
        updated_at=now,
        version=old.version + 1,
    )


def renewed(
    old: Record, new: Record, content: str, strategy: Strategy, said_at: datetime, now: datetime
) -> Record:
    """The stored record with what the new one says; overwriting leaves nothing of the old."""
    overwrites = strategy == "overwrite"
    if is_fact_beside_event(new, old):
        new = new.evolve(kind=old.kind, details=None)  # what is so since then is a fact
    tags = new.tags if overwrites and new.tags else tuple(dict.fromkeys((*old.tags, *new.tags)))
    after = old.evolve(
        content=content,
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
        metadata={**old.metadata, **new.metadata},
        **_lifetime(old, new),
        updated_at=now,
        version=old.version + 1,
    )
    if not overwrites:
        return after
    ends = new.valid_to
    after = replacing(after, old.evidence, new.evidence)
    return after.evolve(first_observed=said_at, valid_from=new.valid_from or said_at, valid_to=ends)


def outdated(new: Record, old: Record, said_at: datetime) -> Record:
    """The new record as something that no longer holds, beside the stored one that does."""
    began = new.valid_from or said_at
    ended = old.valid_from or old.first_observed
    return new.evolve(
        status=Status.SUPERSEDED,
        related=tuple(dict.fromkeys((*new.related, old.id))),
        valid_from=began,
        valid_to=ended if ended > began else None,
    )


def _evidence(old: Record, new: Record) -> tuple[Evidence, ...]:
    """All evidence once; of very much the first and the latest."""
    together = tuple(dict.fromkeys((*old.evidence, *new.evidence)))
    if len(together) <= _EVIDENCE_KEPT:
        return together
    return (together[0], *together[1 - _EVIDENCE_KEPT :])


def _lifetime(old: Record, new: Record) -> dict[str, Any]:
    """What was buffered and is now said explicitly stays; said again, it stays longer."""
    if old.tier is Tier.LONG:
        return {}
    if new.tier is Tier.LONG:
        return {"tier": Tier.LONG, "expires_at": new.expires_at}
    times = [it for it in (old.expires_at, new.expires_at) if it is not None]
    return {"expires_at": max(times, default=None)}


def _details(old: Record, new: Record) -> Any:
    if isinstance(old.details, Procedure) and isinstance(new.details, Procedure):
        mine = new.details if new.details.steps else replace(new.details, steps=old.details.steps)
        return mine.with_uses_of(old.details)
    return new.details or old.details
