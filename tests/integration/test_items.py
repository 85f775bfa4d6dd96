"""memory.items as frameworks use it: here and on a server, found, exported, cleaned, forgotten."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollect import Memory
from recollect.errors import InvalidInput
from recollect.settings import Settings
from tests.conftest import TurnedClock
from tests.serving import served


@pytest.fixture(params=["here", "on a server"])
async def ann(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Memory]:
    database = tmp_path / "memory.db"
    if request.param == "here":
        async with Memory.open(database) as memory:
            yield memory.scope(user="ann")
    else:
        async with served(database) as address, Memory.open(address) as memory:
            yield memory.scope(user="ann")


async def test_items_are_put_read_found_and_listed(ann: Memory):
    items = ann.items
    stored = await items.put(["notes", "a.b@c.d"], "tea", {"text": "green tea", "stars": 4})
    await items.put(["notes", "a.b@c.d"], "bees", {"text": "Bob keeps bees", "stars": 2})
    await items.put(["notes"], "hidden", {"text": "green tea again"}, texts=())
    assert await items.get(["notes", "a.b@c.d"], "tea") == stored
    assert await ann.scope(user="bob").items.get(["notes", "a.b@c.d"], "tea") is None
    assert await items.namespaces(["notes"]) == (("notes",), ("notes", "a.b@c.d"))
    assert await items.namespaces(suffix=["*"], max_depth=1) == (("notes",),)

    found = await items.search(["notes"], query="which tea?")
    assert [hit.item.key for hit in found] == ["tea", "bees", "hidden"]
    assert found[0].score is not None
    assert found[0].score > (found[1].score or 0)
    assert found[-1].score is None
    few = await items.search(["notes"], where={"stars": {"$gte": 3, "$ne": 5}}, limit=5)
    assert [hit.item.key for hit in few] == ["tea"]
    with pytest.raises(InvalidInput) as refused:
        await items.search(where={"stars": {"$near": 3}})
    assert refused.value.code == "unknown_value"

    await items.delete(["notes", "a.b@c.d"], "tea")
    assert await items.get(["notes", "a.b@c.d"], "tea") is None


async def test_vectors_of_ones_own_are_compared_with_ones_own(ann: Memory):
    for key, vector in (("east", [1.0, 0.0]), ("north", [0.0, 1.0])):
        await ann.items.put(["map"], key, {"n": 1}, texts=[key], vectors=[vector])
    found = await ann.items.search(["map"], vector=[0.2, 0.9])
    assert [hit.item.key for hit in found] == ["north", "east"]
    with pytest.raises(InvalidInput):
        await ann.items.put(["map"], "x", {}, texts=["one", "two"], vectors=[[1.0, 0.0]])


async def test_a_namespace_is_a_list_one_appends_to_and_pops_from(ann: Memory):
    chat = ["chat", "monday"]
    await ann.items.append(chat, [{"n": 1}, {"n": 2}])
    await ann.items.append(chat, [{"n": 3}])
    assert [it.value["n"] for it in await ann.items.listed(chat)] == [1, 2, 3]
    last = await ann.items.listed(chat, limit=2, last_first=True)
    assert [it.value["n"] for it in last] == [3, 2]
    popped = await ann.items.pop(chat)
    assert popped is not None
    assert popped.value == {"n": 3}
    assert await ann.items.clear(chat) == 2
    assert await ann.items.pop(chat) is None


@pytest.mark.parametrize(
    ("namespace", "key", "value", "code"),
    [
        ([], "k", {}, "missing_field"),
        ([""], "k", {}, "empty_text"),
        (["x" * 401], "k", {}, "text_too_large"),
        (["a"], "k" * 256, {}, "text_too_large"),
        (["a"], "k", {"n": float("nan")}, "wrong_type"),
        (["a\0"], "k", {}, None),
        ("letters", "k", {}, "wrong_type"),
    ],
)
async def test_bad_input_is_refused_and_changes_nothing(
    tmp_path: Path, namespace, key, value, code: str | None
):
    async with Memory.open(tmp_path / "memory.db") as memory:
        with pytest.raises(InvalidInput) as refused:
            await memory.items.put(namespace, key, value)
        assert code is None or refused.value.code == code
        assert await memory.items.namespaces() == ()


@pytest.mark.parametrize("vector", [[], [1e300, 1.0]], ids=["no numbers", "huge numbers"])
async def test_vectors_that_cannot_be_compared_are_refused(ann: Memory, vector: list[float]):
    await ann.items.put(["n"], "k", {"a": "b"}, texts=["b"], vectors=[[1.0, 0.5]])
    for refused in (
        ann.items.search(["n"], vector=vector),
        ann.items.put(["n"], "k", {"a": "c"}, texts=["c"], vectors=[vector]),
        ann.items.put(["n"], "k", {"a": "c"}, texts=["c", "d"], vectors=[[1.0], [1.0, 2.0]]),
    ):
        with pytest.raises(InvalidInput) as told:
            await refused
        assert told.value.code == "bad_vectors"
    (found,) = await ann.items.search(["n"], vector=[2.0, 1.0])
    assert found.item.value == {"a": "b"}
    assert found.score == pytest.approx(1.0)


async def test_a_vector_of_other_than_numbers_is_refused(memory: Memory):
    for vector in ([float("nan"), 1.0], ["a", "b"]):
        with pytest.raises(InvalidInput, match="lists of numbers"):
            await memory.items.search(["n"], vector=vector)  # type: ignore[arg-type]


async def test_reading_keeps_what_lives_for_a_while(memory: Memory, clock: TurnedClock):
    minute = timedelta(minutes=1)
    for key in ("read", "unread", "found"):
        await memory.items.put(["n"], key, {"of": key}, ttl=minute)
    clock.turn(seconds=40)
    await memory.items.get(["n"], "read")
    await memory.items.get(["n"], "unread", refresh=False)
    await memory.items.search(["n"], where={"of": "found"})
    clock.turn(seconds=40)
    assert {it.item.key for it in await memory.items.search(["n"])} == {"read", "found"}
    with pytest.raises(InvalidInput):
        await memory.items.put(["n"], "k", {}, ttl=timedelta(0))


async def test_items_move_with_an_export_and_nothing_there_is_replaced(tmp_path: Path):
    async with Memory.open(tmp_path / "one.db") as memory:
        ann = memory.scope(user="ann")
        await ann.items.put(["n"], "kept", {"text": "harbour lantern"}, ttl=timedelta(days=1))
        await ann.items.append(["n"], [{"n": 1}, {"n": 2}])
        counts = await ann.export_to(tmp_path / "out.jsonl")
        assert counts.items == 3
    async with Memory.open(tmp_path / "two.db") as memory:
        ann = memory.scope(user="ann")
        imported = await ann.import_from(tmp_path / "out.jsonl")
        assert (imported.added, imported.bad) == (3, 0)
        assert [it.value for it in await ann.items.listed(["n"])][1:] == [{"n": 1}, {"n": 2}]
        (best, *_) = await ann.items.search(["n"], query="lantern")
        assert best.item.key == "kept"
        assert best.item.ttl == timedelta(days=1)
        assert (await ann.import_from(tmp_path / "out.jsonl")).unchanged == 3
        await ann.items.put(["n"], "kept", {"text": "another"})
        assert (await ann.import_from(tmp_path / "out.jsonl")).conflicting == 1
        # What was forgotten is not brought back.
        forgotten = await ann.forget(everything=True, verify=True)
        assert forgotten.counts["items"] == 3
        assert forgotten.verification is not None
        assert forgotten.verification.is_gone
        assert (await ann.import_from(tmp_path / "out.jsonl")).conflicting == 3
        assert await ann.items.namespaces() == ()


async def test_items_hold_no_personal_data_where_that_is_wanted(tmp_path: Path):
    settings = Settings.load({"data_dir": tmp_path, "writing": {"redact": "mask"}})
    async with Memory.open(settings) as memory:
        item = await memory.items.put(["n"], "k", {"mail": "write to ann@example.com"})
        assert "ann@example.com" not in str(item)
