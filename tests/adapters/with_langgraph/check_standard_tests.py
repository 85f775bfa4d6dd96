"""LangChain's standard tests for tools on every memory tool of the middleware."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from recollect.adapters.langchain import RecollectMiddleware
from recollect.sync import Memory

_ARGUMENTS: dict[str, dict[str, Any]] = {
    "memory_save": {"content": "Ann wants metric units"},
    "memory_recall": {"query": "units"},
    "memory_profile": {},
    "memory_search": {"query": "units", "top_k": 2},
    "memory_write": {"content": "Ann keeps bees", "metadata": {"tags": ["bees"]}},
    "memory_update": {"id": "mem_1", "content": "Ann wants miles"},
    "memory_delete": {"filters": {"tags": ["bees"]}, "dry_run": True},
    "memory_summarize": {"items": ["Ann keeps bees."], "goal": "What does Ann keep?"},
    "memory_route": {"message": "Which units do I want?"},
    "memory_propose": {"content": "The harbour closes at nine", "type": "convention"},
    "load_tool_history": {"uuid": "arc_1"},
    "scratchpad_update": {"current_goal": "brew"},
    "knowledge_search": {"query": "harbour"},
}


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, BaseTool]]:
    with Memory.open(tmp_path_factory.mktemp("standard") / "memory.db") as memory:
        middleware = RecollectMiddleware(memory.scope(user="ann"), session="s")
        yield {tool.name: tool for tool in middleware.tools}


def test_every_tool_is_tried(tools: dict[str, BaseTool]):
    assert list(tools) == list(_ARGUMENTS)


class OurTools:
    """Tells the standard tests which tool is meant."""

    @pytest.fixture(params=_ARGUMENTS, autouse=True)
    def _choose(self, request: pytest.FixtureRequest, tools: dict[str, BaseTool]) -> None:
        self.tool_constructor = tools[request.param]
        self.tool_invoke_params_example = _ARGUMENTS[request.param]


class TestUnit(OurTools, ToolsUnitTests):
    """What a tool is."""

    tool_constructor: Any = None
    tool_invoke_params_example: Any = None


class TestIntegration(OurTools, ToolsIntegrationTests):
    """What a tool answers."""

    tool_constructor: Any = None
    tool_invoke_params_example: Any = None
