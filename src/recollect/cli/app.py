"""The command line: how the commands of the catalogue are run, and how errors are told."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from inspect import Parameter
from typing import Annotated, Any, Final, TextIO

import typer
from typer.core import TyperGroup
from typer.main import get_command

from recollect.cli.answer import say
from recollect.cli.catalogue import COMMANDS, GROUPS, PANEL_OF_GROUPS, Command, Group
from recollect.cli.command import GUEST, Guest, as_command, over, with_options
from recollect.cli.help import PlainCommand, PlainGroup
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


# --- The commands of `catalogue`, each made when it is looked up ----------------------------------

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
    panels = {name: panel for panel, names in COMMANDS.items() for name in names}

    def make(name: str) -> Any:
        if name in GROUPS:
            return _made_group(name, GROUPS[name])
        return _made(name, COMMANDS[panels[name]][name], panels[name])

    return _lazy_group(app, (*panels, *GROUPS), make)


def _made_group(name: str, group: Group) -> TyperGroup:
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

    def make(own: str) -> Any:
        is_plain = not group.has_shared_options
        return _made(f"{name} {own}", group.commands[own], is_plain=is_plain)

    made = _lazy_group(app, group.commands, make)
    made.rich_help_panel = PANEL_OF_GROUPS
    return made


def _made(name: str, command: Command, panel: str | None = None, *, is_plain: bool = False) -> Any:
    run = _found(command.place)
    if not is_plain:
        run = as_command(run, missing=command.missing)
    example = None
    if command.example is not None:
        example = f"Example: recollect {name} {command.example}".rstrip()
    app = _typer()
    app.command(name.rpartition(" ")[2], cls=PlainCommand, rich_help_panel=panel, epilog=example)(
        run
    )
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
        answer = _found(COMMANDS[PANEL_OF_GROUPS]["version"].place)()
        say(answer, as_object=over(None, Shared(**given)).json)
        raise typer.Exit
    _before_a_command(context, **given)


def _before_a_command(context: typer.Context, **given: Any) -> None:
    context.obj = over(context.obj, Shared(**given))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
