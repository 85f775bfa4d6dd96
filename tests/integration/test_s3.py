"""Archived contents in a bucket of a real S3 server, which may be away for a while."""

import asyncio
import json
import os
import time
from collections.abc import Iterator
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory
from recollect.backends.bucket_blobs import BucketBlobs
from recollect.backends.objects import open_blobs
from recollect.domain.sections import S3Settings
from recollect.errors import StorageError
from recollect.ports.archives import Blobs
from recollect.settings import Settings
from recollect.testing import BlobsContract
from tests.command_line import CommandLine
from tests.integration.test_redis import until
from tests.s3_servers import BUCKET, READER, READERS_SECRET, SECRET, S3Server
from tests.services import without_background_work

_PLACES = count()


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def place(s3: S3Server) -> str:
    """An empty place in the bucket."""
    return f"s3://{BUCKET}/test-{next(_PLACES)}"


@pytest.fixture
def settings(s3: S3Server, place: str, database_path: Path) -> Settings:
    given = s3.settings()
    given["archive"]["place"] = place
    storage = {"path": str(database_path)}
    return Settings.load({**given, "storage": storage, "data_dir": str(database_path.parent)})


def bucket_at(s3: S3Server, place: str, **others: Any) -> BucketBlobs:
    return open_blobs(place, s3=S3Settings(**{**s3.settings()["s3"], **others}))


def held(s3: S3Server, place: str) -> list[str]:
    """What is in a place, past all of our code."""
    return [key for key in s3.stored() if place.endswith(key.split("/")[0])]


class TestBucket(BlobsContract):
    @pytest.fixture
    def blobs(self, s3: S3Server, place: str) -> Blobs:
        return bucket_at(s3, place)


async def _archive(memory: Memory, text: str, session: str = "s") -> str:
    archive = memory.session(session).archive
    await archive.process_tool_result("search", {"q": text[:20]}, text, session)
    return (await memory.archives.list()).items[0].id


# --- While it is there ----------------------------------------------------------------------------


async def test_a_large_result_lies_in_the_bucket_and_comes_back(
    s3: S3Server, place: str, settings: Settings, database_path: Path
):
    text = "斑马 zebra line\n" * 3_000
    async with Memory.open(settings) as memory:
        archived = await _archive(memory, text)
        assert len(held(s3, place)) == 1
        assert await memory.session("s").archive.load_tool_result(archived) == text
    assert not database_path.with_name("memory.db-blobs").exists()


async def test_a_range_of_a_large_result_does_not_fetch_the_whole(
    s3: S3Server, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    lines = [f"{number} {os.urandom(40).hex()} 行" for number in range(100_000)]
    text = "\n".join(lines)
    fetched: list[int] = []
    ranged, whole = BucketBlobs.get_range, BucketBlobs.get

    async def get_range(self: BucketBlobs, key: str, start: int, end: int) -> bytes | None:
        fetched.append(end - start)
        return await ranged(self, key, start, end)

    async def get(self: BucketBlobs, key: str) -> bytes | None:
        found = await whole(self, key)
        fetched.append(len(found or b""))
        return found

    monkeypatch.setattr(BucketBlobs, "get_range", get_range)
    monkeypatch.setattr(BucketBlobs, "get", get)
    async with Memory.open(settings) as memory:
        archived = await _archive(memory, text)
        archive = memory.session("s").archive
        # Making it searchable reads it too.
        await memory.drain()
        fetched.clear()
        wanted = "".join(f"{line}\n" for line in lines[49_999:50_001])
        assert await archive.load_tool_result(archived, range="50000-50001") == wanted
        partly = sum(fetched)
        assert await archive.load_tool_result(archived, range="chars 7-50") == text[7:50]
        fetched.clear()
        assert await archive.load_tool_result(archived) == text
        assert partly < sum(fetched) / 3, (partly, fetched)


async def test_a_large_file_is_sent_in_parts(s3: S3Server, place: str):
    class Counted(BytesIO):
        most = 0

        def read(self, size: int | None = -1) -> bytes:
            found = super().read(size)
            Counted.most = max(Counted.most, len(found))
            return found

    content = os.urandom(24 << 20)
    bucket = bucket_at(s3, place)
    await bucket.put("large", Counted(content))
    assert Counted.most <= 8 << 20, "never the whole of it at once"
    assert await bucket.get("large") == content


# --- Access ---------------------------------------------------------------------------------------


async def test_what_the_usual_variables_say_is_used(
    s3: S3Server, place: str, monkeypatch: pytest.MonkeyPatch
):
    access = s3.settings()["s3"]
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", access["access_key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", access["secret_key"])
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    bucket = open_blobs(place, s3=S3Settings(endpoint=s3.endpoint))
    await bucket.put("one", b"1")
    assert await bucket.get("one") == b"1"


@pytest.mark.parametrize("access", [(READER, READERS_SECRET), ("nobody", "nothing")])
async def test_who_may_not_write_is_told_so(s3: S3Server, place: str, access: tuple[str, str]):
    bucket = bucket_at(s3, place, access_key=access[0], secret_key=access[1])
    with pytest.raises(StorageError) as refused:
        await bucket.put("one", b"1")
    assert refused.value.code == "blobs_refused"
    assert access[1] not in str(refused.value)


def test_the_doctor_tries_the_bucket_and_tells_no_secret(
    s3: S3Server,
    place: str,
    database_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
):
    cli = CommandLine(capsysbinary)
    monkeypatch.setenv("RECOLLECT_STORAGE__PATH", str(database_path))
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(database_path.parent))
    monkeypatch.setenv("RECOLLECT_ARCHIVE__PLACE", place)
    for name, value in s3.settings()["s3"].items():
        monkeypatch.setenv(f"RECOLLECT_S3__{name.upper()}", value)

    def examined() -> dict[str, Any]:
        said = cli("doctor", "--json")
        assert SECRET not in said.out + said.err
        assert READERS_SECRET not in said.out + said.err
        return next(it for it in json.loads(said.out)["findings"] if it["part"] == "bucket")

    cli("remember", "Ann has a cat")
    assert examined()["verdict"] == "ok"
    assert not held(s3, place), "nothing of the probe stays"
    monkeypatch.setenv("RECOLLECT_S3__ACCESS_KEY", READER)
    monkeypatch.setenv("RECOLLECT_S3__SECRET_KEY", READERS_SECRET)
    finding = examined()
    assert (finding["verdict"], finding["figures"]["code"]) == ("problem", "blobs_refused")


# --- While it is away -----------------------------------------------------------------------------


async def test_a_result_waits_on_this_machine_while_the_bucket_hangs(
    s3: S3Server,
    place: str,
    settings: Settings,
    database_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    without_background_work(monkeypatch)
    outbox = database_path.with_name("memory.db-outbox")
    texts = [f"{animal} line\n" * 3_000 for animal in ("zebra", "斑马", "lion")]
    s3.pause()
    try:
        async with Memory.open(settings) as memory:
            began = time.monotonic()
            archived = [await _archive(memory, text) for text in texts]
            assert time.monotonic() - began < 12, "a turn does not wait for the bucket"
            for one, text in zip(archived, texts, strict=True):
                assert await memory.session("s").archive.load_tool_result(one) == text
        assert sum("is away" in it.message for it in caplog.records) == 1
        waiting = [path for path in outbox.rglob("*") if path.is_file()]
        assert len(waiting) == 3
        assert all(path.stat().st_mode & 0o077 == 0 for path in (outbox, *waiting))
    finally:
        s3.go_on()
    # Another process sends it, as this one would.
    monkeypatch.undo()
    async with Memory.open(settings) as memory:
        await until(lambda: len(held(s3, place)) == 3)
        await until(lambda: not [path for path in outbox.rglob("*") if path.is_file()])
        for one, text in zip(archived, texts, strict=True):
            assert await memory.session("s").archive.load_tool_result(one) == text


async def test_what_is_forgotten_is_erased_in_the_bucket_and_the_proof_names_it(
    s3: S3Server, place: str, settings: Settings
):
    async with Memory.open(settings) as memory:
        await _archive(memory, "a purple zebra\n" * 3_000, "theirs")
        kept = await _archive(memory, "a green lion\n" * 3_000, "mine")
        assert len(held(s3, place)) == 2
        forgotten = await memory.forget(session="theirs", verify=True)
        assert len(held(s3, place)) == 1
        assert forgotten.verification is not None
        assert forgotten.verification.is_gone
        assert f"1 archived contents in {place}" in forgotten.verification.searched
        assert await memory.session("mine").archive.load_tool_result(kept)


async def test_what_is_forgotten_while_the_bucket_is_away_is_erased_when_it_is_back(
    s3: S3Server, place: str, settings: Settings, database_path: Path
):
    async with Memory.open(settings) as memory:
        await _archive(memory, "a purple zebra\n" * 3_000, "theirs")
        s3.kill()
        await _archive(memory, "a purple lion\n" * 3_000, "theirs")
        archive = (await memory.archives.list()).items[1]
        with pytest.raises(StorageError) as unreadable:
            await memory.session("theirs").archive.load_tool_result(archive.id)
        assert unreadable.value.code == "blobs_unreachable"
        forgotten = await memory.forget(session="theirs", verify=True)
        assert (forgotten.erasure_pending, forgotten.away) == (True, (place,))
        assert forgotten.verification is None
        outbox = database_path.with_name("memory.db-outbox")
        assert not [path for path in outbox.rglob("*") if path.is_file()]
        assert not (await memory.archives.list()).items
        await asyncio.to_thread(s3.start)
        await until(lambda: not held(s3, place), seconds=60)
