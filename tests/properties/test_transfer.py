"""Whatever was done to a memory, it moves to another database without a difference."""

import asyncio
import io
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Evidence, Memory, RecollectError
from recollect.domain.change import ChangeSet
from recollect.domain.write import Watermark
from recollect.settings import Settings
from tests.database_servers import ask
from tests.examples import examples
from tests.services import store_of
from tests.upkeep import dispute

_THRESHOLD = 60

_Step = tuple[str, str, dict[str, Any]]

_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
_words = _text.filter(lambda text: bool(text.strip()))
_labels = st.lists(_words, max_size=3)
_share = st.floats(0, 1)
_count = st.integers(0, 2**31 - 1)
_times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001  (see replace)
    lambda moment: moment.replace(tzinfo=UTC)
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=5,
)
_evidence = st.builds(
    Evidence, turn=_words, start=st.none() | st.integers(0, 9), end=st.none() | st.integers(10, 99)
)
_any_kind: dict[str, Any] = {
    "category": _words,
    "title": _text,
    "description": _text,
    "tags": _labels,
    "confidence": _share,
    "importance": _share,
    "evidence_count": _count,
    "evidence": st.lists(_evidence, max_size=2),
    "source": _text,
    "related": _labels,
    "session": st.none() | _words,
    "task": st.none() | _words,
    "created_at": _times,
    "first_observed": _times,
    "last_confirmed": _times,
    "valid_from": st.none() | _times,
    "expires_at": st.none() | _times,
    "tier": st.sampled_from(("short", "long")),
    "metadata": st.dictionaries(_text, _json, max_size=3),
}
_episodic = {
    "participants": _labels,
    "outcome": _text,
    "artifacts": _labels,
    "timestamp": st.none() | _times,
}
_procedural = {
    "trigger": _text,
    "steps": _labels,
    "success_rate": st.none() | _share,
    "usage_count": _count,
}
_fields = st.one_of(
    st.fixed_dictionaries({"kind": st.just(kind)}, optional=_any_kind | details)
    for kind, details in (("semantic", {}), ("episodic", _episodic), ("procedural", _procedural))
)
_message = st.fixed_dictionaries(
    {"role": st.sampled_from(("user", "assistant", "tool")), "content": _words},
    optional={"name": _words, "task": _words, "at": _times, "tool_calls": _json, "extra": _json},
) | st.fixed_dictionaries(
    {
        "role": st.just("user"),
        "content": st.lists(st.fixed_dictionaries({"text": _text, "more": _json}), min_size=1),
    }
)
# Long enough to be archived; equal ones are drawn often, and share their content.
_results = (
    st.sampled_from(("结果 result " * 20, [{"row": "行" * 300}], bytes(range(256))))
    | st.binary(min_size=_THRESHOLD + 1, max_size=3 * _THRESHOLD)
    | st.text(min_size=_THRESHOLD + 1, max_size=3 * _THRESHOLD)
)
_steps = st.lists(
    st.tuples(st.just("remember"), _words, _fields)
    | st.tuples(st.just("observe"), _words, _message)
    | st.tuples(
        st.just("archive"), _words, st.fixed_dictionaries({"result": _results, "asked": _json})
    )
    | st.tuples(st.sampled_from(("dispute", "propose", "read")), _words, st.just({}))
    | st.tuples(st.sampled_from(("update", "delete", "undo", "purge")), _words, st.just({})),
    min_size=1,
    max_size=12,
)


async def _live(memory: Memory, steps: list[_Step]) -> None:
    """Do what is asked, each time as somebody else; some of it is refused."""
    made: list[tuple[Memory, str]] = []
    for number, step in enumerate(steps):
        view = memory.scope(user=(None, "ann", "用户")[number % 3], agent=("sql", None)[number % 2])
        owner, ident = made[number % len(made)] if made else (view, "mem_none")
        with suppress(RecollectError):
            match step:
                case ("remember", text, fields):
                    record = await view.remember(text, reason=text, **fields)
                    made.append((view, record.id))
                case ("dispute", text, _):
                    first, second = await view.remember_many([text, f"not {text}"])
                    await dispute(view, first, second)
                    made.append((view, second.id))
                case _:
                    await _change(owner, ident, step)


async def _read(memory: Memory, session: str) -> None:
    """Say that a session was read up to its last turn."""
    (turn,) = await memory.observe([{"role": "user", "content": session}], session=session)
    mark = Watermark(scope=turn.scope, session=session, ordinal=turn.ordinal)
    store = store_of(memory)
    await store.commit(ChangeSet(principal="test", scope=turn.scope, watermarks=(mark,)))


async def _change(memory: Memory, ident: str, step: _Step) -> None:
    match step:
        case ("observe", text, message):
            await memory.observe([message], session=text[:9].strip() or "s")
        case ("update", text, _):
            await memory.update(ident, text, reason=text)
        case ("delete", text, _):
            await memory.delete(ident, reason=text)
        case ("archive", text, given):
            await memory.session(text[:9].strip() or "s").archive.process_tool_result(
                "search", given["asked"], given["result"], text[:9].strip() or "s"
            )
        case ("propose", text, _):
            proposal = await memory.scope(agent=None).shared.propose(text, "convention")
            if len(text) % 2:
                await memory.scope(agent=None).shared.approve(proposal.id)
        case ("read", text, _):
            await _read(memory, text)
        case ("undo", _, _):
            await memory.undo(ident)
        case _:
            await memory.purge(ident)


def _index(database: Path) -> list[tuple[Any, ...]]:
    """What is searched, whatever its number is in this database."""
    return sorted(
        ask(
            database,
            "SELECT u.owner_id, u.ordinal, u.start, u.end, u.terms, u.observed_at, s.unit_count, "
            "s.unit_length FROM units u JOIN scopes s ON s.id = u.scope_id",
        )
    )


@settings(max_examples=examples(8), deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=_steps)
def test_a_memory_moves_without_a_difference(steps: list[_Step]):
    async def move() -> None:
        with tempfile.TemporaryDirectory() as folder:
            homes = [
                Settings.load(
                    {
                        "data_dir": f"{folder}/{name}",
                        "storage": {"synchronous": "off"},
                        "embedding": {"model": "none"},
                        "archive": {"threshold": _THRESHOLD},
                    }
                )
                for name in ("old", "new")
            ]
            async with Memory.open(homes[0]) as old, Memory.open(homes[1]) as new:
                await _live(old, steps)
                first, second = io.BytesIO(), io.BytesIO()
                counts = await old.export_to(first, all_scopes=True)
                first.seek(0)
                done = await new.import_from(first, all_scopes=True)
                await new.export_to(second, all_scopes=True)
                assert (done.added, done.problems) == (counts.lines, ())
                assert second.getvalue().split(b"\n")[1:] == first.getvalue().split(b"\n")[1:]
                await old.drain()
                await new.drain()
                assert _index(homes[1].database) == _index(homes[0].database)
                second.seek(0)
                again = await old.import_from(second, all_scopes=True)
                assert (again.added, again.conflicting) == (0, 0)

    asyncio.run(move())
