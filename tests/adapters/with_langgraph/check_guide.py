"""The guide to supervisors: its programs run as they stand, with a scripted model."""

import re
from pathlib import Path
from typing import Any

import langchain.chat_models
import pytest

from recollect.sync import Memory
from tests.adapters.with_langgraph.scripted import Scripted, calling, scripted

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

_DOCS = Path(__file__).parents[3] / "docs"
_CONCLUSION = "Conclusion: the outage of the billing service was caused by a full disk."


def programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (_DOCS / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["supervisor.md", "supervisor.zh-CN.md"])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("is_broken", [False, True])
def test_the_programs_of_the_guide_run_and_tell_problems(
    page: str,
    number: int,
    is_broken: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    task = "From now on I prefer metric units. Why did billing fail?"
    handing = calling("ask_billing", task=task) if number == 0 else calling("transfer_to_billing")
    # Supervisor and sub-agent share the model: it hands over, concludes, and answers.
    model = scripted(handing, _CONCLUSION, "It was the disk.")
    monkeypatch.setattr(langchain.chat_models, "init_chat_model", lambda _: model)
    monkeypatch.chdir(tmp_path)
    if is_broken:
        _close_with_the_first_call(monkeypatch, model)
    code = programs(page)[number]
    exec(compile(code, page, "exec"), {"__name__": "__main__"})
    answer, told = capsys.readouterr().out.splitlines()
    assert answer == "It was the disk."
    assert ("closed" in told) is is_broken
    if is_broken:
        return
    with Memory.open("team.db") as memory:
        kept = {it.category: it.content for it in memory.scope(user="ann").list().items}
    assert "metric units" in kept["user-profile"]
    assert "full disk" in kept["task-traces"]


def _close_with_the_first_call(monkeypatch: pytest.MonkeyPatch, model: Scripted) -> None:
    """Have memory gone when the model is first asked."""
    opened: list[Memory] = []
    whole = Memory.open

    def opening(*given: Any, **options: Any) -> Memory:
        opened.append(whole(*given, **options))
        return opened[0]

    monkeypatch.setattr(Memory, "open", opening)
    generate = Scripted._generate

    def generating(self: Scripted, *given: Any, **options: Any) -> Any:
        if not model.sent:
            opened[0].drain()
            opened[0]._loop.run(opened[0]._inner.close)
        return generate(self, *given, **options)

    monkeypatch.setattr(Scripted, "_generate", generating)
