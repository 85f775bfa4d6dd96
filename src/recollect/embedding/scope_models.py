"""Which model's vectors answer in which scope, and the units that lack one."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Integer,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    tuple_,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import OnDatabase, reading, writing
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT
from recollect.backends.sql.index_generations import answers
from recollect.backends.sql.models import find_model, model_number, models_by_number
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.rows import scope_key
from recollect.backends.sql.scopes import find_scopes, lock_scope, scopes_by_id
from recollect.domain.embedding import EmbeddingModel
from recollect.domain.embedding_jobs import EMBED, REEMBED
from recollect.domain.scope import Scope
from recollect.domain.times import to_micros
from recollect.embedding.index_rebuild import owners_of
from recollect.ports.scope_models import PlainUnit, ServedUnits

_UNIT_BITS: Final = 32
_SCOPES: Final = schema.scopes.c
_UNITS: Final = schema.units.c
_VECTORS: Final = schema.vectors.c
_Number = int | BindParameter[int]
# What is being forgotten gets no vectors any more.
_STAYS: Final = _SCOPES.agent != FORGOTTEN_AGENT


def _numbers_of(scope_id: _Number) -> ColumnElement[bool]:
    """Return the condition that a unit has one of the numbers that a scope gives."""
    first = scope_id * (1 << _UNIT_BITS)
    return _UNITS.id.between(first, first + (1 << _UNIT_BITS) - 1)


def _answered_by(number: _Number | None) -> Select[int]:
    return select(_SCOPES.id).where(_SCOPES.model_id.is_not_distinct_from(number), _STAYS)


def _lacks(number: _Number | None) -> ColumnElement[bool]:
    """Return the condition that a unit has no vector of the model with this number."""
    made = select(_VECTORS.unit_id).where(
        _VECTORS.unit_id == _UNITS.id, _VECTORS.model_id == number
    )
    return ~made.exists()


def _lacking(where: ColumnElement[bool]) -> PreparedStatement:
    """Return the units without a vector of the owners that come first there."""
    lacking = and_(_UNITS.id > bindparam("after"), answers(), _lacks(bindparam("model")))
    first = select(_UNITS.owner_id).where(lacking, where).order_by(_UNITS.id)
    # A table of its own: MariaDB takes no limit directly inside of IN.
    owners = first.limit(bindparam("most")).subquery()
    owned = select(_UNITS.id, _UNITS.ordinal, _UNITS.owner_id).where(
        lacking, _UNITS.owner_id.in_(select(owners.c.owner_id))
    )
    return PreparedStatement(owned.order_by(_UNITS.id))


_LACKING: Final = _lacking(_UNITS.scope_id.in_(_answered_by(bindparam("model", type_=Integer()))))
_LACKING_IN_SCOPE: Final = _lacking(_numbers_of(bindparam("scope", type_=BigInteger())))
_SERVED: Final = PreparedStatement(
    select(_SCOPES.model_id, func.count(), func.sum(_SCOPES.unit_count))
    .where(_SCOPES.unit_count > 0)
    .group_by(_SCOPES.model_id)
    .order_by(_SCOPES.model_id)
)


class SqlScopeModels(OnDatabase):
    """Keeps track of which model serves each scope."""

    @reading
    def served(self, connection: Connection) -> list[ServedUnits]:
        """Return how many units each model serves; scopes without units are left out."""
        rows = _SERVED.rows(connection, {})
        models = models_by_number(connection, [number for number, _, _ in rows if number])
        return [
            ServedUnits(model=models.get(number), scopes=scopes, units=int(units))
            for number, scopes, units in rows
        ]

    async def coming(self) -> str:
        """Return the model that a change is under way to, as the settings name it; else empty."""
        jobs = schema.jobs.c
        waiting = select(jobs.payload).where(jobs.kind == REEMBED, jobs.gave_up == 0)
        payload = await self.database.read(lambda connection: connection.scalar(waiting))
        return "" if payload is None else json.loads(payload)["choice"]

    @reading
    def others(self, connection: Connection, model: EmbeddingModel, *, limit: int) -> list[Scope]:
        """Return some scopes with units or vectors that this model does not serve."""
        number = find_model(connection, model)
        is_served = and_(_SCOPES.model_id.is_not(None), _SCOPES.model_id != number)
        is_waiting = and_(_SCOPES.model_id.is_(None), _SCOPES.unit_count > 0)
        if number is None:
            is_served = _SCOPES.model_id.is_not(None)
        found = select(_SCOPES.id).where(or_(is_served, is_waiting), _STAYS).limit(limit)
        return list(scopes_by_id(connection, connection.scalars(found).all()).values())

    @reading
    def answered_by(
        self, connection: Connection, model: EmbeddingModel, *, limit: int
    ) -> list[Scope]:
        """Return some scopes that this model serves."""
        number = find_model(connection, model)
        if number is None:
            return []
        found = connection.scalars(_answered_by(number).limit(limit)).all()
        return list(scopes_by_id(connection, found).values())

    @writing
    def claim(self, connection: Connection, model: EmbeddingModel) -> None:
        """Let this model serve every scope with units that no model serves yet."""
        connection.execute(
            update(schema.scopes)
            .where(_SCOPES.model_id.is_(None), _SCOPES.unit_count > 0)
            .values(model_id=model_number(connection, model))
        )

    @reading
    def lacking(
        self,
        connection: Connection,
        model: EmbeddingModel,
        *,
        after: int,
        limit: int,
        scope: Scope | None = None,
    ) -> list[PlainUnit]:
        """Return units without a vector of this model, by number, starting above `after`: of one
        scope, or of all that the model serves.

        The `limit` is approximate, since the units of an owner come together.
        """
        given = {"after": after, "most": limit, "model": find_model(connection, model)}
        if scope is None:
            rows = _LACKING.rows(connection, given)
        else:
            given |= {"scope": _id_of(connection, scope)}
            rows = _LACKING_IN_SCOPE.rows(connection, given)
        owners = owners_of(connection, {owner for _, _, owner in rows})
        return [
            PlainUnit(unit=unit, ordinal=ordinal, owner=owners.get(owner))
            for unit, ordinal, owner in rows
        ]

    async def is_filling(self) -> bool:
        """Return whether a job that makes missing vectors waits or runs."""
        jobs = schema.jobs.c
        open_job = select(jobs.id).where(jobs.kind.in_((EMBED, REEMBED)), jobs.gave_up == 0)
        found = await self.database.read(lambda it: it.scalar(open_job.limit(1)))
        return found is not None

    @reading
    def count_lacking(
        self,
        connection: Connection,
        model: EmbeddingModel,
        *,
        everywhere: bool = False,
        before: datetime | None = None,
    ) -> int:
        """Return how many units lack a vector of this model where it serves, or anywhere.

        With `before`, only those that were observed before that time.
        """
        number = find_model(connection, model)
        counted = select(func.count()).select_from(schema.units)
        counted = counted.where(answers(), _lacks(number))
        if before is not None:
            counted = counted.where(_UNITS.observed_at < to_micros(before))
        if not everywhere:
            counted = counted.where(_UNITS.scope_id.in_(_answered_by(number)))
        return connection.scalar(counted) or 0

    @writing
    def switch(
        self, connection: Connection, scope: Scope, model: EmbeddingModel, *, after: int
    ) -> bool:
        """Let this model serve a scope from now on, in one step that all readers see.

        If units above `after` lack a vector of it, nothing changes.
        """
        row = lock_scope(connection, scope_key(scope))
        if row is None:
            # A scope that is gone by now needs no model.
            return True
        number = model_number(connection, model)
        here = and_(*(_UNITS.id > after, _numbers_of(row["id"])), *(answers(), _lacks(number)))
        if connection.scalar(select(_UNITS.id).where(here).limit(1)) is not None:
            return False
        _set_model(connection, row["id"], row["version"] + 1, number)
        return True

    @writing
    def discard(self, connection: Connection, model: EmbeddingModel, *, limit: int) -> int:
        """Remove some vectors of other models where this one serves; return how many."""
        number = find_model(connection, model)
        place = (_VECTORS.unit_id, _VECTORS.model_id)
        unused = (
            select(*place)
            .where(
                _VECTORS.model_id != number,
                _VECTORS.unit_id.op(">>")(literal(_UNIT_BITS)).in_(_answered_by(number)),
            )
            .limit(limit)
            .subquery()
        )
        # MySQL limits no subquery that IN looks into, but a table in it.
        return connection.execute(
            delete(schema.vectors).where(tuple_(*place).in_(select(unused)))
        ).rowcount


def _set_model(connection: Connection, scope_id: int, version: int, number: int) -> None:
    """Set the model of a scope and log a change, so that packed vectors and caches follow."""
    connection.execute(
        update(schema.scopes).where(_SCOPES.id == scope_id).values(model_id=number, version=version)
    )
    connection.execute(
        insert(schema.changes),
        {
            "scope_id": scope_id,
            "version": version,
            "seq": 0,
            "entity": "model",
            "id": str(number),
            "op": "put",
        },
    )


def _id_of(connection: Connection, scope: Scope) -> int:
    """Return the scope's number; one that no scope has when it is gone."""
    return next(iter(find_scopes(connection, [scope])), 0)
