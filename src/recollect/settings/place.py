"""Checks of the place of a memory: a file, a data folder, or the URL of a store."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlencode, urlsplit

from recollect.errors import SettingsError

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DEFAULT_HINT: Final = (
    "Name a database file or a data folder, or leave it out for the default place."
)
_SERVER_HINT: Final = (
    "Commands open the database that a server serves: name its file, folder or database URL, also "
    "while it runs. From Python, Memory.open('http://…') asks the server."
)
_DATABASE_SUFFIXES: Final = frozenset({".db", ".sqlite", ".sqlite3"})
# What a data folder may hold before its database exists: our files, and those of file systems.
_OWN_NAMES: Final = frozenset(
    {"memory", "journal", "servers", "logs", "settings.toml", "lost+found"}
)


def is_database_file(path: Path) -> bool:
    """Return whether a place is a database file; otherwise it is a data folder."""
    return path.suffix.lower() in _DATABASE_SUFFIXES


def checked_place(place: str | Path) -> Path:
    """Return the path, or raise an error if it is probably a mistake."""
    if not isinstance(place, str | Path):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _refusal(f"must be a path, not {type(place).__name__}")
    if place == "":
        # An empty path comes from a shell variable that is not set.
        raise _refusal("is empty", code="no_place")
    if place == ":memory:":
        raise _refusal(
            "is a path, and :memory: is none",
            hint="One that ends with the process: Settings.load({'storage': {'backend': "
            "'in_memory'}}), or RECOLLECT_STORAGE__BACKEND=in_memory.",
        )
    if isinstance(place, str) and _ADDRESS.match(place):
        scheme = place.partition("://")[0]
        hint = _SERVER_HINT if scheme.lower() in ("http", "https") else _DEFAULT_HINT
        raise _refusal(f"is a path, and {scheme}://… is an address", hint=hint)
    _require_possible(place)
    path = Path(place)
    # An unknown `~name` is reported where it is expanded.
    _require_own_or_new(Path(os.path.expanduser(path)))  # noqa: PTH111
    return path


def _require_possible(place: str | Path) -> None:
    try:
        str(place).encode()
        os.stat(place)  # noqa: PTH116  (as it is written)
    except ValueError:
        raise _refusal(f"is no name that a file can have: {str(place)!r}") from None
    except OSError as problem:
        # Other problems are reported when it is opened.
        if problem.errno == ENAMETOOLONG:
            raise _refusal("has a longer name than a file can have") from None


def _require_own_or_new(path: Path) -> None:
    """Raise an error for a place that is more likely a mistake than a new memory."""
    parent = path.absolute().parent
    if not path.exists() and not parent.exists():
        raise _refusal(
            f"would be in {parent}, and there is no such folder",
            code="no_such_folder",
            hint=f"Make the folder first (mkdir -p '{parent}'), or name a place in one that is "
            f"there: '{path.name}' is in the folder you are in; none at all is the default place.",
        )
    if path.is_dir() and (others := _others_in(path)):
        raise _refusal(
            f"cannot be the folder {path}, which holds other things ({others[0]} …)",
            code="not_a_data_folder",
            hint=f"Name a database file in it, '{path / 'memory.db'}', or a folder for memory "
            f"alone, '{path / 'recollect'}'.",
        )


def _others_in(folder: Path) -> list[str]:
    """Return the files of a folder that cannot be a data folder; none if it may be one."""
    try:
        names = sorted(entry.name for entry in folder.iterdir())
        is_ours = any(folder.glob("memory/memory.db*"))
    except OSError:
        return []
    if is_ours:
        return []
    return [
        name
        for name in names
        if name not in _OWN_NAMES
        and not name.startswith(".")
        # Agents may have their own databases there, with files beside them.
        and not any(suffix in name.lower() for suffix in _DATABASE_SUFFIXES)
    ]


def _refusal(problem: str, *, code: str = "bad_place", hint: str = _DEFAULT_HINT) -> SettingsError:
    return SettingsError(
        f"The place of the memory {problem}; nothing was opened", code=code, hint=hint
    )


# --- URLs of database servers and other stores ----------------------------------------------------

# The accepted schemes, and the name of each with its driver in SQLAlchemy.
_DRIVERS: Final[Mapping[str, str]] = {
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
    "mysql": "mysql+pymysql",
    "mysql+pymysql": "mysql+pymysql",
    "mariadb": "mysql+pymysql",
    "mariadb+pymysql": "mysql+pymysql",
}
# Kinds of local stores, and the form of their URLs.
_LOCAL_URLS: Final[Mapping[str, str]] = {
    "json": "json:///PATH/FOLDER",
    "in_memory": "in_memory://",
}
_SECRET_OPTION: Final = re.compile(r"\b(password|passwd|sslpassword|ssl_key_password)=[^&]*")
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.]+")


def is_server_url(place: object) -> bool:
    """Return whether a place is the URL of a supported database server."""
    return isinstance(place, str) and place.partition("://")[0].lower() in _DRIVERS


def is_store_url(place: object) -> bool:
    """Return whether a place is the URL of a store."""
    return is_server_url(place) or (isinstance(place, str) and _kind_of(place) is not None)


def without_local_url(section: object) -> object:
    """Return the settings of a store with a local URL such as `json://FOLDER` as kind and path."""
    if not isinstance(section, dict):
        return section
    given = cast("dict[str, Any]", section)
    url = given.get("url")
    kind = _kind_of(url) if isinstance(url, str) else None
    if kind is None:
        return given
    if given.get("path"):
        raise ValueError("a store with a url has no path")
    path = cast("str", url).partition("://")[2]
    if bool(path) == (kind == "in_memory"):
        raise ValueError(f"must look like {_LOCAL_URLS[kind]}")
    return {**given, "backend": kind, "path": path or None, "url": ""}


def _kind_of(url: str) -> str | None:
    scheme, separator, _ = url.partition("://")
    return scheme if separator and scheme in _LOCAL_URLS else None


def checked_url(url: str) -> str:
    """Return the URL, or raise an error if it names no database."""
    if not url:
        return url
    if not is_server_url(url):
        known = "postgresql://USER:PASSWORD@HOST/DATABASE or mysql://USER:PASSWORD@HOST/DATABASE"
        raise ValueError(f"must look like {known}, {' or '.join(_LOCAL_URLS.values())}")
    parts = urlsplit(url)
    # Such a character ends the part that it is in, so that the password would be read as a place.
    is_cut = "@" in parts.path or bool(parts.fragment) or not _has_a_port_or_none(parts)
    if is_cut:
        raise ValueError(
            "must have a number as its port, and no special characters in its password: "
            "write / as %2F, @ as %40, # as %23, ? as %3F and : as %3A"
        )
    if not parts.path.strip("/"):
        raise ValueError("must end with the name of a database")
    return url


def _has_a_port_or_none(parts: SplitResult) -> bool:
    try:
        return parts.port is not None or not parts.netloc.endswith(":")
    except ValueError:
        return False


def driver_url(url: str) -> str:
    """Return a URL for SQLAlchemy, with the driver."""
    scheme, separator, rest = url.partition("://")
    return _DRIVERS[scheme.lower()] + separator + rest


def server_kind(url: str) -> str:
    """Return what kind of server a URL names: postgresql or mysql."""
    return driver_url(url).partition("+")[0]


def has_password(url: str) -> bool:
    """Return whether a URL holds a password."""
    return told_url(url) != url


def with_password(url: str, password: str) -> str:
    """Return a URL that has a user and no password with this one."""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    login = f"{parts.username or ''}:{quote(password, safe='')}"
    return parts._replace(netloc=f"{login}@{place}").geturl()


def folder_name(url: str) -> str:
    """Return the name of the folder for files that belong to a server's database."""
    parts = urlsplit(url)
    # The folder of a socket is in the query or, percent-encoded, in place of the host.
    host = parts.hostname or parse_qs(parts.query).get("host", ["local"])[0]
    named = (host and unquote(host), parts.port, parts.path.strip("/"))
    kind = _DRIVERS[parts.scheme].partition("+")[0]
    told = "-".join(str(part) for part in (kind, *named) if part)
    return _NOT_IN_A_NAME.sub("-", told)[-120:]


# --- URLs of vector stores ------------------------------------------------------------------------

# The accepted schemes, each with the form of its URL.
_VECTOR_STORES: Final[Mapping[str, str]] = {
    "qdrant": "qdrant://HOST:6333, or qdrant:///FOLDER",
    "qdrants": "qdrants://HOST:6333",
    "milvus": "milvus://USER:PASSWORD@HOST:19530",
    "milvuss": "milvuss://USER:PASSWORD@HOST:19530",
    "postgresql": "postgresql://USER:PASSWORD@HOST/DATABASE",
}
# In the database server that holds the memory itself.
SAME_SERVER: Final = "pgvector"
# In this process only, whatever the common store has.
NO_VECTOR_STORE: Final = "none"
_VECTORS_OPTION: Final = "vectors"
_WEB_SCHEMES: Final[Mapping[str, str]] = {"http": "qdrant", "https": "qdrants"}


def checked_vector_url(url: str) -> str:
    """Return the URL of a vector store, or raise an error if it names none."""
    if url in ("", SAME_SERVER, NO_VECTOR_STORE):
        return url
    parts = urlsplit(url)
    known = (*_VECTOR_STORES.values(), SAME_SERVER, NO_VECTOR_STORE)
    if parts.scheme not in _VECTOR_STORES:
        from recollect.backends.vectors import store_of_others

        if parts.scheme and store_of_others(parts.scheme) is not None:
            return url
        raise ValueError(f"must look like {', '.join(known[:-1])} or {known[-1]}")
    is_local = parts.scheme == "qdrant" and not parts.netloc
    if parts.scheme == "postgresql":
        return checked_url(url)
    if not _has_a_port_or_none(parts) or not (parts.hostname or (is_local and parts.path)):
        raise ValueError(f"must look like {_VECTOR_STORES[parts.scheme]}")
    return url


def with_vector_store_apart(section: object) -> object:
    """Return the settings of a store with `?vectors=` of its URL as the setting of that name."""
    if not isinstance(section, dict):
        return section
    given = cast("dict[str, Any]", section)
    url = given.get("url")
    if not isinstance(url, str) or not is_server_url(url):
        return given
    parts = urlsplit(url)
    options = parse_qs(parts.query, keep_blank_values=True)
    if _VECTORS_OPTION not in options:
        return given
    named = options.pop(_VECTORS_OPTION)[-1]
    if given.get("vectors"):
        raise ValueError("vectors is given twice: in the url and beside it")
    rest = parts._replace(query=urlencode(options, doseq=True)).geturl()
    return {**given, "url": rest, "vectors": named}


def qdrant_url(address: str) -> str:
    """Return the address of a Qdrant server, as its own clients write it, as a URL of ours."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return f"qdrant://{address}"
    return f"{_WEB_SCHEMES.get(scheme, scheme)}://{rest}"


def told_url(url: str) -> str:
    """Return a URL without the password, for display."""
    scheme, separator, rest = url.partition("://")
    login, at, place = rest.rpartition("@")
    user, colon, _ = login.partition(":")
    place = _SECRET_OPTION.sub(r"\1=***", place)
    return f"{scheme}{separator}{user}{':***' * bool(colon)}{at}{place}"


# --- URLs of a Redis server ----------------------------------------------------------------------

# The accepted schemes, and the name of each in the library.
_REDIS: Final[Mapping[str, str]] = {
    "redis": "redis",
    "rediss": "rediss",
    "valkey": "redis",
    "valkeys": "rediss",
}


def checked_redis_url(url: str) -> str:
    """Return the URL as the library spells it, or raise an error if it names no Redis server."""
    if not url:
        return url
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.lower() not in _REDIS:
        raise ValueError("must look like redis://HOST:PORT/NUMBER, or rediss://… with encryption")
    parts = urlsplit(url)
    if "@" in parts.path or parts.fragment or not _has_a_port_or_none(parts) or not parts.hostname:
        raise ValueError(
            "must have a host, a number as its port, and no special characters in its password: "
            "write / as %2F, @ as %40, # as %23, ? as %3F and : as %3A"
        )
    if parts.path.strip("/") and not parts.path.strip("/").isdecimal():
        raise ValueError("must end with the number of a database, or with none")
    return f"{_REDIS[scheme.lower()]}://{rest}"
