"""A demo workspace: made-up people, a few weeks of their conversations and what came of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from typing import Any, Final, Literal, cast

from recollect.context.session import Session
from recollect.domain.fields import RecordFields
from recollect.domain.notes import ContentChunk, Decision, ScratchpadUpdate
from recollect.domain.record import Evidence, Kind
from recollect.errors import Conflict
from recollect.memory import Memory

WORKSPACE: Final = "demo"
Language = Literal["en", "zh"]
_Story = dict[str, Any]


async def load_demo(memory: Memory, language: Language = "en") -> dict[str, int]:
    """Fill the workspace `demo` of this memory's organisation, and tell how much it holds.

    A demo that is there already is left as it is.
    """
    if await _holds_something(memory):
        raise Conflict(
            "The demo workspace is loaded already; it was left as it is",
            code="demo_loaded",
            hint="Look at it, or remove it first: recollect demo --remove.",
        )
    teller = _Teller(memory, language)
    await teller.tell()
    whole = _within(memory)
    found = await whole.workspace.records(limit=1)
    sessions = await whole.workspace.sessions(limit=100)
    return {"records": found.total, "sessions": len(sessions.items)}


async def remove_demo(memory: Memory) -> dict[str, int]:
    """Forget everything in the workspace `demo` for good, and tell how much went."""
    whole = _within(memory)
    counts = {"records": 0, "turns": 0}
    shared = await whole.shared.list(limit=100)
    for record in shared.items:
        await whole.shared.delete(record.id, reason="the demo was removed")
    users = await whole.workspace.users(limit=100)
    for entry in users.items:
        forgotten = await whole.forget(user=entry.name, all_agents=True)
        for name in counts:
            counts[name] += forgotten.counts.get(name, 0)
    await whole.forget(everything=True)
    counts["records"] += len(shared.items)
    return counts


def _within(memory: Memory) -> Memory:
    return memory.scope(workspace=WORKSPACE, agent=None, user=None)


async def _holds_something(memory: Memory) -> bool:
    return (await _within(memory).workspace.records(limit=1)).total > 0


class _Teller:
    """Tells the story in one language, counting its days back from now."""

    def __init__(self, memory: Memory, language: Language) -> None:
        self._memory = memory
        self._place = ("en", "zh").index(language)
        self._language = language
        self._now = datetime.now(UTC)
        text = (files(__name__) / "story.json").read_text(encoding="utf-8")
        self._story: _Story = json.loads(text)
        # By session and number: the id of what was said, and its words.
        self._turns: dict[tuple[str, int], tuple[str, str]] = {}

    async def tell(self) -> None:
        for conversation in self._story["conversations"]:
            await self._converse(conversation)
        records = [await self._remember(told) for told in self._story["records"]]
        for correction in self._story["corrections"]:
            number = int(correction["record"])
            await self._scope(self._story["records"][number]).update(
                records[number],
                correction[self._language],
                reason=correction["reason"][self._place],
            )
        for told in self._story["contradictions"]:
            scope = self._scope(told)
            for words in (told["first"], told["second"]):
                await scope.write(words[self._place], category=told["category"])
        await self._share()
        await self._document()
        for asked in self._story["questions"]:
            await self._scope(asked).context(asked[self._language], session=asked["session"])

    async def _converse(self, conversation: Mapping[str, Any]) -> None:
        begun = self._ago(conversation["days_ago"])
        messages = [
            {
                "role": role,
                "content": texts[self._place],
                "at": begun + timedelta(minutes=2 * number),
            }
            for number, (role, *texts) in enumerate(conversation["messages"])
        ]
        name, memory = conversation["session"], self._scope(conversation)
        session = await memory.session(name)
        spoken = [messages[0], *self._search(conversation, begun), *messages[1:]]
        turns = await session.observe(spoken)
        told = [turn for turn in turns if turn.content and turn.role != "tool"]
        for number, turn in enumerate(told):
            self._turns[name, number] = (turn.id, turn.content)
        await self._work(session, conversation)
        await session.save()
        await self._read(memory, name)

    async def _read(self, memory: Memory, session: str) -> None:
        """Read a conversation now and put aside what was found: the story tells what came of it."""
        await memory.extract(session)
        # A worker may have read it first, so what was found is listed.
        if found := await memory.list(session=session, limit=100):
            await memory.forget([record.id for record in found])

    def _search(self, conversation: Mapping[str, Any], at: datetime) -> list[dict[str, Any]]:
        """Return the call of a tool and its result, which is long enough to be archived."""
        if (told := conversation.get("search")) is None:
            return []
        arguments = {"query": told["query"][self._place]}
        call = {"name": told["tool"], "arguments": json.dumps(arguments, ensure_ascii=False)}
        calls = [{"id": "call_1", "type": "function", "function": call}]
        line = told["line"][self._place]
        found = "\n".join(line.format(number=number) for number in range(told["lines"]))
        return [
            {"role": "assistant", "content": None, "tool_calls": calls, "at": at},
            {"role": "tool", "tool_call_id": "call_1", "content": found, "at": at},
        ]

    async def _work(self, session: Session, conversation: Mapping[str, Any]) -> None:
        """Keep what the agent was doing, where the story tells of it."""
        if "goal" not in conversation:
            return
        steps = [step[self._place] for step in conversation["steps"]]
        what, why = (it[self._place] for it in conversation["decision"])
        await session.scratchpad.update(
            ScratchpadUpdate(
                current_goal=conversation["goal"][self._place],
                sub_goals=tuple(steps),
                completed=tuple(steps[: conversation["done"]]),
                decisions=(Decision(what=what, why=why),),
            )
        )
        note = conversation["note"][self._place]
        source = conversation["noted_from"]
        session.notes.add_chunk(ContentChunk(content=note, source=source, relevance_score=0.9))

    async def _remember(self, told: Mapping[str, Any]) -> str:
        at = self._ago(told["days_ago"])
        fields: dict[str, Any] = {
            "kind": Kind(told.get("kind", "semantic")),
            "category": told["category"],
            "tags": told["tags"],
            "confidence": told["confidence"],
            "evidence_count": told["count"],
            "created_at": at,
            "first_observed": at,
            "last_confirmed": at,
        }
        if "from" in told:
            fields["evidence"] = [*self._evidence(told)]
            fields["session"] = told["from"][0]
        for name in ("title", "outcome", "trigger", "steps"):
            if name in told:
                fields[name] = told[name][self._place]
        for name in ("participants", "success_rate", "usage_count"):
            if name in told:
                fields[name] = told[name]
        if fields["kind"] is Kind.EPISODIC:
            fields["timestamp"] = at
        if "expires_days_ago" in told:
            fields["expires_at"] = self._ago(told["expires_days_ago"])
        record = await self._scope(told).remember(
            told[self._language], **cast("RecordFields", fields)
        )
        return record.id

    def _evidence(self, told: Mapping[str, Any]) -> Iterator[Evidence]:
        """Return the quoted words of the conversation, or the whole turn if none are quoted."""
        session, number = told["from"]
        if "quotes" not in told:
            turn, content = self._turns[session, number]
            yield Evidence(turn=turn, start=0, end=len(content))
            return
        for quote in told["quotes"][self._place]:
            for (where, _), (turn, content) in self._turns.items():
                if where == session and (start := content.find(quote)) >= 0:
                    yield Evidence(turn=turn, start=start, end=start + len(quote))

    async def _share(self) -> None:
        shared = _within(self._memory).shared
        for told in self._story["shared"]:
            title = told["title"][self._place] if "title" in told else ""
            proposal = await shared.propose(told[self._language], told["type"], title=title)
            await shared.approve(proposal.id)
        for told in self._story["proposals"]:
            await shared.propose(
                told[self._language], told["type"], reason=told["reason"][self._place]
            )

    async def _document(self) -> None:
        knowledge = _within(self._memory).knowledge
        for told in self._story["documents"]:
            await knowledge.add(
                "\n".join(told[self._language]),
                told["source"][self._place],
                collection=told["collection"][self._place],
                title=told["title"][self._place],
                tags=told["tags"],
            )

    def _scope(self, told: Mapping[str, Any]) -> Memory:
        return self._memory.scope(workspace=WORKSPACE, agent=told["agent"], user=told["user"])

    def _ago(self, days: int) -> datetime:
        return self._now - timedelta(days=days)
