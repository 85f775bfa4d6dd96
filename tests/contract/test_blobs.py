"""What a `Blobs` promises, whichever store lies behind it."""

import shutil
from pathlib import Path

import pytest

from recollect.backends.objects import open_blobs
from recollect.errors import StorageError
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
