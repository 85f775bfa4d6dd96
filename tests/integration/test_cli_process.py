"""The command line as a person meets it: real processes, pipes and signals."""

import asyncio
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

from recollect import Memory
from recollect.cli.app import run
from tests.processes import HEAR_CTRL_C, STARTED, Child

# Started as by a person's shell: what a start does is told here.
RECOLLECT = [sys.executable, "-c", f"{HEAR_CTRL_C}from recollect.cli import main; main()"]

_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE = 1


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    # A setting of sessions would have them checked, and what they need loaded.
    usual = {name: it for name, it in os.environ.items() if "PREPARE_SECONDS" not in name}
    return {**usual, "RECOLLECT_DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def remembering(environment: dict[str, str]) -> dict[str, str]:
    """The environment of a memory that knows something, told in this process."""
    assert run(["remember", "安妮喜欢绿茶", "--data", environment["RECOLLECT_DATA_DIR"]]) == 0
    return environment


def recollect(
    environment: dict[str, str],
    *arguments: str | bytes,
    stdin: bytes = b"",
    preexec: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*RECOLLECT, *arguments],
        input=stdin,
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
        preexec_fn=preexec,
    )


def json_of(done: subprocess.CompletedProcess[bytes]) -> Any:
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def error_of(done: subprocess.CompletedProcess[bytes]) -> Any:
    assert done.stdout == b""
    return json.loads(done.stderr)["error"]


def test_a_terminal_that_cannot_show_chinese_spoils_nothing(environment: dict[str, str]):
    poor = {**environment, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    remembered = recollect(poor, "remember", "-", stdin="绿茶 and jazz".encode())
    assert remembered.returncode == 0
    assert b"?? and jazz" in remembered.stdout
    shown = recollect(poor, "recall", "jazz", "--json")
    (hit,) = json_of(shown)["hits"]
    assert hit["passage"] == "绿茶 and jazz", "another process finds what one remembered"


def test_invalid_utf8_is_refused_as_an_argument_and_on_standard_input(environment: dict[str, str]):
    argument = recollect(environment, "remember", b"caf\xe9", "--json")
    assert (argument.returncode, error_of(argument)["code"]) == (2, "invalid_utf8")
    piped = recollect(environment, "remember", "-", "--json", stdin=b"caf\xe9")
    assert (piped.returncode, error_of(piped)["code"]) == (2, "invalid_utf8")


def _like_anybody() -> None:
    """Root may write to every file; without this power the permission bits bind root too."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


@pytest.mark.sqlite(reason="it is about a file")
def test_a_read_only_database_is_told_and_left_alone(environment: dict[str, str], tmp_path: Path):
    database = tmp_path / "data" / "memory" / "memory.db"
    assert run(["remember", "written before", "--data", str(tmp_path / "data")]) == 0
    before = database.read_bytes()
    database.chmod(0o444)
    database.parent.chmod(0o555)
    try:
        refused = recollect(environment, "remember", "x", "--json", preexec=_like_anybody)
    finally:
        database.parent.chmod(0o755)
    assert (refused.returncode, error_of(refused)["code"]) == (5, "database_read_only")
    assert database.read_bytes() == before


def test_help_is_quick_because_it_loads_no_database_and_no_server(environment: dict[str, str]):
    program = (
        "import sys; from recollect.cli.app import run; run(['--help']); "
        "print({'sqlalchemy', 'alembic', 'numpy', 'fastapi', 'pydantic'} & sys.modules.keys(), "
        "file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=environment, check=True
    )
    assert b"remember" in done.stdout
    assert done.stderr.strip() == b"set()"


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["list"], ("numpy", "recollect.language", "recollect.models", "recollect.writing")),
        (["remember", "Ann likes jazz"], ("recollect.recall.pipeline", "recollect.sharing")),
    ],
)
def test_what_asks_nothing_loads_no_index_and_no_recall(
    remembering: dict[str, str], arguments: list[str], unwanted: tuple[str, ...]
):
    names = (*unwanted, "recollect.backends.local", "recollect.context", "recollect.server")
    program = (
        f"import sys; from recollect.cli.app import run; run({arguments!r}); "
        f"print([it for it in {names!r} if it in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=remembering, check=True
    )
    assert done.stdout
    assert done.stderr.strip() == b"[]"


def test_a_question_loads_nothing_of_what_writes_shares_and_keeps_order(
    remembering: dict[str, str],
):
    program = (
        "import sys; from recollect.cli.app import run; run(['recall', '绿茶']); "
        "rooms = ('writing', 'sharing', 'records', 'retention', 'items', 'audit', 'erasure', "
        "'transfer', 'health', 'context', 'tools', 'server'); "
        "others = {'alembic', 'httpx', 'fastapi'}; "
        "print(sorted(it for it in sys.modules if it in others"
        " or it.startswith(tuple(f'recollect.{room}.' for room in rooms))), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, env=remembering, check=True
    )
    assert "安妮喜欢绿茶" in done.stdout.decode()
    assert done.stderr.strip() == b"[]"


def _line(stream: IO[bytes] | None) -> bytes:
    assert stream is not None
    return stream.readline()


# However a command was started it hears Ctrl-C: this one in front, the question in the background.
def test_work_goes_on_until_ctrl_c_and_then_ends_well(environment: dict[str, str]):
    with Child(
        [*RECOLLECT, "work", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        preexec_fn=STARTED["in front"],
    ) as working:
        assert b"Ctrl-C" in _line(working.stderr)
        assert working.poll() is None
        working.send_signal(signal.SIGINT)
        out, err = working.communicate(timeout=120)
    assert working.returncode == 0, err.decode()
    assert json.loads(out) == {"ran": 0, "waiting": 0, "failed": 0}


def test_ctrl_c_at_a_question_ends_with_130(remembering: dict[str, str]):
    with Child(
        [*RECOLLECT, "forget", "--everything"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=remembering,
        preexec_fn=STARTED["in the background"],
    ) as asking:
        assert asking.stderr is not None
        assert b"?" in iter(partial(asking.stderr.read, 1), b"")
        asking.send_signal(signal.SIGINT)
        out, err = asking.communicate(timeout=120)
    assert (asking.returncode, out) == (130, b"")
    assert b"Traceback" not in err


def test_a_reader_that_goes_away_is_no_drama(environment: dict[str, str]):
    for arguments in (["version"], ["version", "--json"]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run(
            [*RECOLLECT, *arguments],
            stdout=write,
            stderr=subprocess.PIPE,
            env=environment,
            check=False,
        )
        os.close(write)
        assert done.stderr == b""


def test_output_that_cannot_be_written_is_told(environment: dict[str, str]):
    for arguments in (["version"], ["version", "--json"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*RECOLLECT, *arguments],
                stdout=full,
                stderr=subprocess.PIPE,
                env=environment,
                check=False,
            )
        assert done.returncode == 5
        assert b"output_unwritable" in done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr


def closing(*numbers: int) -> Callable[[], None]:
    def close() -> None:
        for number in numbers:
            os.close(number)

    return close


def test_standard_streams_may_be_closed(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str]
):
    silent = recollect(environment, "remember", "green tea", preexec=closing(0, 1, 2))
    assert silent.returncode == 0
    assert run(["list", "--json", "--data", environment["RECOLLECT_DATA_DIR"]]) == 0
    (record,) = json.loads(capsys.readouterr().out)["items"]
    assert record["content"] == "green tea"
    unheard = recollect(environment, "remember", "-", "--json", preexec=closing(0))
    assert error_of(unheard)["code"] == "empty_text"


def test_ctrl_c_while_a_command_still_starts_ends_with_130(environment: dict[str, str]):
    starting = """
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == "recollect.cli.app":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from recollect.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", starting, "list"],
        capture_output=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.fixture
def _hearing_ctrl_c() -> Iterator[None]:
    """Ctrl-C reaches this process, whatever its parent said."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_hearing_ctrl_c")
def test_ctrl_c_while_forgetting_says_what_becomes_of_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def interrupted(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)

    monkeypatch.setattr(Memory, "forget", interrupted)
    assert run(["remember", "Ann likes tea"]) == 0
    capsys.readouterr()
    assert run(["forget", "--everything", "--yes"]) == 130
    assert "`recollect work` or a memory that is open goes on with it" in capsys.readouterr().err
    assert run(["forget", "--everything", "--dry-run"]) == 130
    assert capsys.readouterr().err == ""
