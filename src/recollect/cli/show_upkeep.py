"""How upkeep looks on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.console import Console
from rich.text import Text

from recollect.cli.show import line, plain_table, record_card
from recollect.domain.record import Record
from recollect.domain.stats import Health
from recollect.domain.upkeep import Dispute, Swept


def health(console: Console, found: Health) -> None:
    trust = found.mean_confidence
    room = "any number" if found.capacity is None else f"{found.capacity:,}"
    rows = {
        "records": f"{found.total:,}",
        "by kind": _counts(found.by_kind),
        "mean confidence": "-" if trust is None else f"{trust:.2f}",
        "short-term": f"{found.buffered:,}",
        "conflicts": _to_do(found.conflicts, "recollect conflicts"),
        "quarantined": _to_do(found.quarantined, "recollect quarantine"),
        "expired": f"{found.expired:,}",
        "expired because of": _counts(found.expired_by),
        "suspected duplicates": f"{found.suspected_duplicates:,} among the latest "
        f"{found.compared:,} records",
        "fullest scope": f"{found.fullest:,} of {room}",
    }
    _table(console, rows)
    for pair in found.duplicates:
        line(console, f"alike ({pair.probability:.2f}): {pair.first} {pair.second}")


def disputes(console: Console, found: Sequence[Dispute]) -> None:
    for each in found:
        dispute(console, each)
    if not found:
        line(console, "No conflicts.")


def dispute(console: Console, each: Dispute) -> None:
    conflict = each.conflict
    line(console, f"{conflict.id}  {conflict.resolution or conflict.reason}")
    record_card(console, each.first)
    record_card(console, each.second)


def buffered(console: Console, entries: Sequence[Record]) -> None:
    for record in entries:
        record_card(console, record)
        ends = "-" if record.expires_at is None else _local(record.expires_at)
        line(console, f"  until {ends}, recalled in {record.access_count} sessions")
    if not entries:
        line(console, "The buffer is empty.")


def swept(console: Console, found: Swept) -> None:
    done = "A sweep would do:" if found.is_dry_run else "Swept:"
    line(console, done if found.records or found.archives else "Nothing to sweep.")
    rows = {
        "promoted": found.promoted,
        "expired": found.expired,
        "deleted": found.deleted,
        "purged": found.purged,
        "archives": found.archives,
    }
    _table(console, {name: f"{number:,}" for name, number in rows.items() if number})
    _table(console, {name: _counts(did) for name, did in found.by_category.items()})
    for action, ids in found.ids.items():
        line(console, f"{action}: {' '.join(ids)}")


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in numbers.items()) or "-"


def _local(moment: datetime) -> str:
    return moment.astimezone().isoformat(sep=" ", timespec="minutes")


def _to_do(number: int, command: str) -> str:
    return f"{number:,}  → {command}" if number else "0"


def _table(console: Console, rows: Mapping[str, str]) -> None:
    table = plain_table("", "")
    for name, value in rows.items():
        table.add_row(Text(name, style="dim"), value)
    if rows:
        console.print(table)
