"""The child process that reads files one after another, each from standard input.

A request is a line of JSON (type and size) and the bytes of the file; the answer is a line with its
size and JSON: the text with its headings and pages, or the error.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any, Final

from recollect.domain.document import DocumentType
from recollect.errors import InvalidInput, RecollectError
from recollect.knowledge.office import parse_office
from recollect.knowledge.parsing import BINARY_TYPES, parse_text

_MEGABYTE: Final = 2**20


def main() -> None:
    """Answer requests until standard input ends."""
    _limit_memory(int(sys.argv[1]) * _MEGABYTE)
    # Output that a library prints must not be taken for an answer.
    answers = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr
    for line in sys.stdin.buffer:
        request = json.loads(line)
        answer = _answer(sys.stdin.buffer.read(request["size"]), request["type"])
        data = json.dumps(answer).encode()
        answers.write(b"%d\n" % len(data))
        answers.write(data)


def _answer(data: bytes, kind: DocumentType) -> dict[str, Any]:
    try:
        parsed = parse_office(data, kind) if kind in BINARY_TYPES else parse_text(data, kind)
    except RecollectError as problem:
        return _as_error(problem)
    except (MemoryError, RecursionError) as problem:
        return _as_error(
            InvalidInput(
                f"The file needs too much memory to be read ({type(problem).__name__})",
                code="document_too_large",
                hint="Split the file.",
            )
        )
    except Exception as problem:  # noqa: BLE001  (a library may fail on a hostile file in any way)
        return _as_error(
            InvalidInput(
                f"The file cannot be read: {type(problem).__name__}: {problem}",
                code="unreadable_document",
            )
        )
    return {"parsed": asdict(parsed)}


def _as_error(problem: RecollectError) -> dict[str, Any]:
    return {
        "error": {
            "class": type(problem).__name__,
            "message": problem.message,
            "code": problem.code,
            "hint": problem.hint,
        }
    }


def _limit_memory(most: int) -> None:
    try:
        import resource
    except ImportError:  # only Unix has it; elsewhere the time limit must do
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    main()
