"""Reading of PDF and Office files with kreuzberg; runs only in the child process of `parser`."""

from __future__ import annotations

import io
import zipfile
from typing import Any, Final

from recollect.domain.document import DocumentType
from recollect.errors import InvalidInput, NotAvailable
from recollect.knowledge.parsing import ParsedText, markdown_headings, media_type, text_headings

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
        reason = str(problem).partition(": ")[2] or str(problem)
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
