"""Commands that list sessions, tags, categories and the contents of a workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.command import Body
from recollect.cli.options import Limit, Most, PageMark, Question, option
from recollect.domain.directory import (
    RECORD_ORDERS,
    Contents,
    LabelEntry,
    NameEntry,
    ScopeEntry,
    SessionEntry,
    WorkspaceEntry,
)
from recollect.domain.graph import NameGraph
from recollect.domain.record import Record
from recollect.memory import Memory

OfAgent = Annotated[
    str | None, option("Only of this agent; - is none.", "--of-agent", metavar="NAME")
]
OfUser = Annotated[str | None, option("Only of this user; - is none.", "--of-user", metavar="NAME")]


async def sessions(memory: Memory, limit: Limit = 50, cursor: PageMark = None) -> Answer:
    """List sessions, most recently active first."""
    return show.listed(await memory.sessions(limit=limit, cursor=cursor), _session)


async def tags(memory: Memory, limit: Limit = 50, cursor: PageMark = None) -> Answer:
    """List the tags of records, most frequent first."""
    return show.listed(await memory.tags(limit=limit, cursor=cursor), _label)


async def categories(memory: Memory, limit: Limit = 50, cursor: PageMark = None) -> Answer:
    """List the categories of records, most frequent first."""
    return show.listed(await memory.categories(limit=limit, cursor=cursor), _label)


async def graph(memory: Memory, limit: Limit = 50) -> Answer:
    """List the names in records, and which others each is mentioned with."""
    return Answer.of(await memory.graph(limit=limit), _tell_graph)


def _listing(what: str, about: str, told: Callable[[Any], str]) -> Body:
    """Return a command that lists something of the workspace, of one agent or user if asked."""

    async def list_them(
        memory: Memory,
        of_agent: OfAgent = None,
        of_user: OfUser = None,
        limit: Limit = 50,
        cursor: PageMark = None,
    ) -> Answer:
        listed = getattr(_whole(memory), what)
        found = await listed(agent=of_agent, user=of_user, limit=limit, cursor=cursor)
        return show.listed(found, told)

    list_them.__doc__ = about
    return list_them


async def workspace_list(memory: Memory, limit: Limit = 50, cursor: PageMark = None) -> Answer:
    """List all workspaces, those with the most records first."""
    return show.listed(await _whole(memory).every(limit=limit, cursor=cursor), _workspace)


async def workspace_users(memory: Memory, limit: Limit = 50, cursor: PageMark = None) -> Answer:
    """List the users, newest first."""
    return show.listed(await _whole(memory).users(limit=limit, cursor=cursor), _name)


async def workspace_agents(memory: Memory, limit: Limit = 50, cursor: PageMark = None) -> Answer:
    """List the agents, newest first."""
    return show.listed(await _whole(memory).agents(limit=limit, cursor=cursor), _name)


async def workspace_records(
    memory: Memory,
    of_agent: OfAgent = None,
    of_user: OfUser = None,
    facets: Annotated[
        bool, option("Also count by kind, category, status, tag, agent and user.", "--facets")
    ] = False,
    order: Annotated[str, option(f"One of {', '.join(RECORD_ORDERS)}.")] = "newest",
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List the records of all scopes, latest first."""
    found = await _whole(memory).records(
        agent=of_agent, user=of_user, facets=facets, order=order, limit=limit, cursor=cursor
    )
    return show.listed(found, _record, f"{found.total:,} records in all.")


async def workspace_graph(
    memory: Memory, of_agent: OfAgent = None, of_user: OfUser = None, limit: Limit = 50
) -> Answer:
    """List the names in records, and which others each is mentioned with."""
    found = await _whole(memory).graph(agent=of_agent, user=of_user, limit=limit)
    return Answer.of(found, _tell_graph)


def _tell_graph(console: show.Console, found: NameGraph) -> None:
    near: dict[str, list[str]] = {}
    for link in found.links:
        near.setdefault(link.first, []).append(link.second)
        near.setdefault(link.second, []).append(link.first)
    table = show.plain_table("name", "sort", "records", "with")
    for it in found.names:
        others = ", ".join(near.get(it.name, ())[:5])
        table.add_row(show.harmless(it.name), it.sort, str(len(it.records)), show.harmless(others))
    console.print(table)


async def workspace_recall(
    memory: Memory,
    query: Question,
    of_agent: OfAgent = None,
    of_user: OfUser = None,
    limit: Most = None,
) -> Answer:
    """Recall from all scopes what is remembered about a question, best first."""
    found = await _whole(memory).recall(query, agent=of_agent, user=of_user, limit=limit)
    return Answer.of(found, show.recalled)


async def workspace_health(
    memory: Memory, of_agent: OfAgent = None, of_user: OfUser = None
) -> Answer:
    """Show how much is stored, how far it is trusted, and what needs attention."""
    return Answer.of(await _whole(memory).health(agent=of_agent, user=of_user), show.health)


async def workspace_conflicts(
    memory: Memory, of_agent: OfAgent = None, of_user: OfUser = None
) -> Answer:
    """List the records that contradict each other and wait for a decision."""
    return Answer.of(await _whole(memory).conflicts(agent=of_agent, user=of_user), show.disputes)


async def workspace_audit(
    memory: Memory,
    of_agent: OfAgent = None,
    of_user: OfUser = None,
    action: Annotated[
        str | None, option("Only remember, update, observe, inject …", metavar="WORD")
    ] = None,
    about: Annotated[str | None, option("Only entries that name this.", metavar="ID")] = None,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List what happened in all scopes, newest first."""
    found = await _whole(memory).audit(
        agent=of_agent, user=of_user, action=action, about=about, limit=limit, cursor=cursor
    )
    return show.listed(found, show.entry_line, none="No entries.")


def _whole(memory: Memory) -> Any:
    return memory.scope(agent=None, user=None).workspace


def _session(it: SessionEntry) -> str:
    when = f"{it.last_at.astimezone():%Y-%m-%d %H:%M}"
    return f"{it.id} · {it.scope.key} · {it.turns:,} turns · {it.archives:,} archives · {when}"


def _label(it: LabelEntry) -> str:
    return f"{it.name} · {it.records:,} records"


def _scope(it: ScopeEntry) -> str:
    return f"{it.scope.key} · {_contents(it.contents)}"


def _name(it: NameEntry) -> str:
    return f"{it.name} · {it.scopes:,} scopes · {_contents(it.contents)}"


def _workspace(it: WorkspaceEntry) -> str:
    return f"{it.org}/{it.workspace} · {it.users:,} users · {_contents(it.contents)}"


def _contents(it: Contents) -> str:
    return f"{it.records:,} records · {it.turns:,} turns · {it.sessions:,} sessions"


def _record(it: Record) -> str:
    return f"{it.id} · {it.scope.key} · {it.content[:80]}"


workspace_scopes = _listing(
    "scopes", "List the scopes that ever held anything, newest first.", _scope
)
workspace_sessions = _listing(
    "sessions", "List the sessions, most recently active first.", _session
)
workspace_tags = _listing("tags", "List the tags, most frequent first.", _label)
workspace_categories = _listing("categories", "List the categories, most frequent first.", _label)
