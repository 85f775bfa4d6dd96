"""What a `Blobs` promises, whichever store lies behind it."""

import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from recollect.backends.objects import open_blobs
from recollect.errors import NotAvailable, StorageError
from recollect.ports.archives import Blobs
from recollect.testing import BlobsContract

pytestmark = pytest.mark.sqlite(reason="no database takes part")


class TestDirectory(BlobsContract):
    @pytest.fixture
    def blobs(self, tmp_path: Path) -> Blobs:
        return open_blobs(tmp_path / "not" / "yet" / "there")


class TestMemory(BlobsContract):
    @pytest.fixture
    def blobs(self) -> Blobs:
        return open_blobs("memory:///")


async def test_a_folder_is_made_by_the_first_content_only(tmp_path: Path):
    folder = tmp_path / "blobs"
    blobs = open_blobs(folder)
    assert [it async for it in blobs.stored()] == []
    assert not folder.exists()
    await blobs.put("workspace/one", b"1")
    assert folder.is_dir()


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError) as refused:
        await open_blobs(tmp_path / "file" / "folder").put("workspace/one", b"1")
    assert refused.value.code == "blobs_unreachable"
    assert str(tmp_path) in refused.value.message


async def test_a_folder_that_was_taken_away_is_told_in_one_line(tmp_path: Path):
    blobs = open_blobs(tmp_path / "blobs")
    await blobs.put("first", b"0")
    shutil.rmtree(tmp_path / "blobs")
    (tmp_path / "blobs").write_text("in the way")
    with pytest.raises(StorageError) as refused:
        await blobs.put("workspace/one", b"1")
    assert refused.value.code == "blobs_unreachable"
    assert "\n" not in refused.value.message


@pytest.mark.parametrize("key", ["../beside", "/etc/passwd", "a//b", "a/./b", "a\\b", "", "a\0b"])
async def test_no_key_leads_out_of_the_folder(tmp_path: Path, key: str):
    (tmp_path / "beside").write_text("of somebody else")
    blobs = open_blobs(tmp_path / "blobs")
    for attempt in (blobs.put(key, b"1"), blobs.get(key), blobs.delete([key])):
        with pytest.raises(StorageError):
            await attempt
    assert [it.name for it in tmp_path.iterdir()] == ["beside"]
    assert (tmp_path / "beside").read_text() == "of somebody else"


async def test_what_a_killed_process_left_half_written_is_no_content(tmp_path: Path):
    blobs = open_blobs(tmp_path)
    await blobs.put("workspace/one", b"1")
    half, old = (tmp_path / "workspace" / name for name in ("two#93", "three#1"))
    half.write_bytes(b"half")
    old.write_bytes(b"of the day before yesterday")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(old, (two_days_ago, two_days_ago))
    assert [it.key async for it in blobs.stored()] == ["workspace/one"]
    assert (half.exists(), old.exists()) == (True, False)


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
async def test_contents_are_for_their_owner_alone(tmp_path: Path):
    before = os.umask(0)
    try:
        await open_blobs(tmp_path / "blobs").put("workspace/one", b"1")
    finally:
        os.umask(before)
    modes = {it.name: stat.S_IMODE(it.stat().st_mode) for it in (tmp_path / "blobs").rglob("*")}
    assert modes == {"workspace": 0o700, "one": 0o600}


async def test_a_bucket_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollect.backends.bucket_blobs.find_spec", lambda _: None)
    with pytest.raises(NotAvailable) as refused:
        open_blobs("s3://team/recollect")
    assert "recollect[s3]" in refused.value.hint


@pytest.mark.parametrize("where", ["folder", "memory:///"])
async def test_notes_of_an_owner_are_no_contents(where: str, tmp_path: Path):
    blobs = open_blobs(tmp_path / where if "://" not in where else where)
    mine, other = blobs.notes(lambda: "mine"), blobs.notes(lambda: "other")
    assert mine.names("audit") == []
    assert mine.read("audit/one") is None
    mine.write("audit/two", b"2")
    mine.write("audit/one", b"1")
    mine.write("ledger/three", b"3")
    other.write("audit/one", b"another")
    await blobs.put("workspace/content", b"content")
    assert mine.names("audit") == ["audit/one", "audit/two"]
    assert (mine.read("audit/one"), other.read("audit/one")) == (b"1", b"another")
    assert [it.key async for it in blobs.stored()] == ["workspace/content"]
    mine.remove(["audit/one", "audit/never"])
    assert mine.names("audit") == ["audit/two"]
    assert other.names("audit") == ["audit/one"]


async def test_every_owner_sees_the_contents_of_its_own(tmp_path: Path):
    mine, other = open_blobs(tmp_path, lambda: "mine"), open_blobs(tmp_path, lambda: "mine-too")
    keys = [await it.new_key("workspace/one") for it in (mine, other)]
    for blobs, key in zip((mine, other), keys, strict=True):
        await blobs.put(key, key.encode())
        assert [it.key async for it in blobs.stored()] == [key]
    assert await mine.get(keys[1]) == b"mine-too/workspace/one"
