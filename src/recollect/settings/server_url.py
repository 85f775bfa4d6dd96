"""URLs of database servers and other stores."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast
from urllib.parse import parse_qs, unquote, urlsplit

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
    if not urlsplit(url).path.strip("/"):
        raise ValueError("must end with the name of a database")
    return url


def driver_url(url: str) -> str:
    """Return a URL for SQLAlchemy, with the driver."""
    scheme, separator, rest = url.partition("://")
    return _DRIVERS[scheme.lower()] + separator + rest


def folder_name(url: str) -> str:
    """Return the name of the folder for files that belong to a server's database."""
    parts = urlsplit(url)
    # The folder of a socket is in the query or, percent-encoded, in place of the host.
    host = parts.hostname or parse_qs(parts.query).get("host", ["local"])[0]
    named = (host and unquote(host), parts.port, parts.path.strip("/"))
    kind = _DRIVERS[parts.scheme].partition("+")[0]
    told = "-".join(str(part) for part in (kind, *named) if part)
    return _NOT_IN_A_NAME.sub("-", told)[-120:]


def told_url(url: str) -> str:
    """Return a URL without the password, for display."""
    parts = urlsplit(url)
    return url if parts.password is None else url.replace(f":{parts.password}@", ":***@", 1)
