"""What a conversation shows of a large result says what matters in it, and stays up to date."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from recollect import Memory
from recollect.backends.sql import schema
from recollect.context.placeholder import Placeholder, find_placeholders
from recollect.settings import Settings
from tests.chat_server import chat_server, openai_text
from tests.command_line import CommandLine
from tests.services import database_of, without_background_work

_LOST = "2026-05-01T10:41:07 ERROR [billing] ledger is out of balance: 184220.10 against 184202.10"


def _log(lines: int) -> str:
    told = [
        f"2026-05-01T10:{n // 60 % 60:02}:{n % 60:02} INFO [billing] settled {n} in {n % 90} ms"
        for n in range(lines)
    ]
    told[lines // 2] = _LOST
    return "\n".join(told)


def _chinese_log() -> str:
    told = [f"2026-05-01 10:{n // 60:02}:{n % 60:02} 信息 记账 已结算 {n} 笔" for n in range(900)]
    told[400] = "2026-05-01 10:06:40 错误 记账 账本不平：借方 184220.10，贷方 184202.10"
    return "\n".join(told)


def _pytest_run() -> str:
    passed = [f"tests/test_cart.py::test_sum_{n} PASSED [ {n % 99}%]" for n in range(300)]
    failed = [
        "=================================== FAILURES ===================================",
        "_________________________ test_retry_after_card_declined _________________________",
        "E       KeyError: 'idem_7f3a'",
        "shop/payment.py:214: KeyError",
        "FAILED tests/test_payment.py::test_retry_after_card_declined - KeyError: 'idem_7f3a'",
        "=================== 1 failed, 300 passed in 12.41s ===================",
    ]
    return "\n".join([*passed, *failed])


def _turn(result: str, asked: str = "what happened?") -> list[dict[str, Any]]:
    function = {"name": "read_log", "arguments": json.dumps({"file": "billing.log"})}
    call = {"id": "a", "type": "function", "function": function}
    return [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": result},
    ]


def _next_turn(asked: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": "ok"}, {"role": "user", "content": asked}]


def _placeholder(messages: list[dict[str, Any]]) -> Placeholder:
    ((_, _, found),) = [
        it for message in messages for it in find_placeholders(str(message["content"]))
    ]
    return found


async def test_a_very_large_result_is_digested_as_a_whole_before_it_is_shown(memory: Memory):
    text = _log(18_000)
    assert len(text) > 1_000_000
    session = memory.session("s")
    await session.observe(_turn(text))
    shown = await session.prepare()
    told = _placeholder(shown).summary
    assert "18000 lines" in told
    assert "out of balance: 184220.10" in told
    # The passages of this turn include what the digest points at, where it stands.
    assert _LOST in shown[-1]["content"].partition("📂")[2]
    archive = _placeholder(shown).id
    assert _LOST in await memory.load_tool_history(archive, query="out of balance")
    await session.observe(_next_turn("thanks"))
    assert _placeholder(await session.prepare()).summary == told


async def test_the_digest_is_there_after_a_restart(database_path: Path):
    async with Memory.open(database_path) as memory:
        await memory.session("s").observe(_turn(_log(4_000)))
    async with Memory.open(database_path) as memory:
        shown = await memory.session("s").prepare()
        assert "out of balance" in _placeholder(shown).summary
        (archive,) = await memory.archives.list()
        assert archive.summarised_by == "digest"


async def test_archives_made_before_there_were_digests_are_digested_when_shown(memory: Memory):
    session = memory.session("s")
    await session.observe([*_turn(_pytest_run()), *_next_turn("go on")])
    old = update(schema.archives).values(summary="collected 301 items", sources="[]")
    await database_of(memory).write(lambda connection: connection.execute(old))
    assert (await memory.archives.list()).items[0].summarised_by == ""
    told = _placeholder(await session.prepare()).summary
    assert "test_retry_after_card_declined: KeyError: 'idem_7f3a'" in told
    assert "collected 301 items" not in told
    assert (await memory.archives.list()).items[0].summary == told


async def test_a_models_better_summary_is_shown_from_the_next_prompt_on(tmp_path: Path):
    better = "One payment test failed with KeyError idem_7f3a in payment.py, all others passed."
    with chat_server() as server:
        models = {
            "summarise": "openai:small",
            "providers": {"openai": {"base_url": f"{server.url}/v1"}},
            "retries": 0,
        }
        settings = Settings.load({"data_dir": tmp_path, "models": models})
        async with Memory.open(settings) as memory:
            session = memory.session("s")
            await session.observe([*_turn(_pytest_run()), *_next_turn("go on")])
            server.answers = [openai_text(better)] * 3
            await memory.drain()
            assert _placeholder(await session.prepare()).summary == better
            again = await session.prepare()
            assert _placeholder(again).summary == better
        async with Memory.open(settings) as memory:
            assert await memory.session("s").prepare() == again


@pytest.mark.parametrize(
    ("result", "about", "other"),
    [
        (_pytest_run(), "Which test failed with KeyError?", "What is a good name for a cat?"),
        (_chinese_log(), "账本为什么不平？", "帮我给猫起个名字"),
    ],
    ids=["en", "zh"],
)
async def test_a_question_about_a_line_of_the_digest_loads_the_result(
    tmp_path: Path, result: str, about: str, other: str
):
    settings = Settings.load({"data_dir": tmp_path, "archive": {"policy": "similarity"}})
    async with Memory.open(settings) as memory:
        session = memory.session("s")
        await session.observe([*_turn(result), *_next_turn(other)])
        assert "📂" not in json.dumps(await session.prepare(), ensure_ascii=False)
        await session.observe(_next_turn(about))
        assert "📂" in json.dumps(await session.prepare(), ensure_ascii=False)


async def test_a_result_is_found_as_soon_as_it_is_archived(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    without_background_work(monkeypatch)
    await memory.session("s").observe(_turn(_pytest_run()))
    (hit, *_) = await memory.archives.search("KeyError idem_7f3a")
    assert "idem_7f3a" in hit.content
    stranger = memory.scope(user="somebody else")
    assert not (await stranger.archives.search("KeyError idem_7f3a")).hits


def test_archives_are_searched_on_the_command_line(
    database_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
):
    async def archive() -> None:
        async with Memory.open(database_path) as memory:
            await memory.session("s").observe(_turn(_pytest_run()))

    asyncio.run(archive())
    capfdbinary.readouterr()
    said = CommandLine(capfdbinary)(
        "--json", "--data", str(database_path), "archives", "search", "KeyError"
    )
    assert said.status == 0, said.err
    assert "idem_7f3a" in said.out
