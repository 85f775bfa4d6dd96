"""Help texts: values have plain names instead of Python types, and every command has an example."""

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

# One example a command; a group's commands stand under their full name.
EXAMPLES: Final[Mapping[str, str]] = {
    "remember": "'Ann is allergic to nuts' --user ann --tag health",
    "write": "'Ann moved to Berlin' --user ann",
    "recall": "'where does Ann live?' --user ann --limit 3",
    "context": "'plan my trip' --user ann --language en",
    "observe": "'I prefer green tea' --user ann --session monday",
    "used": "mem_01J0 --user ann",
    "rejected": "mem_01J0 --user ann",
    "extract": "monday --user ann",
    "route": "'remember that I like tea' --user ann",
    "names": "Ann 'Ann Lee' --user ann",
    "list": "--user ann --tag health --limit 20",
    "turns": "--user ann --session monday",
    "sessions": "--user ann",
    "tags": "--user ann",
    "categories": "--user ann",
    "show": "mem_01J0 --user ann",
    "profile": "hide mem_01J0 --user ann",
    "edit": "mem_01J0 'Ann lives in Munich' --user ann --reason moved",
    "history": "mem_01J0 --user ann",
    "trace": "write_01J0 --user ann",
    "undo": "mem_01J0 --user ann",
    "tag": "mem_01J0 mem_01J1 --add travel --user ann",
    "delete": "mem_01J0 --user ann --reason wrong",
    "purge": "mem_01J0 --user ann --yes",
    "forget": "--user ann --dry-run",
    "health": "--user ann",
    "conflicts": "--user ann",
    "resolve": "conflict_01J0 keep_second --user ann",
    "quarantine": "--user ann",
    "accept": "mem_01J0 --user ann",
    "reject": "mem_01J0 --user ann",
    "buffer": "--user ann",
    "promote": "mem_01J0 --user ann",
    "sweep": "--dry-run --all-scopes",
    "serve": "--port 7077",
    "mcp": "--user ann",
    "demo": "--remove",
    "work": "--once",
    "stats": "--user ann --json",
    "doctor": "--deep",
    "reindex": "--model local",
    "where": "--data ./memory.db",
    "backup": "memory-backup.db",
    "restore": "memory-backup.db",
    "copy": "--from ./memory.db --to postgresql://me@host/memory",
    "export": "memory.jsonl.gz --user ann",
    "import": "conversations.json --chat --user ann",
    "eval": "questions.jsonl --user ann --at-least 0.8",
    "version": "--json",
    "keys create": "console --role reader --bind-user ann --days 30",
    "keys list": "",
    "keys revoke": "key_01J0",
    "bench recall": "--suite ./sets",
    "bench chunks": "--data ./sets",
    "bench judge": "pairs.jsonl",
    "bench extract": "talks.jsonl",
    "bench route": "messages.jsonl",
    "bench speed": "--records 10000",
    "models use": "local",
    "models list": "",
    "models check": "openai:text-embedding-3-small",
    "models calibrate": "./my-model",
    "tools list": "--agent helper --language en",
    "tools call": """memory_recall '{"query": "tea"}' --user ann""",
    "tools guide": "--language en",
    "archives list": "--session monday --user ann",
    "archives show": "arch_01J0 --query 'error rate' --user ann",
    "archives delete": "arch_01J0 --user ann",
    "archives sweep": "--dry-run --user ann",
    "agents move": "helper --to warehouse",
    "jobs list": "--state failed",
    "jobs show": "job_01J0",
    "jobs cancel": "job_01J0",
    "workspace scopes": "--of-agent helper",
    "workspace users": "--limit 100",
    "workspace agents": "--limit 100",
    "workspace sessions": "--of-user ann",
    "workspace tags": "--of-user ann",
    "workspace categories": "--of-user ann",
    "workspace records": "--facets --limit 20",
    "share propose": "'We deploy on Fridays' --type convention --agent reviewer",
    "share proposals": "--status pending",
    "share approve": "prop_01J0",
    "share reject": "prop_01J0 --reason outdated",
    "share withdraw": "prop_01J0 --agent reviewer",
    "share list": "--agent helper",
    "share show": "prop_01J0",
    "share edit": "mem_01J0 'We deploy on Mondays'",
    "share delete": "mem_01J0",
    "audit tail": "--action forget --limit 50",
    "audit list": "--target mem_01J0",
    "audit show": "mem_01J0",
    "audit verify": "--workspace default",
    "audit replay": "recall_01J0",
}


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


def example_of(command: str) -> str | None:
    """Return the last line of a command's help, if there is an example of it."""
    arguments = EXAMPLES.get(command)
    return None if arguments is None else f"Example: recollect {command} {arguments}".rstrip()


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
