"""The first steps of the pipeline: route, redact and check what is to be stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from time import perf_counter
from typing import Any, Final, cast

from recollect.domain.fields import MAX_ITEMS, Draft, RecordFields, checked_content, new_record
from recollect.domain.record import (
    USER_PROFILE,
    Evidence,
    Kind,
    Record,
    Status,
    Tier,
    is_user_profile,
)
from recollect.domain.scope import Caller
from recollect.domain.sections import BufferSettings
from recollect.domain.times import in_zone, shifted
from recollect.domain.turn import Turn
from recollect.domain.write import (
    FORGET_WISH,
    Claim,
    Grounded,
    Lasts,
    Step,
    Topic,
    WritePolicy,
)
from recollect.errors import InvalidInput
from recollect.language.claims.moods import mood, plain
from recollect.language.claims.subjects import lasting_topic
from recollect.language.extraction.grounding import ground
from recollect.language.extraction.message import language_of
from recollect.language.times.dating import last_day, with_dates
from recollect.ports.runtime import Clock
from recollect.recall.user_names import with_names
from recollect.writing.batch import Incoming, ms_since
from recollect.writing.forget_wishes import MOST_DELETED, Meant
from recollect.writing.keep_wishes import Kept
from recollect.writing.redaction import Redactor
from recollect.writing.routing import Router
from recollect.writing.saver import Namespace, record_of_draft
from recollect.writing.strategy import wished_strategy

_GENERAL: Final = "general"
_STATED: Final = "user-stated"
_PERSON_CATEGORIES: Final = frozenset({"user", USER_PROFILE})
# The day of a text is that of its time zone, and may end later where the user is.
_A_DAY: Final = timedelta(days=1)
_LABEL: Final = re.compile(r"^[^:：]{1,20}[:：]\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The extractor that found the claims, and why it was not the intended one."""

    by: str
    degraded: str = ""
    ms: float | None = None

    @property
    def step(self) -> Step:
        result = {"by": self.by, **({"degraded": self.degraded} if self.degraded else {})}
        return Step(name="extract", result=result, ms=self.ms)


class Intake:
    """The source of new records, made from calls and claims with a trace of the decisions."""

    def __init__(
        self,
        router: Router,
        redactor: Redactor,
        clock: Clock,
        policy: Callable[[Caller], WritePolicy],
        buffer: BufferSettings,
        *,
        grounds: bool = True,
        zone: tzinfo | None = None,
    ) -> None:
        self._router = router
        self._redactor = redactor
        self._clock = clock
        self._policy = policy
        self._buffer = buffer
        self._grounds = grounds
        self._zone = zone

    async def of_call(
        self,
        caller: Caller,
        content: str,
        namespace: Namespace | None,
        explicit: bool,
        fields: RecordFields,
    ) -> Incoming:
        """Return the record of a caller's statement, which needs no evidence."""
        checked_content(content)
        now = self._clock.now()
        policy = self._policy(caller)
        wished_strategy(fields.get("metadata") or {})
        named = dict(fields)
        routed: dict[str, Any] = {"policy": policy}
        began = perf_counter()
        if "category" not in named:
            # Redacted first: neither a model nor the trace may see personal data.
            seen = self._redactor.text(content).value or ""
            placed = await self._category(caller, seen, namespace, fields)
            named["category"] = placed["category"]
            routed |= placed
        else:
            routed |= {"category": named["category"], "reason": "as the caller says"}
        drawn = with_names(record_of_draft(caller, _draft(named, content), namespace, now))
        topic = _topic(drawn)
        record = self._with_lifetime(drawn, is_kept=explicit or topic is not None)
        if topic is not None and not explicit:
            routed |= {"kept": topic}
        refusal = "the write policy is off" if policy == "off" else ""
        if policy == "explicit" and not explicit:
            refusal = "only what is explicit is written"
        given = fields.get("first_observed", fields.get("created_at", now))
        return self._redact(
            record,
            said_at=given,
            steps=(Step(name="route", result=routed, ms=ms_since(began)),),
            then=(
                Extracted(by="caller").step,
                Step(name="ground", result={"ok": True, "reason": "said by the caller"}),
            ),
            refusal=refusal,
        )

    def of_claims(
        self,
        caller: Caller,
        claims: Sequence[Claim],
        turns: Sequence[Turn],
        extracted: Extracted,
        policy: WritePolicy | None = None,
    ) -> list[Incoming]:
        """Return the records of claims found in turns, each with its grounding."""
        wanted = self._policy(caller) if policy is None else policy
        by_id = {turn.id: turn for turn in turns}
        found = [*self._of_all(caller, claims, by_id, extracted, wanted)]
        if found or not extracted.degraded:
            return found
        # Report that a model failed, even if nothing was found.
        refusal = f"nothing was found by {extracted.by}, and a model could not be asked"
        return [
            Incoming(
                record=None,
                scope=caller.scope,
                said_at=self._clock.now(),
                steps=(extracted.step,),
                refusal=f"{refusal}: {extracted.degraded}",
            )
        ]

    def of_forget_wish(
        self, caller: Caller, meant: Meant, turns: Sequence[Turn], extracted: Extracted
    ) -> list[Incoming]:
        """Return the record of a wish to forget, with the records that it means.

        Turns that told the same give way to the wish, as long as no record relies on them.
        """
        is_clear = self._policy(caller) == "auto" and len(meant.records) <= MOST_DELETED
        forgets = meant.records if is_clear else ()
        proposes = meant.others if is_clear else (*meant.records, *meant.others)
        if not (forgets or proposes or (is_clear and meant.turns)):
            return []
        return [
            replace(
                arrival,
                record=arrival.record
                and arrival.record.evolve(tags=(FORGET_WISH,), related=meant.turns[:MAX_ITEMS]),
                forgets=forgets,
                proposes=proposes[:MOST_DELETED],
            )
            for arrival in self.of_claims(caller, [meant.claim], turns, extracted)
        ]

    def of_keep_wish(self, caller: Caller, kept: Kept, extracted: Extracted) -> Incoming:
        """Return a wish to remember a stored record."""
        return Incoming(
            record=None,
            scope=kept.record.scope,
            said_at=kept.said_at,
            steps=(extracted.step,),
            keeps=kept,
        )

    def _of_all(
        self,
        caller: Caller,
        claims: Sequence[Claim],
        turns: Mapping[str, Turn],
        extracted: Extracted,
        policy: WritePolicy,
    ) -> Iterator[Incoming]:
        for claim in claims:
            if policy == "auto" or (policy == "explicit" and claim.explicit):
                yield from self._of_claim(caller, claim, turns, extracted, policy)

    def _of_claim(
        self,
        caller: Caller,
        claim: Claim,
        turns: Mapping[str, Turn],
        extracted: Extracted,
        policy: WritePolicy,
    ) -> Iterator[Incoming]:
        said = [turns[evidence.turn] for evidence in claim.evidence if evidence.turn in turns]
        now = self._clock.now()
        last = max(said, key=_time, default=None)
        said_at = now if last is None else last.at
        began = perf_counter()
        grounded = _ground_claim(claim, turns) if self._grounds else Grounded(ok=True, reason="off")
        ground_ms = ms_since(began)
        try:
            # What is put right keeps its words: its "tomorrow" counts from when they were said.
            first = min(_explaining(claim, turns), key=_time, default=last)
            told = first if claim.corrects else last
            day = in_zone(now, self._zone) if told is None else told.said_at(self._zone)
            dated = _dated(claim, day)
            record = with_names(_record_of(caller, dated, said, said_at, now))
            topic = claim.topic or _topic(record)
            is_kept = topic is not None or claim.tier is Tier.LONG
            record = self._with_lifetime(record, is_kept=is_kept, lasts=claim.lasts)
        except InvalidInput:
            # A model may return text that no record can hold; rules cannot.
            return
        if not grounded.ok:
            record = record.evolve(status=Status.QUARANTINED)
        routed = {"policy": policy, "category": claim.category}
        if topic is not None:
            routed |= {"kept": topic}
        checked = {"ok": grounded.ok, "reason": grounded.reason, "missing": list(grounded.missing)}
        yield self._redact(
            record,
            said_at=said_at,
            steps=(Step(name="route", result=routed),),
            then=(extracted.step, Step(name="ground", result=checked, ms=ground_ms)),
            is_grounded=grounded.ok,
            corrects=claim.corrects,
            about=claim.explained_by,
            ends_facts=bool(said) and said[0].role == "user",
            refusal="" if grounded.ok else f"not supported by its source: {grounded.reason}",
        )

    async def _category(
        self,
        caller: Caller,
        content: str,
        namespace: Namespace | None,
        fields: RecordFields,
    ) -> dict[str, str]:
        """Return the category and the reason: metadata, namespace, or the words."""
        named = (fields.get("metadata") or {}).get("type")
        if isinstance(named, str) and named.strip():
            return {"category": named, "reason": "as its metadata says"}
        here = caller.scope
        if namespace is not None and caller.namespace(namespace) == here.of_user != here:
            return {"category": USER_PROFILE, "reason": "as its namespace says"}
        routed = await self._router.route(content, reads=False)
        degraded = {"degraded": routed.degraded} if routed.degraded else {}
        if routed.should_write and routed.namespaces:
            return {"category": routed.namespaces[0], "reason": routed.reason, **degraded}
        return {"category": _GENERAL, "reason": "no rule knows it", **degraded}

    def _with_lifetime(
        self, record: Record, *, is_kept: bool, lasts: Lasts | None = None
    ) -> Record:
        """Return the record, with an expiry in the short-term tier unless it is kept for good.

        What is to happen on a day is not forgotten before that day is over.
        """
        if is_kept:
            return record
        expires = record.expires_at
        if expires is None:
            expires = self._clock.now() + self._buffer.lifetime(record.category, lasts)
            day = last_day(record.content, record.first_observed)
            expires = max(expires, shifted(day, _A_DAY)) if day else expires
        return record.evolve(tier=Tier.SHORT, expires_at=expires)

    def _redact(
        self,
        record: Record,
        *,
        said_at: datetime,
        steps: tuple[Step, ...],
        then: tuple[Step, ...],
        refusal: str,
        is_grounded: bool = True,
        corrects: bool = False,
        about: tuple[Evidence, ...] = (),
        ends_facts: bool = False,
    ) -> Incoming:
        """Redact a record and collect what the next steps need."""
        began = perf_counter()
        cleaned = self._redactor.record(record)
        counts = dict(cleaned.counts)
        redacted = {"mode": self._redactor.mode, "counts": counts}
        keeps = not refusal or not is_grounded
        if cleaned.value is None:
            refusal = "it holds personal data"
        return Incoming(
            record=cleaned.value if keeps else None,
            scope=record.scope,
            said_at=said_at,
            steps=(*steps, Step(name="redact", result=redacted, ms=ms_since(began)), *then),
            is_grounded=is_grounded,
            corrects=corrects,
            about=about,
            ends_facts=ends_facts,
            counts=counts,
            refusal=refusal,
        )


def _topic(record: Record) -> Topic | None:
    """Return the topic that makes a record long-term at once, if it has one."""
    if record.kind is Kind.PROCEDURAL:
        return "instruction"
    if record.category == "feedback":
        # The words after a label such as "User's feedback:".
        words = _LABEL.sub("", record.content)
        return "instruction" if mood(plain(words)) == "imperative" else None
    is_fact = record.kind is Kind.SEMANTIC and record.category in _PERSON_CATEGORIES
    return lasting_topic(record.content) if is_fact else None


def _draft(fields: Mapping[str, Any], content: str) -> Draft:
    return cast("Draft", {**fields, "content": content})


def _record_of(
    caller: Caller, claim: Claim, said: Sequence[Turn], said_at: datetime, now: datetime
) -> Record:
    by_user = bool(said) and said[0].role == "user"
    fields = RecordFields(
        kind=claim.kind,
        category=claim.category,
        title=claim.title,
        confidence=claim.confidence,
        importance=claim.importance,
        evidence=claim.evidence,
        source=_STATED if claim.explicit and by_user else "",
        session=said[0].session if said else None,
        task=said[0].task if said else None,
        first_observed=said_at,
    )
    # Facts about a user belong to the user, whichever agent learned them.
    is_theirs = is_user_profile(claim.category) and caller.scope.user is not None
    scope = caller.scope.of_user if is_theirs else caller.scope
    record = new_record(claim.content, fields, scope, now)
    record = record.evolve(facet=claim.facet or None, about=claim.about)
    return record if claim.details is None else record.evolve(details=claim.details)


def _dated(claim: Claim, said_at: datetime) -> Claim:
    """Return the claim with the dates of the times that count from that day."""
    if claim.kind is Kind.PROCEDURAL:
        return claim
    content = with_dates(claim.content, said_at, language_of(claim.content))
    return replace(claim, content=content)


def _time(turn: Turn) -> datetime:
    return turn.at


def _explaining(claim: Claim, turns: Mapping[str, Turn]) -> Iterator[Turn]:
    return (turns[it.turn] for it in claim.explained_by if it.turn in turns)


def _ground_claim(claim: Claim, turns: Mapping[str, Turn]) -> Grounded:
    """Return whether the first piece of evidence supports the claim."""
    first = claim.evidence[0] if claim.evidence else None
    turn = turns.get(first.turn) if first else None
    if first is None or turn is None or first.start is None or first.end is None:
        return Grounded(ok=False, reason="no words of the conversation are named")
    if not claim.explained_by:
        span = first.start, first.end
        return ground(claim.content, turn.content, span)
    # A correction or a short answer says only a value; its subject was named before.
    said = [evidence for evidence in (*claim.explained_by, first) if evidence.turn in turns]
    together = "\n".join(
        turns[evidence.turn].content[evidence.start : evidence.end] for evidence in said
    )
    return ground(claim.content, together, (0, len(together)))
