"""Hourly totals of counters as rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Connection, Float, bindparam, delete, select, update

from recollect.backends.sql.database import OnDatabase, reading, writing
from recollect.backends.sql.portable import InsertOrIgnore
from recollect.backends.sql.prepared_statement import PreparedStatement
from recollect.backends.sql.schema import metric_hours
from recollect.backends.sql.statements import prefixed
from recollect.domain.meter import CounterName

_HOURS: Final = metric_hours.c
_BEGIN: Final = PreparedStatement(InsertOrIgnore(metric_hours))
_COUNT: Final = PreparedStatement(
    update(metric_hours)
    .where(*(_HOURS[name] == bindparam(f"new_{name}") for name in ("hour", "name", "label")))
    .values(value=_HOURS.value + bindparam("new_value", type_=Float()))
)


class SqlMetricHours(OnDatabase):
    """The counters of all processes on this database, by hour."""

    @writing
    def add(
        self,
        connection: Connection,
        hour: datetime,
        counted: Mapping[CounterName, float],
        *,
        keep_since: datetime,
    ) -> None:
        """Add to the totals of an hour, and remove those before `keep_since`."""
        rows = [
            {"hour": int(hour.timestamp()), "name": name, "label": label[:64], "value": value}
            for (name, label), value in counted.items()
        ]
        too_old = delete(metric_hours).where(_HOURS.hour < int(keep_since.timestamp()))
        connection.execute(too_old)
        # Other processes count in the same hour.
        _BEGIN.run(connection, [{**row, "value": 0.0} for row in rows])
        _COUNT.run(connection, [prefixed(row) for row in rows])

    @reading
    def read(
        self, connection: Connection, since: datetime, until: datetime
    ) -> Mapping[datetime, Mapping[CounterName, float]]:
        """Return the totals of the hours that began in this period."""
        chosen = select(metric_hours).where(
            _HOURS.hour >= int(since.timestamp()), _HOURS.hour < int(until.timestamp())
        )
        found: defaultdict[datetime, dict[CounterName, float]] = defaultdict(dict)
        for row in connection.execute(chosen):
            hour = datetime.fromtimestamp(row.hour, UTC)
            found[hour][row.name, row.label] = row.value
        return found
