"""Notes of files that were read through and found whole.

Reading the files of a model through takes a fifth of a second of a processor, which would be most
of what a short command takes. So it is done once, and again whenever a file is another one or was
written to, however that was dated: its time of change cannot be set.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path
from typing import Final

from recollect.domain.files import cache_folder, data_folder, make_folder, open_new
from recollect.errors import RecollectError

# What was written just now may be written again without another time.
_SETTLED_NS: Final = 2_000_000_000


def state_of(file: Path) -> str:
    """Return what changes with every change of a file; raise an `OSError` if there is none."""
    found = file.stat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def was_read(file: Path, digest: str) -> bool:
    """Return whether the file, as it is, was found to have this digest."""
    try:
        return _note_of(file).read_text("utf-8") == f"{digest} {state_of(file)}"
    except (OSError, ValueError, RecollectError):
        return False


def note_read(file: Path, digest: str, state: str) -> None:
    """Note that the file had this digest when it was in this state."""
    if time.time_ns() - int(state.rpartition(" ")[2]) < _SETTLED_NS:
        return
    # Without a place for notes it is read again.
    with contextlib.suppress(OSError, RecollectError):
        if not (data_folder().is_dir() or cache_folder().is_dir()):
            # Whoever keeps the memory elsewhere wants nothing of ours in their home.
            return
        note = _note_of(file)
        make_folder(note.parent)
        draft = note.with_name(f"{note.name}.{os.getpid()}")
        with open_new(draft, "w", encoding="utf-8") as opened:
            opened.write(f"{digest} {state}")
        draft.replace(note)


def _note_of(file: Path) -> Path:
    name = hashlib.blake2b(os.fsencode(file.absolute()), digest_size=16).hexdigest()
    return cache_folder() / "models" / name
