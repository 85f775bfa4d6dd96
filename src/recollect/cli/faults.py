"""Telling errors: on stderr, with code and hint, and an exit code that scripts can rely on."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Final

import typer

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
    """What the parser of the arguments did not understand, as one of our errors."""
    command = getattr(getattr(problem, "ctx", None), "command_path", "recollect")
    message = problem.format_message() or "No command was given"
    unknown = _NO_COMMAND.match(message) if command == "recollect" else None
    meant = _OTHER_WORDS.get(unknown["name"]) if unknown else None
    return InvalidInput(
        f"{message} Did you mean {meant!r}?" if meant else message,
        code="bad_usage",
        hint=f"See `{command} --help`.",
    )
