"""The command line on one page: every command, where help lists it, and how errors are told."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from inspect import Parameter
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup
from typer.main import get_command

from recollect.cli.answer import say
from recollect.cli.command import as_command, over, with_options
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


def tell(error: RecollectError, *, as_object: bool) -> int:
    """Say on stderr what happened and what to do; the exit code that stands for it."""
    if as_object:
        print(json.dumps({"error": as_json(error)}, ensure_ascii=False), file=sys.stderr)
    else:
        print(f"error: {error}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
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
    },
    "Look and correct": {
        "list": "lookups.list_records",
        "turns": "lookups.list_turns",
        "sessions": "directory.sessions",
        "tags": "directory.tags",
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
        "quarantine": "upkeep.quarantine",
        "accept": "upkeep.accept",
        "reject": "upkeep.reject",
        "buffer": "upkeep.buffer",
        "promote": "upkeep.promote",
        "sweep": "upkeep.sweep",
    },
    "Run and keep": {
        "serve": "processes.serve",
        "mcp": "processes.mcp",
        "demo": "data.demo",
        "work": "data.work",
        "stats": "lookups.stats",
        "doctor": "repair.doctor",
        "reindex": "repair.reindex",
        "where": "data.where",
        "backup": "data.backup",
        "restore": "data.restore",
        "copy": "data.copy",
        "export": "transfer.export_to",
        "import": "transfer.import_from",
        "version": "processes.version",
    },
}
# Groups bring commands of their own, which read their options themselves.
_GROUPS: Final[Mapping[str, str]] = {
    "models": "processes.models",
    "tools": "tools.tools",
    "archives": "archives.archives",
    "kb": "kb.kb",
    "jobs": "data.jobs",
    "keys": "keys.keys",
    "agents": "agents.agents",
    "workspace": "directory.workspace",
    "share": "share.share",
    "audit": "audit.audit",
    "bench": "bench.bench",
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


@cache
def _command() -> Callable[..., Any]:
    app = typer.Typer(
        cls=PlainGroup,
        pretty_exceptions_enable=False,
        epilog=EXIT_CODES,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(with_options(_before_any_command, _VERSION))
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    setattr(group, "commands", _Commands())  # noqa: B010  (declared as one that can be changed)
    return group


class _Commands(Mapping[str, Any]):
    """Every command by its name, made when it is looked up: one call needs one of them."""

    _panels: Final = {name: panel for panel, names in _COMMANDS.items() for name in names}

    def __getitem__(self, name: str) -> Any:
        if name in _GROUPS:
            return _made_group(name)
        return _made(name, self._panels[name])

    def __iter__(self) -> Iterator[str]:
        yield from self._panels
        yield from _GROUPS

    def __len__(self) -> int:
        return len(self._panels) + len(_GROUPS)


def _made(name: str, panel: str) -> Any:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(name, cls=PlainCommand, rich_help_panel=panel, epilog=example_of(name))(
        as_command(_found(_COMMANDS[panel][name]))
    )
    # An app of one command is that command.
    return get_command(app)


def _made_group(name: str) -> Any:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(
        name,
        rich_help_panel=_PANEL_OF_GROUPS,
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(_found(_GROUPS[name]))
    return get_command(app)


def _found(place: str) -> Callable[..., Any]:
    module, _, function = place.partition(".")
    return getattr(importlib.import_module(f"recollect.cli.commands.{module}"), function)


def _before_any_command(context: typer.Context, *, version: bool, **given: Any) -> None:
    """Durable memory for agents that people can see, search, correct and delete."""
    context.obj = shared = over(None, Shared(**given))
    if version:
        say(_found(_COMMANDS[_PANEL_OF_GROUPS]["version"])(), as_object=shared.json)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
