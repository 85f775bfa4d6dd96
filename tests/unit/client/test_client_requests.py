"""Every verb of the client sends the request that is written down in tests/data.

After a deliberate change of a request: `.venv/bin/python tests/unit/client/test_client_requests.py`
writes the file again, and its difference is part of the review.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect.client.connection import Connection
from recollect.client.memory import RemoteMemory
from recollect.domain.archive import ContentRange
from recollect.domain.item import ItemDraft
from recollect.domain.notes import ScratchpadUpdate
from recollect.domain.scope import Scope
from recollect.errors import RecollectError
from recollect.memory import Memory

_WRITTEN = Path(__file__).parents[2] / "data" / "client_requests.json"
_SCOPE = Scope(org="acme", workspace="lab", agent="sql", user="ann")
_AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
_MESSAGE = {"role": "user", "content": "I moved to Lyon"}
_USAGE = {
    "messages": 0,
    "window_messages": 0,
    "window_tokens": 0,
    "budget_tokens": 0,
    "saved_tokens": 0,
    "level": 0,
    "pending": False,
    "archived": 0,
    "degraded": [],
}
_NOTES = {
    "current_query": "",
    "known_chapters": [],
    "structures": {},
    "structure_calls": {},
    "chunks": [],
}

CALLS: dict[str, Callable[[Memory], Awaitable[object]]] = {
    "memory.remember": lambda m: m.remember("tea", idempotency_key="k1"),
    "memory.remember with everything": lambda m: m.remember(
        "tea",
        namespace=("sql", "ann"),
        reason="said so",
        tags=["food", "tea"],
        valid_from=_AT,
        confidence=0.5,
        kind="episodic",
    ),
    "memory.remember_many": lambda m: m.remember_many(
        ["tea", {"content": "milk", "tags": ("a",)}], namespace="acme/lab", reason="r"
    ),
    "memory.observe one": lambda m: m.observe(_MESSAGE, session="s", idempotency_key="k2"),
    "memory.observe several": lambda m: m.observe([_MESSAGE], session="s", task="t"),
    "memory.sessions": lambda m: m.sessions(limit=7, cursor="c"),
    "memory.tags": lambda m: m.tags(),
    "memory.categories": lambda m: m.categories(cursor="c"),
    "memory.changes": lambda m: m.changes("mark", wait=2.5),
    "memory.changes from now": lambda m: m.changes(),
    "memory.load_tool_history": lambda m: m.load_tool_history("a/b", "q", "lines 1-2"),
    "memory.load_tool_history range": lambda m: m.load_tool_history(
        "a", range=ContentRange(unit="characters", first=1, last=9)
    ),
    "memory.recall": lambda m: m.recall("what?"),
    "memory.recall with everything": lambda m: m.recall(
        "what?",
        limit=3,
        min_score=0.2,
        namespace="acme/lab",
        asked_at=_AT,
        tags=["a"],
        since=_AT,
        until=None,
    ),
    "memory.context": lambda m: m.context("hi", session="s"),
    "memory.context with everything": lambda m: m.context(
        "hi", session="s", limit=2, namespace=("sql", "ann"), language="zh"
    ),
    "memory.preview": lambda m: m.preview(
        "hi", changes=[{"id": "mem_1", "delete": True}], session="s", as_of=_AT
    ),
    "memory.graph": lambda m: m.graph(limit=9),
    "memory.profile": lambda m: m.profile(),
    "memory.show_in_profile": lambda m: m.show_in_profile("mem_1", shown=False),
    "memory.used": lambda m: m.used("mem_1"),
    "memory.rejected": lambda m: m.rejected("mem_1"),
    "memory.get": lambda m: m.get("mem_1"),
    "memory.get as of": lambda m: m.get("mem_1", as_of=_AT),
    "memory.turn": lambda m: m.turn("turn_1"),
    "memory.list": lambda m: m.list(),
    "memory.list with filters": lambda m: m.list(
        limit=3, namespace="acme/lab", tags=["a", "b"], since=_AT, until=None
    ),
    "memory.turns": lambda m: m.turns(session="s", limit=2, cursor="c"),
    "memory.update": lambda m: m.update("mem_1", "new"),
    "memory.update with everything": lambda m: m.update(
        "mem_1", expected_version=3, reason="r", tags=(), valid_until=None
    ),
    "memory.update_many": lambda m: m.update_many(
        ["mem_1", "mem_2"], add_tags=["x"], reason="r", category="food"
    ),
    "memory.delete": lambda m: m.delete("mem/1", expected_version=2, reason="r"),
    "memory.delete_many": lambda m: m.delete_many(("mem_1",), reason="r"),
    "memory.purge": lambda m: m.purge("mem_1"),
    "memory.history": lambda m: m.history("mem_1"),
    "memory.undo": lambda m: m.undo("mem_1", expected_version=2, reason="r"),
    "memory.undo plain": lambda m: m.undo("mem_1"),
    "memory.write": lambda m: m.write("tea", idempotency_key="k3", tags=["a"]),
    "memory.write with everything": lambda m: m.write(
        "tea", namespace="acme/lab", explicit=False, metadata={"strategy": "append"}
    ),
    "memory.extract": lambda m: m.extract(),
    "memory.extract one": lambda m: m.extract("s"),
    "memory.user_names": lambda m: m.user_names(),
    "memory.set_user_names": lambda m: m.set_user_names(["ann"]),
    "memory.trace": lambda m: m.trace("wr_1"),
    "memory.route": lambda m: m.route("hi"),
    "memory.route with everything": lambda m: m.route("hi", policy="balanced", context="c"),
    "memory.forget": lambda m: m.forget("mem_1", verify=True),
    "memory.forget some": lambda m: m.forget(tags=["a"], dry_run=True, until=None),
    "memory.reindex": lambda m: m.reindex(model="small"),
    "memory.reindexing": lambda m: m.reindexing(),
    "memory.stop_reindexing": lambda m: m.stop_reindexing(),
    "memory.reconcile": lambda m: m.reconcile(dry_run=True),
    "memory.metrics": lambda m: m.metrics(),
    "memory.metrics with everything": lambda m: m.metrics(since=_AT, until=_AT, step_hours=2),
    "memory.stats": lambda m: m.stats(),
    "memory.backup": lambda m: m.backup("unused-backup"),
    "memory.export_to": lambda m: m.export_to("unused-export", all_scopes=True),
    "memory.import_from": lambda m: m.import_from(Path(__file__), skip_bad=True),
    "memory.import_chat": lambda m: m.import_chat(Path(__file__)),
    "memory.move_in": lambda m: m.move_in(Path(__file__), "mem0", dry_run=True),
    "memory.work": lambda m: m.work(),
    "memory.drain": lambda m: m.drain(),
    "shared.propose": lambda m: m.shared.propose("tea"),
    "shared.propose with everything": lambda m: m.shared.propose(
        "tea", "adr", title="t", reason="r", tags=["a"], confidence=0.5, target="mem_1"
    ),
    "shared.proposals": lambda m: m.shared.proposals(),
    "shared.proposals of any status": lambda m: m.shared.proposals(
        None, type="adr", limit=3, cursor="c"
    ),
    "shared.proposal": lambda m: m.shared.proposal("prop_1"),
    "shared.approve": lambda m: m.shared.approve("prop_1"),
    "shared.approve with everything": lambda m: m.shared.approve(
        "prop_1", "coffee", title="t", reason="r"
    ),
    "shared.reject": lambda m: m.shared.reject("prop_1", "no"),
    "shared.reopen": lambda m: m.shared.reopen("prop_1", "too soon", decided_at=_AT),
    "shared.withdraw": lambda m: m.shared.withdraw("prop_1"),
    "shared.list": lambda m: m.shared.list(type="adr", limit=2),
    "shared.get": lambda m: m.shared.get("mem_1"),
    "shared.update": lambda m: m.shared.update("mem_1", "coffee"),
    "shared.update with everything": lambda m: m.shared.update(
        "mem_1", title="t", tags=("a",), confidence=0.5, expected_version=2, reason="r"
    ),
    "shared.delete": lambda m: m.shared.delete("mem_1", expected_version=2, reason="r"),
    "shared.undo": lambda m: m.shared.undo("mem_1", expected_version=2, reason="r"),
    "upkeep.health": lambda m: m.upkeep.health(),
    "upkeep.buffer": lambda m: m.upkeep.buffer(),
    "upkeep.promote": lambda m: m.upkeep.promote("mem_1", reason="r"),
    "upkeep.conflicts": lambda m: m.upkeep.conflicts(),
    "upkeep.resolve": lambda m: m.upkeep.resolve("con_1", "merge", content="c", reason="r"),
    "upkeep.reopen": lambda m: m.upkeep.reopen("con_1", resolved_at=_AT),
    "upkeep.resolve by time": lambda m: m.upkeep.resolve("con_1", "both", at=_AT),
    "upkeep.quarantined": lambda m: m.upkeep.quarantined(limit=2, cursor="c"),
    "upkeep.accept": lambda m: m.upkeep.accept("mem_1", "c", reason="r"),
    "upkeep.accept as it is": lambda m: m.upkeep.accept("mem_1"),
    "upkeep.reject": lambda m: m.upkeep.reject("mem_1", "r"),
    "upkeep.expire": lambda m: m.upkeep.expire(dry_run=True),
    "upkeep.retain": lambda m: m.upkeep.retain(),
    "upkeep.sweep": lambda m: m.upkeep.sweep(all_scopes=True),
    "audit.tail": lambda m: m.audit.tail(action="inject", target="mem_1"),
    "audit.show": lambda m: m.audit.show("mem_1"),
    "audit.verify": lambda m: m.audit.verify(),
    "audit.replay": lambda m: m.audit.replay("rec_1"),
    "audit.seal": lambda m: m.audit.seal(),
    "archives.list": lambda m: m.archives.list(session="s", tool="t", limit=2),
    "archives.get": lambda m: m.archives.get("arc_1"),
    "archives.load": lambda m: m.archives.load("arc_1", "q"),
    "archives.load range": lambda m: m.archives.load(
        "arc_1", range=ContentRange(unit="lines", first=1, last=9)
    ),
    "archives.search": lambda m: m.archives.search("which test failed?", session="s", limit=2),
    "archives.find_earlier": lambda m: m.archives.find_earlier("grep", {"q": None}),
    "archives.delete": lambda m: m.archives.delete("arc_1"),
    "archives.sweep": lambda m: m.archives.sweep(dry_run=True),
    "knowledge.add": lambda m: m.knowledge.add("text", "a.md", tags=["x"], wait=False),
    "knowledge.collections": lambda m: m.knowledge.collections(),
    "knowledge.list": lambda m: m.knowledge.list(collection="c", source="s", limit=2),
    "knowledge.get": lambda m: m.knowledge.get("doc_1"),
    "knowledge.sections": lambda m: m.knowledge.sections("doc_1"),
    "knowledge.chunks": lambda m: m.knowledge.chunks("doc_1", after=3, limit=2),
    "knowledge.original": lambda m: m.knowledge.original("doc_1"),
    "knowledge.search": lambda m: m.knowledge.search("q"),
    "knowledge.search with everything": lambda m: m.knowledge.search(
        "q", collections="c", types=["md"], tags=("a",), since=_AT, limit=2, max_tokens=9
    ),
    "knowledge.archive": lambda m: m.knowledge.archive("doc_1"),
    "knowledge.delete": lambda m: m.knowledge.delete("doc_1"),
    "knowledge.retry": lambda m: m.knowledge.retry("doc_1"),
    "items.put": lambda m: m.items.put(
        ["a", "b"], "k", {"x": 1}, ttl=timedelta(minutes=1), texts=["t"], vectors=[[0.5]]
    ),
    "items.write": lambda m: m.items.write(
        [ItemDraft(namespace=("a",), key="k", value={})], [(("a", "b"), "gone")]
    ),
    "items.get": lambda m: m.items.get(("a",), "k", refresh=False),
    "items.delete": lambda m: m.items.delete(("a",), "k"),
    "items.search": lambda m: m.items.search(),
    "items.search with everything": lambda m: m.items.search(
        ["a"], query="q", vector=[0.5], where={"x": 1}, limit=2, offset=1, refresh=False
    ),
    "items.namespaces": lambda m: m.items.namespaces(["a"], ["*"], max_depth=2),
    "items.listed": lambda m: m.items.listed(["a"], limit=3, last_first=True),
    "items.listed all": lambda m: m.items.listed(["a"]),
    "items.pop": lambda m: m.items.pop(["a"]),
    "items.clear": lambda m: m.items.clear(["a"]),
    "jobs.list": lambda m: m.jobs.list(state="waiting", kind="x"),
    "jobs.get": lambda m: m.jobs.get("job_1"),
    "jobs.cancel": lambda m: m.jobs.cancel("job_1"),
    "agents.list": lambda m: m.agents.list(limit=2),
    "agents.get": lambda m: m.agents.get("a/b"),
    "agents.put": lambda m: m.agents.put("sql", enabled=False, children=["x"]),
    "agents.try_store": lambda m: m.agents.try_store("sql", "big"),
    "agents.move": lambda m: m.agents.move("sql", "big", background=True),
    "agents.move described": lambda m: m.agents.move(
        "sql", backend="sqlite", sqlite_path="p", background=True
    ),
    "agents.purge_copy": lambda m: m.agents.purge_copy("sql"),
    "agents.delete": lambda m: m.agents.delete("sql"),
    "keys.create": lambda m: m.keys.create("k", users=["ann"], expires_at=_AT),
    "keys.list": lambda m: m.keys.list(cursor="c"),
    "keys.revoke": lambda m: m.keys.revoke("key_1"),
    "workspace.scopes": lambda m: m.workspace.scopes(agent="-", limit=2),
    "workspace.every": lambda m: m.workspace.every(limit=3),
    "workspace.users": lambda m: m.workspace.users(),
    "workspace.agents": lambda m: m.workspace.agents(cursor="c"),
    "workspace.sessions": lambda m: m.workspace.sessions(user="ann"),
    "workspace.graph": lambda m: m.workspace.graph(user="ann"),
    "workspace.tags": lambda m: m.workspace.tags(),
    "workspace.categories": lambda m: m.workspace.categories(agent="sql"),
    "workspace.records": lambda m: m.workspace.records(
        facets=True, user="ann", tags=["a"], since=_AT, until=None
    ),
    "workspace.recall": lambda m: m.workspace.recall("q", user="ann", tags=["a"], limit=2),
    "workspace.recall everywhere": lambda m: m.workspace.recall("q"),
    "workspace.health": lambda m: m.workspace.health(user="ann", compare=False),
    "workspace.conflicts": lambda m: m.workspace.conflicts(agent="sql"),
    "workspace.audit": lambda m: m.workspace.audit(action="a", about="mem_1"),
    "workspace.changes": lambda m: m.workspace.changes("mark", limit=5, wait=1),
    "tools.run": lambda m: m.tools("zh", session="s").run("memory_recall", {"query": "q"}),
    "session.observe": lambda m: m.session("s").observe(_MESSAGE, task="t"),
    "session.prepare": lambda m: m.session("s").prepare("q", load=["a"], format="anthropic"),
    "session.process_tool_result": lambda m: m.session("s").process_tool_result(
        "grep", {"q": 1}, "found", question="q", call_id="c"
    ),
    "session.known_result": lambda m: m.session("s").known_result("grep", {"q": 1}),
    "session.sync": lambda m: m.session("s").sync([_MESSAGE], task="t"),
    "session.plan": lambda m: m.session("s").plan([_MESSAGE], "q", load="a", with_notes=False),
    "session.expand": lambda m: m.session("s").expand("sum_1"),
    "session.settle": lambda m: m.session("s").settle(),
    "session.refresh": lambda m: m.session("s", model="m", context_tokens=9).refresh(),
    "session.end": lambda m: m.session("s").end(),
    "scratchpad.read": lambda m: m.session("s/1").scratchpad.read(),
    "scratchpad.update": lambda m: m.session("s").scratchpad.update(
        ScratchpadUpdate(current_goal="g")
    ),
    "scratchpad.touch": lambda m: m.session("s").scratchpad.touch(),
    "scratchpad.clear": lambda m: m.session("s").scratchpad.clear(),
    "archive.process_tool_result": lambda m: m.session("s").archive.process_tool_result(
        "grep", {"q": 1}, "found", "conv", "thread", question="q"
    ),
    "archive.load_tool_result": lambda m: m.session("s").archive.load_tool_result("arc_1", "q"),
    "archive.load_tool_history": lambda m: m.session("s").archive.load_tool_history("arc_1"),
    "archive.prepare_context": lambda m: m.session("s").archive.prepare_context(
        [_MESSAGE], ["arc_1"], "q"
    ),
    "archive.restore_placeholders": lambda m: m.session("s").archive.restore_placeholders(
        [_MESSAGE]
    ),
    "archive.find_earlier": lambda m: m.session("s").archive.find_earlier("grep", {"q": 1}),
}


class Recorder:
    """A server that writes down what it is asked, and answers only how a session begins."""

    def __init__(self) -> None:
        self._connection = Connection("http://recorded")
        self._connection._http = httpx.AsyncClient(  # pyright: ignore[reportPrivateUsage]
            transport=httpx.MockTransport(self._answer),
            base_url="http://recorded",
            headers={"Content-Type": "application/json"},
        )
        self._requests: list[Any] = []

    async def sent_by(self, call: Callable[[Memory], Awaitable[object]]) -> list[Any]:
        """Return the requests of a call, up to the first that is not answered."""
        self._requests = []
        try:
            await call(RemoteMemory(self._connection, _SCOPE, frozenset()))
        except RecollectError as problem:
            if problem.code != "enough":
                raise
        return self._requests

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        told: dict[str, Any] = {
            "request": f"{request.method} {request.url.raw_path.decode().partition('?')[0]}",
            "query": sorted(map(list, request.url.params.multi_items())),
        }
        content = await request.aread()
        if request.headers["content-type"] == "application/json" and content:
            # A field that is left out has the value None, except in a change of a record: None
            # there clears the field.
            told["body"] = {
                name: value
                for name, value in json.loads(content).items()
                if value is not None or name == "valid_until"
            }
        if "idempotency-key" in request.headers:
            told["key"] = request.headers["idempotency-key"]
        if request.extensions["timeout"]["read"] is None:
            told["waits"] = True
        self._requests.append(told)
        if told["request"] == "POST /v1/sessions":
            return httpx.Response(200, json={"usage": _USAGE})
        if told["request"] == "GET /v1/sessions/s/notes":
            return httpx.Response(200, json=_NOTES)
        return httpx.Response(400, json={"code": "enough", "detail": "recorded", "hint": ""})


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return Recorder()


@pytest.mark.parametrize("name", CALLS)
async def test_a_call_sends_the_request_that_is_written_down(recorder: Recorder, name: str):
    written = json.loads(_WRITTEN.read_text(encoding="utf-8"))
    assert await recorder.sent_by(CALLS[name]) == written[name]


def _write() -> None:
    recorder = Recorder()
    sent = {name: asyncio.run(recorder.sent_by(call)) for name, call in CALLS.items()}
    lines = (f"{json.dumps(name)}: {json.dumps(it, sort_keys=True)}" for name, it in sent.items())
    _WRITTEN.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    _write()
