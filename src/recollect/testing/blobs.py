"""The contract of `recollect.ports.archives.Blobs`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from io import BytesIO

from recollect.ports.archives import Blobs


class BlobsContract:
    """Provide the fixture `blobs`: an empty place for contents."""

    async def test_content_is_returned_byte_for_byte(self, blobs: Blobs) -> None:
        content = bytes(range(256)) * 500
        await blobs.put("workspace/one.zst", content)
        assert await blobs.get("workspace/one.zst") == content

    async def test_content_may_be_empty(self, blobs: Blobs) -> None:
        await blobs.put("workspace/empty", b"")
        assert await blobs.get("workspace/empty") == b""

    async def test_content_may_be_large(self, blobs: Blobs) -> None:
        content = b"0123456789" * 1_200_000
        await blobs.put("workspace/large", content)
        assert await blobs.get("workspace/large") == content

    async def test_content_may_come_from_a_file(self, blobs: Blobs) -> None:
        await blobs.put("workspace/file", BytesIO(b"read from a file"))
        assert await blobs.get("workspace/file") == b"read from a file"

    async def test_an_unknown_key_has_no_content(self, blobs: Blobs) -> None:
        assert await blobs.get("workspace/unknown") is None

    async def test_a_part_of_a_content_is_read_alone(self, blobs: Blobs) -> None:
        await blobs.put("workspace/one", b"0123456789")
        assert await blobs.get_range("workspace/one", 2, 5) == b"234"
        assert await blobs.get_range("workspace/one", 8, 10) == b"89"
        assert await blobs.get_range("workspace/unknown", 0, 1) is None

    async def test_new_keys_differ(self, blobs: Blobs) -> None:
        key = await blobs.new_key("one.zst")
        assert key != await blobs.new_key("two.zst")
        await blobs.put(key, b"1")
        assert await blobs.get(key) == b"1"

    async def test_deleting_ignores_missing_keys(self, blobs: Blobs) -> None:
        await blobs.put("workspace/one", b"1")
        await blobs.put("workspace/two", b"2")
        await blobs.delete(["workspace/one", "workspace/never"])
        await blobs.delete(["workspace/one"])
        assert await blobs.get("workspace/one") is None
        assert await blobs.get("workspace/two") == b"2"

    async def test_stored_lists_sizes_and_times(self, blobs: Blobs) -> None:
        await blobs.put("a/one", b"1")
        await blobs.put("b/two", b"22")
        found = {blob.key: blob async for blob in blobs.stored()}
        assert {key: blob.size for key, blob in found.items()} == {"a/one": 1, "b/two": 2}
        age = datetime.now(UTC) - found["a/one"].stored_at
        assert abs(age) < timedelta(minutes=5)

    async def test_concurrent_calls_do_not_interfere(self, blobs: Blobs) -> None:
        keys = [f"workspace/{number}" for number in range(30)]
        await asyncio.gather(*(blobs.put(key, key.encode() * 1000) for key in keys))
        found = await asyncio.gather(*(blobs.get(key) for key in keys))
        assert found == [key.encode() * 1000 for key in keys]
