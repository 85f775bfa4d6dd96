"""Commands that remove something for good."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.command import opened
from recollect.cli.commands.records import RecordId
from recollect.cli.options import FilterOptions, Shared, argument, option
from recollect.domain.forgetting import Forgotten, Verification
from recollect.domain.views import as_json
from recollect.errors import InvalidInput
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console

_PROBLEM: Final = 5
_STOPPED: Final = (
    "Stopped. If forgetting had begun, what goes is hidden already, and `recollect work` or a "
    "memory that is open goes on with it; the same command with --dry-run counts what is still to "
    "be seen."
)
# What is counted, where the name of it is not a word that people use.
_KINDS: Final = {
    "audit": "entries of the audit",
    "blobs": "archived contents",
    "jobs": "pieces of work that waited",
    "requests": "answers kept for repeated requests",
    "state": "states of sessions",
    "traces": "traces of how memories were written",
    "units": "entries of the search index",
    "versions": "earlier versions",
}


def _confirm(what: str) -> None:
    """Ask for confirmation before anything is open, so that Ctrl-C works as usual."""
    question = f"{what} for good with all history; this cannot be undone. Continue?"
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise InvalidInput(
            "Not confirmed; nothing was changed",
            code="not_confirmed",
            hint="--yes goes without asking.",
        )


def _confirmed(yes: bool) -> bool:
    """Ask for confirmation while the options are read."""
    if not yes:
        _confirm("Purge the record")
    return True


async def purge(
    memory: Memory,
    record_id: RecordId,
    yes: Annotated[
        bool, option("Do not ask for confirmation.", "--yes", "-y", callback=_confirmed)
    ] = False,
) -> Answer:
    """Remove a deleted record with its history; this cannot be undone."""
    await memory.purge(record_id)
    return show.said(
        {"id": record_id, "status": "purged"}, f"{record_id} is purged; this cannot be undone."
    )


def forget(
    shared: Shared,
    filters: FilterOptions,
    record_id: Annotated[
        list[str] | None, argument("Records to forget.", metavar="[ID]...")
    ] = None,
    evidence: Annotated[
        bool, option("Also the turns that support the records.", "--with-evidence")
    ] = False,
    everything: Annotated[
        bool, option("Everything of the given user and agent.", "--everything")
    ] = False,
    all_agents: Annotated[
        bool, option("The user for every agent, with --agent; for an operator.", "--all-agents")
    ] = False,
    dry_run: Annotated[bool, option("Only count what would be erased.", "--dry-run")] = False,
    verify: Annotated[
        bool, option("Search every store and file for traces afterwards.", "--verify")
    ] = False,
    yes: Annotated[bool, option("Do not ask for confirmation.", "--yes", "-y")] = False,
) -> Answer:
    """Erase every trace of records, a session or a user; this cannot be undone.

    Choose what with ids, --session or filters. With --user alone, forget the user for every agent.
    Exit code 5 if --verify still finds something, or cannot tell yet.
    """
    session, others = filters.session, filters.common()
    is_by_more = bool(record_id or session or everything or any(others.values()))
    wish: dict[str, Any] = {
        "target": record_id or None,
        "session": session,
        "user": None if is_by_more else shared.user,
        "everything": everything,
        "with_evidence": evidence,
        "all_agents": all_agents,
        **others,
    }
    # What is counted before the question is also checked before it: nobody says yes to a mistake.
    if not yes and not dry_run:
        counted = _run(shared, {**wish, "dry_run": True})
        _confirm(f"Erase {_counts(counted)}")
    forgotten = _run(shared, {**wish, "dry_run": dry_run, "verify": verify})
    status = "would be forgotten" if dry_run else "forgotten"
    named = {"id": record_id[0]} if record_id and len(record_id) == 1 else {}
    value = {**named, "status": status, **as_json(forgotten)}
    proof = forgotten.verification
    is_wanted = verify and not dry_run and bool(forgotten.counts)
    is_unproved = is_wanted and (proof is None or not proof.is_gone)
    return Answer(value, lambda console: _tell(console, forgotten), _PROBLEM if is_unproved else 0)


def _run(shared: Shared, wish: dict[str, Any]) -> Forgotten:
    # Help, which is shown often, needs no event loop.
    import asyncio

    async def forget() -> Forgotten:
        async with opened(shared) as memory:
            try:
                with bar("Forgetting") as progress:
                    return await memory.forget(**wish, progress=progress)
            except asyncio.CancelledError:
                if not wish["dry_run"]:
                    typer.echo(_STOPPED, err=True)
                raise

    return asyncio.run(forget())


def _counts(forgotten: Forgotten) -> str:
    counts = (
        f"{count:,} {_KINDS.get(kind, kind)}" for kind, count in sorted(forgotten.counts.items())
    )
    return ", ".join(counts) or "nothing"


def _tell(console: Console, forgotten: Forgotten) -> None:
    went = "Would be erased" if forgotten.is_dry_run else "Erased"
    is_gone = forgotten.counts and not forgotten.is_dry_run
    undone = "; this cannot be undone" if is_gone else ""
    show.line(console, f"{went}: {_counts(forgotten)}{undone}.")
    if forgotten.evidence_left:
        turns = ", ".join(forgotten.evidence_left[:5])
        more = len(forgotten.evidence_left) - 5
        others = f" and {more:,} more" if more > 0 else ""
        show.line(
            console,
            f"Still said in these turns, which --with-evidence erases too: {turns}{others}.",
        )
    if forgotten.away:
        show.line(
            console,
            f"erasure_pending: {', '.join(forgotten.away)} is away; it is erased there in the "
            "background as soon as it is back. `recollect doctor` says when it is done.",
        )
    elif forgotten.erasure_pending:
        show.line(
            console,
            "erasure_pending: remains in the files are removed in the background; "
            "`recollect work --once` does it now, `recollect doctor` says when it is done.",
        )
    if forgotten.unused_room_kept:
        show.line(
            console,
            "The database is too large to overwrite its unused room, where remains may lie; "
            "SQLite's VACUUM writes it anew without.",
        )
    if forgotten.verification is not None:
        _tell_proof(console, forgotten.verification)


def _tell_proof(console: Console, proof: Verification) -> None:
    if proof.terms:
        verdict = "nothing is left" if proof.is_gone else f"{len(proof.traces):,} traces are left"
        told = f"Searched {len(proof.searched):,} places for {proof.terms:,} terms: {verdict}."
    else:
        told = "There was nothing that could be searched for, so this proves nothing."
    show.line(console, told)
    for trace in proof.traces:
        show.line(console, f"  {trace.term} in {trace.place}")
    if proof.also_said:
        words = ", ".join(sorted(proof.also_said)[:10])
        show.line(console, f"Not searched for, because other records say it too: {words}.")
    if proof.copies:
        show.line(
            console, f"Older copies still hold what was forgotten: {', '.join(proof.copies)}."
        )
