"""What an MCP client can attach to a conversation: what is known, and single records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote

import mcp_types as types

from recollect.domain.context import ContextOptions, Tongue
from recollect.domain.hit import Explanation, Hit
from recollect.domain.record import Record
from recollect.domain.views import as_json
from recollect.errors import NotFound
from recollect.language.token_estimate import EstimatedTokens
from recollect.memory import Memory
from recollect.recall.inject import build_context

CONTEXT: Final = "memory://context"
_ABOUT: Final = "memory://context/"
_RECORD: Final = "memory://records/"
_TEXT: Final = "text/plain"
_JSON: Final = "application/json"
# So many of the newest records tell where things stand.
_NEWEST: Final = 20
_PAGE_SIZE: Final = 50
_LONGEST_NAME: Final = 80
_WORDS: Final[Mapping[Tongue, Mapping[str, str]]] = {
    "en": {
        "known": "What is known now",
        "context": "The newest memories, as a block for the prompt",
        "about": "What is remembered about a message, as a block for the prompt",
        "record": "One memory with its origin, times and version",
    },
    "zh": {
        "known": "目前所知",
        "context": "最新的记忆，可直接放入提示词",
        "about": "与一条消息相关的记忆，可直接放入提示词",
        "record": "一条记忆及其来源、时间和版本",
    },
}


async def list_resources(
    memory: Memory, language: Tongue, cursor: str | None
) -> types.ListResourcesResult:
    """Return a page of the records, the newest first; the first page begins with the context."""
    page = await memory.list(limit=_PAGE_SIZE, cursor=cursor)
    first = [
        types.Resource(
            name="context",
            title=_WORDS[language]["known"],
            uri=CONTEXT,
            description=_WORDS[language]["context"],
            mime_type=_TEXT,
        )
    ]
    records = [
        types.Resource(
            name=_name(record),
            uri=f"{_RECORD}{record.id}",
            description=record.description or None,
            mime_type=_JSON,
        )
        for record in page.items
    ]
    return types.ListResourcesResult(
        resources=records if cursor else [*first, *records], next_cursor=page.next_cursor
    )


def templates(language: Tongue) -> list[types.ResourceTemplate]:
    """Return the addresses that a client completes itself."""
    words = _WORDS[language]
    return [
        types.ResourceTemplate(
            name="context-about",
            uri_template=f"{_ABOUT}{{message}}",
            description=words["about"],
            mime_type=_TEXT,
        ),
        types.ResourceTemplate(
            name="record",
            uri_template=f"{_RECORD}{{id}}",
            description=words["record"],
            mime_type=_JSON,
        ),
    ]


async def read_resource(memory: Memory, language: Tongue, uri: str) -> types.ReadResourceResult:
    """Return what stands at an address."""
    if uri == CONTEXT:
        text, kind = await _newest(memory, language), _TEXT
    elif uri.startswith(_ABOUT):
        message = unquote(uri.removeprefix(_ABOUT))
        text, kind = (await memory.context(message, language=language)).text, _TEXT
    elif uri.startswith(_RECORD):
        record = await memory.get(uri.removeprefix(_RECORD))
        text, kind = json.dumps(as_json(record), ensure_ascii=False), _JSON
    else:
        raise NotFound(
            f"There is no resource {uri!r}",
            code="unknown_resource",
            hint=f"There are {CONTEXT}, {_ABOUT}MESSAGE and {_RECORD}ID.",
        )
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=kind, text=text)],
        cache_scope="private",
    )


async def _newest(memory: Memory, language: Tongue) -> str:
    page = await memory.list(limit=_NEWEST)
    hits = [
        Hit(
            item=record,
            score=1.0,
            span=(0, len(record.content)),
            explanation=Explanation(paths=()),
        )
        for record in page.items
    ]
    return build_context(
        hits, ContextOptions(), EstimatedTokens(), now=datetime.now(UTC), language=language
    ).text


def _name(record: Record) -> str:
    told = " ".join((record.title or record.content).split())
    return told if len(told) <= _LONGEST_NAME else f"{told[: _LONGEST_NAME - 1]}…"
