"""Whatever a model sends to a tool, it gets an answer, and nobody else's memory is touched."""

import asyncio
import json
import tempfile
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.settings import Settings
from recollect.tools import SPECS
from tests.examples import examples

_BOBS = "Bob's harbour lantern opens with 4711. 鲍勃的灯塔密码是 4711。"
_NAMESPACES = ("bot_memories/bob", "user_profile/bob", "bot/ann", "nonsense", "*shared/bob")
_FILTERS = {"tags": ["x"]}, {"category": "general"}, {"namespace": "bot_memories/bob"}, {}

_words = st.sampled_from(("harbour lantern", "灯塔密码", "4711", "create", "delete", "user", ""))
_values: st.SearchStrategy[Any] = st.one_of(
    _words,
    st.sampled_from(_NAMESPACES),
    st.sampled_from(_FILTERS),
    st.integers(-1, 200),
    st.booleans(),
    st.none(),
    st.lists(_words, max_size=2),
    st.text(max_size=5),
)


@st.composite
def _calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    spec = draw(st.sampled_from(SPECS))
    known = st.sampled_from([*spec.arguments.model_fields, "user", "scope", "agent"])
    arguments = draw(st.dictionaries(known, _values, max_size=4))
    for name in draw(st.sets(st.sampled_from(["id", "uuid", "items", "query", "message"]))):
        arguments[name] = {"query": "harbour lantern 4711", "message": "记住 4711"}.get(name, "BOB")
    return spec.name, arguments


@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(calls=st.lists(_calls(), max_size=20))
def test_every_call_is_answered_and_leaves_others_alone(calls: list[tuple[str, dict[str, Any]]]):
    asyncio.run(_play(calls))


async def _play(calls: list[tuple[str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        chosen = {"data_dir": folder, "storage": {"synchronous": "off"}}
        async with Memory.open(Settings.load(chosen)) as memory:
            bob = memory.scope(agent="bot", user="bob")
            record = await bob.remember(_BOBS, tags=["x"], category="user-profile")
            ann = memory.scope(agent="bot", user="ann")
            tools = ann.tools(session="s")
            for name, arguments in calls:
                given = {key: _named(key, value, record.id) for key, value in arguments.items()}
                before = len(await ann.list(limit=1_000))
                answer = json.loads(await tools.call(name, given))
                assert "Bob's harbour" not in json.dumps(answer)
                if "error" in answer:
                    assert set(answer["error"]) == {"code", "message", "hint"}
                    assert len(await ann.list(limit=1_000)) == before
            assert await bob.get(record.id) == record


def _named(key: str, value: object, of_bob: str) -> object:
    if value != "BOB":
        return value
    return [of_bob] if key == "items" else of_bob
