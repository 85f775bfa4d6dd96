"""Help texts: values have plain names instead of Python types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from typer.core import TyperArgument, TyperCommand, TyperGroup

# What help calls a value of a type; any other, such as a choice, is shown as it is.
_VALUE_NAMES: Final[Mapping[str, str]] = {
    "bool": "",
    "str": "TEXT",
    "int": "NUMBER",
    "int range": "NUMBER",
    "float": "NUMBER",
    "float range": "NUMBER",
    "path": "PATH",
    "file": "PATH",
    "directory": "PATH",
    "dir": "PATH",
}
_TYPE: Final = re.compile(r"<(?:list\[(?P<item>.*)\]|(?P<value>.*))>")


class PlainCommand(TyperCommand):
    """A command whose help names values plainly."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        name_values(self.get_params(ctx), ctx)
        super().format_help(ctx, formatter)


class PlainGroup(TyperGroup):
    """A group of commands whose help names values plainly."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        name_values(self.get_params(ctx), ctx)
        super().format_help(ctx, formatter)


def name_values(parameters: Iterable[Any], ctx: Any) -> None:
    """Replace the types that typer shows with names of values."""
    for parameter in parameters:
        if isinstance(parameter, TyperArgument):
            if parameter.metavar is None:
                parameter.metavar = parameter.display_name_raw.upper()
            # An argument's name says what it is.
            setattr(parameter, "display_type_rich", _no_type)  # noqa: B010
        elif parameter.metavar is None and (found := _TYPE.fullmatch(parameter.display_type(ctx))):
            shown = found["item"] or found["value"]
            parameter.metavar = _VALUE_NAMES.get(shown, shown)


def _no_type(ctx: Any) -> None:
    """Show no type."""
