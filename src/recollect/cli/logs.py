"""The log file: warnings of the library, for when something has to be looked into later."""

from __future__ import annotations

import logging
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

_MOST_BYTES: Final = 1_000_000
_KEPT: Final = 3


def log_to(path: Path) -> None:
    """Send warnings to a file, which is made when there is something to tell."""
    log = logging.getLogger()
    for earlier in [it for it in log.handlers if isinstance(it, _BestEffort)]:
        log.removeHandler(earlier)
        earlier.close()
    handler = _BestEffort(
        path, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
    )
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    log.addHandler(handler)


class _BestEffort(RotatingFileHandler):
    """Where the file cannot be written, nothing is logged and nobody is bothered."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        pass
