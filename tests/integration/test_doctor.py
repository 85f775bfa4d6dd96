"""`recollect doctor` says how every part is doing, whatever state it is in."""

import gzip
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recollect.backends.sql.schema import HEAD_REVISION
from recollect.domain.embedding import EmbedderCheck
from recollect.domain.stats import DatabaseCondition
from recollect.errors import StorageError
from recollect.health.doctor import Doctor, IndexBudgets, embedder_finding
from recollect.models import local_model
from recollect.ports.runtime import SystemClock
from recollect.settings import Settings, settings_file
from recollect.sync import Memory
from tests.command_line import CommandLine
from tests.database_servers import Running, ask, place_of
from tests.unit.models.tiny_model import DIMENSION, write_folder

_SCHEMAS = Path(__file__).parent.parent / "data" / "schemas"


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> CommandLine:
    """Runs `recollect` with a data folder of its own and a small real model."""
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "300")
    calibrated = {
        "config.json": {"hidden_size": DIMENSION},
        "calibration.json": {"memory": {"unrelated": 0.1, "related": 0.6}},
    }
    use(monkeypatch, f"folder:{write_folder(tmp_path / 'tiny', calibrated)}")
    return CommandLine(capsysbinary)


def use(monkeypatch: pytest.MonkeyPatch, model: str) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", model)


def examined(cli: CommandLine, status: int = 0) -> dict[str, Any]:
    """The findings by part; the exit code is as expected."""
    said = cli("doctor", "--json")
    assert said.status == status, said.out + said.err
    return {finding["part"]: finding for finding in said.json["findings"]}


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The database that the commands are about, on whichever server the run is."""
    path = tmp_path / "data" / "memory" / "memory.db"
    if Running.server is not None:
        monkeypatch.setenv("RECOLLECT_STORAGE__URL", place_of(path))
    return path


def test_on_a_new_machine_nothing_is_wrong_and_nothing_is_made(cli: CommandLine, tmp_path: Path):
    findings = examined(cli)
    assert {finding["verdict"] for finding in findings.values()} == {"ok"}
    assert findings["database"]["figures"]["exists"] is False
    assert not (tmp_path / "data").exists()
    assert not settings_file().exists()


@pytest.mark.sqlite(reason="it is about the file")
def test_every_part_is_told_in_text_and_as_figures(cli: CommandLine):
    for text in ("one", "two", "three"):
        cli("remember", text)
    findings = examined(cli)
    assert {name: finding["verdict"] for name, finding in findings.items()} == dict.fromkeys(
        (
            *(
                "version",
                "settings",
                "data directory",
                "disk",
                "log file",
                "permissions",
                "embedder",
            ),
            *(
                "database",
                "vectors",
                "search terms",
                "background jobs",
                "forgetting",
                "index memory",
            ),
        ),
        "ok",
    )
    assert findings["database"]["figures"]["journal_mode"] == "wal"
    assert findings["database"]["figures"]["revision"] == HEAD_REVISION
    assert findings["vectors"]["figures"] == {
        "units": 3,
        "without_vector": 0,
        "of_other_models": {},
    }
    assert findings["embedder"]["figures"]["works"] is True
    shown = cli("doctor")
    assert shown.status == 0
    assert "Everything works." in shown.out
    for name in findings:
        assert name in shown.out


def test_settings_that_differ_are_told_and_secrets_are_not(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_RECALL__LIMIT", "7")
    monkeypatch.setenv("RECOLLECT_EMBEDDING__API_KEY", "hush-hush")
    said = cli("doctor")
    assert "recall.limit = 7" in said.out
    assert "embedding.api_key = (secret)" in said.out
    assert "hush-hush" not in said.out + cli("doctor", "--json").out


def test_settings_that_cannot_be_used_are_a_finding(cli: CommandLine):
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("[recall]\nlimt = 3\n")
    finding = examined(cli, status=5)["settings"]
    assert finding["verdict"] == "problem"
    assert "recall.limt is unknown" in finding["message"]
    assert finding["hint"]


def test_a_file_that_is_no_database_is_told_and_the_rest_goes_on(cli: CommandLine):
    database = Settings.load().database
    database.parent.mkdir(parents=True)
    database.write_bytes(b"only some text\n" * 100)
    findings = examined(cli, status=5)
    assert findings["database"]["verdict"] == "problem"
    assert "is not a database" in findings["database"]["message"]
    assert "restore" in findings["database"]["hint"]
    assert findings["embedder"]["verdict"] == "ok"
    assert findings["disk"]["verdict"] == "ok"
    assert database.read_bytes() == b"only some text\n" * 100


@pytest.mark.sqlite(reason="it is about the file")
def test_a_damaged_page_is_found(cli: CommandLine):
    database = Settings.load().database
    with Memory.open(Settings.load()) as memory:
        memory.remember_many([f"note {number} " + "word " * 400 for number in range(30)])
    content = bytearray(database.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 8192] = b"\xa5" * 8192
    database.write_bytes(content)
    finding = examined(cli, status=5)["database"]
    assert finding["verdict"] == "problem"
    assert "damaged" in finding["message"]
    assert "recollect restore" in finding["hint"]


@pytest.mark.sqlite(reason="it is about the file")
def test_a_database_that_may_only_be_read_is_a_problem(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    cli("remember", "one")
    database = Settings.load().database
    # Tests may run as root, who may write everything.
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != database)
    finding = examined(cli, status=5)["database"]
    assert "it is not writable" in finding["message"]


def test_an_older_schema_is_told_and_not_changed(cli: CommandLine):
    database = Settings.load().database
    database.parent.mkdir(parents=True)
    database.write_bytes(gzip.decompress((_SCHEMAS / "0001.db.gz").read_bytes()))
    for _ in range(2):
        finding = examined(cli)["database"]
        assert finding["verdict"] == "warning"
        assert finding["figures"]["revision"] == "0001"
        assert f"migrated to {HEAD_REVISION} when it is next opened" in finding["message"]


def test_a_schema_from_the_future_is_a_problem(cli: CommandLine, database: Path):
    cli("remember", "one")
    ((ours,),) = ask(database, "SELECT version_num FROM alembic_version")
    ask(database, "UPDATE alembic_version SET version_num = '9999'")
    findings = examined(cli, status=5)
    # A server's database is used again, by the next test.
    ask(database, f"UPDATE alembic_version SET version_num = '{ours}'")
    assert findings["database"]["verdict"] == "problem"
    assert "Upgrade Recollect" in findings["database"]["hint"]
    assert "vectors" not in findings


def test_vectors_of_another_model_are_named_with_the_command_that_mends_it(
    cli: CommandLine, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cli("remember", "one two")
    use(monkeypatch, f"folder:{write_folder(tmp_path / 'other')}")
    finding = examined(cli)["vectors"]
    assert finding["verdict"] == "warning"
    assert finding["figures"]["without_vector"] == 0
    ((name, pieces),) = finding["figures"]["of_other_models"].items()
    assert (name.partition("/")[0], pieces) == ("tiny", 1)
    assert "still serves 1 scopes with 1 units" in finding["message"]
    assert "recollect reindex" in finding["hint"]
    assert cli("reindex").status == 0
    assert examined(cli)["vectors"]["verdict"] == "ok"


def test_what_another_analyzer_indexed_is_told_until_it_is_renewed(
    cli: CommandLine, database: Path
):
    cli("remember", "one two")
    ask(database, "UPDATE units SET analyzer = '0'")
    finding = examined(cli)["search terms"]
    assert (finding["verdict"], finding["figures"]["analysed_otherwise"]) == ("warning", 1)
    assert "recollect work --once" in finding["hint"]
    cli("work", "--once")
    assert examined(cli)["search terms"]["verdict"] == "ok"


@pytest.mark.parametrize(("gave_up", "state"), [(0, "tried again later"), (1, "given up")])
def test_a_failed_job_is_told_with_its_last_error(
    cli: CommandLine, database: Path, gave_up: int, state: str
):
    cli("remember", "one")
    told = "NotAvailable: the endpoint is down"
    ask(
        database,
        "INSERT INTO jobs VALUES "
        f"('job_1', 'embed', 'missing', '{{}}', 0, 0, '', 3, {gave_up}, '{told}')",
    )
    finding = examined(cli)["background jobs"]
    assert finding["verdict"] == "warning"
    assert (
        f"embed (missing) failed 3 times, {state}: NotAvailable: the endpoint is down"
        in (finding["message"])
    )
    assert finding["figures"]["failed"] == gave_up
    assert finding["hint"]


def test_a_default_model_that_is_not_installed_is_a_warning(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(local_model, "DATA_PACKAGE", "no_such_package")
    use(monkeypatch, "")
    finding = examined(cli)["embedder"]
    assert (finding["verdict"], finding["figures"]["condition"]) == ("warning", "not_found")
    assert "pip install" in finding["hint"]


def test_a_chosen_model_that_does_not_work_is_a_problem(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    cli("remember", "one")
    use(monkeypatch, "folder:/nowhere")
    findings = examined(cli, status=5)
    assert findings["embedder"]["verdict"] == "problem"
    assert "/nowhere does not hold a model" in findings["embedder"]["message"]
    assert findings["database"]["verdict"] == "ok"


def test_no_model_at_all_is_a_choice(
    cli: CommandLine, database: Path, monkeypatch: pytest.MonkeyPatch
):
    use(monkeypatch, "none")
    cli("remember", "one")
    findings = examined(cli)
    assert findings["embedder"]["verdict"] == "ok"
    assert "no model makes vectors" in findings["vectors"]["message"]


def test_notes_of_the_model_are_a_warning():
    tried = EmbedderCheck(
        name="local", works=True, model="m", dimension=3, notes=("the cache is read-only",)
    )
    finding = embedder_finding(tried, None)
    assert finding.verdict == "warning"
    assert "the cache is read-only" in finding.message


def test_little_disk_space_is_a_warning(cli: CommandLine, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**8))
    finding = examined(cli)["disk"]
    assert (finding["verdict"], finding["figures"]["free_bytes"]) == ("warning", 10**8)
    assert "95 MB free" in finding["message"]


def test_a_file_in_the_place_of_the_data_folder_is_a_problem(cli: CommandLine, tmp_path: Path):
    (tmp_path / "data").write_text("in the way")
    findings = examined(cli, status=5)
    assert findings["data directory"]["verdict"] == "problem"
    assert "RECOLLECT_DATA_DIR" in findings["data directory"]["hint"]
    assert findings["log file"]["verdict"] == "warning"


def test_an_index_that_does_not_fit_into_its_memory_is_told(
    cli: CommandLine, database: Path, monkeypatch: pytest.MonkeyPatch
):
    cli("remember", "one")
    ask(database, "UPDATE scopes SET unit_count = 1000000, unit_length = 20000000")
    monkeypatch.setenv("RECOLLECT_RECALL__VECTOR_MEMORY_MB", "1")
    finding = examined(cli)["index memory"]
    assert finding["verdict"] == "warning"
    assert "Set recall.index_memory_mb to 325 or more." in finding["hint"]
    assert "Set recall.vector_memory_mb to 23 or more." in finding["hint"]


def test_memory_that_ends_with_the_process_has_no_database(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_BACKEND", "in_memory")
    assert "lost when the process ends" in examined(cli)["database"]["message"]


class _OnAShare:
    """A named fake: a database on a disk that cannot do write-ahead logging."""

    async def condition(self) -> DatabaseCondition:
        return DatabaseCondition(
            bytes=1,
            journal_mode="delete",
            damage="",
            revision="2",
            newest_revision="2",
            is_from_the_future=False,
        )

    async def figures(self, analyzer: str):
        raise StorageError("the share went away", hint="Look for it.")


async def test_a_slow_journal_is_a_warning_and_what_fails_then_is_a_finding(tmp_path: Path):
    budgets = IndexBudgets(keyword_mb=1, vector_mb=1)
    (tmp_path / "memory.db").touch()
    doctor = Doctor(_OnAShare(), _OnAShare(), tmp_path / "memory.db", None, budgets, SystemClock())
    database, index = await doctor.examine()
    assert (database.verdict, index.verdict) == ("warning", "problem")
    assert "journal mode delete" in database.message
    assert index.message == "the share went away"
