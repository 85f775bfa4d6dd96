"""The command line on one page: every command, its name and where help lists it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from inspect import Parameter
from typing import Annotated, Any, Final

import typer
from typer.main import get_command

from recollect.cli.answer import say
from recollect.cli.command import Body, as_command, over, with_options
from recollect.cli.commands import (
    archives,
    auditing,
    keeping,
    looking,
    mending,
    prompting,
    removing,
    running,
    saving,
    sharing,
    tools,
    transferring,
    upkeep,
    writing,
)
from recollect.cli.faults import EXIT_CODES, INTERRUPTED, bad_usage, tell
from recollect.cli.input import require_utf8
from recollect.cli.options import Shared
from recollect.errors import RecollectError

_COMMANDS: Final[Mapping[str, Mapping[str, Body]]] = {
    "Remember and recall": {
        "remember": saving.remember,
        "write": writing.write,
        "recall": looking.recall,
        "context": prompting.context,
        "observe": saving.observe,
        "used": prompting.used,
        "rejected": prompting.rejected,
        "extract": writing.extract,
        "route": writing.route,
    },
    "Look and correct": {
        "list": looking.list_records,
        "turns": looking.list_turns,
        "show": looking.show_record,
        "edit": saving.edit,
        "history": looking.history,
        "trace": writing.trace,
        "undo": saving.undo,
        "delete": saving.delete,
        "purge": removing.purge,
        "forget": removing.forget,
    },
    "Keep in order": {
        "health": upkeep.health,
        "conflicts": upkeep.conflicts,
        "resolve": upkeep.resolve,
        "quarantine": upkeep.quarantine,
        "accept": upkeep.accept,
        "reject": upkeep.reject,
        "buffer": upkeep.buffer,
        "promote": upkeep.promote,
        "sweep": upkeep.sweep,
    },
    "Run and keep": {
        "serve": running.serve,
        "work": keeping.work,
        "stats": looking.stats,
        "doctor": mending.doctor,
        "reindex": mending.reindex,
        "where": keeping.where,
        "backup": keeping.backup,
        "restore": keeping.restore,
        "export": transferring.export_to,
        "import": transferring.import_from,
        "version": running.version,
    },
}

_VERSION: Final = Parameter(
    "version",
    Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[bool, typer.Option("--version", help="Show the version and end.")],
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
        add_completion=False,
        pretty_exceptions_enable=False,
        epilog=EXIT_CODES,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(with_options(_before_any_command, _VERSION))
    for panel, commands in _COMMANDS.items():
        for name, body in commands.items():
            app.command(name, rich_help_panel=panel)(as_command(body))
    # Groups bring their own commands and much else; they are loaded when asked for.
    untouched = {"allow_extra_args": True, "ignore_unknown_options": True}
    for name, group in {
        "models": running.models,
        "tools": tools.tools,
        "archives": archives.archives,
        "share": sharing.share,
        "audit": auditing.audit,
        "bench": running.bench,
    }.items():
        app.command(
            name,
            rich_help_panel="Run and keep",
            add_help_option=False,
            context_settings=untouched,
        )(group)
    return get_command(app)


def _before_any_command(context: typer.Context, *, version: bool, **given: Any) -> None:
    """Durable memory for agents that people can see, search, correct and delete."""
    context.obj = shared = over(None, Shared(**given))
    if version:
        say(running.version(), as_object=shared.json)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
