"""`recollect keys`: who gets into the server, and what they may do there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

from recollect.cli import show
from recollect.cli.answer import Answer
from recollect.cli.options import Limit, PageMark, argument, option
from recollect.domain.access import ApiKey
from recollect.memory import Memory

if TYPE_CHECKING:
    from rich.console import Console


async def create_key(
    memory: Memory,
    name: Annotated[str, argument("A name to tell it from others.")],
    role: Annotated[
        str, option("reader, writer, coordinator or admin.", metavar="ROLE")
    ] = "writer",
    bind_workspace: Annotated[
        list[str] | None, option("Only this workspace (repeatable; ORG/NAME).", metavar="NAME")
    ] = None,
    bind_user: Annotated[
        list[str] | None, option("Only this user (repeatable).", metavar="ID")
    ] = None,
    all_users: Annotated[
        bool, option("For all users; implied by the role admin.", "--all-users")
    ] = False,
    bind_agent: Annotated[
        list[str] | None, option("Only this agent (repeatable).", metavar="ID")
    ] = None,
    days: Annotated[float | None, option("Days until it expires.", metavar="NUMBER", min=0)] = None,
) -> Answer:
    """Create a key for some users, or explicitly for all; it is shown only once and not stored."""
    made = await memory.keys.create(
        name,
        role,
        workspaces=bind_workspace or (),
        users=bind_user or (),
        all_users=all_users,
        agents=bind_agent or (),
        expires_at=None if days is None else datetime.now(UTC) + timedelta(days=days),
    )

    def tell(console: Console) -> None:
        show.line(console, made.secret)
        show.line(console, f"\n{_told(made.key)}")
        show.line(console, made.covers)
        show.line(console, "Keep it now: it is not shown again. Send it as")
        show.line(console, "  Authorization: Bearer KEY")

    return Answer(made, tell)


async def list_keys(
    memory: Memory,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List the keys, newest first."""
    found = await memory.keys.list(limit=limit, cursor=cursor)

    return show.listed(
        found, _told, none="There are no keys: on this machine the server is open to anybody."
    )


async def revoke_key(
    memory: Memory, key_id: Annotated[str, argument("The key.", metavar="ID")]
) -> Answer:
    """Revoke a key and end its sign-ins."""
    key = await memory.keys.revoke(key_id)
    return show.said(key, _told(key))


def _told(key: ApiKey) -> str:
    parts = [key.id, key.name, key.role.value, key.grant.reach, f"{key.prefix}…"]
    if key.revoked_at is not None:
        parts.append(f"revoked {key.revoked_at.astimezone():%Y-%m-%d %H:%M}")
    elif key.expires_at is not None:
        parts.append(f"until {key.expires_at.astimezone():%Y-%m-%d %H:%M}")
    if key.last_used_at is not None:
        parts.append(f"last used {key.last_used_at.astimezone():%Y-%m-%d %H:%M}")
    return " · ".join(parts)
