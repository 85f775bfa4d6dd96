"""Shared memory with the real judge: what contradicts it is shown before and after approving."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.settings import Settings
from tests.integration.test_server import problem_of, serving

_PAIRS = (
    ("convention", "Function names use camelCase", "Function names use snake_case"),
    ("convention", "函数命名使用 camelCase", "函数命名使用 snake_case"),
    ("project-context", "We release on Tuesday", "We release on Thursday"),
    ("project-context", "每周二上线", "每周四上线"),
    ("adr", "We will adopt GraphQL", "We will not adopt GraphQL"),
    ("adr", "订单服务选用 PostgreSQL", "订单服务选用 MySQL"),
)
_COMPATIBLE = (
    "Function names use snake_case",
    "Class names use PascalCase",
    "函数不超过 50 行",
    "提交信息用英文",
    "Functions are named in snake_case",
)


class _Workspace:
    """A workspace of a server, as a person in it sees it."""

    def __init__(self, client: httpx.AsyncClient, name: str) -> None:
        self._client = client
        self._place = {"workspace": name, "user": "ann"}

    async def get(self, path: str) -> Any:
        return (await self._client.get(f"/v1/{path}", params=self._place)).json()

    async def post(self, path: str, body: Any = None, **place: str) -> httpx.Response:
        return await self._client.post(f"/v1/{path}", json=body, params={**self._place, **place})

    async def propose(self, text: str, type: str) -> str:
        made = await self.post("proposals", {"content": text, "type": type})
        assert made.status_code == 201, made.text
        return made.json()["id"]

    async def approve(self, proposal: str) -> Any:
        done = await self.post(f"proposals/{proposal}/approve")
        assert done.status_code == 200, done.text
        return done.json()

    async def conflicts(self) -> Any:
        return (await self.get("upkeep/conflicts"))["items"]


@pytest.fixture
async def client(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings.load(
        {
            "storage": {"path": tmp_path / "memory.db"},
            "embedding": {"model": "local"},
            "writing": {"judge": "auto"},
            "agents": {"rita": {"role": "reviewer"}},
        }
    )
    async with serving(settings) as opened:
        yield opened


async def test_a_contradiction_is_shown_and_becomes_a_conflict(client: httpx.AsyncClient):
    for number, (kind, first, second) in enumerate(_PAIRS):
        shop = _Workspace(client, f"shop-{number}")
        stored = (await shop.approve(await shop.propose(first, kind)))["record"]
        late = await shop.propose(second, kind)

        (listed,) = (await shop.get("proposals"))["items"]
        for shown in (listed, await shop.get(f"proposals/{late}")):
            (near,) = shown["nearest"]
            assert (near["record"]["id"], near["record"]["content"]) == (stored, first)
            opinion = near["verdict"]
            assert opinion["relation"] in ("update", "conflict") or opinion["is_doubtful"]
            assert not opinion["is_sure"]

        approved = await shop.approve(late)
        (dispute,) = await shop.conflicts()
        assert approved["body"]["conflicts"] == [dispute["conflict"]["id"]]
        assert (dispute["first"]["content"], dispute["second"]["content"]) == (first, second)
        assert dispute["conflict"]["reason"]


async def test_what_can_be_true_together_opens_no_conflict(client: httpx.AsyncClient):
    shop = _Workspace(client, "shop")
    for text in _COMPATIBLE:
        await shop.approve(await shop.propose(text, "convention"))
    assert await shop.conflicts() == []


async def test_the_coordinator_decides_a_conflict_of_shared_memory(client: httpx.AsyncClient):
    shop = _Workspace(client, "shop")
    for text in ("We release on Tuesday", "We release on Thursday"):
        await shop.approve(await shop.propose(text, "project-context"))
    (dispute,) = await shop.conflicts()
    path = f"upkeep/conflicts/{dispute['conflict']['id']}/resolve"
    decision = {"resolution": "keep_second", "reason": "moved"}

    refused = await shop.post(path, decision, agent="rita")
    assert problem_of(refused) == (403, "not_coordinator")
    assert len(await shop.conflicts()) == 1

    decided = await shop.post(path, decision)
    assert decided.status_code == 200, decided.text
    assert await shop.conflicts() == []
    shared = (await shop.get("shared"))["items"]
    assert [record["content"] for record in shared] == ["We release on Thursday"]
