"""The log file: warnings of the library, for when something has to be looked into later."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final

from recollect.domain.files import make_file, make_folder

_MOST_BYTES: Final = 1_000_000
_KEPT: Final = 3
# The logger of the server's requests.
REQUESTS: Final = "recollect.server.requests"


def log_to(path: Path, *, is_structured: bool = False, with_requests: bool = False) -> None:
    """Send warnings to a file, which is made when there is something to tell.

    A structured log is one JSON object a line; `with_requests` adds a line for each request.
    """
    log = logging.getLogger()
    for earlier in [it for it in log.handlers if isinstance(it, _BestEffort)]:
        log.removeHandler(earlier)
        earlier.close()
    handler = _BestEffort(
        path, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8", delay=True
    )
    handler.setFormatter(
        _JsonLines()
        if is_structured
        else logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s")
    )
    handler.addFilter(lambda record: record.levelno >= logging.WARNING or record.name == REQUESTS)
    log.addHandler(handler)
    logging.getLogger(REQUESTS).setLevel(logging.INFO if with_requests else logging.WARNING)


class _JsonLines(logging.Formatter):
    """One JSON object a line: when, how grave, who says it, what, and the fields it comes with."""

    def format(self, record: logging.LogRecord) -> str:
        told: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


class _BestEffort(RotatingFileHandler):
    """Where the file cannot be written, nothing is logged and nobody is bothered."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        make_folder(path.parent)
        make_file(path)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (logging's name)
        pass
