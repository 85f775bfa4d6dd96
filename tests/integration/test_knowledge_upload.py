"""Files sent as a form, as a browser does it: each is taken or refused for itself."""

from __future__ import annotations

from pathlib import Path

import httpx

from recollect.settings import Settings
from tests.integration.test_server_events import told
from tests.serving import served

_MEGABYTE = 2**20


async def test_files_of_a_form_are_each_taken_or_refused(tmp_path: Path) -> None:
    settings = Settings.load({"data_dir": str(tmp_path), "knowledge": {"max_file_mb": 1}})
    async with (
        served(settings) as address,
        httpx.AsyncClient(base_url=address, timeout=60) as client,
    ):
        files = [
            ("file", ("handbook/travel.md", b"# Hotels\n\nA night may cost 140 euros.")),
            ("file", ("log.txt", b"all is quiet\n" * (_MEGABYTE // 8))),
            ("file", ("差旅.txt", "机票须提前十天预订。".encode("gb18030"))),
            ("file", ("empty.md", b"")),
            ("file", ("photo.jpeg", b"\xff\xd8\xff\xe0")),
        ]
        where = "/v1/knowledge?user=ann&tag=hr&wait=true"
        answer = await client.post(where, files=files)

        assert answer.status_code == 200, answer.text
        items = answer.json()["items"]
        assert [(it["source"], it["code"]) for it in items] == [
            ("handbook/travel.md", ""),
            ("log.txt", "file_too_large"),
            ("差旅.txt", ""),
            ("empty.md", "empty_file"),
            ("photo.jpeg", "unknown_type"),
        ]
        assert "1,048,576 bytes" in items[1]["error"]
        assert items[0]["document"]["status"] == "ready"
        assert items[0]["document"]["tags"] == ["hr"]
        found = await client.post("/v1/knowledge/search?user=ann", json={"query": "机票 预订"})
        assert found.json()["passages"][0]["citation"]["source"] == "差旅.txt"

        # The same again, in the background: what is there unchanged stays as it is.
        again = (await client.post("/v1/knowledge?user=ann&tag=hr", files=files[:1])).json()
        assert again["items"][0]["document"] == items[0]["document"]

        await _check_that_reading_is_told_as_it_goes(client)
        await _check_what_is_refused_whole(client)


async def _check_that_reading_is_told_as_it_goes(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", "/v1/events?user=ann&documents=true") as stream:
        events = told(stream)
        assert (await anext(events))["event"] == "ready"
        sent = await client.post("/v1/knowledge?user=ann", files={"file": ("c.md", b"A cup.")})
        document = sent.json()["items"][0]["document"]
        assert document["status"] == "pending"
        async for event in events:
            assert event["event"] == "document"
            assert event["data"]["id"] == document["id"]
            if event["data"]["status"] == "ready":
                break


async def _check_what_is_refused_whole(client: httpx.AsyncClient) -> None:
    """Require that a form that is none is one problem, and that it says what was kept."""
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.md"\r\n\r\nA text.\r\n'
    cut = part + part.replace(b"a.md", b"b.md")[:-4]
    for headers, body, code, reason in (
        (kind, b"no form", "bad_multipart", "nothing was stored"),
        (kind, cut, "bad_multipart", "the 1 files before that were taken"),
        (kind, part.replace(b' filename="a.md"', b"") + b"--b--\r\n", "no_file", "no file"),
        ({"Content-Type": "multipart/form-data; x=y"}, part, "multipart_needed", "not a multipart"),
        ({"Content-Type": "text/plain"}, b"x", "content_type_needed", "JSON"),
        (kind | {"Sec-Fetch-Site": "cross-site"}, part, "content_type_needed", "JSON"),
    ):
        answer = await client.post("/v1/knowledge?user=ann", headers=headers, content=body)
        problem = answer.json()
        assert problem["code"] == code, problem
        assert reason in problem["detail"]
    listed = (await client.get("/v1/knowledge/documents?user=ann")).json()["items"]
    assert {it["source"] for it in listed} == {
        "handbook/travel.md",
        "差旅.txt",
        "c.md",
        "a.md",
    }
    assert (await client.post("/v1/records?user=ann", files={"file": b"x"})).status_code == 415
    wrong = await client.post("/v1/knowledge?collection=a@b", files={"file": ("a.md", b"text")})
    assert wrong.json()["code"] == "bad_collection"
