"""Asking a server of this user that has the same database open, instead of opening it again.

Most of a short command is imports, and the server has made them. What the command prints comes
from the command itself, which runs there (`recollect.cli.command_socket`). This module imports
nothing that takes long, so that asking is quick and finding no server costs nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from recollect.cli.catalogue import GROUPS, command_of

if TYPE_CHECKING:
    from socket import socket

_SHARED: Final = frozenset({"--data", "--user", "--agent", "--workspace", "--org"})
# Who asks for these is shown a page about the command; - is standard input.
_NOT_SERVED: Final = frozenset({"-h", "--help", "--", "-", "--version"})
# What settings, moments and local texts depend on, beside our own variables.
_SAME: Final = frozenset({"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TZ"})
_OURS: Final = ("RECOLLECT_", "MEMORY_", "EMBEDDING_", "QDRANT_", "memory_")
_TERMINAL: Final = ("TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
_DATABASES: Final = (".db", ".sqlite", ".sqlite3")
# The path of a socket has room for so many bytes on every system.
_MAX_PATH_BYTES: Final = 100
# A server that does not even say that it will do it is stuck, and what is not begun is done here.
_READY_SECONDS: Final = 2.0
_MAX_SECONDS: Final = 120.0
_GONE: Final = 5


def ask(arguments: Sequence[str]) -> int | None:
    """Run a command in a server that has the memory open; None if there is none to do it."""
    asked = _served(arguments)
    if asked is None or not hasattr(os, "getuid") or not _speaks_utf8():
        return None
    place = socket_at(_database(asked))
    try:
        # A socket of somebody else's could answer anything.
        if os.stat(place).st_uid != os.getuid():  # noqa: PTH116  (pathlib takes long to import)
            return None
    except OSError:
        return None
    return _asked(place, asked)


def same_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that must be equal for a command to mean the same elsewhere."""
    return {name: it for name, it in environment.items() if name in _SAME or name.startswith(_OURS)}


def socket_at(database: str) -> str:
    """Return where the socket of the server of a database is."""
    return f"{database}.sock"


def address_of(place: str) -> tuple[str, int | None]:
    """Return a short address for a socket, and what to close when it was used.

    Linux leads a path of any length through the number of its opened folder.
    """
    if len(os.fsencode(place)) <= _MAX_PATH_BYTES or not sys.platform.startswith("linux"):
        return place, None
    folder, _, name = place.rpartition("/")
    handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY)
    return f"/proc/self/fd/{handle}/{name}", handle


def _served(arguments: Sequence[str]) -> list[str] | None:
    """Return the arguments with a whole path for --data, or None for a command that runs here."""
    asked = list(arguments)
    words: list[str] = []
    at = 0
    while at < len(asked):
        word = asked[at]
        if word in _NOT_SERVED:
            return None
        name, given, value = word.partition("=")
        if name == "--data":
            if not given:
                at += 1
                value = asked[at] if at < len(asked) else ""
            if not value or "://" in value or value.startswith(("-", "~")):
                return None
            asked[at] = f"--data={os.path.abspath(value)}" if given else os.path.abspath(value)  # noqa: PTH100
        elif word in _SHARED:
            at += 1
        elif not word.startswith("-"):
            words.append(word)
        at += 1
    command = command_of(" ".join(words[:2] if words[:1] and words[0] in GROUPS else words[:1]))
    return asked if command is not None and command.is_served else None


def _database(asked: Sequence[str]) -> str:
    """Return where the database is likely to be; the server looks exactly."""
    for at, word in enumerate(asked):
        if word == "--data":
            return _in_place(asked[at + 1])
        if word.startswith("--data="):
            return _in_place(word.removeprefix("--data="))
    given = _from_file()
    path = os.environ.get("RECOLLECT_STORAGE__PATH") or given.get("storage", {}).get("path")
    if path:
        return os.path.expanduser(path)  # noqa: PTH111
    folder = os.environ.get("RECOLLECT_DATA_DIR") or given.get("data_dir") or _data_folder()
    return f"{os.path.expanduser(folder)}/memory/memory.db"  # noqa: PTH111


def _in_place(place: str) -> str:
    return place if place.lower().endswith(_DATABASES) else f"{place}/memory/memory.db"


def _from_file() -> dict[str, Any]:
    """Return the settings file, if it says anything about where the data is."""
    file = os.environ.get("RECOLLECT_SETTINGS") or f"{_folder('CONFIG', '.config')}/settings.toml"
    try:
        with open(file, encoding="utf-8-sig") as text:  # noqa: PTH123
            written = text.read()
        if not any(
            it.lstrip(" [").startswith(("data_dir", "storage")) for it in written.split("\n")
        ):
            return {}
        import tomllib

        return tomllib.loads(written)
    except (OSError, ValueError):
        return {}


def _data_folder() -> str:
    return _folder("DATA", ".local/share")


def _folder(kind: str, usual: str) -> str:
    """Return our folder of a kind, as platformdirs has it."""
    home = os.path.expanduser("~")  # noqa: PTH111
    if sys.platform == "darwin":
        return f"{home}/Library/Application Support/recollect"
    return f"{os.environ.get(f'XDG_{kind}_HOME') or f'{home}/{usual}'}/recollect"


def _speaks_utf8() -> bool:
    return all(
        (getattr(it, "encoding", "") or "").lower().replace("-", "") == "utf8"
        for it in (sys.stdout, sys.stderr)
    )


def _asked(place: str, asked: Sequence[str]) -> int | None:
    import json
    from socket import AF_UNIX, SOCK_STREAM, socket

    address, handle = address_of(place)
    connection = socket(AF_UNIX, SOCK_STREAM)
    try:
        try:
            connection.settimeout(_READY_SECONDS)
            connection.connect(address)
            connection.sendall(json.dumps(_request(asked)).encode() + b"\n")
            if _line(connection) != b"ready":
                return None
            connection.settimeout(_MAX_SECONDS)
            connection.sendall(b"go\n")
        except OSError:
            # It was not begun, so it is done here.
            return None
        finally:
            if handle is not None:
                os.close(handle)
        try:
            answer = json.loads(_line(connection))
        except (OSError, ValueError):
            return _tell_gone(as_object="--json" in asked)
    finally:
        connection.close()
    sys.stdout.write(answer["out"])
    sys.stderr.write(answer["err"])
    return int(answer["status"])


def _request(asked: Sequence[str]) -> dict[str, Any]:
    is_terminal = sys.stdout.isatty()
    return {
        "arguments": asked,
        "folder": os.getcwd(),  # noqa: PTH109
        "variables": same_variables(os.environ),
        "terminal": {name: os.environ[name] for name in _TERMINAL if name in os.environ},
        "width": os.get_terminal_size(1).columns if is_terminal else None,
    }


def _line(connection: socket) -> bytes:
    """Return what comes until the end of a line; what ends before that is no answer."""
    pieces: list[bytes] = []
    while not pieces or not pieces[-1].endswith(b"\n"):
        piece = connection.recv(1 << 16)
        if not piece:
            raise OSError("the connection ended")
        pieces.append(piece)
    return b"".join(pieces)[:-1]


def _tell_gone(*, as_object: bool) -> int:
    """Say that a command was begun and its answer did not arrive."""
    message = "The server ended or was too slow while it carried out the command"
    hint = "Look with `recollect list` whether it was carried out, then run it again."
    if as_object:
        import json

        error = {"code": "server_gone", "message": message, "hint": hint, "retryable": True}
        print(json.dumps({"error": error}), file=sys.stderr)
    else:
        print(f"error: {message} (server_gone)\nhint: {hint}", file=sys.stderr)
    return _GONE
