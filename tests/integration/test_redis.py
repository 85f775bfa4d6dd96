"""Redis beside the database: a mirror and shared caches, which nothing depends on."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.assemble.stores import restore
from recollect.domain.notes import ScratchpadUpdate
from recollect.errors import SettingsError
from recollect.settings import Settings
from tests.certificates import write_certificate
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.database_servers import free_port
from tests.fakes import FakeEmbedder
from tests.redis_servers import RedisServer
from tests.services import services, without_background_work

TEA = "Ann prefers green tea over coffee 安喜欢绿茶"
QUESTION = "which tea does Ann prefer"
ME = "{local:default:-:me}"


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.stop()


@pytest.fixture
def opened(database_path: Path, redis: RedisServer) -> Callable[..., Any]:
    """Opens the memory as another server of the same installation would."""

    def open_memory(**options: Any) -> Any:
        embedder = options.pop("embedder", None)
        clock = options.pop("clock", None)
        return Memory.open(
            settings_for(database_path, redis.url, **options), clock=clock, embedder=embedder
        )

    return open_memory


def settings_for(path: Path, url: str, **options: Any) -> Settings:
    storage = {"path": str(path), "state": url, **options.pop("storage", {})}
    return Settings.load({"storage": storage, "data_dir": str(path.parent), **options})


async def until(holds: Callable[[], bool | Awaitable[bool]], seconds: float = 30) -> None:
    ends = time.monotonic() + seconds
    while True:
        found = holds()
        if found if isinstance(found, bool) else await found:
            return
        assert time.monotonic() < ends, "it never came true"
        await asyncio.sleep(0.05)


async def mirror(memory: Memory) -> None:
    """Bring the mirror up to date, as the background does every second."""
    following = services(memory).mirroring
    assert following is not None
    await until(following.catch_up)


async def shared_hits(memory: Memory) -> int:
    redis = (await memory.stats()).redis
    assert redis is not None
    return redis.recall_cache.hits


# --- Caches that servers share --------------------------------------------------------------------


async def test_another_server_answers_from_the_shared_cache(
    opened: Callable[..., Any], redis: RedisServer
):
    async with opened() as one, opened() as other:
        await one.remember(TEA)
        found = await one.recall(QUESTION)
        await until(lambda: bool(redis.keys("memory:recall:*")))
        assert await other.recall(QUESTION) == found, "nothing is lost on the way through JSON"
        assert await shared_hits(other) == 1
        (key,) = redis.keys("memory:recall:*")
        assert 0 < redis.ask("PTTL", key) <= 300_000
        assert QUESTION not in redis.content().decode(), "only a digest of what was asked"


@pytest.mark.sqlite(reason="a server's own tool restores its database")
async def test_a_restored_backup_is_not_answered_from_what_came_after_it(
    opened: Callable[..., Any], redis: RedisServer, database_path: Path, tmp_path: Path
):
    backup = tmp_path / "backup.db"
    async with opened() as memory:
        await memory.remember("Ann likes the sea")
        await memory.backup(backup)
        await memory.remember(TEA)
        assert TEA in (await memory.recall(QUESTION))[0].content
        await until(lambda: bool(redis.keys("memory:recall:*")))
    await restore(backup, settings_for(database_path, redis.url))
    assert not redis.keys("memory:recall:*")
    async with opened() as memory:
        await memory.remember("Ann owns a boat")
        assert TEA not in [hit.content for hit in await memory.recall(QUESTION)]


async def test_a_write_that_nobody_heard_of_leaves_no_stale_answer(
    opened: Callable[..., Any], redis: RedisServer, nobody_works: None
):
    """Nobody listens here, so every message is missed."""
    async with opened() as one, opened() as other:
        first = await one.remember(TEA)
        for memory in (one, other):
            assert (await memory.recall(QUESTION))[0].id == first.id
        await until(lambda: bool(redis.keys("memory:recall:*")))
        await one.update(first.id, "Ann prefers black tea 安喜欢红茶")
        assert (await other.recall(QUESTION))[0].content == "Ann prefers black tea 安喜欢红茶"
        await one.delete(first.id)
        assert not (await other.recall(QUESTION)).hits


async def test_what_a_message_tells_is_dropped_at_once(
    opened: Callable[..., Any], redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("recollect.assemble.lifetime._START_DELAY_SECONDS", 0.0)
    async with opened() as one, opened() as other:
        await one.remember(TEA)
        await until(lambda: redis.ask("PUBSUB", "NUMSUB", "memory:changes")[1] == 2)
        await other.recall(QUESTION)
        assert (await other.stats()).recall_cache.entries == 1
        await one.remember("Bob drives a tram")

        async def is_dropped() -> bool:
            return not (await other.stats()).recall_cache.entries

        await until(is_dropped)


async def test_a_vector_is_made_once_for_all_servers(
    opened: Callable[..., Any], redis: RedisServer
):
    embedders = FakeEmbedder(), FakeEmbedder()
    async with opened(embedder=embedders[0]) as one, opened(embedder=embedders[1]) as other:
        await one.remember(TEA)
        await one.recall(QUESTION)
        await other.recall(QUESTION, min_score=0.31)
        stats = (await other.stats()).redis
        assert stats is not None
        assert stats.embedding_cache.hits == 1
        (key,) = redis.keys("memory:embedding:query:*")
        assert redis.ask("PTTL", key) > 23 * 3_600_000
    assert QUESTION.encode() not in redis.content()


async def test_nothing_is_shared_of_what_may_not_be_stored(
    opened: Callable[..., Any], redis: RedisServer
):
    private = "is ann.lee@example.org the address of Ann"
    masking = {"writing": {"redact": "mask"}}
    async with opened(embedder=FakeEmbedder(), **masking) as memory:
        await memory.remember("Ann's address is ann.lee@example.org")
        await memory.recall(private)
        pad = memory.session("s1").scratchpad
        await pad.update(ScratchpadUpdate(current_goal="write to ann.lee@example.org"))
        await memory.recall(QUESTION)
        await until(lambda: bool(redis.keys("memory:recall:*")))
    assert len(redis.keys("memory:recall:*")) == 1, "only of the other question"
    assert len(redis.keys("memory:embedding:query:*")) == 1
    content = redis.content().decode(errors="replace")
    assert "ann.lee" not in content
    assert "write to" in content


# --- Session state --------------------------------------------------------------------------------


async def test_a_session_goes_on_at_another_server(opened: Callable[..., Any], redis: RedisServer):
    async with opened() as one, opened() as other:
        await one.session("s:1}").scratchpad.update(ScratchpadUpdate(current_goal="注册功能"))
        (key,) = redis.keys("memory:state:*")
        assert key == f"memory:state:{ME}:s%3A1%7D:scratchpad"
        assert 0 < redis.ask("PTTL", key) <= 30 * 60_000
        assert "注册功能" in redis.ask("HGET", key, "value")
        assert (await other.session("s:1}").scratchpad.read()).current_goal == "注册功能"
        stats = (await other.stats()).redis
        assert stats is not None
        assert stats.state.hits == 1


async def test_what_an_old_copy_of_redis_says_is_not_believed(
    opened: Callable[..., Any], redis: RedisServer
):
    async with opened() as memory:
        pad = memory.session("s1").scratchpad
        await pad.update(ScratchpadUpdate(current_goal="old"))
        redis.ask("SAVE")
        await pad.update(ScratchpadUpdate(current_goal="new"))
        redis.kill()
        redis.start()
        assert "old" in redis.content().decode(), "it came back with its snapshot"
        assert (await pad.read()).current_goal == "new"
        # Also where nobody notices that it is another run of the server.
        (key,) = redis.keys("memory:state:*") or [f"memory:state:{ME}:s1:scratchpad"]
        redis.ask("HSET", key, "version", 1, "value", json.dumps({"current_goal": "older"}))
        assert (await memory.session("s1").scratchpad.read()).current_goal == "new"


# --- The short-term buffer and procedures ---------------------------------------------------------


async def test_the_buffer_is_mirrored_as_the_design_says(
    opened: Callable[..., Any], redis: RedisServer, clock: TurnedClock
):
    async with opened(clock=clock) as memory:
        noted = await memory.remember(
            "Ann wants the invoice 安要发票",
            category="follow-up",
            tier="short",
            importance=0.9,
            source="chat",
            expires_at=clock.now() + timedelta(days=3),
        )
        await memory.remember(TEA)
        await mirror(memory)
        scored = redis.ask("ZRANGE", f"memory:short:{ME}", 0, -1, "WITHSCORES")
        assert scored == [[noted.id, noted.observed_at.timestamp() + 0.9]]
        key = f"memory:short:{ME}:{noted.id}"
        entry = redis.hash(key)
        assert (entry["type"], entry["source"]) == ("follow-up", "chat")
        assert entry["content"] == "Ann wants the invoice 安要发票"
        assert entry["expires"] == noted.expires_at.isoformat()
        assert 0 < redis.ask("PTTL", key) <= 3 * 86_400_000
        assert len(redis.keys(f"memory:short:{ME}:*")) == 1, "what is long-term is not in it"

        await memory.upkeep.promote(noted.id)
        await mirror(memory)
        assert not redis.keys("memory:short:*")


async def test_the_procedures_that_are_used_most_are_at_hand(
    opened: Callable[..., Any], redis: RedisServer
):
    async with opened() as memory:
        seldom, often = [
            await memory.remember(
                f"How to review {what}",
                kind="procedural",
                title=f"审查{what}",
                trigger="when asked for a review",
                steps=["read", "test"],
            )
            for what in ("code", "texts")
        ]
        await memory.used(often.id)
        await mirror(memory)
        hot = redis.ask("ZREVRANGE", f"memory:procedures:{ME}", 0, -1, "WITHSCORES")
        assert hot == [[often.id, 1], [seldom.id, 0]]
        entry = redis.hash(f"memory:procedures:{ME}:{often.id}")
        assert (entry["name"], entry["usage_count"]) == ("审查texts", "1")
        assert json.loads(entry["steps"]) == ["read", "test"]
        await memory.delete(often.id)
        await mirror(memory)
        assert redis.ask("ZRANGE", f"memory:procedures:{ME}", 0, -1) == [seldom.id]


async def test_names_of_users_cannot_reach_another_scope(
    opened: Callable[..., Any], redis: RedisServer
):
    async with opened() as memory:
        for user in ("ann", "ann}:x", "a:nn", "ann}", "-ann", "安"):
            theirs = memory.scope(user=user)
            await theirs.session("s").scratchpad.update(ScratchpadUpdate(current_goal=user))
        tags = {key.split("}")[0] for key in redis.keys("memory:state:*")}
        assert len(tags) == 6
        for user in ("ann", "ann}:x", "a:nn", "ann}", "-ann", "安"):
            pad = memory.scope(user=user).session("s").scratchpad
            assert (await pad.read()).current_goal == user
        await memory.scope(user="ann").forget(user="ann")
        assert len(redis.keys("memory:state:*")) == 5, "everybody else keeps theirs"


# --- Forgetting -----------------------------------------------------------------------------------


@asynccontextmanager
async def _ann(opened: Callable[..., Any], redis: RedisServer) -> AsyncIterator[Memory]:
    """Ann's secret is in every kind of key."""
    async with opened(embedder=FakeEmbedder()) as memory:
        ann = memory.scope(user="ann")
        until_then = services(memory).clock.now() + timedelta(days=3)
        await ann.remember("Ann has a purple zebra 紫色斑马", tier="short", expires_at=until_then)
        await ann.remember("Feed the purple zebra", kind="procedural", steps=["purple hay"])
        await ann.session("s").scratchpad.update(ScratchpadUpdate(current_goal="purple zebra"))
        await ann.recall("what has Ann, a purple zebra")
        await mirror(memory)
        for kind in ("recall", "embedding", "state", "short", "procedures"):
            await until(lambda kind=kind: bool(redis.keys(f"memory:{kind}:*")))
        yield memory


def _is_gone(redis: RedisServer) -> bool:
    content = redis.content()
    return not any(it in content for it in (b"purple", b"zebra", b"ann", "斑马".encode()))


async def test_a_person_is_forgotten_in_redis_and_the_proof_names_it(
    opened: Callable[..., Any], redis: RedisServer, nobody_works: None
):
    async with _ann(opened, redis) as memory:
        await (
            memory.scope(user="bob")
            .session("s")
            .scratchpad.update(ScratchpadUpdate(current_goal="tram"))
        )
        forgotten = await memory.scope(user="ann").forget(user="ann", verify=True)
        assert not forgotten.erasure_pending
        assert _is_gone(redis)
        assert not redis.keys("memory:embedding:*"), "vectors of questions may be about her"
        assert len(redis.keys("memory:state:*")) == 1, "what others have stays"
        assert forgotten.verification is not None
        assert forgotten.verification.is_gone
        assert redis.url in forgotten.verification.searched


async def test_a_proof_finds_what_somebody_left_in_redis(
    opened: Callable[..., Any], redis: RedisServer, nobody_works: None, monkeypatch: Any
):
    async with _ann(opened, redis) as memory:
        erased = services(memory).mirror.erase

        async def erase_in_part(scopes: Any) -> None:
            await erased(scopes)
            redis.ask("HSET", "memory:short:{local:default:-:x}:y", "content", "a purple zebra")

        monkeypatch.setattr(services(memory).mirror, "erase", erase_in_part)
        forgotten = await memory.scope(user="ann").forget(user="ann", verify=True)
        assert forgotten.verification is not None
        assert not forgotten.verification.is_gone
        assert {trace.place for trace in forgotten.verification.traces} == {redis.url}


async def test_a_session_is_forgotten_and_the_rest_of_the_scope_mirrored_anew(
    opened: Callable[..., Any], redis: RedisServer, nobody_works: None
):
    async with _ann(opened, redis) as memory:
        ann = memory.scope(user="ann")
        await ann.remember(
            "Ann plays chess",
            tier="short",
            session="other",
            expires_at=services(memory).clock.now() + timedelta(days=1),
        )
        await ann.forget(session="s")
        assert not redis.keys("memory:state:*")
        entries = [redis.hash(key) for key in redis.keys("memory:short:*:mem_*")]
        assert sorted(it["content"] for it in entries) == [
            "Ann has a purple zebra 紫色斑马",
            "Ann plays chess",
        ]


@pytest.mark.parametrize("how", ["paused", "killed"])
async def test_what_is_forgotten_while_redis_is_away_is_erased_when_it_is_back(
    opened: Callable[..., Any], redis: RedisServer, how: str, monkeypatch: pytest.MonkeyPatch
):
    without_background_work(monkeypatch)
    async with _ann(opened, redis) as memory:
        redis.ask("SAVE")
        redis.pause() if how == "paused" else redis.kill()
        forgotten = await memory.scope(user="ann").forget(user="ann", verify=True)
        assert (forgotten.erasure_pending, forgotten.away) == (True, (redis.url,))
        assert forgotten.verification is None, "nothing is called proven before it is gone"
        assert not (await memory.scope(user="ann").recall("purple zebra", min_score=0)).hits
    monkeypatch.undo()
    redis.go_on() if how == "paused" else redis.start()
    assert not _is_gone(redis), "a killed one came back with its snapshot"
    # Opening a memory is enough, and another process does it too.
    async with opened(embedding={"model": "none"}):
        await until(lambda: _is_gone(redis))


# --- When it is away ------------------------------------------------------------------------------


async def test_everything_goes_on_while_redis_is_away_and_says_so(
    opened: Callable[..., Any], redis: RedisServer, caplog: pytest.LogCaptureFixture
):
    redis.kill()
    async with opened() as memory:
        began = time.monotonic()
        await memory.remember(TEA)
        assert (await memory.recall(QUESTION))[0].content == TEA
        pad = memory.session("s1").scratchpad
        await pad.update(ScratchpadUpdate(current_goal="goal"))
        assert (await pad.read()).current_goal == "goal"
        assert time.monotonic() - began < 10
        stats = (await memory.stats()).redis
        assert stats is not None
        assert stats.is_away
        assert "Connect call failed" in stats.problem
        counters = (await memory.metrics()).points[-1].counters
        assert counters["redis_failures"] >= 1
        told = [it.message for it in caplog.records if it.levelno == logging.WARNING]
        assert sum("is away" in it for it in told) == 1, "told once, not with every call"

        redis.start()

        async def is_back() -> bool:
            await memory.session("s1").scratchpad.read()
            found = (await memory.stats()).redis
            return found is not None and not found.is_away

        await until(is_back)
        await until(lambda: bool(redis.keys("memory:state:*")))
        assert any("is back" in it.message for it in caplog.records)


async def test_a_server_that_hangs_costs_one_short_wait(
    opened: Callable[..., Any], redis: RedisServer
):
    async with opened() as memory:
        await memory.remember(TEA)
        await memory.recall(QUESTION)
        redis.pause()
        began = time.monotonic()
        for number in range(20):
            assert (await memory.recall(f"{QUESTION} {number}")).hits
        assert time.monotonic() - began < 5
        redis.go_on()


async def test_keys_of_another_database_are_left_alone(
    opened: Callable[..., Any], redis: RedisServer, tmp_path: Path
):
    async with opened() as memory:
        await memory.session("s").scratchpad.update(ScratchpadUpdate(current_goal="ours"))
    theirs = settings_for(tmp_path / "other.db", redis.url)
    async with Memory.open(theirs) as memory:
        pad = memory.session("s").scratchpad
        assert not (await pad.read()).current_goal
        await pad.update(ScratchpadUpdate(current_goal="theirs"))
        assert (await pad.read()).current_goal == "theirs"
        stats = (await memory.stats()).redis
        assert stats is not None
        assert "belong to another database" in stats.problem
    assert "theirs" not in redis.content().decode()
    apart = settings_for(tmp_path / "other.db", redis.url, storage={"state_prefix": "other"})
    async with Memory.open(apart) as memory:
        await memory.session("s").scratchpad.update(ScratchpadUpdate(current_goal="theirs"))
    assert redis.keys("other:state:*")


# --- Secrets, permissions and the doctor ----------------------------------------------------------


@pytest.fixture
def cli(database_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: Any):
    monkeypatch.setenv("RECOLLECT_STORAGE__PATH", str(database_path))
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(database_path.parent))
    monkeypatch.setenv("COLUMNS", "300")
    return CommandLine(capsysbinary)


def examined(cli: CommandLine) -> tuple[dict[str, Any], str]:
    said = cli("doctor", "--json")
    findings = json.loads(said.out)["findings"]
    return next(it for it in findings if it["part"] == "redis"), said.out + said.err


def test_a_password_is_used_and_never_told(
    cli: CommandLine, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    redis.ask("CONFIG", "SET", "requirepass", "swordfish")
    for right, url, password in (
        (True, f"redis://:swordfish@127.0.0.1:{redis.port}", ""),
        (True, redis.url, "swordfish"),
        (False, f"redis://:sword%66ish-no@127.0.0.1:{redis.port}", ""),
    ):
        monkeypatch.setenv("RECOLLECT_STORAGE__STATE", url)
        monkeypatch.setenv("RECOLLECT_STORAGE__STATE_PASSWORD", password)
        finding, said = examined(cli)
        assert finding["verdict"] == ("ok" if right else "warning")
        assert "swordfish" not in said + cli("where").out + cli("stats").err
        assert "sword%66ish" not in said


@pytest.mark.parametrize(
    "url", ["http://h", "redis://", "redis://h:x", "redis://:pass/word@h", "redis://h/name"]
)
def test_a_url_that_is_none_is_refused_without_repeating_it(url: str):
    with pytest.raises(SettingsError) as refused:
        Settings.load({"storage": {"state": url}})
    assert "storage.state" in refused.value.message
    assert "word" not in refused.value.message.replace("password", "")


def test_the_doctor_says_how_redis_is(
    cli: CommandLine, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_STORAGE__STATE", redis.url)
    cli("remember", "Ann has a cat")
    finding, _ = examined(cli)
    assert finding["verdict"] == "ok"
    assert finding["figures"]["version"].startswith("7.")
    assert finding["figures"]["scopes_to_mirror"] >= 1
    redis.ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
    assert "volatile-lru" in examined(cli)[0]["hint"]
    redis.ask("SET", "memory:owner", "somebody")
    finding, _ = examined(cli)
    assert finding["verdict"] == "problem"
    assert "state_prefix" in finding["hint"]
    redis.ask("ACL", "SETUSER", "weak", "on", ">pw", "~memory:*", "+@read", "+ping")
    monkeypatch.setenv("RECOLLECT_STORAGE__STATE", f"redis://weak:pw@127.0.0.1:{redis.port}")
    finding, _ = examined(cli)
    assert finding["verdict"] == "problem"
    assert "HSET" in finding["message"]
    redis.kill()
    finding, _ = examined(cli)
    assert (finding["verdict"], "away" in finding["message"]) == ("warning", True)


# As docs/redis-and-s3.md names them.
LEAST_RIGHTS = ("+@read", "+@write", "+@connection", "+@pubsub", "+@transaction", "+info")


async def test_the_least_rights_that_the_guide_names_are_enough(
    database_path: Path, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("recollect.assemble.lifetime._START_DELAY_SECONDS", 0.0)
    redis.ask("ACL", "SETUSER", "recollect", "on", ">pw", "~memory:*", "&memory:*", *LEAST_RIGHTS)
    url = f"redis://recollect@127.0.0.1:{redis.port}/0"
    access = {"state_password": "pw"}
    async with Memory.open(settings_for(database_path, url, storage=access)) as memory:
        await memory.remember(TEA, tier="short", expires_at=_in_days(services(memory), 1))
        await memory.remember("How to make tea", kind="procedural", steps=["boil"])
        await memory.recall(QUESTION)
        await memory.session("s").scratchpad.update(ScratchpadUpdate(current_goal="tea"))
        await until(lambda: redis.ask("PUBSUB", "NUMSUB", "memory:changes")[1] == 1)
        await mirror(memory)
        forgotten = await memory.forget(everything=True, verify=True)
        assert forgotten.verification is not None
        stats = (await memory.stats()).redis
        assert stats is not None
        assert (stats.failures, stats.problem) == (0, "")


def _in_days(parts: Any, days: float) -> Any:
    return parts.clock.now() + timedelta(days=days)


async def test_an_encrypted_server_is_believed_if_its_certificate_is(
    database_path: Path, tmp_path: Path
):
    for name in ("own", "others"):
        write_certificate(tmp_path / f"{name}.pem", tmp_path / f"{name}.key")
    server = RedisServer(
        *(
            "--tls-cert-file",
            str(tmp_path / "own.pem"),
            "--tls-key-file",
            str(tmp_path / "own.key"),
        ),
        *("--tls-auth-clients", "no", "--tls-port", str(port := free_port())),
    )
    try:
        for trusted, is_away in (("own", False), ("others", True)):
            url = f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={tmp_path / trusted}.pem"
            async with Memory.open(settings_for(database_path, url)) as memory:
                pad = memory.session("s").scratchpad
                await pad.update(ScratchpadUpdate(current_goal="tea"))
                assert (await pad.read()).current_goal == "tea"
                stats = (await memory.stats()).redis
                assert stats is not None
                assert stats.is_away is is_away, stats.problem
    finally:
        server.stop()
