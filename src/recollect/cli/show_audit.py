"""How the audit looks on a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from rich.console import Console
from rich.text import Text

from recollect.cli.show import harmless, line, plain_table
from recollect.domain.audit import AuditEntry, AuditVerdict
from recollect.domain.injection import Replay
from recollect.domain.page import Page

_SHORT: Final = 200


def page_of_entries(console: Console, page: Page[AuditEntry]) -> None:
    """An entry a line: ids in it can be copied."""
    for entry in page:
        place = "unsealed" if entry.seq is None else f"seq {entry.seq}"
        line(console, f"{_told(entry)}  in {entry.scope.key}  {place}")
    if not page.items:
        line(console, "No entries.")
    if page.next_cursor is not None:
        line(console, f"More: --cursor {page.next_cursor}")


def entries_in_full(console: Console, entries: Sequence[AuditEntry]) -> None:
    for entry in entries:
        console.print(Text(harmless(_told(entry)), style="bold"), soft_wrap=True)
        table = plain_table("", "")
        for name, value in entry.payload.items():
            if name == "digests":
                continue
            told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            table.add_row(Text(f"  {name}", style="dim"), harmless(told))
        console.print(table)


def verdict(console: Console, found: AuditVerdict) -> None:
    for fault in found.faults:
        place = "-" if fault.seq is None else str(fault.seq)
        line(console, f"seq {place}: {fault.what}")
    line(
        console,
        f"{found.org}/{found.workspace}: {found.sealed:,} entries sealed, {found.unsealed:,} not "
        f"sealed yet, {found.erased:,} erased by forgetting",
    )
    line(
        console,
        f"{found.proved:,} records and turns match the audit log, {found.unproved:,} "
        "were stored before it held digests",
    )
    if found.is_intact:
        line(console, f"Audit log intact. The chain ends with {found.head}")
    else:
        line(console, f"{len(found.faults):,} entries were changed after sealing.")


def replay(console: Console, found: Replay) -> None:
    line(console, f"{_moment(found.at)}  {found.actor} in {found.session} ({found.form})")
    line(console, f"asked: {found.question}")
    for item in found.items:
        version = "" if item.version is None else f"  version {item.version}"
        if item.version is not None and item.version_now not in (None, item.version):
            version += f", now {item.version_now}"
        scores = f"{_score(item.score)}, now {_score(item.score_now)}"
        line(console, f"{item.fate:12}  {scores}  {item.id}{version}")
        line(console, f"  {_shortened(item.content)}")
    for note in found.degraded:
        line(console, f"degraded: {note}")


def _told(entry: AuditEntry) -> str:
    who = "(erased)" if entry.is_erased else entry.actor
    return f"{_moment(entry.at)}  {entry.action} {entry.target}  by {who}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHORT else text[:_SHORT].rstrip() + " …"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"


def _moment(moment: datetime) -> str:
    return moment.astimezone().isoformat(sep=" ", timespec="seconds")
