"""The architecture page names every package, as it is in the code."""

import re
from pathlib import Path

import pytest

import recollect

_PACKAGE = Path(recollect.__file__).parent
_DOCS = Path(__file__).parents[2] / "docs"


def _packages() -> set[str]:
    folders = {path.parent.name for path in _PACKAGE.glob("*/__init__.py")}
    modules = {path.stem for path in _PACKAGE.glob("*.py") if not path.stem.startswith("__")}
    return folders | modules


@pytest.mark.parametrize("page", ["architecture.md", "architecture.zh-CN.md"])
def test_the_picture_and_the_table_have_every_package(page: str):
    text = (_DOCS / page).read_text("utf-8")
    picture = text.partition("```text")[2].partition("```")[0]
    table = text.partition("|---|---|")[2].partition("\n## ")[0]
    first_cells = " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("|"))
    drawn = set(re.findall(r"(?<![\w.])[a-z]+(?![\w.])", picture)) & _packages()
    assert drawn == _packages()
    assert set(re.findall(r"`(\w+)`", first_cells)) == _packages()
