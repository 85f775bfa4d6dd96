"""The settings that every test starts with, also in the environments of the adapters."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test sees or touches the settings and data of the person who runs it.

    Search goes by words unless a test asks for `real_model`: most stories are not about meaning,
    and are told faster without. Closing does not read what was said unless a test is about that. A
    prompt waits for all that is remembered, however busy the machine is; the stories about its time
    limit set one.
    """
    for variable in (*os.environ,):
        if variable.upper().startswith(("RECOLLECT_", "MEMORY_", "EMBEDDING_", "QDRANT_")):
            monkeypatch.delenv(variable)
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    monkeypatch.setenv("RECOLLECT_WRITING__JUDGE", "rules")
    monkeypatch.setenv("RECOLLECT_SESSION__PREPARE_SECONDS", "0")
    monkeypatch.setenv("RECOLLECT_WRITING__CLOSE_SECONDS", "0")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home" / "data"))
