"""Rules that say how long records of some kind, category or scope may stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

from recollect.domain.record import Status
from recollect.domain.scope import Scope
from recollect.domain.times import shifted
from recollect.domain.upkeep import RetentionAction, RetentionRule, Selection
from recollect.lifecycle.clearing import Account, Clearing, Step
from recollect.ports.clock import Clock

# What an action can still do something with.
_CONCERNED: Final[Mapping[RetentionAction, frozenset[Status]]] = {
    "expire": frozenset({Status.ACTIVE, Status.QUARANTINED}),
    "delete": frozenset(Status) - {Status.DELETED},
    "purge": frozenset(Status),
}


class RetentionRules:
    """Applies the rules in their order; a record is dealt with by the first that concerns it."""

    def __init__(self, clearing: Clearing, clock: Clock, rules: Sequence[RetentionRule]) -> None:
        self._clearing = clearing
        self._clock = clock
        self._rules = tuple(rules)

    async def sweep(self, scopes: Sequence[Scope] | None, account: Account) -> None:
        """Apply them to these scopes; None is to all of them."""
        for rule in self._rules:
            await self._apply(rule, None if scopes is None else tuple(scopes), account)

    async def _apply(
        self, rule: RetentionRule, scopes: tuple[Scope, ...] | None, account: Account
    ) -> None:
        selection = Selection(
            scopes=scopes,
            statuses=_CONCERNED[rule.action],
            kind=rule.kind,
            category=rule.category,
            org=rule.org,
            workspace=rule.workspace,
            agent=rule.agent,
            user=rule.user,
            untouched_since=shifted(self._clock.now(), -rule.older_than),
        )
        step = Step(action=rule.action, why="retention", told=told(rule))
        async for batch in self._clearing.batches(selection, account):
            await self._clearing.do(step, batch, account)


def told(rule: RetentionRule) -> str:
    """The rule in words, for the history of the records it concerns."""
    conditions = [
        f"{field.name} {value}"
        for field in fields(rule)
        if field.name not in ("older_than", "action") and (value := getattr(rule, field.name))
    ]
    days = f"{rule.older_than.total_seconds() / 86_400:g} days"
    return f"untouched for {days}" + "".join(f", {it}" for it in conditions)
