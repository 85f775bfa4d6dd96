"""LangGraph and LangChain in their own environment: our checks, and their own tests."""

from pathlib import Path

import pytest

from tests.adapters.running import check_stories, run_checks, run_example, run_own_tests, set_up

pytestmark = pytest.mark.sqlite(reason="its programs make files of their own")


@pytest.fixture(autouse=True, scope="module")
def _environment() -> None:
    set_up("langgraph")


def test_langgraph_and_langchain():
    assert run_checks("langgraph") >= 190


def test_the_store_tests_of_langgraph_pass_on_ours():
    own = run_own_tests("langgraph", "langgraph_checkpoint-4.3.1", "tests/test_store.py")
    assert own == 114


def test_the_example_runs(tmp_path: Path):
    check_stories(run_example("langchain_agent.py", tmp_path, "langgraph"))
