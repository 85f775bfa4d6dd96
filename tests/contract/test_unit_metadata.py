"""What the catalogue knows of units is what the database says, whatever was kept before."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select, update

from recollect.backends.local import unit_metadata as catalogue_module
from recollect.backends.local.unit_metadata import Catalogue
from recollect.backends.sql import schema
from recollect.backends.sql.database import Database
from recollect.backends.sql.scopes import read_scopes
from recollect.domain.scope import Scope
from recollect.domain.unit import UNIT_OWNERS
from recollect.ports.units import COLUMNS, Ids, UnitRows
from tests.database_servers import open_at
from tests.unit.backends.local.unit_writer import UnitWriter, fresh_scope

_MEGABYTE = 1 << 20
_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_IN_SQL = {"unit": "id", "kind": "owner_kind", "owner": "owner_id"}


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One for all tests; each takes scopes of its own."""
    opened = open_at(tmp_path_factory.mktemp("catalogue") / "units.db")
    yield opened
    opened.close_here()


def _add(database: Database, scope: Scope, number: int) -> list[int]:
    """Add units of which everything differs, before anybody asks for them."""
    units = UnitWriter(database).add(scope, *([unit, 7] for unit in range(1, number + 1)))

    def settle(connection: Connection) -> None:
        for unit in units:
            number = unit & 0xFFFF
            connection.execute(
                update(schema.units)
                .where(schema.units.c.id == unit)
                .values(
                    owner_kind=UNIT_OWNERS[number % 2],
                    cluster=-number if number % 2 else unit,
                    place=3 * number,
                    speaker=-unit,
                    traits=number % 4,
                    size=5 * number,
                    variety=number + 1,
                    observed_at=10**15 + number,
                )
            )

    database.write_here(settle)
    return units


def _said_by_sql(connection: Connection, units: Ids) -> list[tuple[object, ...]]:
    columns = [schema.units.c[_IN_SQL.get(name, name)] for name in ("owner", *COLUMNS)]
    asked = select(*columns).where(schema.units.c.id.in_(units.tolist()))
    by_unit = {row[1]: tuple(row) for row in connection.execute(asked)}
    return [by_unit[unit] for unit in units.tolist()]


def _plain(rows: UnitRows) -> list[tuple[object, ...]]:
    return [
        (owner, unit, UNIT_OWNERS[kind], *rest)
        for owner, (unit, kind, *rest) in zip(rows.owners, rows.numbers.T.tolist(), strict=True)
    ]


def _live(connection: Connection, scopes: list[Scope], random: Random) -> Ids:
    ids = [row.id for row in read_scopes(connection, scopes)]
    asked = select(schema.units.c.id).where(schema.units.c.scope_id.in_(ids))
    units = list(connection.execute(asked).scalars())
    random.shuffle(units)
    return np.array(units, np.int64)


def _check(connection: Connection, catalogue: Catalogue, scopes: list[Scope], units: Ids) -> None:
    rows = catalogue.rows(connection, read_scopes(connection, scopes), units)
    assert _plain(rows) == _said_by_sql(connection, units)


_steps = st.lists(
    st.tuples(
        st.integers(0, 3),  # so many are added
        st.integers(0, 6),  # so many are removed
        st.booleans(),  # and somebody asks at once
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=12, deadline=None)
@given(_steps, st.sampled_from((0, _MEGABYTE)), st.randoms(use_true_random=False))
def test_rows_are_what_sql_says_also_asked_from_an_older_snapshot(
    database: Database, steps, budget: int, random: Random
):
    catalogue = Catalogue(budget)
    ann, bob = fresh_scope(), fresh_scope()
    units = {scope: _add(database, scope, 4) for scope in (ann, bob)}

    def ask(connection: Connection) -> None:
        for scopes in ([ann], [bob], [ann, bob]):
            _check(connection, catalogue, scopes, _live(connection, scopes, random))

    for added, removed, is_asked in steps:

        def from_before(connection: Connection, step=(added, removed, is_asked)) -> None:
            known = _live(connection, [ann, bob], random)
            scope = random.choice((ann, bob))
            gone = random.sample(units[scope], min(step[1], len(units[scope])))
            UnitWriter(database).remove(scope, *gone)
            units[scope] = [unit for unit in units[scope] if unit not in gone]
            units[scope] += _add(database, scope, step[0])
            if step[2]:
                database.read_here(ask)
            _check(connection, catalogue, [ann, bob], known)
            ask(connection)

        database.read_here(from_before)
        database.read_here(ask)


def test_units_that_never_were_are_left_out(database: Database):
    ann = fresh_scope()
    first, second = _add(database, ann, 2)
    catalogue = Catalogue(_MEGABYTE)

    def ask(connection: Connection) -> None:
        rows = read_scopes(connection, [ann])
        asked = np.array([second, second + 1, first], np.int64)
        assert catalogue.rows(connection, rows, asked)["unit"].tolist() == [second, first]
        assert len(catalogue.rows(connection, rows, asked[:0])) == 0

    database.read_here(ask)


def test_what_is_kept_stays_within_the_budget_and_is_counted(database: Database):
    ann = fresh_scope()
    units = np.array(_add(database, ann, 5), np.int64)
    for budget, kept in ((0, 0), (_MEGABYTE, 5)):
        catalogue = Catalogue(budget)
        database.read_here(lambda it, to=catalogue: _check(it, to, [ann], units))
        assert catalogue.stats().units == kept
        assert catalogue.stats().bytes <= budget


def test_of_a_large_scope_the_first_question_reads_only_what_it_needs(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(catalogue_module, "_SMALL", 4)
    ann = fresh_scope()
    units = np.array(_add(database, ann, 5), np.int64)
    catalogue = Catalogue(_MEGABYTE)

    def ask(connection: Connection, now: datetime) -> None:
        catalogue.notice([ann], read_scopes(connection, [ann]), now)
        _check(connection, catalogue, [ann], units[:2])

    # A question looks several times, always at the same moment.
    for now, kept in ((_NOW, 0), (_NOW, 0), (_NOW + timedelta(seconds=1), 5)):
        database.read_here(lambda it, now=now: ask(it, now))
        assert catalogue.stats().units == kept


def test_what_was_removed_long_ago_is_not_kept_for_ever(database: Database):
    ann = fresh_scope()
    units = _add(database, ann, 9)
    catalogue = Catalogue(_MEGABYTE)
    database.read_here(lambda it: _check(it, catalogue, [ann], np.array(units, np.int64)))
    UnitWriter(database).remove(ann, *units[1:])
    database.read_here(lambda it: _check(it, catalogue, [ann], np.array(units[:1], np.int64)))
    assert catalogue.stats().units == 1


def test_scopes_are_small_only_when_all_of_them_were_seen_to_be(database: Database):
    ann, bob = fresh_scope(), fresh_scope()
    _add(database, ann, 2)
    catalogue = Catalogue(_MEGABYTE)
    assert not catalogue.are_small([ann])
    database.read_here(lambda it: catalogue.notice([ann], read_scopes(it, [ann]), _NOW))
    assert catalogue.are_small([ann])
    assert not catalogue.are_small([ann, bob])
