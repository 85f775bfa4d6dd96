"""Sources that another memory left: files, folders, archives, databases and addresses.

Nothing is written to a source. What is packed is unpacked within limits, and what was pickled is
read without running anything that it names.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import pickle
import shutil
import sqlite3
import stat
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final, cast
from urllib.parse import urlsplit

from recollect.errors import InvalidInput, NotFound, StorageError
from recollect.transfer.unpacking import GZIP, ZIP, allowed_bytes, damaged, limited, opened

# What arrives or is unpacked; a store on this machine may be of any size.
MAX_SOURCE_BYTES: Final = 512 * 2**20
# It is read into memory as a whole.
MAX_JSON_BYTES: Final = 128 * 2**20
MAX_ARCHIVE_FILES: Final = 10_000
_SQLITE: Final = b"SQLite format 3\x00"
_DATABASE: Final = ("postgresql", "postgres")
_WEB: Final = ("http", "https")
_WAIT_SECONDS: Final = 60


def is_address(source: object) -> bool:
    """Return whether the source is an address instead of a file."""
    return is_database(source) or (isinstance(source, str) and urlsplit(source).scheme in _WEB)


def is_database(source: object) -> bool:
    """Return whether the source is the address of a database server."""
    return isinstance(source, str) and urlsplit(source).scheme.partition("+")[0] in _DATABASE


@contextlib.contextmanager
def local_source(source: str | Path | BinaryIO, *, unpack: bool) -> Generator[Path]:
    """Give a file or a folder to read: the source itself, or what it holds or answers."""
    if isinstance(source, str | Path) and not is_address(source):
        path = Path(source).expanduser()
        if not path.exists():
            raise NotFound(f"There is no file {source}", code="file_missing")
        if path.is_dir() or not unpack or not _is_packed(path):
            yield path
            return
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        place = Path(folder)
        if isinstance(source, str) and is_address(source):
            source = _fetched(source, place / "fetched")
        with opened(source, MAX_SOURCE_BYTES) as (file, size):
            yield _unpacked(file, size, place) if unpack else _kept(file, place)


@contextlib.contextmanager
def packed(source: str | Path | BinaryIO) -> Generator[str | Path | BinaryIO]:
    """Give the source as one file: a folder as a zip archive of it."""
    if not isinstance(source, str | Path) or not Path(source).expanduser().is_dir():
        yield source
        return
    folder = Path(source).expanduser()
    with tempfile.TemporaryDirectory(prefix="recollect-") as place:
        target = Path(place) / "folder.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    archive.write(path, path.relative_to(folder))
        yield target


def sqlite_files(path: Path, name: str = "*") -> list[Path]:
    """Return the SQLite databases of this name in a folder, or the file if it is one."""
    candidates = sorted(path.rglob(name)) if path.is_dir() else [path]
    return [it for it in candidates if it.is_file() and _begins_with(it, _SQLITE)]


def rows_of(path: Path, statement: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a query; the database is opened for reading only."""
    try:
        with contextlib.closing(
            sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        ) as database:
            database.row_factory = sqlite3.Row
            for row in database.execute(statement):
                yield dict(row)
    except sqlite3.Error as problem:
        raise InvalidInput(
            f"{path.name} cannot be read: {problem}; nothing was changed", code="not_readable"
        ) from None


def tables_of(path: Path) -> dict[str, frozenset[str]]:
    """Return the tables of a database, each with its columns."""
    named = "SELECT name FROM sqlite_master WHERE type = 'table'"
    return {
        row["name"]: frozenset(
            it["name"]
            for it in rows_of(path, f'SELECT name FROM pragma_table_info("{row["name"]}")')
        )
        for row in rows_of(path, named)
        if '"' not in row["name"]
    }


def read_json(path: Path) -> object:
    """Return the value of a JSON file, or the list of those of JSON lines."""
    if path.is_file() and path.stat().st_size > MAX_JSON_BYTES:
        raise InvalidInput(
            f"{path.name} has more than {MAX_JSON_BYTES:,} bytes; nothing was changed",
            code="import_too_large",
            hint="Split it, or import the store itself.",
        )
    try:
        text = path.read_text("utf-8-sig")
    except (UnicodeDecodeError, OSError) as problem:
        raise InvalidInput(
            f"{path.name} cannot be read: {problem}; nothing was changed", code="not_readable"
        ) from None
    try:
        return json.loads(text or "nothing")
    except RecursionError:
        raise InvalidInput("its values are nested too deeply", code="bad_json") from None
    except ValueError as problem:
        try:
            lines = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            lines = []
        if not lines:
            raise InvalidInput(
                f"{path.name} is not JSON: {problem}; nothing was changed", code="bad_json"
            ) from None
        return lines


def posted(address: str, body: Mapping[str, Any]) -> object:
    """Return the JSON answer of a server to a request."""
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    return json.loads(_answer(request))


class _Fields:
    """Stands for any object in a pickle; it only holds its state."""

    def __init__(self, *_: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        inner = cast("Mapping[str, Any]", state)
        self.fields = cast("Mapping[str, Any]", inner.get("__dict__", inner))


class _Inert(pickle.Unpickler):
    """Reads a pickle without importing or running what it names."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        return _Fields


def fields_of_pickle(data: bytes) -> Mapping[str, Any]:
    """Return the fields of a pickled object."""
    try:
        read = cast("object", _Inert(io.BytesIO(data)).load())
    except Exception as problem:  # noqa: BLE001  (a damaged pickle may raise anything)
        raise InvalidInput(
            f"an entry of the store is damaged: {problem}; nothing was changed",
            code="not_readable",
        ) from None
    return getattr(read, "fields", {})


def _is_packed(path: Path) -> bool:
    return _begins_with(path, ZIP) or _begins_with(path, GZIP)


def _begins_with(path: Path, signature: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(signature)) == signature
    except OSError as problem:
        raise StorageError(f"{path} cannot be read: {problem}", code="unreadable_file") from None


def _kept(file: BinaryIO, place: Path) -> Path:
    target = place / "file"
    with target.open("wb") as out:
        shutil.copyfileobj(file, out)
    return target


def _unpacked(file: BinaryIO, size: int, place: Path) -> Path:
    head = file.read(len(ZIP))
    file.seek(0)
    if head.startswith(ZIP):
        _extract(file, size, place / "archive")
        return place / "archive"
    if head.startswith(GZIP):
        packed = cast("BinaryIO", gzip.GzipFile(fileobj=file, mode="rb"))
        file = limited(packed, allowed_bytes(size, MAX_SOURCE_BYTES))
    return _kept(file, place)


def _extract(file: BinaryIO, size: int, place: Path) -> None:
    """Unpack the plain files of an archive; what leads out of it is refused."""
    place.mkdir()
    allowed = allowed_bytes(size, MAX_SOURCE_BYTES)
    try:
        with zipfile.ZipFile(file) as archive:
            parts = [it for it in archive.infolist() if not it.is_dir()]
            if len(parts) > MAX_ARCHIVE_FILES:
                raise InvalidInput(
                    f"The archive has more than {MAX_ARCHIVE_FILES:,} files",
                    code="import_too_large",
                )
            for part in parts:
                name = PurePosixPath(part.filename)
                is_link = stat.S_ISLNK(part.external_attr >> 16)
                if name.is_absolute() or ".." in name.parts or is_link:
                    raise InvalidInput(
                        f"The archive has a file outside itself: {part.filename}",
                        code="not_readable",
                    )
                target = place.joinpath(*name.parts)
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(part) as inner, target.open("wb") as out:
                    shutil.copyfileobj(limited(cast("BinaryIO", inner), allowed), out)
                allowed -= target.stat().st_size
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as damage:
        raise damaged(damage) from None


def _fetched(address: str, target: Path) -> Path:
    target.write_bytes(_answer(urllib.request.Request(address)))
    return target


def _answer(request: urllib.request.Request) -> bytes:
    try:
        with urllib.request.urlopen(request, timeout=_WAIT_SECONDS) as response:
            return limited(cast("BinaryIO", response), MAX_SOURCE_BYTES).read()
    except (urllib.error.URLError, TimeoutError) as problem:
        raise StorageError(
            f"{request.full_url} does not answer: {problem}; nothing was changed",
            code="address_unreachable",
            hint="Check the address, or save what it answers to a file and import that.",
        ) from None
