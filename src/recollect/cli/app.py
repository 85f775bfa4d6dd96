"""The command line on one page: every command, where help lists it, and how errors are told."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter
from typing import Annotated, Any, Final, TextIO

import typer
from typer.core import TyperGroup
from typer.main import get_command

from recollect.cli.answer import say
from recollect.cli.command import GUEST, Guest, Missing, as_command, over, with_options
from recollect.cli.help import PlainCommand, PlainGroup, example_of
from recollect.cli.options import Shared, require_utf8
from recollect.domain.views import as_json
from recollect.errors import (
    Conflict,
    InvalidInput,
    NotAllowed,
    NotAvailable,
    NotFound,
    RecollectError,
    SettingsError,
    StorageError,
)

# --- Telling errors: on stderr, with code and hint, and an exit code that scripts can rely on -----

INTERRUPTED: Final = 130
_UNEXPECTED: Final = 1
_EXIT_CODES: Final[tuple[tuple[type[RecollectError], int], ...]] = (
    (InvalidInput, 2),
    (NotFound, 3),
    (Conflict, 4),
    (StorageError, 5),
    (SettingsError, 6),
    (NotAvailable, 6),
    (NotAllowed, 7),
)

_NO_COMMAND: Final = re.compile(r"No such command '(?P<name>[^']*)'")
# What our commands are called elsewhere.
_OTHER_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("search", "find", "query", "ask"), "recall"),
    **dict.fromkeys(("add", "save", "store", "put"), "remember"),
    **dict.fromkeys(("get", "read", "view", "inspect"), "show"),
    **dict.fromkeys(("update", "change", "set"), "edit"),
    **dict.fromkeys(("remove", "rm", "del"), "delete"),
    **dict.fromkeys(("start", "run", "server"), "serve"),
}

EXIT_CODES: Final = (
    "Exit codes: 0 done, 1 unexpected, 2 bad input or usage, 3 not found, 4 conflict, 5 storage, "
    "6 settings or a missing part, 7 not allowed, 130 interrupted. "
    "Errors go to stderr with a code and a hint; with --json as a JSON object."
)


def tell(error: RecollectError, *, as_object: bool, stream: TextIO | None = None) -> int:
    """Say on stderr what happened and what to do; the exit code that stands for it."""
    stream = stream or sys.stderr
    if as_object:
        print(json.dumps({"error": as_json(error)}, ensure_ascii=False), file=stream)
    else:
        print(f"error: {error}", file=stream)
        if error.hint:
            print(f"hint: {error.hint}", file=stream)
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), _UNEXPECTED)


def bad_usage(problem: typer.TyperException) -> InvalidInput:
    """Return what the parser of the arguments did not understand, as one of our errors."""
    command = getattr(getattr(problem, "ctx", None), "command_path", "recollect")
    message = problem.format_message() or "No command was given"
    unknown = _NO_COMMAND.match(message) if command == "recollect" else None
    meant = _OTHER_WORDS.get(unknown["name"]) if unknown else None
    return InvalidInput(
        f"{message} Did you mean {meant!r}?" if meant else message,
        code="bad_usage",
        hint=f"See `{command} --help`.",
    )


# --- The command line on one page: every command, its name and where help lists it ----------------

# A command by its name, and where its function is: its module is imported when it is called.
_COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "Remember and recall": {
        "remember": "records.remember",
        "write": "write.write",
        "recall": "lookups.recall",
        "context": "prompt.context",
        "observe": "records.observe",
        "used": "prompt.used",
        "rejected": "prompt.rejected",
        "extract": "write.extract",
        "route": "write.route",
        "names": "write.names",
        "chat": "chat.chat",
    },
    "Look and correct": {
        "list": "lookups.list_records",
        "turns": "lookups.list_turns",
        "sessions": "directory.sessions",
        "tags": "directory.tags",
        "graph": "directory.graph",
        "categories": "directory.categories",
        "show": "lookups.show_record",
        "profile": "prompt.profile",
        "edit": "records.edit",
        "history": "lookups.history",
        "trace": "write.trace",
        "undo": "records.undo",
        "tag": "records.tag",
        "delete": "records.delete",
        "purge": "removal.purge",
        "forget": "removal.forget",
    },
    "Keep in order": {
        "health": "upkeep.health",
        "conflicts": "upkeep.conflicts",
        "resolve": "upkeep.resolve",
        "reopen": "upkeep.reopen",
        "quarantine": "upkeep.quarantine",
        "accept": "upkeep.accept",
        "reject": "upkeep.reject",
        "buffer": "upkeep.buffer",
        "promote": "upkeep.promote",
        "sweep": "upkeep.sweep",
    },
    "Run and keep": {
        "init": "model_setup.init",
        "serve": "processes.serve",
        "mcp": "processes.mcp",
        "demo": "data.demo",
        "work": "data.work",
        "stats": "lookups.stats",
        "doctor": "repair.doctor",
        "reindex": "repair.reindex",
        "reconcile": "repair.reconcile",
        "where": "data.where",
        "backup": "data.backup",
        "restore": "data.restore",
        "copy": "data.copy",
        "export": "transfer.export_to",
        "import": "transfer.import_from",
        "eval": "questions.evaluate",
        "version": "processes.version",
    },
}


@dataclass(frozen=True, slots=True)
class _Group:
    """Commands under one name, with the function of each in a module."""

    summary: str
    about: str
    module: str
    commands: Mapping[str, str]
    # Benchmarks read no memory of anybody's.
    has_shared_options: bool = True


_GROUPS: Final[Mapping[str, _Group]] = {
    "models": _Group(
        "List, choose and test embedding models.",
        "The models that turn text into vectors.",
        "models",
        {"list": "list_models", "use": "use", "check": "check", "calibrate": "calibrate"},
    ),
    "tools": _Group(
        "List the memory tools of an agent and call one.",
        "The memory tools of an agent.",
        "tools",
        {"list": "list_tools", "call": "call", "guide": "guide"},
    ),
    "archives": _Group(
        "List, read, search and clean up archived tool results.",
        "Archived tool results.",
        "archives",
        {
            "list": "list_archives",
            "show": "show_archive",
            "search": "search_archives",
            "delete": "delete_archive",
            "sweep": "sweep",
        },
    ),
    "kb": _Group(
        "Add, search and remove documents.",
        "The knowledge base: documents an agent can rely on.",
        "kb",
        {
            "add": "add",
            "sync": "sync",
            "list": "list_documents",
            "ls": "list_documents",
            "show": "show_document",
            "search": "search",
            "rm": "remove",
            "stats": "stats",
        },
    ),
    "jobs": _Group(
        "List background jobs and cancel them.",
        "Background jobs; finished ones are listed for a day.",
        "data",
        {"list": "list_jobs", "show": "show_job", "cancel": "cancel_job"},
    ),
    "keys": _Group(
        "Create, list and revoke the keys of the server.",
        "Keys that open the server, each with a role.",
        "keys",
        {"create": "create_key", "list": "list_keys", "revoke": "revoke_key"},
    ),
    "agents": _Group(
        "See and change how agents use memory.",
        "How agents use memory; what is set goes before the file.",
        "agents",
        {
            "list": "list_agents",
            "show": "show_agent",
            "set": "set_agent",
            "try": "try_store",
            "move": "move_agent",
            "delete": "delete_agent",
        },
    ),
    "workspace": _Group(
        "List the scopes, users, agents and contents of the whole workspace.",
        "All scopes of a workspace; reading them is audited.",
        "directory",
        {
            "list": "workspace_list",
            "scopes": "workspace_scopes",
            "users": "workspace_users",
            "agents": "workspace_agents",
            "sessions": "workspace_sessions",
            "tags": "workspace_tags",
            "graph": "workspace_graph",
            "categories": "workspace_categories",
            "records": "workspace_records",
            "recall": "workspace_recall",
            "health": "workspace_health",
            "conflicts": "workspace_conflicts",
            "audit": "workspace_audit",
        },
    ),
    "share": _Group(
        "Propose what all agents should know, and decide on proposals.",
        "What all agents of the workspace share, and proposals.",
        "share",
        {
            "propose": "propose",
            "proposals": "list_proposals",
            "approve": "approve",
            "reject": "reject",
            "reopen": "reopen",
            "withdraw": "withdraw",
            "list": "list_shared",
            "show": "show_shared",
            "edit": "edit",
            "delete": "delete",
            "undo": "undo",
        },
    ),
    "audit": _Group(
        "Show the audit log, verify it, and replay past recalls.",
        "The audit log: what happened to memory, by whom and why.",
        "audit",
        {
            "tail": "tail",
            "list": "tail",
            "show": "show_entries",
            "verify": "verify",
            "replay": "replay",
        },
    ),
    "bench": _Group(
        "Measure the quality and the speed of recall.",
        "Measure the quality of recall and the speed of memory.",
        "bench",
        {
            name: name
            for name in ("recall", "chunks", "judge", "extract", "route", "digests", "speed")
        },
        has_shared_options=False,
    ),
}
# What commands do where there is no memory; all others refuse.
_MISSING: Final[Mapping[str, Missing]] = {
    **dict.fromkeys(
        (
            *(
                "remember",
                "write",
                "observe",
                "names",
                "chat",
                "import",
                "demo",
                "work",
                "tools call",
            ),
            *("kb add", "kb sync", "keys create", "agents set", "share propose"),
        ),
        "create",
    ),
    # What is stored matters little to these.
    **dict.fromkeys(("route", "tools list", "tools guide"), "pretend"),
}
_PANEL_OF_GROUPS: Final = "Run and keep"

_VERSION: Final = Parameter(
    "version",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--version", help="Show the version and exit.")],
)


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code."""
    # Looked for here, because an error in the other options must be told the same way.
    as_object = "--json" in arguments
    try:
        require_utf8(arguments)
        status = _command()(args=arguments, prog_name="recollect", standalone_mode=False)
    except RecollectError as error:
        return tell(error, as_object=as_object)
    except typer.TyperException as problem:
        return tell(bad_usage(problem), as_object=as_object)
    except typer.Abort:
        return INTERRUPTED
    return status if isinstance(status, int) else 0


def run_for_guest(arguments: Sequence[str], guest: Guest) -> int:
    """Run one command of another process; its exit code."""
    GUEST.set(guest)
    try:
        status = _command()(args=[*arguments], prog_name="recollect", standalone_mode=False)
    except RecollectError as error:
        return tell(error, as_object="--json" in arguments, stream=guest.err)
    except (typer.TyperException, typer.Abort):
        # Told by the process that asks: the command was not begun.
        return _UNEXPECTED
    return status if isinstance(status, int) else 0


@cache
def _command() -> TyperGroup:
    app = _typer(epilog=EXIT_CODES, add_completion=True)
    app.callback(invoke_without_command=True)(with_options(_before_any_command, _VERSION))
    panels = {name: panel for panel, names in _COMMANDS.items() for name in names}

    def make(name: str) -> Any:
        if name in _GROUPS:
            return _made_group(name, _GROUPS[name])
        panel = panels[name]
        body = _found(_COMMANDS[panel][name])
        return _made(name, as_command(body, missing=_MISSING.get(name, "refuse")), panel)

    return _lazy_group(app, (*panels, *_GROUPS), make)


def _made_group(name: str, group: _Group) -> TyperGroup:
    app = _typer(
        name=name,
        help=group.about,
        short_help=group.summary,
        no_args_is_help=not group.has_shared_options,
    )
    if group.has_shared_options:
        app.callback(invoke_without_command=True)(with_options(_before_a_command))
    else:
        app.callback()(lambda: None)

    def make(command: str) -> Any:
        body = _found(f"{group.module}.{group.commands[command]}")
        full = f"{name} {command}"
        if group.has_shared_options:
            body = as_command(body, missing=_MISSING.get(full, "refuse"))
        return _made(full, body)

    made = _lazy_group(app, group.commands, make)
    made.rich_help_panel = _PANEL_OF_GROUPS
    return made


def _made(name: str, run: Callable[..., Any], panel: str | None = None) -> Any:
    app = _typer()
    app.command(
        name.rpartition(" ")[2], cls=PlainCommand, rich_help_panel=panel, epilog=example_of(name)
    )(run)
    # An app of one command is that command.
    return get_command(app)


def _typer(**given: Any) -> typer.Typer:
    given.setdefault("add_completion", False)
    return typer.Typer(
        cls=PlainGroup,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **given,
    )


def _lazy_group(app: typer.Typer, names: Iterable[str], make: Callable[[str], Any]) -> TyperGroup:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    setattr(group, "commands", _Lazy(names, cache(make)))  # noqa: B010  (declared as one that can be changed)
    return group


class _Lazy(Mapping[str, Any]):
    """Commands by name, each made when it is looked up: one call needs one of them."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names = dict.fromkeys(names)
        self._make = make

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._make(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _found(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(".")
    return getattr(importlib.import_module(f"recollect.cli.commands.{module}"), function)


def _before_any_command(context: typer.Context, *, version: bool, **given: Any) -> None:
    """Durable memory for agents that people can see, search, correct and delete."""
    if version:
        answer = _found(_COMMANDS[_PANEL_OF_GROUPS]["version"])()
        say(answer, as_object=over(None, Shared(**given)).json)
        raise typer.Exit
    _before_a_command(context, **given)


def _before_a_command(context: typer.Context, **given: Any) -> None:
    context.obj = over(context.obj, Shared(**given))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
