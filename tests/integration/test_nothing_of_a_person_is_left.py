"""What is forgotten is gone: also from keys, the audit and copies that were being sent."""

import json
import os
import shutil
import sqlite3
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory
from recollect.cli.app import run
from recollect.server.app import create_app
from recollect.settings import Settings
from tests.serving import calling

GONE_PROCESS = 2**22 + 1


@asynccontextmanager
async def _serving(path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with calling(create_app(path), "http://127.0.0.1") as client:
        yield client


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def _key(client: httpx.AsyncClient, by: str, **wanted: Any) -> dict[str, Any]:
    made = await client.post("/v1/keys", json=wanted, headers=_bearer(by) if by else {})
    assert made.status_code == 201, made.text
    return made.json()


@pytest.mark.parametrize(
    "said",
    [
        "Ann has HIV",
        "My PIN is 4821",
        "У меня рак",
        "내 비밀은 암이다",
        "我有病",
        "أنا مريض",
    ],
)
async def test_a_proof_searches_for_what_was_said_in_any_script(tmp_path: Path, said: str):
    async with Memory.open(tmp_path / "memory.db") as opened:
        memory = opened.scope(user="ann")
        kept = await memory.remember(said)
        await memory.remember("The boat is blue")
        forgotten = await memory.forget(kept.id, verify=True)
    proof = forgotten.verification
    assert proof is not None
    assert proof.terms > 0
    assert proof.is_gone, proof.traces


async def test_a_copy_of_the_text_that_was_left_behind_is_found(tmp_path: Path):
    settings = Settings.load({"data_dir": tmp_path})
    async with Memory.open(settings) as memory:
        kept = await memory.remember("Ann has HIV")
        settings.log_file.parent.mkdir(parents=True, exist_ok=True)
        settings.log_file.write_text("somebody wrote: Ann has HIV\n")
        forgotten = await memory.forget(kept.id, verify=True)
    assert forgotten.verification is not None
    assert [it.place for it in forgotten.verification.traces] == ["the file recollect.log"]


def test_a_search_for_nothing_is_not_told_as_a_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    place = ["--data", str(tmp_path / "memory.db")]
    assert run(["remember", "A", *place]) == 0
    assert run(["remember", "I like A and B", *place]) == 0
    capsys.readouterr()
    assert run(["list", "--json", *place]) == 0
    listed = json.loads(capsys.readouterr().out)["items"]
    (short,) = (it["id"] for it in listed if it["content"] == "A")
    run(["forget", short, "--verify", "--yes", *place])
    told = capsys.readouterr().out
    assert "nothing is left" not in told
    assert "proves nothing" in told


@pytest.mark.parametrize("person", ["zebulon", "李雷", 'Zoë "Z"'])
@pytest.mark.sqlite(reason="it looks into the files")
async def test_a_forgotten_user_has_no_key_and_no_name_in_the_audit(tmp_path: Path, person: str):
    database = tmp_path / "memory.db"
    async with _serving(database) as client:
        admin = (await _key(client, "", name="me", role="admin"))["secret"]
        anns = await _key(client, admin, name="ann-phone", users=[person])
        both = await _key(client, admin, name="family", users=[person, "bob"])
        saved = {"content": "Likes tea"}
        await client.post("/v1/records", json=saved, headers=_bearer(anns["secret"]))
        query = {"user": person}
        signed_in = await client.post("/v1/sign-in", json={"key": anns["secret"]})
        assert signed_in.status_code == 200
        client.cookies.clear()
        gone = await client.post(
            "/v1/forget", params=query, json={**query, "verify": True}, headers=_bearer(admin)
        )
        assert gone.status_code == 200, gone.text
        assert gone.json()["counts"]["keys"] == 1
        assert gone.json()["verification"]["traces"] == []
        refused = await client.get("/v1/records", headers=_bearer(anns["secret"]))
        assert (refused.status_code, refused.json()["code"]) == (401, "bad_key")
        # Whoever shares a key keeps it.
        theirs = await client.get("/v1/records?user=bob", headers=_bearer(both["secret"]))
        assert theirs.status_code == 200
        assert (await client.get("/v1/audit/verify", headers=_bearer(admin))).status_code == 200
    with sqlite3.connect(database) as rows:
        left = [
            name
            for (name,) in rows.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not name.startswith("unit_")
            for row in rows.execute(f"SELECT * FROM {name}")
            if person in str(row) or json.dumps(person)[1:-1] in str(row) or "ann-phone" in str(row)
        ]
    assert left == []


@pytest.mark.sqlite(reason="it looks into the files")
async def test_the_audit_tells_that_several_entries_were_about_one_forgotten_person(
    tmp_path: Path,
):
    async with _serving(tmp_path / "memory.db") as client:
        admin = (await _key(client, "", name="me", role="admin"))["secret"]
        anns = await _key(client, admin, name="ann-phone", users=["zebulon"])
        both = await _key(client, admin, name="family", users=["zebulon", "bob"])
        for agent in ("cook", "nurse"):
            own = {"user": "zebulon", "agent": agent}
            await client.post(
                "/v1/records", params=own, json={"content": "Likes tea"}, headers=_bearer(admin)
            )
        for user in ("zebulon", "bob"):
            for page in ("records", "sessions"):
                looked = await client.get(
                    f"/v1/workspace/{page}", params={"user": user}, headers=_bearer(admin)
                )
                assert looked.status_code == 200
        sealed = await client.post("/v1/audit/seal", json={}, headers=_bearer(admin))
        assert sealed.json() == {"sealed": 9}
        gone = await client.post(
            "/v1/forget?user=zebulon", json={"user": "zebulon"}, headers=_bearer(admin)
        )
        assert gone.status_code == 200, gone.text
        trail = (await client.get("/v1/workspace/audit", headers=_bearer(admin))).json()["items"]
        keys = (await client.get("/v1/keys", headers=_bearer(admin))).json()["items"]
        bound = {it["id"]: (it["name"], it["users"]) for it in keys}
        pseudonym, users = bound[anns["key"]["id"]]
        assert pseudonym.startswith("forgotten-")
        assert users == [pseudonym]
        assert bound[both["key"]["id"]] == ("family", [pseudonym, "bob"])
        about = [
            it["action"]
            for it in trail
            if pseudonym in (it["payload"].get("user"), it["payload"].get("name"))
        ]
        assert sorted(about) == ["create_key", "inspect", "inspect"]
        saved = [it["scope"]["user"] for it in trail if it["action"] == "remember"]
        assert [it.rpartition(".")[0] for it in saved] == [pseudonym, pseudonym]
        assert "zebulon" not in str(trail)
        verdict = (await client.get("/v1/audit/verify", headers=_bearer(admin))).json()
        assert (verdict["is_intact"], verdict["erased"]) == (True, 5)
        # Others may be forgotten later, whom the same entries name.
        await client.post("/v1/forget?user=bob", json={"user": "bob"}, headers=_bearer(admin))
        await client.post("/v1/audit/seal", json={}, headers=_bearer(admin))
        verdict = (await client.get("/v1/audit/verify", headers=_bearer(admin))).json()
        assert verdict["is_intact"]
    # What an entry says in place of the name is proved like everything else.
    with sqlite3.connect(tmp_path / "memory.db") as rows:
        rows.execute("UPDATE audit SET payload = replace(payload, ?, 'carl')", (pseudonym,))
    async with Memory.open(tmp_path / "memory.db") as memory:
        assert {it.what for it in (await memory.audit.verify()).faults} == {
            "the entry was changed: payload"
        }


@pytest.mark.sqlite(reason="it looks into the files")
async def test_a_copy_that_is_being_sent_lies_in_the_data_folder_for_its_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    elsewhere = tmp_path / "temporary"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    seen: list[tuple[str, int]] = []
    removing = shutil.rmtree

    def look(path: Path, **options: Any) -> None:
        files = [it for it in Path(path).rglob("*") if it.is_file()]
        seen.extend((str(it), stat.S_IMODE(it.stat().st_mode)) for it in files)
        removing(path, **options)

    monkeypatch.setattr("recollect.server.routes.transfer.shutil.rmtree", look)
    data = tmp_path / "data"
    async with _serving(data) as client:
        await client.post("/v1/records", json={"content": "Ann has HIV"})
        copied = await client.get("/v1/backup")
        assert copied.status_code == 200
    assert seen
    assert all(path.startswith(str(data / "outgoing")) for path, _ in seen)
    assert {mode for _, mode in seen} == {0o600}
    assert [*(data / "outgoing").iterdir()] == []
    assert [*elsewhere.iterdir()] == []


@pytest.mark.sqlite(reason="it looks into the files")
async def test_a_copy_left_by_a_kill_is_found_by_a_proof_and_removed_at_the_next_start(
    tmp_path: Path,
):
    data = tmp_path / "data"
    async with _serving(data) as client:
        made = (await client.post("/v1/records", json={"content": "Ann has HIV"})).json()
        machine = os.uname().nodename[:20].replace("/", "-")
        left = data / "outgoing" / f"{machine}@{GONE_PROCESS}@-abc"
        left.mkdir(parents=True)
        (left / "memory.db").write_bytes(b"Ann has HIV")
        gone = await client.post("/v1/forget", json={"records": [made["id"]], "verify": True})
        traces = gone.json()["verification"]["traces"]
        assert ["memory.db" in it["place"] or "memory.db" in it["detail"] for it in traces] == [
            True
        ]
    async with _serving(data):
        assert not left.exists()
