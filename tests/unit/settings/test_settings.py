"""Settings come from one tree, and whatever is wrong with them is named."""

from pathlib import Path
from typing import Any

import platformdirs
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
        ("MEMORY_ENABLED", "false", "notes.enabled", False),
        ("MEMORY_MAX_CHUNKS", "4", "notes.max_chunks", 4),
        ("MEMORY_MIN_RELEVANCE", "0.7", "notes.min_relevance", 0.7),
        ("MEMORY_NAMESPACES", '{"sql": "warehouse"}', "scope.namespaces", {"sql": "warehouse"}),
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
    # The tests' own wish for no model would beat the alias.
    monkeypatch.delenv("RECOLLECT_EMBEDDING__MODEL", raising=False)
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


def test_a_table_and_a_part_of_it_that_contradict_each_other_are_told(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("RECOLLECT_SCOPE", "x")
    monkeypatch.setenv("RECOLLECT_SCOPE__USER", "y")
    with pytest.raises(SettingsError, match="RECOLLECT_SCOPE__USER"):
        Settings.load()
    monkeypatch.setenv("RECOLLECT_SCOPE", '{user = "x", org = "o"}')
    assert (Settings.load().scope.org, Settings.load().scope.user) == ("o", "y")


def test_the_place_that_was_asked_for_beats_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("RECOLLECT_STORAGE__PATH", str(tmp_path / "elsewhere.db"))
    assert Settings.load().database == tmp_path / "elsewhere.db"
    assert Settings.at(tmp_path / "data").database == tmp_path / "data" / "memory" / "memory.db"
    assert Settings.at(tmp_path / "MY.DB").database == tmp_path / "MY.DB"


def test_a_path_may_begin_at_home_and_an_empty_one_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECOLLECT_DATA_DIR", "~/recollect")
    monkeypatch.setenv("RECOLLECT_STORAGE__PATH", "")
    home = Path.home() / "recollect"
    assert Settings.load().database == home / "memory" / "memory.db"
    Path.home().mkdir()
    assert Settings.at("~/notes.db").database == Path.home() / "notes.db"
    with pytest.raises(SettingsError, match="data_dir"):
        Settings.load({"data_dir": ""})
    with pytest.raises(SettingsError, match="data_dir"):
        Settings.load({"data_dir": "~nobody-of-this-name/x"})


def test_what_is_special_about_an_agent_is_told_by_its_name():
    given = {"coder": {"role": "coder", "children": ["sql"]}, "写手": {"role": "写作"}, "plain": {}}
    changed = Settings.load({"agents": given}).changed()
    agents = {name: value for name, value in changed.items() if name.startswith("agents")}
    assert agents == {
        "agents.coder.role": "coder",
        "agents.coder.children": "('sql',)",
        "agents.写手.role": "写作",
    }


def test_an_agents_own_database_is_in_the_data_folder_wherever_a_process_starts(tmp_path: Path):
    tree = {"data_dir": tmp_path, "scope": {"agent": "coder"}}
    near = Settings.load({**tree, "agents": {"coder": {"sqlite_path": "coder.db"}}})
    far = Settings.load({**tree, "agents": {"coder": {"sqlite_path": "/srv/coder.db"}}})
    assert near.database == tmp_path / "coder.db"
    assert far.database == Path("/srv/coder.db")


def test_names_of_agents_keep_their_letters(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECOLLECT_AGENTS__Planner__CHILDREN", '["SQL"]')
    monkeypatch.setenv("RECOLLECT_SCOPE__NAMESPACES__SQL", "SQL_memories")
    settings = Settings.load()
    assert settings.agents["Planner"].children == ("SQL",)
    assert settings.scope.namespaces == {"SQL": "SQL_memories"}


def test_settings_made_in_code_are_refused_in_our_words():
    with pytest.raises(SettingsError, match=r"recall\.limit = 0"):
        Settings.model_validate({"recall": {"limit": 0}})
    with pytest.raises(SettingsError, match=r"recall\.limit = 0"):
        Settings(recall={"limit": 0})  # type: ignore[arg-type]


def test_a_file_with_a_byte_order_mark_is_read():
    _write("\ufeff[recall]\nlimit = 7\n")
    assert Settings.load().recall.limit == 7


def test_a_bad_value_is_ascribed_to_the_variable_that_has_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMORY_TOP_K", "many")
    monkeypatch.setenv("RECOLLECT_RECAL__LIMIT", "3")
    with pytest.raises(SettingsError) as refused:
        Settings.load()
    assert "(from MEMORY_TOP_K)" in refused.value.message
    assert "recal is unknown (from RECOLLECT_RECAL__LIMIT)" in refused.value.message
    monkeypatch.delenv("RECOLLECT_RECAL__LIMIT")
    with pytest.raises(SettingsError) as given:
        Settings.load({"recall": {"limit": -1}})
    assert "MEMORY_TOP_K" not in given.value.message


def test_an_empty_place_is_not_the_folder_that_a_process_started_in():
    with pytest.raises(SettingsError, match="The place of the memory is empty") as caught:
        Settings.at("")
    assert caught.value.code == "no_place"


@pytest.mark.parametrize(
    "place",
    [":memory:", "oracle://db/memory", "sqlite:///memory.db", "a\0b.db", "\ud83d", "x" * 5_000],
)
def test_what_is_no_path_does_not_become_a_folder_of_that_name(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="nothing was opened") as it:
        Settings.at(place)
    assert it.value.code == "bad_place"
    assert list(tmp_path.iterdir()) == []


def test_who_names_a_running_server_is_told_what_a_command_opens():
    with pytest.raises(SettingsError) as it:
        Settings.at("http://127.0.0.1:7077")
    assert it.value.hint is not None
    assert "the database that a server serves" in it.value.hint


@pytest.mark.parametrize("place", ["nowhere/x.db", "nowhere/data", "nowhere/deep/er/x.sqlite"])
def test_a_place_in_a_folder_that_is_not_there_is_refused(place: str, tmp_path: Path):
    with pytest.raises(SettingsError, match="there is no such folder") as caught:
        Settings.at(tmp_path / place)
    assert caught.value.code == "no_such_folder"
    assert f"mkdir -p '{(tmp_path / place).parent}'" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_a_folder_of_other_things_does_not_become_a_data_folder(tmp_path: Path):
    (tmp_path / "passwd").touch()
    for place in (tmp_path, "/etc"):
        with pytest.raises(SettingsError, match="which holds other things") as caught:
            Settings.at(place)
        assert caught.value.code == "not_a_data_folder"
        assert f"'{place}/memory.db'" in caught.value.hint
        assert f"'{place}/recollect'" in caught.value.hint


def test_a_data_folder_is_known_by_what_is_in_it(tmp_path: Path):
    for name in ("logs", "coder.db-wal", ".git", "settings.toml"):
        (tmp_path / name).touch()
    assert Settings.at(tmp_path).data_dir == tmp_path
    (tmp_path / "notes.txt").touch()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.db").touch()
    assert Settings.at(tmp_path).data_dir == tmp_path


def test_a_user_without_a_home_is_told(monkeypatch: pytest.MonkeyPatch):
    def homeless(_: str) -> str:
        raise RuntimeError("could not determine the home directory")

    for usual in ("user_data_dir", "user_config_dir"):
        with monkeypatch.context() as patched:
            patched.setattr(platformdirs, usual, homeless)
            with pytest.raises(SettingsError, match="no home folder") as caught:
                Settings.load()
        assert "HOME" in caught.value.hint


@pytest.mark.parametrize(
    "tree",
    [
        {"archive": {"keep_days": 9_999_999}},
        {"session": {"keep_days": float("inf")}},
        {"session": {"scratchpad_minutes": 9_999_999}},
        {"sharing": {"proposal_days": 9_999_999}},
        {"lifecycle": {"purge_after_days": 9_999_999}},
        {"buffer": {"sentiment_days": 9_999_999}},
        {"recall": {"recent_days": 9_999_999}},
        {"recall": {"cache_seconds": 1e13}},
        {"retention": [{"older_than_days": 9_999_999, "action": "delete"}]},
    ],
    ids=str,
)
def test_a_time_that_leaves_the_calendar_is_told_before_it_is_needed(tree: dict[str, Any]):
    with pytest.raises(SettingsError, match="less than or equal to 1000000"):
        Settings.load(tree)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret/x@host/memory",
        "postgresql://ann:123/s3cret@host/memory",
        "postgresql://ann:s3cret#x@host/memory",
        "postgresql://ann:123#s3cret@host/memory",
        "postgresql://ann:s3cret?x@host/memory",
        "mysql://ann:s3cret@host:/memory",
        "mysql://ann:s3cret@one:1,two:2/memory",
        "mysql://ann:s3cret@host/",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(url: str):
    stores: tuple[dict[str, Any], ...] = (
        {"storage": {"url": url}},
        {"stores": {"other": {"url": url}}},
    )
    for given in stores:
        with pytest.raises(SettingsError, match=r"url: ") as refused:
            Settings.load(given)
        assert "s3cret" not in str(refused.value)


def test_a_section_that_cannot_be_used_is_refused_without_its_secrets():
    with pytest.raises(SettingsError, match="has no path") as refused:
        Settings.load({"stores": {"other": {"url": "mysql://ann:s3cret@host/x", "path": "x.db"}}})
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://ann:a%40b:c@host:1/x?sslmode=require", "ann:***@host:1/x?sslmode=require"),
        ("postgresql://host/x?user=ann&password=s3cret", "host/x?user=ann&password=***"),
        ("mysql://ann@host/x?passwd=s3cret&ssl_ca=/ca.pem", "ann@host/x?passwd=***&ssl_ca=/ca.pem"),
        ("postgresql:///x?host=/run/postgresql", "/x?host=/run/postgresql"),
    ],
)
def test_a_url_is_told_without_its_password(url: str, told: str):
    name = Settings.load({"storage": {"url": url}}).store_name
    assert name == f"{url.partition('://')[0]}://{told}"


# --- Vector stores --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "key", "store"),
    [
        (None, None, "qdrant://localhost:6333"),
        ("http://q.example:6333", None, "qdrant://q.example:6333"),
        ("https://q.example", "hush", "qdrants://:hush@q.example"),
        ("q.example:6333", "a/b", "qdrant://:a%2Fb@q.example:6333"),
    ],
)
def test_s4s_variables_choose_sqlite_with_qdrant(
    url: str | None, key: str | None, store: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_BACKEND", "qdrant")
    for name, value in (("QDRANT_URL", url), ("QDRANT_KEY", key)):
        if value is not None:
            monkeypatch.setenv(name, value)
    settings = Settings.load()
    assert settings.storage.backend == "sqlite"
    assert settings.vector_stores == (store,)


def test_a_url_may_choose_pgvector_in_the_same_database():
    url = "postgresql://me@db.example/memory?sslmode=require&vectors=pgvector"
    settings = Settings.at(url)
    assert settings.server_url == "postgresql://me@db.example/memory?sslmode=require"
    assert settings.vector_stores == (settings.server_url,)


def test_each_store_of_agents_may_have_its_own_vector_store(tmp_path: Path):
    settings = Settings.load(
        {
            "data_dir": tmp_path,
            "storage": {"vectors": "milvus://m.example"},
            "stores": {"far": {"vectors": "qdrant://q.example"}, "near": {"vectors": "none"}},
            "agents": {
                "one": {"store": "far"},
                "two": {"store": "near"},
                "three": {"sqlite_path": "three.db"},
            },
        }
    )
    second = "postgresql://me@p.example/vectors"
    both = settings.model_copy(
        update={"storage": settings.storage.model_copy(update={"vectors_also": second})}
    )
    names = ("one", "two", "three", None)
    chosen = {name: settings.of_agent(name).vector_stores for name in names}
    assert chosen == {
        "one": ("qdrant://q.example",),
        "two": (),
        "three": ("milvus://m.example",),
        None: ("milvus://m.example",),
    }
    for name in names:
        followed = (*chosen[name], second) if chosen[name] else ()
        assert both.of_agent(name).vector_stores == followed
        assert both.at_store_of(name).vector_stores == followed


def test_the_key_of_the_first_vector_store_is_not_sent_to_the_second(tmp_path: Path):
    stores = {"vectors": "qdrant://one.example", "vectors_also": "qdrant://two.example"}
    settings = Settings.load({"data_dir": tmp_path, "storage": {**stores, "qdrant_key": "secret"}})

    first, second = settings.vector_stores

    assert "secret" in first
    assert second == "qdrant://two.example"


@pytest.mark.parametrize("url", ["http://q.example", "qdrant://", "milvus://", "chroma://x", "x"])
def test_other_urls_are_no_vector_stores(url: str):
    with pytest.raises(SettingsError, match=r"storage\.vectors"):
        Settings.load({"storage": {"vectors": url}})
