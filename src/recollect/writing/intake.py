"""The first steps of the pipeline: what is to be kept is routed, cleaned and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from recollect.domain.category import USER_PROFILE, is_user_profile
from recollect.domain.extraction import BufferTimes, Claim, Grounded
from recollect.domain.fields import MAX_CONTENT, Draft, RecordFields, checked_text, new_record
from recollect.domain.record import Evidence, Record, Status, Tier
from recollect.domain.route import WritePolicy
from recollect.domain.scope import Caller
from recollect.domain.turn import Turn
from recollect.domain.write import Step
from recollect.errors import InvalidInput
from recollect.ports.clock import Clock
from recollect.text.taste import tells_taste
from recollect.writing.batch import Incoming
from recollect.writing.drafting import Namespace, drafted
from recollect.writing.ground import ground
from recollect.writing.redaction import Redactor
from recollect.writing.routing import Router
from recollect.writing.strategy import wished_strategy

_GENERAL: Final = "general"
_PREFERENCE: Final = "preference"
_STATED: Final = "user-stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """Who found claims, and why it was not whoever should have."""

    by: str
    degraded: str = ""

    @property
    def step(self) -> Step:
        result = {"by": self.by, **({"degraded": self.degraded} if self.degraded else {})}
        return Step(name="extract", result=result)


class Intake:
    """Makes records of what is said or was found, with what the steps decided on the way."""

    def __init__(
        self,
        router: Router,
        redactor: Redactor,
        clock: Clock,
        policy: Callable[[Caller], WritePolicy],
        times: BufferTimes,
        *,
        grounds: bool = True,
    ) -> None:
        self._router = router
        self._redactor = redactor
        self._clock = clock
        self._policy = policy
        self._times = times
        self._grounds = grounds

    async def of_call(
        self,
        caller: Caller,
        content: str,
        namespace: Namespace | None,
        explicit: bool,
        fields: RecordFields,
    ) -> Incoming:
        """What a caller says, which is the claim itself and needs no evidence."""
        checked_text(content, "content", MAX_CONTENT)
        now = self._clock.now()
        policy = self._policy(caller)
        wished_strategy(fields.get("metadata") or {})
        named = dict(fields)
        routed: dict[str, Any] = {"policy": policy}
        if "category" not in named:
            # Neither a model nor the trace sees what is removed below.
            seen = self._redactor.text(content).value or ""
            named["category"], why = await self._category(caller, seen, namespace, fields)
            routed |= {"category": named["category"], "reason": why}
        else:
            routed |= {"category": named["category"], "reason": "as the caller says"}
        record = self._lasting(drafted(caller, _draft(named, content), namespace, now), explicit)
        refusal = "the write policy is off" if policy == "off" else ""
        if policy == "explicit" and not explicit:
            refusal = "only what is explicit is written"
        given = fields.get("first_observed", fields.get("created_at", now))
        return self._cleaned(
            record,
            said_at=given,
            steps=(Step(name="route", result=routed),),
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
        """What was found in turns, each with whether its words support it."""
        wanted = self._policy(caller) if policy is None else policy
        by_id = {turn.id: turn for turn in turns}
        found = [*self._of_all(caller, claims, by_id, extracted, wanted)]
        if found or not extracted.degraded:
            return found
        # That a model failed is told even where nothing came of it.
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
        said = [turns[it.turn] for it in claim.evidence if it.turn in turns]
        now = self._clock.now()
        said_at = max((turn.at for turn in said), default=now)
        grounded = _grounded(claim, turns) if self._grounds else Grounded(ok=True, reason="off")
        try:
            record = self._lasting(_claimed(caller, claim, said, said_at, now), claim.explicit)
        except InvalidInput:
            # A model may write what no record can hold; rules cannot.
            return
        if not grounded.ok:
            record = record.evolve(status=Status.QUARANTINED)
        checked = {"ok": grounded.ok, "reason": grounded.reason, "missing": list(grounded.missing)}
        yield self._cleaned(
            record,
            said_at=said_at,
            steps=(Step(name="route", result={"policy": policy, "category": claim.category}),),
            then=(extracted.step, Step(name="ground", result=checked)),
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
    ) -> tuple[str, str]:
        """Where it belongs, and why: as its metadata or its place says, or as its words do."""
        named = (fields.get("metadata") or {}).get("type")
        if isinstance(named, str) and named.strip():
            return named, "as its metadata says"
        here = caller.scope
        if namespace is not None and caller.namespace(namespace) == here.of_user != here:
            return USER_PROFILE, "as its namespace says"
        routed = await self._router.route(content)
        if routed.should_write and routed.namespaces:
            return routed.namespaces[0], routed.reason
        if tells_taste(content):
            return _PREFERENCE, "tells what somebody likes"
        return _GENERAL, "no rule knows it"

    def _lasting(self, record: Record, explicit: bool) -> Record:
        """What is explicit is kept for good; anything else must prove itself in time."""
        if explicit:
            return record
        expires = record.expires_at or self._clock.now() + self._times.of(record.category)
        return record.evolve(tier=Tier.SHORT, expires_at=expires)

    def _cleaned(
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
            steps=(*steps, Step(name="redact", result=redacted), *then),
            is_grounded=is_grounded,
            corrects=corrects,
            about=about,
            ends_facts=ends_facts,
            counts=counts,
            refusal=refusal,
        )


def _draft(fields: Mapping[str, Any], content: str) -> Draft:
    return cast("Draft", {**fields, "content": content})


def _claimed(
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
    # What a user is and likes belongs to the user, whichever agent heard it.
    is_theirs = is_user_profile(claim.category) and caller.scope.user is not None
    scope = caller.scope.of_user if is_theirs else caller.scope
    record = new_record(claim.content, fields, scope, now)
    return record if claim.details is None else record.evolve(details=claim.details)


def _grounded(claim: Claim, turns: Mapping[str, Turn]) -> Grounded:
    """Whether the first piece of evidence supports the claim."""
    first = claim.evidence[0] if claim.evidence else None
    turn = turns.get(first.turn) if first else None
    if first is None or turn is None or first.start is None or first.end is None:
        return Grounded(ok=False, reason="no words of the conversation are named")
    if not claim.explained_by:
        return ground(claim.content, turn.content, (first.start, first.end))
    # A correction says only what is other; what it is about was said before.
    said = [it for it in (*claim.explained_by, first) if it.turn in turns]
    together = "\n".join(turns[it.turn].content[it.start : it.end] for it in said)
    return ground(claim.content, together, (0, len(together)))
