"""Personal data is taken out of everything that is stored, wherever it came in."""

import json
from pathlib import Path

import pytest

from recollect import Memory
from recollect.domain.compression import pieces_of
from recollect.domain.notes import ScratchpadUpdate
from recollect.settings import Settings

_MAIL = "lin.yuan@fastmail.example"
_PHONE = "13812345678"
_MODES = ("mask", "drop")


def _settings(place: Path, mode: str) -> Settings:
    tree = {
        "data_dir": place,
        "storage": {"path": place / "memory.db"},
        "writing": {"redact": mode},
    }
    return Settings.load({**tree, "agents": {"ada": {"role": "reviewer"}}})


def _is_kept_in(place: Path) -> list[str]:
    """The files that hold personal data, compressed or not."""
    found: list[str] = []
    for file in place.rglob("*"):
        if not file.is_file():
            continue
        data = file.read_bytes()
        if file.suffix == ".zst":
            data = b"".join(pieces_of(data))
        if any(it.encode() in data for it in (_MAIL, _PHONE)):
            found.append(file.name)
    return found


def _call(name: str, **arguments: str) -> dict[str, object]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
    }


async def _used(memory: Memory) -> None:
    """A session that meets personal data in every place that it keeps."""
    async with memory.session("s1") as session:
        await session.observe({"role": "user", "content": f"谁用 {_MAIL} 这个邮箱？"})
        await session.observe(_call("smart_search", query=f"who is {_MAIL}"))
        found = [{"content": f"手机号 {_PHONE}", "source": f"mail {_MAIL}", "score": 0.9}]
        answer = json.dumps(found, ensure_ascii=False)
        await session.observe({"role": "tool", "tool_call_id": "c1", "content": answer})
        session.notes.add_page_content(f"Call {_PHONE} or write to {_MAIL}.", "page", 0.9)
        await session.scratchpad.update(
            ScratchpadUpdate(current_goal=f"write to {_MAIL}", blockers=(f"call {_PHONE}",))
        )
        await session.prepare()


@pytest.mark.parametrize("mode", _MODES)
async def test_notes_scratchpads_and_windows_hold_none(tmp_path: Path, mode: str):
    async with Memory.open(_settings(tmp_path, mode)) as memory:
        await _used(memory)
        async with memory.session("s1") as again:
            noted = again.notes.get_memory_context()
            pad = await again.scratchpad.read()

    assert _is_kept_in(tmp_path) == []
    assert "[email]" in noted or mode == "drop"
    assert pad.current_goal in ("write to [email]", "[removed: held personal data]")


async def test_an_open_session_goes_on_with_what_was_said(tmp_path: Path):
    async with (
        Memory.open(_settings(tmp_path, "mask")) as memory,
        memory.session("s1") as session,
    ):
        await session.observe({"role": "user", "content": f"My mail is {_MAIL}."})
        session.notes.add_page_content(f"Write to {_MAIL}.", "page", 0.9)
        assert _MAIL in json.dumps(await session.prepare())
        assert _MAIL in session.notes.get_memory_context()


@pytest.mark.parametrize("mode", _MODES)
async def test_archives_and_what_tools_were_asked_hold_none(tmp_path: Path, mode: str):
    async with Memory.open(_settings(tmp_path, mode)) as memory:
        async with memory.session("s1") as session:
            rows = "\n".join(f"{number}: {_MAIL}" for number in range(1_000))
            manager = session.archive
            shown = await manager.process_tool_result("crm", {"query": _MAIL}, rows, "s1")
            listed = [{"mail": f"write to {_MAIL}", "text": "x" * 60} for _ in range(400)]
            kept = await manager.process_tool_result("crm", {"query": _MAIL}, listed, "s1")
            earlier = await manager.find_earlier("crm", {"query": _MAIL})
        told = [it for it in (await memory.audit.tail()).items if it.action == "redact"]

    assert _MAIL not in f"{shown}{kept}"
    assert _is_kept_in(tmp_path) == []
    if mode == "mask":
        assert earlier is not None
        assert {it.payload["redacted"]["email"] for it in told} >= {1_001}


@pytest.mark.parametrize("mode", _MODES)
async def test_reasons_decisions_and_questions_hold_none(tmp_path: Path, mode: str):
    async with Memory.open(_settings(tmp_path, mode)) as memory:
        saved = await memory.remember("咖啡机在厨房", idempotency_key="k")
        await memory.update(saved.id, "咖啡机在二楼厨房", reason=f"这是 {_MAIL} 上周告诉我的")
        assert await memory.recall(f"{_MAIL} 问：咖啡机在哪里？")
        assert (await memory.context(f"{_MAIL} 问：咖啡机在哪里？")).ids
        await memory.tools(session="s").call("memory_recall", {"query": f"咖啡机 厨房 {_MAIL}"})
        ada = memory.scope(agent="ada")
        proposed = await ada.shared.propose("Use tabs", "convention", reason=f"said {_MAIL}")
        await memory.shared.approve(proposed.id, reason=f"agreed with {_MAIL}")
        other = await ada.shared.propose("Use spaces", "convention")
        await memory.shared.reject(other.id, f"no, says {_MAIL}")
        await memory.delete(saved.id, reason=f"asked by {_MAIL}")
        history = await memory.history(saved.id)

    assert _is_kept_in(tmp_path) == []
    assert mode == "drop" or "这是 [邮箱] 上周告诉我的" in [it.reason for it in history]


async def _exported(place: Path, mode: str = "off") -> Path:
    """An export of a memory that kept everything, and a record of which only the past tells."""
    async with Memory.open(_settings(place, mode)) as memory:
        saved = await memory.remember(f"Write to {_MAIL}", tags=["contact"])
        await memory.update(saved.id, "Write to the office", reason=f"not to {_MAIL}")
        await memory.remember("厨房在二楼")
        await _used(memory)
        async with memory.session("s2") as session:
            rows = "\n".join(f"{number}: {_MAIL}" for number in range(1_000))
            await session.archive.process_tool_result("crm", {"query": _MAIL}, rows, "s2")
        await memory.drain()
        await memory.export_to(place / "export.jsonl")
    return place / "export.jsonl"


def _folder(place: Path, name: str) -> Path:
    (place / name).mkdir()
    return place / name


@pytest.mark.parametrize("mode", _MODES)
async def test_what_is_imported_is_cleaned_and_counted(tmp_path: Path, mode: str):
    file = await _exported(_folder(tmp_path, "from"))
    place = _folder(tmp_path, "to")
    async with Memory.open(_settings(place, mode)) as memory:
        done = await memory.import_from(file)
        await memory.drain()
        (archive,) = await memory.archives.list()
        loaded = await memory.load_tool_history(archive.id)
        counted = [it for it in (await memory.audit.tail(limit=200)).items if it.action == "redact"]
        records = [it.content for it in (await memory.list()).items]

    assert _is_kept_in(place) == []
    assert counted
    assert _MAIL not in loaded
    assert "厨房在二楼" in records
    assert [it.code for it in done.problems] == ([] if mode == "mask" else ["personal_data"])
    assert ("Write to the office" in records) == (mode == "mask")


@pytest.mark.parametrize("mode", ["off", "mask", "drop"])
async def test_an_export_of_ones_own_comes_back_to_the_last_character(tmp_path: Path, mode: str):
    first, second = _folder(tmp_path, "first"), _folder(tmp_path, "second")
    file = await _exported(first, mode) if mode != "drop" else await _clean_export(first)
    async with Memory.open(_settings(first, mode)) as memory:
        again = await memory.import_from(file)
    async with Memory.open(_settings(second, mode)) as memory:
        done = await memory.import_from(file)
        await memory.export_to(second / "export.jsonl")

    assert (again.added, again.conflicting, again.lost) == (0, 0, 0)
    assert (done.conflicting, done.lost) == (0, 0)
    lines = [path.read_text("utf-8").splitlines()[1:] for path in (file, second / "export.jsonl")]
    assert sorted(lines[0]) == sorted(lines[1])


async def _clean_export(place: Path) -> Path:
    async with Memory.open(_settings(place, "drop")) as memory:
        await memory.remember("厨房在二楼")
        await _used(memory)
        await memory.export_to(place / "export.jsonl")
    return place / "export.jsonl"
