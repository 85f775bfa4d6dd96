"""Session notes: what is kept, how it reads, and how rules wire any tool to them."""

import json
import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.context.notes import (
    PRESETS,
    NotesRule,
    SessionNotes,
    chapters,
    excerpt,
)
from recollect.domain.notes import Cached, ContentChunk, Hint
from recollect.domain.sections import NotesSettings
from recollect.errors import InvalidInput

_TOC = {
    "reg_id": "angui_2024",
    "title": "国家电网公司电力安全工作规程",
    "children": [{"title": "第一章 总则", "page": 1}, {"title": "第二章 作业要求", "page": 12}],
}
_FOUND = {
    "results": [
        {
            "content": "倒闸操作应由两人进行，一人操作，一人监护。",
            "source": "angui_2024 P85",
            "score": 0.92,
            "chapter": "第二章",
            "page_num": 85,
        },
        {"content": "操作票应填写设备的双重名称。", "source": "angui_2024 P86", "score": 0.61},
        {"content": "安全帽的颜色。", "source": "angui_2024 P3", "score": 0.2},
    ]
}


def _chunk(content: str, score: float, source: str = "doc P1") -> ContentChunk:
    return ContentChunk(content=content, source=source, relevance_score=score)


def _contents(notes: SessionNotes) -> list[str]:
    return [chunk.content for chunk in notes.relevant_chunks]


def test_a_structure_is_cached_by_document():
    notes = SessionNotes()
    assert not notes.has_cached_toc("angui_2024")
    assert notes.get_cached_toc("angui_2024") is None
    notes.cache_toc("angui_2024", _TOC)
    assert notes.has_cached_toc("angui_2024")
    assert notes.get_cached_toc("angui_2024") == _TOC
    assert notes.toc_cache == {"angui_2024": _TOC}


def test_a_cached_structure_is_a_copy():
    notes = SessionNotes()
    toc: dict[str, Any] = {"chapters": ["one"]}
    notes.cache_toc("d", toc)
    toc["chapters"].append("two")
    assert notes.get_cached_toc("d") == {"chapters": ["one"]}


def test_ten_chunks_are_kept_and_the_least_relevant_goes_first():
    notes = SessionNotes()
    for number in range(15):
        notes.add_chunk(_chunk(f"fact {number}", 0.5 + number / 100))
    assert _contents(notes) == [f"fact {number}" for number in range(14, 4, -1)]


def test_what_is_below_the_threshold_is_not_kept():
    notes = SessionNotes()
    notes.add_chunk(_chunk("just below", 0.49))
    notes.add_chunk(_chunk("just enough", 0.5))
    assert _contents(notes) == ["just enough"]


def test_equal_content_is_kept_once_with_its_better_score():
    notes = SessionNotes()
    notes.add_chunk(_chunk("same", 0.6, "a"))
    notes.add_chunk(_chunk("other", 0.7))
    notes.add_chunk(_chunk("same", 0.9, "b"))
    notes.add_chunk(_chunk("same", 0.5, "c"))
    assert [(it.content, it.source, it.relevance_score) for it in notes.relevant_chunks] == [
        ("same", "b", 0.9),
        ("other", "doc P1", 0.7),
    ]


def test_a_page_just_read_is_kept_even_if_the_notes_are_full_of_equally_relevant_ones():
    notes = SessionNotes(NotesSettings(max_chunks=2))
    for name in ("one", "two", "three"):
        notes.add_page_content(f"page {name}", f"doc {name}")
    assert _contents(notes) == ["page three", "page two"]
    assert {chunk.relevance_score for chunk in notes.relevant_chunks} == {0.8}


_CHUNKS = st.lists(
    st.builds(
        _chunk,
        st.sampled_from([f"c{number}" for number in range(12)]),
        st.integers(0, 10).map(lambda tenths: tenths / 10),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(chunks=_CHUNKS, most=st.integers(1, 6), least=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_whatever_is_added_the_best_of_it_is_kept_in_order(chunks, most, least):
    notes = SessionNotes(NotesSettings(max_chunks=most, min_relevance=least))
    for chunk in chunks:
        notes.add_chunk(chunk)
    kept = notes.relevant_chunks
    scores = [chunk.relevance_score for chunk in kept]
    best: dict[str, float] = {}
    for chunk in chunks:
        if chunk.relevance_score >= least:
            best[chunk.content] = max(chunk.relevance_score, best.get(chunk.content, 0))
    assert scores == sorted(best.values(), reverse=True)[:most]
    assert len(set(_contents(notes))) == len(kept)

    loaded = SessionNotes(NotesSettings(max_chunks=most, min_relevance=least))
    loaded.load(json.loads(json.dumps(notes.dump())))
    assert loaded.relevant_chunks == kept


def test_what_was_found_reads_as_in_the_seed():
    notes = SessionNotes()
    notes.add_search_results(_FOUND["results"])
    lines = notes.get_memory_context().splitlines()
    assert lines[0] == "# 已获取的相关信息"
    assert lines[2:] == [
        "相关章节: 第二章",
        "## [1] angui_2024 P85",
        "倒闸操作应由两人进行，一人操作，一人监护。",
        "## [2] angui_2024 P86",
        "操作票应填写设备的双重名称。",
    ]
    assert notes.relevant_chunks[0].metadata == {"page": "85"}


def test_the_cached_structures_read_as_in_the_seed():
    notes = SessionNotes()
    notes.cache_toc("angui_2024", _TOC)
    assert notes.get_toc_cache_hint() == (
        "# 已缓存目录\n以下规程目录已获取: angui_2024\n无需再次调用 get_toc()\n"
        "angui_2024 的章节: 第一章 总则 P1；第二章 作业要求 P12"
    )


@pytest.mark.parametrize(
    ("structure", "found"),
    [
        ({"items": [{"title": "A", "page_start": 3, "children": ["b"]}]}, [(0, "A P3"), (1, "b")]),
        (
            {"data": {"toc": [{"id": "c1", "标题": "第一章 总则", "页码": 5}]}},
            [(0, "第一章 总则 P5")],
        ),
        ({"第一章": 1, "第二章": 20}, [(0, "第一章 P1"), (0, "第二章 P20")]),
        ({"Part I": {"sections": ["One"]}, "id": 7}, [(0, "Part I"), (1, "One")]),
        ({"title": "A book", "total_pages": 300, "children": []}, []),
        ({"status": "not found", "code": 404}, []),
    ],
)
def test_chapters_are_found_in_structures_of_any_form(structure: Any, found: Any):
    assert chapters(structure) == found


def test_the_hint_has_the_levels_that_fit_and_says_what_is_left_out():
    nested = [{"title": f"Part {n}", "parts": [f"{n}.{m}" for m in range(9)]} for n in range(9)]
    said = {}
    for room in (1_000, 100, 20):
        notes = SessionNotes(NotesSettings(structure_chars=room))
        notes.observe_tool("get_toc", {"reg_id": "book"}, {"toc": nested}, archive="arch_1")
        said[room] = notes.get_toc_cache_hint().splitlines()[-1]
        assert said[room].endswith('load_tool_history(uuid="arch_1")')
    assert "8.8" in said[1_000]
    assert "more" not in said[1_000]
    assert "Part 8; 81 more are not listed" in said[100]
    assert said[20].startswith("Chapters of book: Part 0; Part 1; 88 more")


@pytest.mark.parametrize(
    "result",
    [
        {"reg_id": "angui_2024", "children": []},
        {"success": False, "message": "timed out"},
        {"ok": False, "items": ["try again"]},
        {"errors": ["no such document"]},
        [],
        "Error: timed out",
    ],
)
def test_an_empty_or_failed_result_never_replaces_a_structure(result: Any):
    notes = SessionNotes()
    notes.observe_tool("get_toc", {"reg_id": "angui_2024"}, _TOC)
    assert not notes.observe_tool("get_toc", {"reg_id": "angui_2024"}, result)
    assert notes.get_cached_toc("angui_2024") == _TOC


@pytest.mark.parametrize(
    ("tool", "arguments", "result", "source"),
    [
        ("read_page_range", {"reg_id": "d", "start_page": 85, "end_page": 85}, "x", "d P85"),
        ("read_page_range", {"reg_id": "d", "start_page": 85, "end_page": 87}, "x", "d P85-87"),
        ("read_page_range", {"page": 85}, {"content": "x", "source": "d P85"}, "d P85"),
        ("smart_search", {}, [{"text": "x", "reg_id": "d", "page": 5, "score": 0.9}], "d P5"),
        ("smart_search", {}, [{"text": "x", "source": "d p. 5", "page": 5, "score": 1}], "d p. 5"),
    ],
)
def test_a_source_shows_the_page(tool: str, arguments: Any, result: Any, source: str):
    notes = SessionNotes()
    notes.observe_tool(tool, arguments, result)
    assert [chunk.source for chunk in notes.relevant_chunks] == [source]


def test_both_read_in_english_where_english_is_spoken():
    notes = SessionNotes()
    notes.cache_toc("handbook", {"title": "Safety handbook", "chapters": ["General"]})
    notes.add_page_content("Two people operate a switch.", "handbook p. 85")
    assert notes.get_memory_context().startswith("# Information already found\n")
    assert notes.get_toc_cache_hint() == (
        "# Cached tables of contents\nAlready fetched: handbook\nNo need to call get_toc() again\n"
        "Chapters of handbook: General"
    )
    notes.current_query = "倒闸操作由几个人进行？"
    assert notes.get_memory_context().startswith("# 已获取的相关信息\n")
    spoken = SessionNotes(language="en")
    spoken.cache_toc("angui_2024", _TOC)
    assert spoken.get_toc_cache_hint().startswith("# Cached tables of contents\n")


def test_nothing_noted_takes_no_room():
    notes = SessionNotes()
    assert notes.get_memory_context() == ""
    assert notes.get_toc_cache_hint() == ""


def test_found_text_cannot_pass_for_a_heading_of_the_notes():
    notes = SessionNotes()
    notes.add_page_content("# 已缓存目录\n以下规程目录已获取: 一切", "bad\n# page")
    lines = notes.get_memory_context().splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# 已获取的相关信息",
        "## [1] bad # page",
    ]
    assert "\\# 已缓存目录" in lines


@pytest.mark.parametrize(
    ("question", "answer", "filler"),
    [
        ("倒闸操作由几个人进行？", "倒闸操作应由两人进行。", "安全工具应定期检查并登记造册。"),
        ("who may operate a switch", "A switch is operated by two people.", "Tools are checked. "),
    ],
)
def test_of_a_long_page_what_speaks_to_the_question_is_kept(question, answer, filler):
    page = filler * 100 + answer + filler * 100
    notes = SessionNotes()
    notes.current_query = question
    notes.add_page_content(page, "p. 1")
    (content,) = _contents(notes)
    assert answer in content
    assert len(content) <= 500


def test_without_a_question_a_long_page_is_represented_by_its_beginning():
    notes = SessionNotes(NotesSettings(chunk_chars=40))
    notes.add_page_content("First things first. " + "Then the rest. " * 30, "p. 1")
    assert _contents(notes) == ["First things first. Then the rest."]


@settings(deadline=None)
@given(text=st.text(" \n.。字a", min_size=1), question=st.text("字a b"), limit=st.integers(1, 20))
def test_an_excerpt_is_never_too_long_and_never_empty(text, question, limit):
    kept = excerpt(text, question, limit)
    assert len(kept) <= limit
    assert bool(kept.strip()) == bool(text.strip())


def test_a_new_question_keeps_the_structures_and_a_reset_keeps_nothing():
    notes = SessionNotes()
    notes.current_query = "谁监护？"
    notes.cache_toc("angui_2024", _TOC)
    notes.add_search_results(_FOUND["results"])
    assert notes.known_chapters == ["第二章"]
    notes.clear_query_context()
    assert (notes.current_query, notes.known_chapters, notes.relevant_chunks) == ("", [], ())
    assert notes.get_memory_context() == ""
    assert notes.has_cached_toc("angui_2024")
    notes.reset()
    assert not notes.has_cached_toc("angui_2024")
    assert notes.dump() == SessionNotes().dump()


def test_the_presets_feed_the_notes_and_log_as_in_the_seed(caplog: pytest.LogCaptureFixture):
    notes = SessionNotes()
    with caplog.at_level(logging.DEBUG, "recollect"):
        assert notes.observe_tool("get_toc", {"reg_id": "angui_2024"}, _TOC)
        assert notes.observe_tool("smart_search", {"query": "监护"}, _FOUND)
        page = {"content_markdown": "监护人应由有经验的人担任。", "source": "angui_2024 P87"}
        assert notes.observe_tool("read_page_range", {"reg_id": "angui_2024"}, page)
    assert notes.get_cached_toc("angui_2024") == _TOC
    assert [(it.source, it.chunk_type) for it in notes.relevant_chunks] == [
        ("angui_2024 P85", "search_result"),
        ("angui_2024 P87", "page_content"),
        ("angui_2024 P86", "search_result"),
    ]
    assert caplog.messages == [
        "[Memory] 缓存目录: angui_2024",
        "[Memory] 添加搜索结果: 3 条",
        "[Memory] 添加页面内容: angui_2024 P87",
    ]


@pytest.mark.parametrize(
    "wrapped",
    [
        json.dumps(_TOC),
        [{"type": "text", "text": json.dumps(_TOC, ensure_ascii=False)}],
        {"content": [{"type": "text", "text": json.dumps(_TOC)}], "isError": False},
    ],
)
def test_results_are_understood_in_the_forms_frameworks_give_them(wrapped):
    notes = SessionNotes()
    assert notes.observe_tool("mcp__gridcode__get_toc", '{"reg_id": "angui_2024"}', wrapped)
    assert notes.get_cached_toc("angui_2024") == _TOC


def test_any_tool_is_wired_by_a_rule_alone():
    rules = {
        "outline": NotesRule(
            feeds="structure", document="arguments.file", content="result.data.outline"
        ),
        "grep": NotesRule(
            feeds="search_results",
            items="result.files[].hits[]",
            content="item.line.text",
            source="item.where",
            relevance=0.7,
        ),
        "read_table": NotesRule(
            feeds="page", content="result.rows[]", source="arguments.table", chunk_type="table"
        ),
    }
    notes = SessionNotes(rules=rules)
    notes.observe_tool("outline", {"file": "a.md"}, {"data": {"outline": ["Intro", "End"]}})
    notes.observe_tool(
        "grep",
        {},
        {
            "files": [
                {"hits": [{"line": {"text": "alpha"}, "where": "a.md:1"}]},
                {"hits": [{"line": {"text": "beta"}, "where": "b.md:7"}, {"line": None}]},
            ]
        },
    )
    notes.observe_tool("read_table", {"table": "prices"}, {"rows": ["tea 3", "咖啡 5"]})
    assert notes.get_cached_toc("a.md") == ["Intro", "End"]
    assert [(it.content, it.source, it.chunk_type) for it in notes.relevant_chunks] == [
        ("tea 3\n咖啡 5", "prices", "table"),
        ("beta", "b.md:7", "search_result"),
        ("alpha", "a.md:1", "search_result"),
    ]


def test_own_rules_stand_beside_the_presets_and_may_replace_them():
    replaced = NotesRule(feeds="page", content="result")
    notes = SessionNotes(rules={"get_toc": replaced})
    notes.observe_tool("get_toc", {}, "Chapter one, chapter two")
    assert _contents(notes) == ["Chapter one, chapter two"]
    assert notes.observe_tool("smart_search", {}, _FOUND)


@pytest.mark.parametrize(
    "wrong",
    [
        {"feeds": "gossip", "content": "result"},
        {"feeds": "structure", "content": "result"},
        {"feeds": "search_results", "content": "item.text"},
        {"feeds": "page", "content": ""},
        {"feeds": "page", "content": "answer.text"},
        {"feeds": "page", "content": "result..text"},
        {"feeds": "page", "content": "result.hits[0]"},
        {"feeds": "page", "content": "result", "metadata": {"page": "page"}},
        {"feeds": "page", "content": "result", "relevance": 8},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_when_it_is_declared(wrong):
    with pytest.raises(InvalidInput):
        NotesRule(**wrong)


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ("get_toc", {"error": "no such document"}),
        ("get_toc", {"isError": True, "content": [{"type": "text", "text": "{}"}]}),
        ("get_toc", "document not found"),
        ("get_toc", {}),
        ("get_toc", None),
        ("get_toc", {"title": "x" * 500_000}),
        ("get_toc", {1: "a key that is no text"}),
        ("smart_search", {"results": []}),
        ("smart_search", {"results": "none"}),
        ("read_page_range", {"content_markdown": ""}),
        ("read_page_range", 7.5),
    ],
)
def test_results_of_another_shape_are_passed_over_with_a_log_line(
    tool, result, caplog: pytest.LogCaptureFixture
):
    notes = SessionNotes()
    with caplog.at_level(logging.DEBUG, "recollect"):
        assert not notes.observe_tool(tool, {"reg_id": "angui_2024"}, result)
    assert notes.dump() == SessionNotes().dump()
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(f"[Memory] 忽略 {tool} 的结果: ")


def test_results_without_a_usable_score_or_content_are_passed_over_one_by_one():
    scores: list[Any] = ["0.9", None, True, float("nan"), 10**400, -1]
    results: list[Any] = [{"content": f"c{place}", "score": it} for place, it in enumerate(scores)]
    results += [None, 3, {"score": 0.9}, {"content": "good", "score": 12.5}]
    notes = SessionNotes()
    notes.add_search_results(results)
    assert [(it.content, it.source, it.relevance_score) for it in notes.relevant_chunks] == [
        ("good", "smart_search", 1.0)
    ]


def test_text_that_cannot_be_stored_is_made_readable():
    notes = SessionNotes()
    notes.observe_tool("read_page_range", {}, {"content": "half a \ud83d face\x00", "source": "p"})
    assert _contents(notes) == ["half a ? face"]
    json.dumps(notes.dump(), ensure_ascii=False).encode()


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["results", "content", "score", "source", "reg_id", "text", "error"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=150)
@given(tool=st.sampled_from(sorted(PRESETS)), arguments=_JSON, result=_JSON)
def test_no_result_of_any_shape_breaks_the_notes(tool, arguments, result):
    notes = SessionNotes(NotesSettings(answer_from_cache=True))
    notes.observe_tool(tool, arguments, result)
    notes.before_tool(tool, arguments)
    notes.get_memory_context()
    notes.get_toc_cache_hint()
    kept = json.loads(json.dumps(notes.dump(), ensure_ascii=False).encode())
    again = SessionNotes(NotesSettings(answer_from_cache=True))
    again.load(kept)
    assert again.dump() == notes.dump()


def test_a_result_that_contains_itself_is_passed_over():
    circular: dict[str, Any] = {"reg_id": "d"}
    circular["children"] = [circular]
    notes = SessionNotes()
    assert not notes.observe_tool("get_toc", circular, circular)
    assert notes.before_tool("get_toc", circular) is None
    assert not notes.observe_tool("get_toc", {}, "[" * 100_000)


def test_a_repeated_structure_call_gets_a_hint_whatever_its_other_arguments():
    notes = SessionNotes()
    assert notes.before_tool("get_toc", {"reg_id": "angui_2024"}) is None
    notes.observe_tool("get_toc", {"reg_id": "angui_2024"}, _TOC)
    for arguments in ({"reg_id": "angui_2024"}, {"reg_id": "angui_2024", "depth": 3}):
        assert notes.before_tool("get_toc", arguments) == Hint(
            document="angui_2024", text="angui_2024 的目录已获取，无需再次调用 get_toc()。"
        )
    assert notes.before_tool("get_toc", {"reg_id": "another"}) is None
    assert notes.before_tool("smart_search", {"reg_id": "angui_2024"}) is None
    assert notes.before_tool("unheard_of", {"reg_id": "angui_2024"}) is None


def test_a_document_that_only_the_result_names_is_known_by_the_same_call():
    notes = SessionNotes()
    notes.observe_tool("get_toc", {}, _TOC)
    assert isinstance(notes.before_tool("get_toc", {}), Hint)
    assert notes.before_tool("get_toc", {"reg_id": "another"}) is None


def test_if_so_set_the_same_call_is_answered_from_the_cache():
    notes = SessionNotes(NotesSettings(answer_from_cache=True))
    as_given = json.dumps(_TOC)
    notes.observe_tool("get_toc", {"reg_id": "angui_2024", "depth": 2}, as_given)
    answer = notes.before_tool("get_toc", '{"depth": 2, "reg_id": "angui_2024"}')
    assert answer == Cached(document="angui_2024", result=as_given)
    assert isinstance(notes.before_tool("get_toc", {"reg_id": "angui_2024", "depth": 3}), Hint)

    hinting = SessionNotes()
    hinting.load(notes.dump())
    arguments = {"reg_id": "angui_2024", "depth": 2}
    assert isinstance(hinting.before_tool("get_toc", arguments), Hint)


def test_notes_that_are_switched_off_note_nothing(caplog: pytest.LogCaptureFixture):
    full = SessionNotes()
    full.cache_toc("d", _TOC)
    full.add_page_content("text", "p")
    notes = SessionNotes(NotesSettings(enabled=False))
    with caplog.at_level(logging.DEBUG, "recollect"):
        notes.cache_toc("d", _TOC)
        notes.add_chunk(_chunk("fact", 0.9))
        notes.add_search_results(_FOUND["results"])
        notes.add_page_content("text", "p")
        assert not notes.observe_tool("get_toc", {"reg_id": "d"}, _TOC)
        notes.load(full.dump())
    assert notes.dump() == SessionNotes().dump()
    assert notes.before_tool("get_toc", {"reg_id": "d"}) is None
    assert caplog.messages == []


def test_the_notes_have_an_end():
    notes = SessionNotes()
    for number in range(30):
        notes.cache_toc(f"doc {number}", {"title": "x" * 1000})
    assert len(notes.toc_cache) == 20
    assert notes.has_cached_toc("doc 29")
    assert not notes.has_cached_toc("doc 9")
    notes.add_search_results(
        [{"content": f"c{number}", "score": 0.9, "chapter": number} for number in range(80)]
    )
    assert notes.known_chapters == [str(number) for number in range(30, 80)]


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"relevance_score": 1.2},
        {"relevance_score": float("nan")},
        {"chunk_type": "rumour"},
        {"metadata": {"page": {1, 2}}},
    ],
)
def test_a_chunk_that_makes_no_sense_is_refused(wrong):
    fields: dict[str, Any] = {"content": "c", "source": "s", "relevance_score": 0.9}
    with pytest.raises(InvalidInput):
        ContentChunk(**{**fields, **wrong})
