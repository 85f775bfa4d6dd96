"""Sessions on a real database: every form of message, every fault, and going on after each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect.sync
from recollect import Memory
from recollect.context.placeholder import find_placeholders
from recollect.context.session import Session
from recollect.domain.message import ImagePart, Message, TextPart, ToolCall
from recollect.domain.notes import ScratchpadUpdate
from recollect.errors import (
    Closed,
    InvalidInput,
    NotAvailable,
    NotFound,
    RecollectError,
    SettingsError,
    StorageError,
)
from recollect.models.exact_tokens import ExactTokens
from recollect.settings import Settings
from tests.chat_server import ChatServer, chat_server, openai_text, refusal
from tests.conftest import TurnedClock
from tests.database_servers import ask
from tests.integration.archive_texts import ANSWERS, manual
from tests.provider_rules import (
    anthropic_rule_breaks,
    openai_rule_breaks,
)


def _user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _calls(*ids: str, tool: str = "search", **arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": it, "type": "function", "function": function} for it in ids],
    }


def _result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def _said(role: Any, text: str, **more: Any) -> Message:
    return Message(role=role, parts=(TextPart(text=text),), **more)


def _placeholder(text: str) -> str:
    ((_, _, placeholder),) = find_placeholders(text)
    return placeholder.id


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*.zst") if path.is_file()]


def _open(folder: Path, **tree: Any) -> Any:
    return Memory.open(Settings.load({"data_dir": folder, **tree}))


# What has been said when each piece of bad input comes.
_BEFORE = [
    _user("Look it up, please."),
    _calls("a", "b", q="x"),
    _result("a", "found"),
]
_BAD: list[tuple[str, Any, str]] = [
    ("a result without a call", _result("zzz", "?"), "result_without_call"),
    ("a second result", _result("a", "again"), "duplicate_result"),
    ("the id of a call that waits", _calls("b"), "duplicate_call"),
    (
        "a result before its call",
        [_result("b", "."), _result("c", "?"), _calls("c")],
        "result_before_call",
    ),
    ("words before the results", _user("And?"), "result_missing"),
    ("an unknown role", {"role": "narrator", "content": "Meanwhile"}, "unknown_role"),
    ("an unknown neutral role", _said("narrator", "Meanwhile"), "unknown_role"),
    ("a role that is no text", {"role": ["user"], "content": "x"}, "unknown_role"),
    ("a text", "hello", "wrong_type"),
    ("a number", [7], "wrong_type"),
    ("the same id twice", [_said("tool", ".", answers="b", id="m"), _said("user", ".", id="m")],
     "duplicate_id"),
    ("a NUL", [_result("b", "a\0b")], "nul_byte"),
    ("broken Unicode", [_result("b", "\ud800")], "invalid_unicode"),
    ("a content that is no content", {"role": "user", "content": 7}, "unreadable_message"),
    ("a time that is no time", {**_result("b", "."), "at": "yesterday"}, "bad_time"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "bad", "code"), _BAD, ids=[it[0] for it in _BAD])
async def test_bad_input_is_refused_with_its_code_and_changes_nothing(
    memory: Memory, tmp_path: Path, what: str, bad: Any, code: str
):
    session = memory.session("s")
    await session.observe(_BEFORE)
    before = await session.prepare()
    # A large result beside the bad message: it must not be put away for nothing.
    beside = _result("b", "x" * 20_000)
    answers_b = "b" in json.dumps(bad, default=repr) or code == "result_missing"
    given = bad if answers_b or not isinstance(bad, dict | Message) else [beside, bad]
    with pytest.raises(InvalidInput) as refused:
        await session.observe(given)
    assert refused.value.code == code
    assert await session.prepare() == before
    assert len(await memory.turns(session="s")) == len(_BEFORE)
    assert _files(tmp_path) == []
    await session.observe([_result("b", "fine"), {"role": "assistant", "content": "Done."}])
    assert len(await memory.turns(session="s")) == len(_BEFORE) + 2


async def test_an_id_that_was_given_before_is_refused_after_a_restart_too(database_path: Path):
    async with Memory.open(database_path) as memory:
        (turn,) = await memory.session("s").observe(_said("user", "hello", id="message-1"))
    async with Memory.open(database_path) as memory:
        for known in ("message-1", turn.id):
            with pytest.raises(InvalidInput) as refused:
                await memory.session("s").observe(_said("user", "hello again", id=known))
            assert refused.value.code == "duplicate_id"
        await memory.session("another").observe(_said("user", "hello", id="message-1"))


async def test_a_window_smaller_than_the_system_prompt_is_refused_with_the_numbers(memory: Memory):
    session = memory.session("s", context_tokens=300)
    await session.observe([{"role": "system", "content": "word " * 400}, _user("hello")])
    with pytest.raises(InvalidInput) as refused:
        await session.prepare()
    assert refused.value.code == "window_too_small"
    assert "210 tokens" in refused.value.message
    assert "system prompt 444" in refused.value.message
    larger = memory.session("s", context_tokens=3_000)
    assert len(await larger.prepare()) == 2


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda session: session.prepare(load=["arc_unknown"]), "unknown_archive"),
        (lambda session: session.prepare(load="arc_unknown"), "unknown_archive"),
        (lambda session: session.prepare(load=7), "wrong_type"),
        (lambda session: session.prepare(format="yaml"), "unknown_format"),
        (lambda session: session.expand("sum_unknown"), "unknown_summary"),
        (lambda session: session.archive.load_tool_history("arc_unknown"), "unknown_archive"),
    ],
)
async def test_what_is_not_there_is_told(memory: Memory, call: Callable[[Session], Any], code: str):
    session = memory.session("s")
    await session.observe(_BEFORE)
    with pytest.raises(RecollectError) as told:
        await call(session)
    assert told.value.code == code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"context_tokens": 0}, "bad_budget"),
        ({"id": " "}, "empty_text"),
        ({"id": "s" * 101}, "text_too_large"),
    ],
)
def test_a_session_that_cannot_be_is_refused_at_once(
    database_path: Path, arguments: Any, code: str
):
    with recollect.sync.Memory.open(database_path) as memory:
        with pytest.raises(InvalidInput) as refused:
            memory.session(**arguments)
        assert refused.value.code == code


async def test_a_damaged_archive_is_told_in_its_place_and_the_session_goes_on(
    memory: Memory, tmp_path: Path
):
    session = memory.session("s")
    *_, turn = await session.observe([_user("go"), _calls("a"), _result("a", manual("en"))])
    (file,) = _files(tmp_path)
    file.write_bytes(b"something else")
    await session.observe([{"role": "assistant", "content": "OK"}, _user("What did it say?")])
    sent = await session.prepare(load=_placeholder(turn.content))
    told = sent[2]["content"]
    assert "Could not be loaded" in told
    assert "archive_damaged" in told
    assert "checksum" in told
    with pytest.raises(StorageError, match="checksum"):
        await session.archive.load_tool_result(_placeholder(turn.content))
    await session.observe({"role": "assistant", "content": "I do not know."})
    assert (await session.prepare())[-1]["content"] == "I do not know."


async def test_without_the_blob_store_a_large_result_stays_in_its_turn(memory: Memory):
    blobs = memory.settings.blobs
    assert isinstance(blobs, Path)
    blobs.parent.mkdir(parents=True, exist_ok=True)
    blobs.write_text("not a folder")
    session = memory.session("s")
    text = manual("zh", 12_000)
    *_, turn = await session.observe([_user("go"), _calls("a"), _result("a", text)])
    assert turn.content == text
    assert (await session.prepare())[-1]["content"] == text


async def test_a_result_of_bytes_that_are_no_text_is_archived_and_shown_readably(memory: Memory):
    session = memory.session("s")
    text = "broken \ud800 half \0 line\n" * 1_000
    *_, turn = await session.observe([_user("go"), _calls("a"), _result("a", text)])
    (await session.prepare())[-1]["content"].encode()
    assert await session.archive.load_tool_result(_placeholder(turn.content)) == text


async def test_anthropics_messages_come_back_as_they_were(memory: Memory):
    prompt = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    said = [
        {"role": "user", "content": "Look it up."},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "abc"},
                {"type": "tool_use", "id": "t1", "name": "search", "input": {"q": "登录"}},
                {"type": "tool_use", "id": "t2", "name": "search", "input": {"q": "x"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": "no such page",
                    "is_error": True,
                },
                {"type": "tool_result", "tool_use_id": "t2", "content": "found"},
                {"type": "text", "text": "Go on."},
            ],
        },
        {"role": "assistant", "content": "Done."},
    ]
    session = memory.session("s")
    await session.observe({"role": "system", "content": prompt})
    for message in said:
        await session.observe(message)
    request = await session.prepare(format="anthropic")
    assert request.system == prompt
    assert request.messages == said
    again = await memory.session("s").prepare(format="anthropic")
    assert (again.system, again.messages) == (prompt, said)

    # What is added to a prompt leaves its mark for the cache alone.
    session.notes.cache_toc("guide", {"title": "Guide"})
    added = await session.prepare(format="anthropic")
    assert added.system is not None
    assert added.system[0] == prompt[0]
    assert "guide" in added.system[1]["text"]


async def test_a_large_result_of_anthropics_keeps_what_was_said_about_it(memory: Memory):
    session = memory.session("s")
    block = {"type": "tool_result", "tool_use_id": "t", "content": manual("en"), "is_error": True}
    call = {"type": "tool_use", "id": "t", "name": "run", "input": {}}
    *_, turn = await session.observe(
        [
            _user("go"),
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [block]},
        ]
    )
    (shown,) = (await session.prepare(format="anthropic")).messages[-1]["content"]
    assert shown["is_error"] is True
    assert len(shown["content"]) < 10_000
    assert len(json.dumps(turn.payload)) < 5_000, "the turn holds nothing twice"
    assert anthropic_rule_breaks((await session.prepare(format="anthropic")).messages) == []


async def test_a_server_may_count_its_calls_anew_in_every_message(memory: Memory):
    session = memory.session("s")
    said = [
        _user("Look for the invoice, then read the manual."),
        _calls("call_0", tool="find", q="invoice"),
        _result("call_0", "invoice.pdf"),
        _calls("call_0", tool="read", path="manual"),
        _result("call_0", manual("en")),
    ]
    await session.observe(said)
    await session.observe({"role": "assistant", "content": "Found both."})
    (archived,) = await memory.archives.list(session="s")
    assert archived.tool == "read"
    for opened in (session, memory.session("s")):
        sent = await opened.prepare()
        assert next(it["content"] for it in sent if it["role"] == "tool") == "invoice.pdf"
        assert openai_rule_breaks(sent) == []
        anthropic = (await opened.prepare(format="anthropic")).messages
        assert anthropic_rule_breaks(anthropic) == []


async def test_an_earlier_result_is_offered_for_its_own_call_although_another_has_its_id(
    memory: Memory,
):
    session = memory.session("s")
    first = [_calls("call_0", tool="read", path="manual"), _result("call_0", manual("en"))]
    await session.observe([_user("Read the manual."), *first])
    again = [_calls("call_0", tool="read", path="manual"), _result("call_0", "It was moved.")]
    other = [_calls("call_0", tool="find", q="invoice"), _result("call_0", "invoice.pdf")]
    await session.observe([_user("Once more, and find the invoice."), *again, *other])
    sent = await session.prepare()
    results = [it["content"] for it in sent if it["role"] == "tool"]
    assert "The same call gave" in results[1]
    assert results[2] == "invoice.pdf"


async def test_neutral_messages_are_stored_whole(memory: Memory):
    picture = ImagePart(source={"url": "https://example.com/a.png"}, description="a cat")
    said = [
        Message(role="user", parts=(TextPart(text="What is it?"), picture), name="ann"),
        Message(
            role="assistant", tool_calls=(ToolCall(id="c", name="look", arguments="not json"),)
        ),
        _said("tool", "a cat", answers="c"),
        Message(role="assistant"),
    ]
    turns = await memory.session("s").observe(said)
    stored = await memory.session("s").prepare(format="neutral")
    assert [it.id for it in stored] == [it.id for it in turns]
    assert [(it.role, it.parts, it.tool_calls, it.answers, it.name) for it in stored] == [
        (it.role, it.parts, it.tool_calls, it.answers, it.name) for it in said
    ]


async def test_what_was_observed_without_a_session_is_in_the_window_as_far_as_it_can_be_sent(
    memory: Memory,
):
    await memory.observe(
        [
            {"role": "developer", "content": "Be kind."},
            _user("hello"),
            _result("nobody", "an orphan"),
            _calls("left alone"),
            _user("hello again"),
            {"role": "function", "name": "old", "content": "from long ago"},
            _calls("a", "b"),
            _result("b", "2"),
            _result("a", "1"),
        ],
        session="s",
    )
    session = memory.session("s")
    sent = await session.prepare()
    assert [it["role"] for it in sent] == [
        "developer", "user", "user", "assistant", "tool", "tool",
    ]  # fmt: skip
    await session.observe({"role": "assistant", "content": "Done."})
    assert len(await memory.turns(session="s")) == 10


async def test_two_who_speak_in_one_session_hear_each_other(memory: Memory):
    one, other = memory.session("s"), memory.session("s")
    await one.observe(_user("first"))
    await other.observe({"role": "assistant", "content": "second"})
    await one.observe(_user("third"))
    assert [it["content"] for it in await one.prepare()] == ["first", "second", "third"]
    await asyncio.gather(*(one.observe(_user(f"at once {n}")) for n in range(8)))
    sent = await one.prepare()
    stored = await memory.turns(session="s")
    assert [it["content"] for it in sent] == [it.content for it in stored]
    assert len(stored) == 11


async def test_a_past_time_and_a_task_are_kept(memory: Memory, clock: TurnedClock):
    past = clock.now()
    clock.turn(days=3)
    (turn,) = await memory.session("s").observe({**_user("then"), "at": past}, task="report")
    assert (turn.at, turn.task) == (past, "report")


async def test_the_scratchpad_lives_as_long_as_something_is_said(
    memory: Memory, clock: TurnedClock
):
    session = memory.session("s")
    await session.scratchpad.update(ScratchpadUpdate(current_goal="Ship it"))
    for _ in range(3):
        clock.turn(minutes=20)
        await session.observe(_user("still here"))
    assert "Ship it" in (await session.prepare(with_scratchpad=True))[0]["content"]
    assert (await session.prepare())[0]["role"] == "user"
    clock.turn(minutes=31)
    assert (await session.prepare(with_scratchpad=True))[0]["role"] == "user"


async def test_any_tool_feeds_the_notes_by_a_rule_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(
        "RECOLLECT_NOTES__RULES__findPages",
        '{feeds = "search_results", items = "result.hits[]", content = "item.body",'
        ' source = "item.url", score = "item.rank"}',
    )
    async with _open(tmp_path) as memory:
        session = memory.session("s")
        hits = {"hits": [{"body": "Refunds take 14 days.", "url": "kb/7", "rank": 0.9}]}
        call = _calls("a", tool="findPages", q="refunds")
        await session.observe([_user("refunds?"), call, _result("a", json.dumps(hits))])
        (chunk,) = session.notes.relevant_chunks
        assert (chunk.content, chunk.source) == ("Refunds take 14 days.", "kb/7")


async def test_a_rule_that_cannot_be_used_is_told_when_memory_is_opened(tmp_path: Path):
    rule = {"feeds": "structure", "content": "somewhere"}
    with pytest.raises(SettingsError, match=r"notes\.rules"):
        await _open(tmp_path, notes={"rules": {"get": rule}})


@pytest.mark.parametrize(
    ("policy", "question", "is_loaded"),
    [
        ("model", "你之前说的角色权限如何配置？", False),
        ("keyword", "你之前说的角色权限如何配置？", True),
        ("keyword", "谢谢。", False),
        ("similarity", "角色权限如何配置？", True),
        ("mixed", "刚才的角色权限，再详细说一下", True),
    ],
)
async def test_policies_load_what_a_question_refers_to(
    tmp_path: Path, policy: str, question: str, is_loaded: bool
):
    asked, answer = ANSWERS["zh"]
    async with _open(tmp_path, archive={"policy": policy}) as memory:
        session = memory.session("s")
        call = _calls("a", query=asked)
        await session.observe([_user(asked), call, _result("a", manual("zh"))])
        await session.observe([{"role": "assistant", "content": "三步。"}, _user(question)])
        shown = (await session.prepare())[2]["content"]
        assert ("📂" in shown) is is_loaded
        assert answer in shown or not is_loaded


@pytest.mark.parametrize("show", ["full", "placeholder"])
async def test_what_the_producing_turn_shows_is_a_setting(tmp_path: Path, show: str):
    text = manual("en", 12_000)
    async with _open(tmp_path, archive={"show": show}) as memory:
        session = memory.session("s")
        await session.observe([_user("go"), _calls("a"), _result("a", text)])
        shown = (await session.prepare())[-1]["content"]
        assert (text in shown) is (show == "full")
        assert _placeholder(shown)


async def test_a_turn_that_is_cut_off_by_a_restart_still_shows_its_passages(database_path: Path):
    question, answer = ANSWERS["zh"]
    async with Memory.open(database_path) as memory:
        call = _calls("a", query=question)
        session = memory.session("s")
        await session.observe([_user(question), call, _result("a", manual("zh"))])
        shown = await session.prepare()
    async with Memory.open(database_path) as memory:
        session = memory.session("s")
        assert await session.prepare() == shown
        assert answer in shown[-1]["content"]
        await session.observe([{"role": "assistant", "content": "好"}, _user("然后呢？")])
        assert "📂" in shown[-1]["content"]
        assert "📂" not in json.dumps(await session.prepare(), ensure_ascii=False)


async def test_a_memory_tools_own_result_is_open_for_one_turn_only(memory: Memory):
    session = memory.session("s")
    text = manual("en")
    *_, turn = await session.observe([_user("go"), _calls("a"), _result("a", text)])
    archive = _placeholder(turn.content)
    await session.observe([{"role": "assistant", "content": "OK"}, _user("Show me all of it.")])
    loaded = await memory.load_tool_history(archive)
    call = _calls("b", tool="load_tool_history", uuid=archive)
    *_, turn = await session.observe([call, _result("b", loaded)])
    assert len(turn.content) < 1_500
    assert text in (await session.prepare())[-1]["content"]
    assert session.usage.archived == 1
    await session.observe([{"role": "assistant", "content": "There."}, _user("Thanks.")])
    assert text not in json.dumps(await session.prepare())


_FOUND = {"decisions": ["Redis is used for the queue"], "facts": ["Ann Lee owns the ledger"]}


def _with_model(folder: Path, server: ChatServer, **more: Any) -> Any:
    return _open(
        folder,
        models={
            "summarise": "openai:small",
            "providers": {"openai": {"base_url": f"{server.url}/v1"}},
            "retries": 0,
            **more,
        },
    )


async def _talk(session: Session, number: int) -> None:
    text = "We decided that Redis is used for the queue. Ann Lee owns the ledger. And so on. "
    await session.observe(
        [
            message
            for n in range(number)
            for message in (
                _user(f"{n}: {text * 3}"),
                {"role": "assistant", "content": f"{n}: {text}"},
            )
        ]
    )


async def test_a_model_of_the_settings_summarises_and_is_counted(tmp_path: Path):
    with chat_server() as server:
        server.answers = [openai_text(json.dumps(_FOUND), tokens=(500, 40)) for _ in range(20)]
        async with _with_model(tmp_path, server) as memory:
            session = memory.session("s", context_tokens=2_000)
            await _talk(session, 20)
            await session.prepare()
            await session.settle()
            sent = json.dumps(await session.prepare())
            (usage,) = (await memory.stats()).models
        assert "Redis is used for the queue" in sent
        assert session.usage.degraded == ()
        assert (usage.task, usage.model) == ("summarise", "openai:small")
        assert usage.calls == len(server.bodies) > 0
        assert usage.input_tokens == 500 * usage.calls


@pytest.mark.parametrize("trouble", ["refused", "nonsense", "slow", "gone"])
async def test_a_model_that_fails_never_fails_the_turn(tmp_path: Path, trouble: str):
    with chat_server() as server:
        replies = {
            "refused": refusal(500),
            "nonsense": openai_text("I'd rather not."),
            "slow": replace(openai_text(json.dumps(_FOUND)), delay=1.0),
        }
        server.answers = [replies[trouble]] * 40 if trouble in replies else []
        seconds = {"summarise": 0.3 if trouble == "slow" else 5}
        async with _with_model(tmp_path, server, seconds=seconds) as memory:
            if trouble == "gone":
                server.server_close()
            session = memory.session("s", context_tokens=2_000)
            await _talk(session, 20)
            assert await session.prepare()
            await session.settle()
            sent = await session.prepare()
            assert session.usage.level >= 2
            assert session.usage.degraded != ()
            assert "Redis" in json.dumps(sent[0])
            assert session.usage.window_tokens <= session.usage.budget_tokens


async def test_a_model_that_cannot_be_is_told_when_memory_is_opened(tmp_path: Path):
    with pytest.raises(SettingsError) as refused:
        await _open(tmp_path, models={"summarise": "no-provider"})
    assert refused.value.code == "bad_model_name"
    async with _open(tmp_path) as memory:
        assert (await memory.stats()).models == ()


async def test_a_session_that_has_ended_is_closed_and_what_was_said_stays(memory: Memory):
    async with memory.session("s") as session:
        await session.observe(_user("The deploy key is in the vault."))
        session.notes.cache_toc("guide", {"a": 1})
        await session.end()
    for call in (session.prepare(), session.observe(_user("more")), session.end()):
        with pytest.raises(Closed):
            await call
    assert len(await memory.recall("deploy key")) == 1
    again = await memory.session("s")
    assert again.usage.messages == 1
    assert not again.notes.has_cached_toc("guide")


async def test_the_end_of_a_session_sweeps_what_has_had_its_time(
    database_path: Path, tmp_path: Path, clock: TurnedClock
):
    async with Memory.open(database_path, clock=clock) as memory:
        session = memory.session("old")
        *_, turn = await session.observe([_user("go"), _calls("a"), _result("a", manual("en"))])
        await memory.drain()
        clock.turn(days=31)
        other = memory.session("new")
        await other.observe(_user("hello"))
        await other.end()
        await memory.drain()
        assert _files(tmp_path) == []
        with pytest.raises(NotFound):
            await memory.load_tool_history(_placeholder(turn.content))
        # The placeholder says what there was; the session goes on without it.
        sent = await memory.session("old").prepare(load=_placeholder(turn.content))
        assert "unknown_archive" in sent[-1]["content"]


async def test_a_state_that_cannot_be_read_is_made_anew(database_path: Path):
    async with Memory.open(database_path) as memory:
        session = memory.session("s", context_tokens=2_000)
        await _talk(session, 20)
        await session.prepare()
        await session.settle()
        session.notes.cache_toc("guide", {"a": 1})
        await session.observe(_user("and now?"))
    assert ask(database_path, "SELECT count(*) FROM state") == [(2,)]
    ask(database_path, "UPDATE state SET value = '{\"compression\": 7}'")
    async with Memory.open(database_path) as memory:
        session = memory.session("s", context_tokens=2_000)
        sent = await session.prepare()
        assert sent[-1] == _user("and now?")
        await session.settle()
        await session.prepare()
        assert session.summaries


async def test_a_session_and_its_archives_belong_to_one_scope(memory: Memory):
    ann, bob = memory.scope(user="ann"), memory.scope(user="bob")
    *_, turn = await ann.session("s").observe(
        [_user("go"), _calls("a"), _result("a", manual("en"))]
    )
    assert await bob.session("s").prepare() == []
    for call in (bob.load_tool_history, bob.session("s").archive.load_tool_result):
        with pytest.raises(NotFound):
            await call(_placeholder(turn.content))


async def test_a_memory_that_ends_with_the_process_has_sessions_too(tmp_path: Path):
    async with _open(tmp_path, storage={"backend": "in_memory"}) as memory:
        session = memory.session("s")
        *_, turn = await session.observe([_user("go"), _calls("a"), _result("a", manual("en"))])
        assert await session.archive.load_tool_result(_placeholder(turn.content)) == manual("en")
    assert _files(tmp_path) == []


async def test_two_databases_in_one_folder_keep_their_archives_apart(
    tmp_path: Path, clock: TurnedClock
):
    said = [_user("go"), _calls("a"), _result("a", manual("en"))]
    async with (
        Memory.open(tmp_path / "one.db", clock=clock) as one,
        Memory.open(tmp_path / "other.db", clock=clock) as other,
    ):
        *_, turn = await one.session("s").observe(said)
        await other.session("s").observe(said)
        # The blobs of the other one look as if nobody needed them.
        clock.time = datetime.now(UTC) + timedelta(hours=2)
        await other.session("s").end()
        await other.drain()
        assert await one.load_tool_history(_placeholder(turn.content))


async def test_a_message_too_long_for_the_summaries_beside_it_is_not_kept_waiting(tmp_path: Path):
    # Nothing is read between the beginning of a compression and the window.
    tree = {"session": {"context_tokens": 2_000, "patience": 0}, "profile": {"enabled": False}}
    async with _open(tmp_path, **tree) as memory:
        session = memory.session("s")
        for number in range(60):
            told = f"We decided that service S{number} listens on port {8_000 + number}."
            await session.observe([_user(told), {"role": "assistant", "content": "Agreed."}])
        await session.prepare()
        await session.settle()
        await session.prepare()
        assert session.usage.level >= 2
        await session.observe(_user("Read this: " + "the quick brown fox jumps over it. " * 150))
        first, *_ = await session.prepare()
        assert first["content"].startswith("[Outside this window")
        assert session.usage.pending
        assert session.usage.window_tokens <= session.usage.budget_tokens


@pytest.mark.sqlite(reason="names of a file")
@pytest.mark.parametrize("is_folder_first", [True, False])
async def test_an_archive_is_found_however_its_database_is_named(
    tmp_path: Path, is_folder_first: bool
):
    folder, file = tmp_path, tmp_path / "memory" / "memory.db"
    file.parent.mkdir()
    async with Memory.open(folder if is_folder_first else file) as memory:
        said = [_user("go"), _calls("a"), _result("a", manual("zh"))]
        *_, turn = await memory.session("s").observe(said)
    async with Memory.open(file if is_folder_first else folder) as memory:
        archive = memory.session("s").archive
        assert await archive.load_tool_result(_placeholder(turn.content)) == manual("zh")


async def test_a_new_session_has_an_id_of_its_own(memory: Memory):
    one, other = memory.session(), memory.session()
    assert one.id.startswith("sess_")
    assert one.id != other.id


@pytest.mark.parametrize(
    ("arguments", "budget"),
    [
        ({}, 89_600),
        ({"model": "anthropic:claude-sonnet-4-5"}, 140_000),
        ({"model": "house-model-7b"}, 5_600),
        ({"model": "never-heard-of"}, 89_600),
        ({"model": "claude-sonnet-4-5", "context_tokens": 1_000_000}, 700_000),
    ],
)
async def test_the_budget_follows_the_model(tmp_path: Path, arguments: Any, budget: int):
    async with _open(tmp_path, session={"models": {"house-": 8_000}}) as memory:
        assert memory.session("s", **arguments).usage.budget_tokens == budget


async def test_tokens_can_be_counted_exactly(tmp_path: Path):
    text = "Wie viele Wörter sind das? 这里有多少个词？"
    counts: list[int] = []
    for counter in ("estimate", "o200k_base"):
        async with _open(tmp_path, session={"tokens": counter}) as memory:
            session = memory.session(counter)
            await session.observe(_user(text))
            await session.prepare()
            counts.append(session.usage.window_tokens)
    assert counts[1] == 4 + ExactTokens().count(text)
    assert abs(counts[0] - counts[1]) <= 5
    async with _open(tmp_path, session={"tokens": "no_such"}) as memory:
        with pytest.raises(NotAvailable) as refused:
            await memory.session("estimate").prepare()
        assert refused.value.code == "unknown_encoding"


def test_blocking_code_has_sessions_too(database_path: Path):
    with recollect.sync.Memory.open(database_path) as memory:
        with memory.session("s") as session:
            *_, turn = session.observe([_user("go"), _calls("a"), _result("a", manual("en"))])
            session.scratchpad.update(ScratchpadUpdate(current_goal="Ship it"))
            sent = session.prepare(with_scratchpad=True)
            assert "Ship it" in sent[0]["content"]
            assert session.archive.load_tool_result(_placeholder(turn.content)) == manual("en")
        again = memory.session("s")
        assert again.prepare(with_scratchpad=True) == sent
        again.end()
        with pytest.raises(Closed):
            again.prepare()


async def test_closing_a_memory_twice_is_closing_it_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    async with Memory.open(tmp_path / "memory.db") as opened:
        await opened.remember("Ann keeps bees")
        session = opened.session("monday")
        await session.observe({"role": "user", "content": "I keep bees"})
        left = await opened.close()
        caplog.clear()
        assert await opened.close() == left
    assert caplog.messages == []
