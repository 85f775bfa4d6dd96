"""Which tool feeds which notes: declared by rules, so that any tool is wired without code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from recollect.context.call_content import parsed_paths
from recollect.domain.fields import checked_share
from recollect.domain.notes import ChunkType
from recollect.errors import InvalidInput

Feeds = Literal["structure", "search_results", "page"]

_NEEDED: Final[Mapping[Feeds, tuple[str, ...]]] = {
    "structure": ("document", "content"),
    "search_results": ("items", "content"),
    "page": ("content",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRule:
    """What a tool's results are, and by which paths their parts are found (see `call_content`)."""

    feeds: Feeds
    content: str
    document: str = ""
    items: str = ""
    source: str = ""
    score: str = ""
    chapter: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str], hash=False)
    # For content whose score is not told; without it only pages are kept, as `add_page_content`
    # values them.
    relevance: float | None = None
    chunk_type: ChunkType | None = None

    def __post_init__(self) -> None:
        if self.feeds not in get_args(Feeds):
            raise InvalidInput(
                f"A tool cannot feed {self.feeds!r}, only: {', '.join(get_args(Feeds))}",
                code="bad_notes_rule",
            )
        for name in _NEEDED[self.feeds]:
            if not getattr(self, name):
                raise InvalidInput(
                    f"A rule for {self.feeds} needs the path of its {name}", code="bad_notes_rule"
                )
        if self.relevance is not None:
            checked_share(self.relevance, "relevance")
        named = (self.content, self.document, self.items, self.source, self.score, self.chapter)
        for paths in filter(None, (*named, *self.metadata.values())):
            parsed_paths(paths)


GET_TOC: Final = NotesRule(
    feeds="structure",
    document="arguments.reg_id|arguments.doc_id|arguments.document_id"
    "|result.reg_id|result.doc_id|result.document_id",
    content="result",
)
SMART_SEARCH: Final = NotesRule(
    feeds="search_results",
    items="result.results[]|result.hits[]|result[]",
    content="item.content|item.text|item.snippet",
    source="item.source|item.reg_id|item.title|item.url",
    score="item.score|item.relevance_score|item.relevance",
    chapter="item.chapter|item.chapter_id|item.section",
    metadata={"page": "item.page_num|item.page"},
)
READ_PAGE_RANGE: Final = NotesRule(
    feeds="page",
    content="result.content_markdown|result.content|result.pages[].content|result.text|result",
    source="result.source|arguments.reg_id|arguments.doc_id|arguments.document_id",
)
PRESETS: Final[Mapping[str, NotesRule]] = {
    "get_toc": GET_TOC,
    "smart_search": SMART_SEARCH,
    "read_page_range": READ_PAGE_RANGE,
}
