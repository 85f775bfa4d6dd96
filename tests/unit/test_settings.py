"""Settings come from one tree, and whatever is wrong with them is named."""

from pathlib import Path

import pytest

from recollect.errors import SettingsError
from recollect.settings import Settings, settings_file


def _write(text: str) -> None:
    path = settings_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_constructor_beats_environment_beats_file_beats_default(monkeypatch: pytest.MonkeyPatch):
    _write("[recall]\nlimit = 7\nmin_score = 0.1\ncandidates = 11\n")
    monkeypatch.setenv("RECOLLECT_RECALL__MIN_SCORE", "0.2")
    monkeypatch.setenv("RECOLLECT_RECALL__LIMIT", "8")
    settings = Settings.load({"recall": {"limit": 9}})
    assert settings.recall.limit == 9
    assert settings.recall.min_score == 0.2
    assert settings.recall.candidates == 11
    assert settings.recall.max_context_tokens == 1500


@pytest.mark.parametrize(
    ("variable", "value", "place", "expected"),
    [
        ("MEMORY_BACKEND", "in_memory", "storage.backend", "in_memory"),
        ("MEMORY_TOP_K", "3", "recall.limit", 3),
        ("MEMORY_MIN_SCORE", "0.5", "recall.min_score", 0.5),
        ("MEMORY_DECAY_LAMBDA", "0.01", "recall.decay_lambda", 0.01),
        ("MEMORY_MAX_CONTEXT_TOKENS", "800", "recall.max_context_tokens", 800),
        (
            "MEMORY_NAMESPACES",
            '{sql = "sql_memories"}',
            "scope.namespaces",
            {"sql": "sql_memories"},
        ),
        ("EMBEDDING_MODEL", "bge-m3", "embedding.model", "bge-m3"),
        ("EMBEDDING_DIM", "1024", "embedding.dimension", 1024),
        ("QDRANT_URL", "http://localhost:6333", "storage.qdrant_url", "http://localhost:6333"),
        ("QDRANT_KEY", "secret", "storage.qdrant_key", "secret"),
        ("memory_enabled", "false", "notes.enabled", False),
        ("memory_max_chunks", "4", "notes.max_chunks", 4),
        ("memory_min_relevance", "0.7", "notes.min_relevance", 0.7),
    ],
)
def test_the_seeds_variables_are_understood(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, place: str, expected: object
):
    monkeypatch.setenv(variable, value)
    found: object = Settings.load()
    for name in place.split("."):
        found = getattr(found, name)
    assert found == expected


def test_our_own_variable_beats_a_seeds_alias(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TOP_K", "3")
    monkeypatch.setenv("RECOLLECT_RECALL__LIMIT", "4")
    assert Settings.load().recall.limit == 4


def test_an_unknown_key_is_named_with_the_one_that_was_meant():
    with pytest.raises(SettingsError, match=r"recall\.limt is unknown, did you mean recall\.limit"):
        Settings.load({"recall": {"limt": 3}})


def test_an_unknown_variable_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECOLLECT_RECAL__LIMIT", "3")
    with pytest.raises(SettingsError, match="recal is unknown"):
        Settings.load()


def test_a_bad_value_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_MIN_SCORE", "very")
    with pytest.raises(SettingsError, match=r"recall\.min_score = 'very'"):
        Settings.load()


def test_a_broken_file_is_named():
    _write("[recall\n")
    with pytest.raises(SettingsError, match=r"settings\.toml cannot be read"):
        Settings.load()


def test_a_named_file_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("RECOLLECT_SETTINGS", str(tmp_path / "nowhere.toml"))
    with pytest.raises(SettingsError, match="does not exist"):
        Settings.load()


def test_a_place_is_a_database_file_or_a_data_folder(tmp_path: Path):
    assert Settings.at(tmp_path / "my.db").database == tmp_path / "my.db"
    assert Settings.at(tmp_path / "data").database == tmp_path / "data" / "memory" / "memory.db"


def test_a_secret_is_not_printed():
    assert "hush" not in repr(Settings.load({"storage": {"qdrant_key": "hush"}}))
