"""Session notes: what the tools of a session have found, so that nothing is fetched twice."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Final

from recollect.context.call_content import CallContent
from recollect.context.notes_rules import PRESETS, SMART_SEARCH, NotesRule
from recollect.context.notes_text import cached_text, excerpt, found_text, hint_text, titles
from recollect.domain.fields import MAX_TITLE, checked_json, checked_text
from recollect.domain.notes import Cached, ChunkType, ContentChunk, Hint
from recollect.errors import InvalidInput
from recollect.text.language import Language
from recollect.text.language import language as language_of

PAGE_RELEVANCE: Final = 0.8
# The notes are saved as a whole, so what they hold has an end.
MAX_STRUCTURE: Final = 400_000
_MOST_STRUCTURES: Final = 20
_MOST_CHAPTERS: Final = 50

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesOptions:
    """How much is noted, and what a repeated call of a structure tool is answered with."""

    enabled: bool = True
    max_chunks: int = 10
    min_relevance: float = 0.5
    # Characters of one chunk: a long page is represented, not copied into every prompt.
    chunk_chars: int = 500
    answer_from_cache: bool = False
    # None: the language of the question, else of what was found.
    language: Language | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Structure:
    """The structure of a document, and the call that brought it."""

    document: str
    value: Any
    tool: str = "get_toc"
    arguments: str = ""
    # Only with `answer_from_cache`: what the call gave, as it was.
    result: Any = None

    def to_json(self) -> dict[str, Any]:
        return {it.name: getattr(self, it.name) for it in fields(self)}


class SessionNotes:
    """The notes of one session. They live in memory; `dump` and `load` let them be kept."""

    def __init__(
        self,
        options: NotesOptions | None = None,
        rules: Mapping[str, NotesRule] | None = None,
    ) -> None:
        self._options = options or NotesOptions()
        self._rules = {**PRESETS, **(rules or {})}
        self._structures: dict[str, _Structure] = {}
        self._chunks: list[ContentChunk] = []
        self.known_chapters: list[str] = []
        self.current_query = ""

    @property
    def toc_cache(self) -> dict[str, Any]:
        """The cached structures by document."""
        return {document: it.value for document, it in self._structures.items()}

    @property
    def relevant_chunks(self) -> tuple[ContentChunk, ...]:
        """What was found, the most relevant first."""
        return tuple(self._chunks)

    def cache_toc(self, reg_id: str, toc: Mapping[str, Any] | Sequence[Any]) -> None:
        """Remember the structure of a document."""
        self._cache(_Structure(document=reg_id, value=toc))

    def get_cached_toc(self, reg_id: str) -> Any | None:
        found = self._structures.get(reg_id)
        return None if found is None else found.value

    def has_cached_toc(self, reg_id: str) -> bool:
        return reg_id in self._structures

    def add_chunk(self, chunk: ContentChunk) -> None:
        """Keep a chunk if it is relevant enough; equal content is kept once, the least goes."""
        if not self._options.enabled or chunk.relevance_score < self._options.min_relevance:
            return
        same = next((it for it in self._chunks if it.content == chunk.content), None)
        if same is not None:
            if same.relevance_score > chunk.relevance_score:
                return
            self._chunks.remove(same)
        # Of equally relevant chunks the newest comes first, or a full list would never change.
        self._chunks.insert(0, chunk)
        self._chunks.sort(key=lambda it: -it.relevance_score)
        del self._chunks[self._options.max_chunks :]

    def add_search_results(self, results: Sequence[Mapping[str, Any]]) -> None:
        """Keep the relevant ones of a search's results: `content`, `source` and `score` of each."""
        if self._options.enabled and results:
            self._add_results("smart_search", SMART_SEARCH, CallContent(result=list(results)))

    def add_page_content(
        self, content: str, source: str, relevance: float = PAGE_RELEVANCE
    ) -> None:
        """Keep what a page says about the question."""
        if self._options.enabled and content.strip():
            self._add_excerpt(content, source, relevance, "page_content")
            _log.debug("[Memory] 添加页面内容: %s", source)

    def observe_tool(self, name: str, arguments: object, result: object) -> bool:
        """Note what a tool gave, if a rule says how; whether there was something to note."""
        rule = self._rule(name)
        if rule is None or not self._options.enabled:
            return False
        call = CallContent.of(arguments, result)
        try:
            if call.has_failed:
                raise InvalidInput("it is an error's report")
            match rule.feeds:
                case "structure":
                    self._note_structure(name, rule, call, result)
                case "search_results":
                    self._add_results(name, rule, call)
                case "page":
                    self._note_page(name, rule, call)
        except InvalidInput as problem:
            _log.debug("[Memory] 忽略 %s 的结果: %s", name, problem.message)
            return False
        return True

    def before_tool(self, name: str, arguments: object) -> Hint | Cached | None:
        """What to say before a call whose answer is known; None when it is to be made."""
        rule = self._rule(name)
        if rule is None or rule.feeds != "structure":
            return None
        call = CallContent.of(arguments)
        known = self._known_structure(rule, name, call)
        if known is None:
            return None
        may_answer = self._options.answer_from_cache and known.result is not None
        if may_answer and _is_same_call(known, name, call):
            return Cached(document=known.document, result=known.result)
        spoken = self._language(titles(known.value))
        return Hint(document=known.document, text=hint_text(known.document, name, spoken))

    def get_memory_context(self) -> str:
        """What was found, for the prompt; empty when there is nothing."""
        if not self._chunks:
            return ""
        spoken = self._language(*(chunk.content for chunk in self._chunks))
        return found_text(self._chunks, self.known_chapters, spoken)

    def get_toc_cache_hint(self) -> str:
        """Which structures are known, for the prompt; empty when none is."""
        if not self._structures:
            return ""
        known = self._structures.values()
        spoken = self._language(*(titles(it.value) for it in known))
        return cached_text(list(self._structures), [it.tool for it in known], spoken)

    def clear_query_context(self) -> None:
        """Forget what belongs to the current question; the structures stay known."""
        self._chunks = []
        self.known_chapters = []
        self.current_query = ""

    def reset(self) -> None:
        """Forget everything."""
        self.clear_query_context()
        self._structures = {}

    def dump(self) -> dict[str, Any]:
        """All that is noted, as a JSON value."""
        return {
            "current_query": self.current_query,
            "known_chapters": list(self.known_chapters),
            "structures": [it.to_json() for it in self._structures.values()],
            "chunks": [asdict(it) for it in self._chunks],
        }

    def load(self, dumped: Mapping[str, Any]) -> None:
        """Note what was dumped, in place of what is noted now."""
        self.reset()
        if not self._options.enabled:
            return
        self.current_query = dumped["current_query"]
        self.known_chapters = list(dumped["known_chapters"])
        self._structures = {it["document"]: _Structure(**it) for it in dumped["structures"]}
        # From the last to the first: the newest of equals comes first again.
        for chunk in reversed(dumped["chunks"]):
            self.add_chunk(ContentChunk(**chunk))

    def _rule(self, name: str) -> NotesRule | None:
        """The rule for a tool; `mcp__server__tool` is known by its last part too."""
        return self._rules.get(name) or self._rules.get(name.rpartition("__")[2])

    def _note_structure(
        self, name: str, rule: NotesRule, call: CallContent, result: object
    ) -> None:
        value = call.structure(rule.content)
        if value is None:
            raise InvalidInput("there is no structure in it")
        keep = self._options.answer_from_cache and isinstance(result, str | Mapping | list)
        self._cache(
            _Structure(
                document=call.text(rule.document),
                value=value,
                tool=name,
                arguments=_canonical(call),
                result=result if keep else None,
            )
        )

    def _cache(self, structure: _Structure) -> None:
        if not self._options.enabled:
            return
        document = checked_text(structure.document, "document", MAX_TITLE)
        # A copy, so that whoever changes theirs does not change what is noted.
        kept = checked_json(structure.to_json(), "a structure", MAX_STRUCTURE)
        self._structures.pop(document, None)
        self._structures[document] = _Structure(**kept)
        while len(self._structures) > _MOST_STRUCTURES:
            del self._structures[next(iter(self._structures))]
        _log.debug("[Memory] 缓存目录: %s", document)

    def _known_structure(self, rule: NotesRule, name: str, call: CallContent) -> _Structure | None:
        found = self._structures.get(call.text(rule.document))
        if found is not None:
            return found
        # The document may be named by the result only.
        same = (it for it in self._structures.values() if _is_same_call(it, name, call))
        return next(same, None)

    def _add_results(self, name: str, rule: NotesRule, call: CallContent) -> None:
        items = call.items(rule.items)
        if not items:
            raise InvalidInput("there are no results in it")
        for item in items:
            score = item.share(rule.score)
            relevance = rule.relevance if score is None else score
            content = item.text(rule.content)
            if relevance is None or relevance < self._options.min_relevance or not content:
                continue
            self._add_excerpt(
                content,
                item.text(rule.source) or name,
                relevance,
                rule.chunk_type or "search_result",
                _metadata(rule, item),
            )
            chapter = item.text(rule.chapter)
            if chapter and chapter not in self.known_chapters:
                self.known_chapters = [*self.known_chapters, chapter][-_MOST_CHAPTERS:]
        _log.debug("[Memory] 添加搜索结果: %d 条", len(items))

    def _note_page(self, name: str, rule: NotesRule, call: CallContent) -> None:
        source = call.text(rule.source) or name
        score = call.share(rule.score)
        default = PAGE_RELEVANCE if rule.relevance is None else rule.relevance
        self._add_excerpt(
            call.text(rule.content),
            source,
            default if score is None else score,
            rule.chunk_type or "page_content",
            _metadata(rule, call),
        )
        _log.debug("[Memory] 添加页面内容: %s", source)

    def _add_excerpt(
        self,
        content: str,
        source: str,
        relevance: float,
        chunk_type: ChunkType,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        """Add what of a content speaks to the current question."""
        self.add_chunk(
            ContentChunk(
                content=excerpt(content, self.current_query, self._options.chunk_chars),
                source=source[:MAX_TITLE],
                relevance_score=relevance,
                chunk_type=chunk_type,
                metadata=metadata or {},
            )
        )

    def _language(self, *samples: str) -> Language:
        """The language of the question, else of what was found."""
        if self._options.language is not None:
            return self._options.language
        for text in (self.current_query, "\n".join(samples)):
            if (told := language_of(text)) != "other":
                return told
        return "en"


def _metadata(rule: NotesRule, call: CallContent) -> dict[str, str]:
    found = {name: call.text(path) for name, path in rule.metadata.items()}
    return {name: text for name, text in found.items() if text}


def _canonical(call: CallContent) -> str:
    """The arguments in a form in which equal ones are equal; empty when they have none."""
    try:
        return json.dumps(call.arguments, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return ""


def _is_same_call(known: _Structure, name: str, call: CallContent) -> bool:
    arguments = _canonical(call)
    return arguments != "" and (known.tool, known.arguments) == (name, arguments)
