"""The contract suites are there for whoever asks for them, and for nobody else."""

import re
from pathlib import Path

import recollect

_IMPORT = re.compile(r"^\s*(?:import|from) (?:pytest|recollect\.testing)\b", re.MULTILINE)


def test_only_the_contract_suites_import_pytest():
    package = Path(recollect.__file__).parent
    importing = [it for it in package.rglob("*.py") if _IMPORT.search(it.read_text("utf-8"))]
    assert importing
    assert all(it.is_relative_to(package / "testing") for it in importing)
