"""The files in a folder that can become documents."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from recollect.domain.document import MAX_FILE_BYTES
from recollect.errors import InvalidInput, NotFound, StorageError
from recollect.knowledge.formats import is_readable


def files_of(place: str | Path) -> list[Path]:
    """Return a file itself, or the readable files of a folder in order.

    Hidden files and folders are left out, and links are not followed.
    """
    path = Path(place)
    if path.is_dir():
        return list(_walk(path))
    if not path.exists():
        raise NotFound(
            f"There is no file or folder {path}", code="no_such_file", hint="Check the path."
        )
    return [path]


def source_of(path: Path) -> str:
    """Return the source of a local file: its absolute path."""
    return path.resolve().as_posix()


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """Open a file for reading; raise an error that says why it cannot be read."""
    try:
        if not path.is_file():
            raise InvalidInput(f"{path} is not a file", code="not_a_file")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidInput(
                f"{path} has {path.stat().st_size:,} bytes; {MAX_FILE_BYTES:,} are allowed. "
                "Nothing was stored",
                code="file_too_large",
                hint="Split the file.",
            )
        with path.open("rb") as file:
            yield file
    except OSError as problem:
        raise StorageError(
            f"{path} cannot be read: {problem.strerror or problem}",
            code="file_unreadable",
            hint="Check its permissions.",
        ) from problem


def _walk(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(place, name)
            if not name.startswith(".") and is_readable(name) and not path.is_symlink():
                yield path
