"""What is kept is its owner's alone, whatever the umask of the process is."""

import stat
import subprocess
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.nursery import WARM

# Makes a file of every kind: a database with its log, an archive, a ledger, an anchor, a backup,
# an export, what a restore keeps, and a log of warnings.
_BUSY = """
import asyncio, logging, os, sys
from pathlib import Path
from recollect import Memory
from recollect.assemble.stores import restore
from recollect.cli.command import log_to
from recollect.settings import Settings

async def main(data):
    settings = Settings.load({"data_dir": data})
    log_to(settings.log_file)
    logging.getLogger("recollect").warning("something to look into")
    async with Memory.open(settings) as memory:
        kept = await memory.remember("kept")
        gone = await memory.remember("gone")
        session = memory.session("s")
        await session.archive.process_tool_result("search", {"q": 1}, "a long result " * 2_000, "s")
        await memory.forget(gone.id)
        await memory.backup(data / "copies" / "deep" / "monday.db")
        await memory.export_to(data / "exports" / "mine.jsonl.gz")
        await memory.remember("written to the log")
        assert settings.database.with_name("memory.db-wal").exists()
        _require_private(data)
    await restore(data / "copies" / "deep" / "monday.db", settings)
    _require_private(data)

def _require_private(data):
    for path in (data, *data.rglob("*")):
        mode = path.stat().st_mode & 0o777
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path} {mode:o}"

os.umask(int(sys.argv[2], 8))
asyncio.run(main(Path(sys.argv[1])))
print(len([it for it in Path(sys.argv[1]).rglob("*") if it.is_file()]))
"""


@pytest.mark.parametrize("umask", ["000", "022", "0277"])
def test_every_file_and_folder_is_the_owners_alone(tmp_path: Path, umask: str):
    command = [WARM, "-c", _BUSY, str(tmp_path / "data"), umask]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 9


@pytest.mark.sqlite(reason="it is about files")
def test_doctor_warns_about_older_files_and_closes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
):
    cli = CommandLine(capsysbinary)
    data = tmp_path / "data"
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(data))

    def permissions(*options: str):
        findings = cli("doctor", "--json", *options).json["findings"]
        return next(it for it in findings if it["part"] == "permissions")

    cli("remember", "one")
    assert permissions()["verdict"] == "ok"
    database = data / "memory" / "memory.db"
    anchor = database.with_name("memory.db-audit-anchor.json")
    for path in (database, anchor):
        path.chmod(0o644)
    data.chmod(0o755)

    found = permissions()
    assert found["verdict"] == "warning"
    assert set(found["figures"]["open_to_others"]) == {str(it) for it in (data, database, anchor)}
    assert "recollect doctor --fix" in found["hint"]

    assert permissions("--fix")["verdict"] == "ok"
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    assert stat.S_IMODE(data.stat().st_mode) == 0o700


@pytest.mark.sqlite(reason="it is about files")
def test_a_folder_of_the_users_own_is_left_as_it_is(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o755)
    cli = CommandLine(capsysbinary)
    cli("remember", "one", "--data", str(shared / "notes.db"))
    assert cli("doctor", "--fix", "--json", "--data", str(shared / "notes.db")).status == 0
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert stat.S_IMODE((shared / "notes.db").stat().st_mode) == 0o600
