"""`recollect agents`: whether and how each agent uses memory."""

from __future__ import annotations

from typing import Annotated, cast

from recollect.cli import show
from recollect.cli.answer import Answer, bar
from recollect.cli.options import Limit, PageMark, argument, option
from recollect.domain.access import Agent
from recollect.domain.views import as_json
from recollect.domain.write import WritePolicy
from recollect.memory import Memory

Name = Annotated[str, argument("The agent.", metavar="NAME")]
PasswordVariable = Annotated[
    str | None,
    option("Variable that holds the password: RECOLLECT_PASSWORD_…", metavar="VARIABLE"),
]


async def list_agents(
    memory: Memory,
    limit: Limit = 50,
    cursor: PageMark = None,
) -> Answer:
    """List the agents with settings of their own, by name."""
    found = await memory.agents.list(limit=limit, cursor=cursor)

    return show.listed(found, _told, none="No agent is set up: all are as by default.")


async def show_agent(memory: Memory, name: Name) -> Answer:
    """Show the current settings of an agent."""
    agent = await memory.agents.get(name)
    return show.said(agent, _told(agent))


async def set_agent(
    memory: Memory,
    name: Name,
    enabled: Annotated[
        bool | None, option("Whether it has memory.", "--enabled/--disabled")
    ] = None,
    store: Annotated[
        str | None, option("Its store, named as for `agents move --to`.", metavar="STORE")
    ] = None,
    password_env: PasswordVariable = None,
    prefetch_limit: Annotated[
        int | None, option("Maximum hits for a prompt.", metavar="NUMBER")
    ] = None,
    write_policy: Annotated[str | None, option("auto, explicit or off.", metavar="POLICY")] = None,
    role: Annotated[str | None, option("What it is for.", metavar="ROLE")] = None,
    child: Annotated[
        list[str] | None, option("Agent whose memory it may use (repeatable).", metavar="NAME")
    ] = None,
) -> Answer:
    """Replace the settings of an agent; omitted ones come from the settings file."""
    agent = await memory.agents.put(
        name,
        enabled=enabled,
        store=store,
        password_env=password_env,
        prefetch_limit=prefetch_limit,
        write_policy=cast("WritePolicy | None", write_policy),
        role=role,
        children=child or None,
    )
    return show.said(agent, _told(agent))


async def move_agent(
    memory: Memory,
    name: Name,
    to: Annotated[
        str | None,
        option(
            "A store of the settings file, `common`, a database URL or a database file.",
            metavar="STORE",
        ),
    ] = None,
    password_env: PasswordVariable = None,
    purge: Annotated[
        bool, option("Erase the copy in the old store, now or later.", "--purge")
    ] = False,
) -> Answer:
    """Move an agent's memory to another store, while it is in use.

    It is copied and compared, then the new store serves, in every process within seconds. What is
    written meanwhile comes along. Killed at any moment, one store serves and nothing is lost; the
    same command goes on. The old copy stays until --purge.
    """
    if to is not None or not purge:
        with bar("Moving") as progress:
            await memory.agents.move(name, to, password_env=password_env, progress=progress)
    erased = await memory.agents.purge_copy(name) if purge else 0
    agent = await memory.agents.get(name)
    told = f"The memory of {name} is in {agent.store or 'the common store'}."
    if purge:
        told += f" The copy in the old store was erased: {erased:,} rows."
    elif agent.move is not None:
        told += f" The copy in {agent.move.source} is kept: recollect agents move {name} --purge"
    return show.said({**as_json(agent), "purged": erased}, told)


async def try_store(
    memory: Memory,
    name: Name,
    to: Annotated[
        str,
        option(
            "A store of the settings file, `common`, a database URL or a database file.",
            metavar="STORE",
        ),
    ],
    password_env: PasswordVariable = None,
) -> Answer:
    """Open the store that an agent could be moved to, and move nothing.

    A new store is made ready by this, and an older one brought up to date.
    """
    await memory.agents.try_store(name, to, password_env=password_env)
    told = f"{name} can be moved to {to}."
    return show.said({"reachable": to}, told)


async def delete_agent(memory: Memory, name: Name) -> Answer:
    """Remove the stored settings of an agent, so that the settings file applies again."""
    await memory.agents.delete(name)
    told = f"{name} is as the settings file says."
    return show.said({"deleted": name}, told)


def _told(agent: Agent) -> str:
    parts = [agent.name, "enabled" if agent.enabled else "disabled"]
    parts += [f"store {agent.store}"] if agent.store else []
    parts += [f"looks up {agent.prefetch_limit}"] if agent.prefetch_limit else []
    parts += [f"writes {agent.write_policy}"] if agent.write_policy else []
    parts += [f"role {agent.role}"] if agent.role else []
    if agent.move is not None and agent.move.state == "copying":
        parts.append(f"moves to {agent.move.target}, {agent.move.done:,} of {agent.move.total:,}")
    elif agent.move is not None:
        parts.append(f"copy kept in {agent.move.source}")
    parts += [f"children {', '.join(agent.children)}"] if agent.children else []
    return " · ".join((*parts, f"from the {agent.origin}"))
