"""Groups of commands, such as `recollect tools list`: made when one of them is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer
from typer.main import get_command

from recollect.cli.command import Body, as_command, over, with_options
from recollect.cli.help import PlainCommand, PlainGroup, example_of
from recollect.cli.options import Shared


def run_group(context: typer.Context, about: str, commands: Mapping[str, Body]) -> None:
    """Hand the arguments on to the group that these commands make."""
    name = context.command_path.rpartition(" ")[2]
    status = get_command(_group(name, about, commands)).main(
        args=context.args,
        prog_name=context.command_path,
        standalone_mode=False,
        obj=context.obj,
    )
    if isinstance(status, int):
        raise typer.Exit(status)


def _group(group_name: str, about: str, commands: Mapping[str, Body]) -> typer.Typer:
    group = typer.Typer(
        cls=PlainGroup,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def before_any_command(context: typer.Context, **given: Any) -> None:
        context.obj = over(context.obj, Shared(**given))
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    before_any_command.__doc__ = about
    group.callback(invoke_without_command=True)(with_options(before_any_command))
    for name, body in commands.items():
        example = example_of(f"{group_name} {name}")
        group.command(name, cls=PlainCommand, epilog=example)(as_command(body))
    return group
