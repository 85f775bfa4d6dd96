"""What is equal for all tests of a run and slow to build is built by the first one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from fastapi import APIRouter, params
from sqlalchemy import Connection, event
from starlette.routing import BaseRoute

from recollect.backends.sql.dialects.sqlite import SqliteDialect
from tests.nursery import warm_processes


def build_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let databases share the definitions of tables, applications routes, processes imports."""
    _share_definitions(monkeypatch)
    _share_routes(monkeypatch)
    warm_processes(monkeypatch)


def _share_definitions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile the statements that create the tables of a file once: it takes longer than they."""
    create = SqliteDialect.create_tables
    definitions: list[str] = []

    def create_tables(self: SqliteDialect, connection: Connection) -> None:
        if definitions:
            for definition in definitions:
                connection.exec_driver_sql(definition)
            return
        told: list[str] = []

        def listen(_connection: object, _cursor: object, statement: str, *_: object) -> None:
            if statement.lstrip().startswith("CREATE"):
                told.append(statement)

        event.listen(connection, "before_cursor_execute", listen)
        try:
            create(self, connection)
        finally:
            event.remove(connection, "before_cursor_execute", listen)
        definitions.extend(told)

    monkeypatch.setattr(SqliteDialect, "create_tables", create_tables)


def _share_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Analyse the routes of a router once: FastAPI does it for every application anew."""
    include = APIRouter.include_router
    included: dict[tuple[int, tuple[params.Depends, ...]], BaseRoute] = {}

    def include_router(
        self: APIRouter,
        router: APIRouter,
        *,
        dependencies: Sequence[params.Depends] | None = None,
        **given: Any,
    ) -> None:
        include(self, router, dependencies=dependencies, **given)
        key = id(router), tuple(dependencies or ())
        self.routes[-1] = included.setdefault(key, self.routes[-1])

    monkeypatch.setattr(APIRouter, "include_router", include_router)
