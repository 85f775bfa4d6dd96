"""Frameworks that `make adapters` tests: our checks, and the frameworks' own tests on our classes.

Each has an environment of its own, which is set up first.
"""

from pathlib import Path

import pytest

from tests.adapters.running import check_stories, run_checks, run_example, run_own_tests, set_up

pytestmark = pytest.mark.adapters


def test_openai_agents(tmp_path: Path):
    set_up("openai_agents")
    assert run_checks("openai_agents") == 12
    tests = ("memory/test_session.py", "memory/test_session_limit.py", "deferred_session_writes")
    own = run_own_tests("openai_agents", "openai_agents-0.24.0", *(f"tests/{it}" for it in tests))
    assert own == 212
    check_stories(run_example("openai_agents_run.py", tmp_path, "openai_agents"))


def test_anthropic(tmp_path: Path):
    set_up("anthropic")
    assert run_checks("anthropic") == 13
    # The package's own settings ask for plugins that these tests do not need.
    plain = ("-c", "/dev/null", "--rootdir", ".", "--noconftest")
    tests = "tests/lib/tools/memory_tools/test_filesystem.py"
    assert run_own_tests("anthropic", "anthropic-2.8.0", *plain, tests) == 66
    check_stories(run_example("anthropic_client.py", tmp_path, "anthropic"))


def test_claude_agent_sdk(tmp_path: Path):
    set_up("claude_agent")
    assert run_checks("claude_agent") == 10
    # The window is that of the SDK's command.
    told = run_example("claude_agent_query.py", tmp_path, "claude_agent")
    check_stories(told, ("remembered", "archived"))


def test_llama_index(tmp_path: Path):
    set_up("llama_index")
    assert run_checks("llama_index") == 6
    check_stories(run_example("llama_index_agent.py", tmp_path, "llama_index"))


def test_google_adk(tmp_path: Path):
    set_up("google_adk")
    assert run_checks("google_adk") == 7
    check_stories(run_example("google_adk_agent.py", tmp_path, "google_adk"))


def test_agent_framework(tmp_path: Path):
    set_up("agent_framework")
    assert run_checks("agent_framework") == 8
    check_stories(run_example("agent_framework_agent.py", tmp_path, "agent_framework"))


def test_crewai(tmp_path: Path):
    set_up("crewai")
    assert run_checks("crewai") == 7
    # A crew gets tools; its window is CrewAI's.
    told = run_example("crewai_crew.py", tmp_path, "crewai")
    check_stories(told, ("remembered", "archived"))


def test_mem0(tmp_path: Path):
    set_up("mem0")
    assert run_checks("mem0") == 5
