"""How far each follower is with each scope, in the database that it follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    String,
    and_,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
    update,
)

from recollect.backends.sql import schema
from recollect.backends.sql.database import Database, OnDatabase, reading, writing
from recollect.backends.sql.forgotten import FORGOTTEN_AGENT
from recollect.backends.sql.portable import InsertOrIgnore, InsertOrReplace
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.domain.followers import Place

# No scope has this number: a row with it says that the store must be emptied first.
EVERYTHING: Final = 0
_MOST: Final = 500
_NEVER: Final = (1 << 63) - 1
_ROWS: Final = schema.followers.c
_SCOPES: Final = schema.scopes.c
_OURS: Final = _ROWS.name == bindparam("name", type_=String())
# A scope without names is being forgotten, and its number is never used again.
_IS_GONE: Final = or_(_SCOPES.id.is_(None), _SCOPES.agent == FORGOTTEN_AGENT)
_FOLLOWED: Final = schema.followers.outerjoin(schema.scopes, _SCOPES.id == _ROWS.scope_id)
_PLACE: Final = (_ROWS.scope_id, _ROWS.version, _ROWS.target, _ROWS.position)
_BEHIND: Final = PreparedStatement(
    select(*_PLACE, _SCOPES.version.label("newest"))
    .select_from(_FOLLOWED)
    .where(_OURS, ~_IS_GONE, _ROWS.version < _SCOPES.version)
    .order_by(_ROWS.scope_id)
    .limit(_MOST)
)
_GONE: Final = PreparedStatement(
    select(_ROWS.scope_id).select_from(_FOLLOWED).where(_OURS, _IS_GONE).limit(_MOST)
)
_HAS_ROW: Final = select(_ROWS.scope_id).where(_ROWS.scope_id == _SCOPES.id, _OURS).exists()
_IS_NEW: Final = and_(
    _SCOPES.unit_count >= bindparam("fewest"), _SCOPES.agent != FORGOTTEN_AGENT, ~_HAS_ROW
)
_NEW: Final = PreparedStatement(
    select(_SCOPES.id, _SCOPES.version).where(_IS_NEW).order_by(_SCOPES.id).limit(_MOST)
)
_ADD: Final = PreparedStatement(
    InsertOrIgnore(schema.followers).values(
        {it.name: bindparam(it.name) for it in schema.followers.c}
    )
)
_PUT: Final = PreparedStatement(
    InsertOrReplace(schema.followers).values(
        {it.name: bindparam(it.name) for it in schema.followers.c}
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """A scope that a follower has yet to catch up with, and the scope's version."""

    place: Place
    newest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedScopes:
    """Figures of one follower, see `FollowerState`."""

    scopes: int
    to_build: int
    to_erase: int
    lag: int
    done: int
    total: int


async def follower_names(database: Database) -> list[str]:
    """Return the names of all followers that a database has."""
    wanted = select(_ROWS.name).distinct()
    return await database.read(lambda it: list(it.scalars(wanted)))


def follow_anew(connection: Connection) -> None:
    """Have every follower empty its store and build it anew."""
    names = connection.scalars(select(_ROWS.name).distinct()).all()
    connection.execute(delete(schema.followers))
    numbers = dict.fromkeys(("version", "target", "position"), 0)
    _ADD.run(connection, [{"name": it, "scope_id": EVERYTHING, **numbers} for it in names])


class SqlFollowers(OnDatabase):
    """The rows of one follower."""

    def __init__(self, database: Database, name: str, fewest_units: int) -> None:
        super().__init__(database)
        self._name = name
        self._fewest = fewest_units

    async def behind(self) -> list[Behind]:
        """Return some scopes with changes that the follower does not have."""
        rows = await self.database.read(lambda it: _BEHIND.rows(it, {"name": self._name}))
        return [Behind(place=_place(row), newest=row["newest"]) for row in rows]

    async def unfollowed(self) -> list[int]:
        """Return some scopes that are to be followed and are not yet."""
        given = {"name": self._name, "fewest": self._fewest}
        rows = await self.database.read(lambda it: _NEW.rows(it, given))
        return [row["id"] for row in rows]

    async def gone(self) -> list[int]:
        """Return some scopes that the store has and that were forgotten."""
        rows = await self.database.read(lambda it: _GONE.rows(it, {"name": self._name}))
        return [row["scope_id"] for row in rows]

    @writing
    def follow(self, connection: Connection, scopes: Sequence[int]) -> None:
        """Follow these scopes from now on; whatever the store gets of them is erased with them."""
        rows = [self._row(Place(scope=scope)) for scope in scopes]
        _ADD.run(connection, rows)

    @writing
    def move(self, connection: Connection, before: Place, after: Place) -> bool:
        """Keep how far the follower is; False if it was not where it was thought to be.

        Somebody else has then done something in between, perhaps erased the scope. What the store
        has is not known any more: it is built anew.
        """
        moved = (
            update(schema.followers)
            .where(*self._at(before))
            .values(version=after.version, target=after.target, position=after.position)
        )
        if connection.execute(moved).rowcount:
            return True
        _PUT.run(connection, [self._row(Place(scope=before.scope))])
        return False

    @writing
    def drop(self, connection: Connection, scope: int) -> None:
        """Do not follow a scope any more: the store has nothing of it."""
        its = delete(schema.followers).where(_ROWS.name == self._name, _ROWS.scope_id == scope)
        connection.execute(its).close()

    @writing
    def clear(self, connection: Connection) -> None:
        """Forget that the follower had anything."""
        its = delete(schema.followers).where(_ROWS.name == self._name)
        connection.execute(its).close()

    @writing
    def reset(self, connection: Connection, scopes: Sequence[int] | None = None) -> None:
        """Have these scopes built anew, or all."""
        anew = update(schema.followers).where(_ROWS.name == self._name)
        if scopes is not None:
            anew = anew.where(_ROWS.scope_id.in_(scopes))
        anew = anew.values(version=0, target=0, position=0)
        connection.execute(anew).close()

    async def places(self) -> list[Place]:
        """Return how far the follower is with every scope."""
        wanted = select(*_PLACE).where(_ROWS.name == self._name).order_by(_ROWS.scope_id)
        rows = await self.database.read(lambda it: it.execute(wanted).mappings().all())
        return [_place(row) for row in rows]

    async def unreached(self, goal: Mapping[int, int]) -> dict[int, int]:
        """Return those of these scopes that the follower does not have up to these versions."""
        wanted = select(_ROWS.scope_id, _ROWS.version).where(_ROWS.name == self._name)
        rows = await self.database.read(lambda it: it.execute(wanted).all())
        return {scope: goal[scope] for scope, version in rows if version < goal.get(scope, version)}

    async def goal(self) -> dict[int, int]:
        """Return the version that the follower has yet to reach in each scope that it is behind in.

        A scope that was forgotten has to be dropped, which no version of it does.
        """
        newest = case((_IS_GONE, _NEVER), else_=_SCOPES.version)
        wanted = select(_ROWS.scope_id, newest).select_from(_FOLLOWED)
        wanted = wanted.where(_OURS, or_(_IS_GONE, _ROWS.version < _SCOPES.version))
        rows = await self.database.read(lambda it: it.execute(wanted, {"name": self._name}).all())
        return {row[0]: row[1] for row in rows}

    @reading
    def figures(self, connection: Connection) -> FollowedScopes:
        """Return how much the follower has, and how much it has yet to do."""
        is_built = and_(~_IS_GONE, _ROWS.version > 0)
        done = case((_ROWS.version > 0, _SCOPES.unit_count), else_=_built_units())
        sums = (
            func.count(case((is_built, 1))),
            func.count(case((and_(~_IS_GONE, _ROWS.version == 0), 1))),
            func.count(case((_IS_GONE, 1))),
            func.sum(case((is_built, _SCOPES.version - _ROWS.version), else_=0)),
            func.sum(case((~_IS_GONE, done), else_=0)),
            func.sum(case((~_IS_GONE, _SCOPES.unit_count), else_=0)),
        )
        followed = select(*sums).select_from(_FOLLOWED).where(_OURS)
        new = select(func.count(), func.sum(_SCOPES.unit_count)).where(_IS_NEW)
        given = {"name": self._name, "fewest": self._fewest}
        scopes, building, gone, lag, done, total = connection.execute(followed, given).one()
        waiting, units = connection.execute(new, given).one()
        return FollowedScopes(
            scopes=scopes,
            to_build=building + waiting,
            to_erase=gone,
            lag=int(lag or 0),
            done=int(done or 0),
            total=int(total or 0) + int(units or 0),
        )

    def _at(self, place: Place) -> list[ColumnElement[bool]]:
        return [
            _ROWS.name == self._name,
            _ROWS.scope_id == place.scope,
            _ROWS.version == place.version,
            _ROWS.target == place.target,
            _ROWS.position == place.position,
        ]

    def _row(self, place: Place) -> dict[str, int | str]:
        numbers = {"version": place.version, "target": place.target, "position": place.position}
        return {"name": self._name, "scope_id": place.scope, **numbers}


def _built_units() -> ColumnElement[int]:
    """Return how many units of a scope a build has gone through, at most all of them."""
    return case((_ROWS.position < _SCOPES.unit_count, _ROWS.position), else_=_SCOPES.unit_count)


def _place(row: Mapping[Any, Any]) -> Place:
    return Place(
        scope=row["scope_id"],
        version=row["version"],
        target=row["target"],
        position=row["position"],
    )
