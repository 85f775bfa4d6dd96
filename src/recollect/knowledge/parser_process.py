"""The child process that reads files one after another, PDF and Office files included.

A request is a line of JSON (type and size) and the bytes of the file; the answer is a line with its
size and JSON: the text with its headings and pages, or the error.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from dataclasses import asdict
from typing import Any, Final

from recollect.domain.document import DocumentType
from recollect.errors import InvalidInput, NotAvailable, RecollectError
from recollect.knowledge.parsing import (
    BINARY_TYPES,
    ParsedText,
    markdown_headings,
    media_type,
    parse_text,
    text_headings,
)

# --------------------------------------------------------------------------------------------------
# Reading of PDF and Office files with kreuzberg; runs only in the child process of `parser`.

MAX_UNPACKED_BYTES: Final = 512 * 2**20
_PAGE_BREAK: Final = "\n\n"


def parse_office(data: bytes, kind: DocumentType) -> ParsedText:
    """Return the text of a file with its pages or headings."""
    try:
        from kreuzberg import ExtractionConfig, KreuzbergError, PageConfig, extract_bytes_sync
    except ImportError:
        raise NotAvailable(
            f"Reading a {kind} file needs another library",
            code="documents_extra_missing",
            hint="Install it with: pip install 'recollect[documents]'",
        ) from None
    if kind != "pdf":
        _require_small(data)
    # Unpacked from a dict, because the library's type hints lack one of these.
    options: dict[str, Any] = {
        "use_cache": False,
        "disable_ocr": True,
        "output_format": "markdown",
        "pages": PageConfig(extract_pages=True),
    }
    config = ExtractionConfig(**options)
    try:
        result = extract_bytes_sync(data, media_type(kind), config)
    except (KreuzbergError, ValueError, RuntimeError) as problem:
        # The library names the kind of problem first, and may say the same twice.
        reason = ": ".join(dict.fromkeys(str(problem).split(": ")[1:])) or str(problem)
        raise InvalidInput(
            f"The {kind} file cannot be read: {reason}",
            code="unreadable_document",
            hint="Save it again without a password, or as another type.",
        ) from None
    if kind == "pdf" and result.pages:
        return _with_pages([(page["page_number"], page["content"]) for page in result.pages])
    text = result.content.replace("\x00", "\ufffd")
    return ParsedText(text=text, headings=markdown_headings(text))


def _with_pages(pages: list[tuple[int, str]]) -> ParsedText:
    text = ""
    starts: list[tuple[int, int]] = []
    for number, content in pages:
        starts.append((len(text), number))
        text += content.replace("\x00", "\ufffd").replace("\r\n", "\n") + _PAGE_BREAK
    return ParsedText(text=text, headings=text_headings(text), pages=tuple(starts))


def _require_small(data: bytes) -> None:
    """Raise an error for a file that is huge when unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            size = sum(part.file_size for part in file.infolist())
    except zipfile.BadZipFile as problem:
        raise InvalidInput(
            f"The file is cut off or damaged: {problem}",
            code="unreadable_document",
            hint="Get an undamaged copy.",
        ) from None
    if size > MAX_UNPACKED_BYTES:
        raise InvalidInput(
            f"Unpacked, the file has {size:,} bytes; {MAX_UNPACKED_BYTES:,} are allowed",
            code="unpacked_too_large",
            hint="Split the file.",
        )


# --- The child process that reads files one after another, each from standard input ---------------

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
