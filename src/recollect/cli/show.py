"""How values look on a terminal. Widths of Chinese characters are rich's business."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, cast

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from recollect.cli.answer import Answer
from recollect.domain.hit import ArchivePassage, Hit, Item, NearMiss, Recalled
from recollect.domain.record import Episode, Record, Version
from recollect.domain.turn import Turn
from recollect.domain.views import as_json

if TYPE_CHECKING:
    from rich.console import Console

    from recollect.domain.audit import AuditEntry, AuditVerdict
    from recollect.domain.embedding import EmbedderCheck, EmbedderState
    from recollect.domain.followers import FollowerState
    from recollect.domain.injection import Replay
    from recollect.domain.meter import MetricFigures
    from recollect.domain.model_tier import ModelUsage
    from recollect.domain.page import Page
    from recollect.domain.profile import Profile
    from recollect.domain.relation import Link
    from recollect.domain.stats import Diagnosis, Health, RedisStats, SpoolStats, Stats
    from recollect.domain.upkeep import Dispute, Swept

T = TypeVar("T")

# What is remembered may come from anywhere; it must not steer the terminal.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MAX_SHOWN_CHARS: Final = 200
_BEFORE: Final = 50
_VERDICT_STYLES: Final = {"ok": "green", "warning": "yellow", "problem": "bold red"}
_CONCLUSIONS: Final = {
    "ok": "Everything works.",
    "warning": "Everything works, but some things could be better.",
    "problem": "Something does not work; the arrows say how to fix it.",
}

_SPOOLED: Final = (
    "The database server is away: this is kept on this machine and stored when it is back."
)


def line(console: Console, text: str) -> None:
    """Print one line, never broken, so that ids and paths can be copied."""
    console.print(Text(harmless(text)), soft_wrap=True)


def record_card(console: Console, record: Record) -> None:
    """Print a record in a list: its kind, then its content."""
    _heading(console, record.id, _facts(record))
    _body(console, record.content, record.title)
    if record.spooled:
        line(console, _SPOOLED)


def in_full(console: Console, item: Record | Turn) -> None:
    """Print every field that has a value, the content last."""
    form = as_json(item) | _times(item) | {"scope": item.scope.key}
    if isinstance(item, Record):
        form["links"] = [_link(link, item.id) for link in item.links]
    content = form.pop("content")
    given = {name: it for name, it in form.items() if it not in (None, "", [], {})}
    _facts_table(console, {name: harmless(told(it)) for name, it in given.items()})
    console.print()
    console.print(Text(harmless(content)), soft_wrap=True)


def page_of(
    console: Console,
    page: Page[T],
    tell: Callable[[Console, T], None],
    *more: str,
    none: str = "There are none.",
) -> None:
    """Show each item of a page, and how to go on; or say that there is none."""
    for item in page:
        tell(console, item)
    for text in more:
        line(console, text)
    if not page.items:
        line(console, none)
    if page.next_cursor is not None:
        line(console, f"More: --cursor {page.next_cursor}")


def listed(
    page: Page[T], told: Callable[[T], str], *more: str, none: str = "There are none."
) -> Answer:
    """Return the answer of a command that lists something, a line an item."""

    def tell(console: Console, item: T) -> None:
        line(console, told(item))

    return Answer(page, lambda console: page_of(console, page, tell, *more, none=none))


def said(value: object, text: str) -> Answer:
    """Return an answer that is a line of text for a person."""
    return Answer(value, lambda console: line(console, text))


def paged(page: Page[T], tell: Callable[[Console, T], None], none: str) -> Answer:
    """Return the answer of a command that lists something, each item as `tell` shows it."""
    return Answer(page, lambda console: page_of(console, page, tell, none=none))


def records(page: Page[Record]) -> Answer:
    return paged(page, record_card, "No records.")


def recalled(console: Console, found: Recalled) -> None:
    if not found.hits:
        line(console, "Nothing found that is good enough; try a lower --min-score.")
    for hit in found:
        item = hit.item
        title = item.title if isinstance(item, Record) else ""
        earlier = () if hit.followed_by is None else (f"earlier, see {hit.followed_by}",)
        _heading(console, f"{hit.score:.2f}", hit.id, _facts_of(item), *earlier)
        _body(console, _best_part(hit), title)
    for part in found.degraded:
        line(console, f"degraded: {part}")


def turn_card(console: Console, turn: Turn) -> None:
    _heading(console, turn.id, _turn_facts(turn))
    _body(console, turn.content)
    if turn.spooled:
        line(console, _SPOOLED)


def versions(console: Console, history: Sequence[Version]) -> None:
    table = plain_table("version", "recorded", "by", "status", "why", "content")
    for version in history:
        record = version.record
        table.add_row(
            str(version.number),
            _moment(record.recorded_at),
            harmless(version.changed_by),
            record.status,
            harmless(version.reason),
            harmless(_shortened(record.content)),
        )
    console.print(table)


def stats(console: Console, figures: Stats) -> None:
    store, index = figures.store, figures.keyword_index
    recalls, embeddings = figures.recall_cache, figures.embedding_cache
    rows = {
        "records": f"{store.records:,}",
        "by kind": _counts(store.by_kind.items()),
        "by status": _counts(store.by_status.items()),
        "turns": f"{store.turns:,} in {store.sessions:,} sessions",
        "search units": f"{store.units:,}",
        "links": _counts(store.links.items()),
        "judge": f"{figures.judge}: {_counts(figures.judged.items())}",
        "background jobs": f"{figures.jobs.waiting:,} waiting, {figures.jobs.failed:,} failed",
        "index in memory": f"{index.units:,} units, {index.bytes:,} bytes",
        "recall cache": f"{recalls.entries:,} answers, {recalls.hit_rate:.0%} hits",
        "embedding cache": f"{embeddings.entries:,} texts, {embeddings.hit_rate:.0%} hits",
        "summary cache": f"{figures.summary_cache.hit_rate:.0%} hits",
        "database": f"{figures.database_bytes:,} bytes",
        **_redis(figures.redis),
        **_waiting(figures.spool),
        **_last_day(figures.last_day),
        **{f"{it.task} model": _tier(it) for it in figures.models},
        **{f"{it.kind} store": _followed(it) for it in figures.followers},
    }
    _facts_table(console, rows)


def _followed(store: FollowerState) -> str:
    """Return how far a derived store is."""
    told = f"{store.name}: {store.condition}, {store.done:,} of {store.total:,} units"
    if store.lag:
        told += f", {store.lag:,} writes behind"
    if store.to_erase:
        told += f", {store.to_erase:,} forgotten scopes to erase"
    return told


def _redis(redis: RedisStats | None) -> dict[str, str]:
    """Return how the Redis server is and what it was worth, if there is one."""
    if redis is None:
        return {}
    state = f"away: {redis.problem}" if redis.is_away else f"{redis.calls:,} calls"
    hits = f"{redis.recall_cache.hit_rate:.0%} of answers, {redis.embedding_cache.hit_rate:.0%}"
    return {"redis": f"{redis.place}, {state}; had {hits} of vectors"}


def _waiting(spool: SpoolStats) -> dict[str, str]:
    """Return what waits for the database server, if it may."""
    if not spool.max_bytes:
        return {}
    aside = f", {spool.set_aside:,} set aside" if spool.set_aside else ""
    return {"spool": f"{spool.waiting:,} writes wait, {spool.bytes:,} bytes{aside}"}


def _last_day(day: MetricFigures) -> dict[str, str]:
    """Return what was done in the last 24 hours, as far as anything was."""
    rows: dict[str, str] = {}
    if day.recalls:
        times = f"p50 {day.recall_p50_ms:g} ms, p95 {day.recall_p95_ms:g} ms"
        rows["recalls today"] = f"{day.recalls:,}, {day.empty_recalls:,} empty; {times}"
    if day.prompts:
        rows["prompts today"] = (
            f"{day.prompts:,} with {day.injected_tokens:,} tokens; "
            f"{day.used_share or 0:.0%} used, {day.reused_share or 0:.0%} of other sessions"
        )
    if day.writes:
        rows["writes today"] = f"{day.writes:,}, {day.duplicate_share or 0:.0%} known already"
    if saved := day.window_tokens_saved + day.archive_tokens_saved:
        rows["tokens saved today"] = f"{saved:,}"
    if day.requests:
        rows["requests today"] = f"{day.requests:,}, {day.failed_requests:,} failed"
    return rows


def _tier(usage: ModelUsage) -> str:
    tokens = usage.input_tokens + usage.output_tokens
    told = f"{usage.model}: {usage.calls:,} calls, {usage.failures:,} failed, {tokens:,} tokens"
    if usage.daily_tokens is not None:
        told = f"{told} ({usage.daily_tokens:,} a day)"
    if usage.paused_until is not None:
        told = f"{told}; paused until {usage.paused_until:%H:%M:%S} UTC: {usage.last_error}"
    return told


def embedders(
    console: Console, states: Iterable[EmbedderState], used: EmbedderState | None
) -> None:
    table = plain_table("", "name", "condition", "what it is and needs")
    for state in states:
        needs = f"→ {state.hint}" if state.hint else ""
        table.add_row(
            "*" if state == used else "",
            Text(state.name, style="bold" if state == used else ""),
            state.condition.replace("_", " "),
            harmless("\n".join(filter(None, (state.detail, state.where, needs)))),
        )
    console.print(table)


def embedder_check(console: Console, tried: EmbedderCheck) -> None:
    if not tried.works:
        line(console, f"{tried.name} does not work: {tried.problem}")
    elif tried.model:
        line(
            console,
            f"{tried.name} works: {tried.model}, {tried.dimension} dimensions, "
            f"first question {tried.first_ms:,.0f} ms, then {tried.query_ms:,.1f} ms",
        )
    for note in tried.notes:
        line(console, f"note: {note}")
    if tried.hint:
        line(console, f"hint: {tried.hint}")


def diagnosis(console: Console, found: Diagnosis) -> None:
    table = plain_table("", "", "")
    for finding in found.findings:
        mend = f"\n→ {finding.hint}" if finding.hint else ""
        table.add_row(
            Text(finding.verdict, style=_VERDICT_STYLES[finding.verdict]),
            Text(finding.part, style="dim"),
            harmless(finding.message + mend),
        )
    console.print(table)
    line(console, f"\n{_CONCLUSIONS[found.verdict]}")


def places(console: Console, where: dict[str, Path]) -> None:
    width = max(map(len, where))
    for name, path in where.items():
        line(console, f"{name:<{width}}  {path}{'' if path.exists() else '  (does not exist yet)'}")


def plain_table(*columns: str) -> Table:
    """Return a table without lines, in which everything can be read whatever the width."""
    table = Table(*columns, box=None, pad_edge=False, show_header=any(columns))
    for column in table.columns:
        column.overflow = "fold"
    return table


def _link(link: Link, own: str) -> str:
    """Return a link as the record at one of its ends tells it."""
    what = {"same": "says the same as", "conflict": "contradicts", "different": "is other than"}
    follows = "follows" if link.newer == own else "is followed by"
    told = what.get(link.relation, follows)
    return f"{told} {link.other(own)} ({link.probability:.2f}, {link.decided_by}: {link.reason})"


def _heading(console: Console, *parts: str) -> None:
    first, *rest = map(harmless, parts)
    console.print(Text.assemble((first, "bold"), *(f"  {part}" for part in rest)), soft_wrap=True)


def _body(console: Console, text: str, title: str = "") -> None:
    words = _shortened(f"{title}: {text}" if title else text)
    console.print(Padding(Text(harmless(words)), (0, 0, 0, 2), expand=False))


def _facts_of(item: Item) -> str:
    match item:
        case Record():
            return _facts(item)
        case Turn():
            return _turn_facts(item)
        case ArchivePassage():
            return " · ".join((item.tool, item.session, _moment(item.created_at)))


def _facts(record: Record) -> str:
    tags = " ".join(f"#{tag}" for tag in record.tags)
    facts = [record.kind, record.category, record.facet or "", _moment(record.observed_at), tags]
    if record.status != "active":
        facts.append(record.status)
    return " · ".join(filter(None, facts))


def _turn_facts(turn: Turn) -> str:
    return " · ".join(filter(None, [turn.speaker or turn.role, turn.session, _moment(turn.at)]))


def _times(item: object) -> dict[str, str]:
    """Return an item's times as a person's clock shows them."""
    times: dict[str, str] = {}
    for field in fields(cast("Record", item)):
        value = getattr(item, field.name)
        if isinstance(value, datetime):
            times[field.name] = _moment(value, "seconds")
        elif isinstance(value, Episode):
            times |= _times(value)
    return times


def _moment(moment: datetime, precision: str = "minutes") -> str:
    # The first and the last day there is may have no time here: they are shown as in UTC.
    with suppress(OverflowError):
        moment = moment.astimezone()
    return moment.isoformat(sep=" ", timespec=precision)


def _counts(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts) or "-"


def told(value: object) -> str:
    """Return a JSON value as lines of names and values."""
    if isinstance(value, list):
        return "\n".join(map(told, cast("list[object]", value)))
    if isinstance(value, dict):
        named = cast("dict[str, object]", value)
        return "\n".join(f"{name}: {told(inner)}" for name, inner in named.items())
    return str(value)


def _best_part(hit: Hit) -> str:
    """Return the part of a passage to show: around the place with most of the words."""
    text = hit.passage
    folded = text.casefold()
    # A letter may fold to several; then places do not fit, and the passage is shown from its start.
    terms = hit.explanation.matched_terms if len(folded) == len(text) else ()
    starts = [max(0, folded.find(term) - _BEFORE) for term in terms if term in folded]
    most = max(
        starts,
        key=lambda at: sum(it in folded[at : at + _MAX_SHOWN_CHARS] for it in terms),
        default=0,
    )
    return text if len(text) <= _MAX_SHOWN_CHARS or not most else "… " + text[most:].lstrip()


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS].rstrip() + " …"


def harmless(text: str) -> str:
    """Return the text without what could steer the terminal."""
    return _CONTROL.sub("\ufffd", text)


# --- Why a recall found what it found: its paths, what was weighed, and what was left out ---------


def explained(console: Console, found: Recalled) -> None:
    """Print the explanation of a recall."""
    reason = f", because of {found.intent_reason!r}" if found.intent_reason else ""
    line(console, f"\nTaken for: {found.intent.replace('_', ' ')}{reason}")
    if found.hits:
        line(console, "\nWhat each path thought:")
        console.print(_paths(found.hits))
        line(console, "\nHow that became the score:")
        console.print(_weighing(found.hits))
    if found.near_misses:
        line(console, "\nLeft out:")
        console.print(_left_out(found.near_misses))


def _paths(hits: Sequence[Hit]) -> Table:
    table = plain_table("hit", "path", "rank", "raw", "score", "matched terms")
    for number, hit in enumerate(hits, start=1):
        terms = harmless(" ".join(hit.explanation.matched_terms))
        for path in hit.explanation.paths:
            table.add_row(
                *(str(number), path.path, str(path.rank)),
                *(f"{path.raw:.3f}", f"{path.score:.3f}", terms),
            )
    return table


def _weighing(hits: Sequence[Hit]) -> Table:
    table = plain_table(
        *("hit", "surroundings", "factor", "closeness", "sureness", "relevance"),
        *("boosts", "score"),
    )
    for number, hit in enumerate(hits, start=1):
        why = hit.explanation
        boosts = ", ".join(f"{it.reason} x{it.factor:.3f}" for it in why.boosts)
        table.add_row(
            *(str(number), f"{why.surroundings:.3f}", f"{why.factor:.3f}"),
            *(f"{why.closeness:.2f}", f"{why.sureness:.2f}", f"{why.relevance:.3f}"),
            *(harmless(boosts) or "-", f"{hit.score:.3f}"),
        )
    return table


def _left_out(near_misses: Sequence[NearMiss]) -> Table:
    table = plain_table("id", "score", "why")
    for missed in near_misses:
        table.add_row(missed.id, f"{missed.score:.3f}", harmless(missed.reason))
    return table


# --- How the audit looks on a terminal ------------------------------------------------------------


def entry_line(entry: AuditEntry) -> str:
    """Return an entry as one line, so that ids can be copied."""
    place = "unsealed" if entry.seq is None else f"seq {entry.seq}"
    return f"{_told(entry)}  in {entry.scope.key}  {place}"


def entries_in_full(console: Console, entries: Sequence[AuditEntry]) -> None:
    for entry in entries:
        console.print(Text(harmless(_told(entry)), style="bold"), soft_wrap=True)
        told = {
            f"  {name}": it if isinstance(it, str) else json.dumps(it, ensure_ascii=False)
            for name, it in entry.payload.items()
            if name != "digests"
        }
        _facts_table(console, {name: harmless(text) for name, text in told.items()})


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
    line(
        console, f"{_moment(found.at, 'seconds')}  {found.actor} in {found.session} ({found.form})"
    )
    line(console, f"asked: {found.question}")
    for item in found.items:
        version = "" if item.version is None else f"  version {item.version}"
        if item.version is not None and item.version_now not in (None, item.version):
            version += f", now {item.version_now}"
        scores = f"{_score(item.score)}, now {_score(item.score_now)}"
        line(console, f"{item.fate:12}  {scores}  {item.id}{version}")
        line(console, f"  {_shortened(item.content)}")
    for it in found.profile:
        line(console, f"{it.fate:12}  profile  {it.id}  version {it.version}")
        line(console, f"  {_shortened(it.content)}")
    for note in found.degraded:
        line(console, f"degraded: {note}")


def profile(console: Console, found: Profile) -> None:
    """Print the lines of a profile with the ids of their records."""
    if not found.lines:
        line(console, "The profile is empty.")
    parts = {
        "": found.lines,
        "Left out, as there is no room:": found.left_out,
        "Hidden:": found.hidden,
    }
    for title, lines in parts.items():
        if title and lines:
            line(console, title)
        for it in lines:
            line(console, f"{it.id}  {it.facet or '-':13}  {_shortened(it.text)}")


def _told(entry: AuditEntry) -> str:
    who = "(erased)" if entry.is_erased else entry.actor
    return f"{_moment(entry.at, 'seconds')}  {entry.action} {entry.target}  by {who}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.2f}"


# --- How upkeep looks on a terminal ---------------------------------------------------------------


def health(console: Console, found: Health) -> None:
    trust = found.mean_confidence
    room = "any number" if found.capacity is None else f"{found.capacity:,}"
    rows = {
        "records": f"{found.total:,}",
        "by kind": _counts(found.by_kind.items()),
        "mean confidence": "-" if trust is None else f"{trust:.2f}",
        "short-term": f"{found.buffered:,}",
        "conflicts": _to_do(found.conflicts, "recollect conflicts"),
        "quarantined": _to_do(found.quarantined, "recollect quarantine"),
        "expired": f"{found.expired:,}",
        "expired because of": _counts(found.expired_by.items()),
        "suspected duplicates": f"{found.suspected_duplicates:,} among the latest "
        f"{found.compared:,} records",
        "fullest scope": f"{found.fullest:,} of {room}",
    }
    _facts_table(console, rows)
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
        ends = "-" if record.expires_at is None else _moment(record.expires_at)
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
    for facts in (
        {name: f"{number:,}" for name, number in rows.items() if number},
        {name: _counts(did.items()) for name, did in found.by_category.items()},
    ):
        if facts:
            _facts_table(console, facts)
    for record in found.named:
        line(console, f"{record.action} ({record.reason}): {record.id}  {record.title}")


def _to_do(number: int, command: str) -> str:
    return f"{number:,}  → {command}" if number else "0"


def _facts_table(console: Console, rows: Mapping[str, str]) -> None:
    table = plain_table("", "")
    for name, value in rows.items():
        table.add_row(Text(name, style="dim"), value)
    console.print(table)
