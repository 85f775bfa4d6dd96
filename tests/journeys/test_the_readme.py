"""The first thing anybody runs: the examples of both READMEs, as they stand there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parent.parent.parent


def _examples(readme: str) -> list[str]:
    text = (_ROOT / readme).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def _printed(code: str, folder: Path) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("readme", "answer", "wish"),
    [
        ("README.md", "Ann prefers window seats", "always answer in English"),
        ("README.zh-CN.md", "用户偏好使用 TypeScript", "以后都用中文回答"),
    ],
)
def test_the_librarys_examples_print_an_answer(readme: str, answer: str, wish: str, tmp_path: Path):
    library, prompt, agent = _examples(readme)
    assert 10 <= len(library.splitlines()) <= 14
    assert answer in _printed(library, tmp_path).splitlines()[0]
    # The second goes on with the memory that the first has made.
    block = _printed(prompt, tmp_path)
    assert block.startswith("<memory>")
    assert answer in block
    _, extracted, recalled = _printed(agent, tmp_path).splitlines()
    assert extracted.startswith("created")
    assert wish in extracted
    assert wish in recalled


@pytest.mark.parametrize("readme", ["README.md", "README.zh-CN.md"])
def test_both_commands_are_shown(readme: str):
    text = (_ROOT / readme).read_text(encoding="utf-8")
    assert "make serve" in text
    assert "make test" in text


def test_importing_memory_stays_light():
    heavy = ("sqlalchemy", "pydantic", "numpy", "alembic", "fastapi", "typer", "rich")
    code = (
        "import sys; from recollect import Memory; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
