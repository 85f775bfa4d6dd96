"""`recollect models` and `recollect reindex`: seeing, getting, choosing and trying a model."""

import asyncio
import json
import tomllib
from pathlib import Path

import pytest

from recollect import Memory
from recollect.cli.commands.repair import remade
from recollect.models import local_model
from recollect.settings import settings_file
from tests.command_line import CommandLine
from tests.conftest import TurnedClock
from tests.fakes import FakeEmbedder
from tests.unit.models.tiny_model import write_folder


@pytest.fixture
def cli(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> CommandLine:
    """Runs `recollect` where nothing is chosen yet and nothing can be downloaded."""
    monkeypatch.delenv("RECOLLECT_EMBEDDING__MODEL")
    monkeypatch.setenv("RECOLLECT_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "200")
    return CommandLine(capsysbinary)


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """A small real model, by the name that settings give it."""
    return f"folder:{write_folder(tmp_path / 'tiny')}"


@pytest.fixture
def no_model(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the default model's package."""
    monkeypatch.setattr(local_model, "DATA_PACKAGE", "no_such_package")


def _write_settings(text: str) -> Path:
    file = settings_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def _in_use(cli: CommandLine) -> list[str]:
    return [
        item["name"] for item in cli("models", "list", "--json").json["items"] if item["in_use"]
    ]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("", "local"),
        ("recollect-bilingual", "local"),
        ("folder:/nowhere", "folder:PATH"),
        ("text-embedding-3-small", "openai:NAME"),
        ("fastembed:any", "fastembed:NAME"),
    ],
)
def test_the_list_marks_the_one_in_use(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, model: str, name: str
):
    monkeypatch.setenv("EMBEDDING_MODEL", model)
    assert _in_use(cli) == [name]
    shown = cli("models", "list").out
    (marked,) = [line.split() for line in shown.splitlines() if line.startswith("*")]
    assert marked[1] == name
    assert f"In use: {model or 'local'}." in shown


@pytest.mark.usefixtures("no_model")
def test_the_list_says_what_each_still_needs(cli: CommandLine):
    states = {item["name"]: item for item in cli("models", "list", "--json").json["items"]}
    assert states["local"]["condition"] == "not_found"
    assert states["local"]["hint"] == "pip install recollect-embedder"
    assert "pip install recollect-embedder" in cli("models", "list").out


@pytest.mark.parametrize(
    "arguments",
    [("--json", "models", "list"), ("models", "--json", "list"), ("models", "list", "--json")],
)
def test_shared_options_stand_anywhere(cli: CommandLine, arguments: tuple[str, ...]):
    assert cli(*arguments).json["model"] == "local"


def test_help_and_bad_usage_are_those_of_every_command(cli: CommandLine):
    assert "check" in cli("models").out
    assert "check" in cli("models", "-h").out
    told = cli("models", "use", "--json")
    assert (told.status, told.error["code"]) == (2, "bad_usage")
    assert "recollect models use --help" in told.error["hint"]


def test_a_chosen_model_is_written_into_the_settings_and_used(cli: CommandLine, tiny: str):
    file = _write_settings("# mine\n[recall]\nlimit = 7 # enough\n")
    chosen = cli("models", "use", tiny)
    assert chosen.status == 0, chosen.err
    assert "recollect reindex" in chosen.out
    assert file.read_text() == (
        f'# mine\n[recall]\nlimit = 7 # enough\n\n[embedding]\nmodel = "{tiny}"\n'
    )
    assert _in_use(cli) == ["folder:PATH"]
    checked = cli("models", "check", "--json").json
    assert (checked["name"], checked["dimension"]) == (tiny, 6)


def test_the_settings_file_is_made_when_it_is_missing(cli: CommandLine):
    assert not settings_file().parent.exists()
    chosen = cli("models", "use", "none", "--json").json
    assert chosen["path"] == str(settings_file())
    assert tomllib.loads(settings_file().read_text()) == {"embedding": {"model": "none"}}
    assert cli("models", "list", "--json").json["model"] == "none"
    assert _in_use(cli) == []


@pytest.mark.parametrize("name", ["folder:tiny", "tiny"])
def test_a_folder_named_from_here_is_found_from_elsewhere(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: str, name: str
):
    monkeypatch.chdir(tmp_path)
    assert cli("models", "use", name, "--json").json["model"] == tiny


def test_calibrating_a_model_measures_it_and_ends_the_notice(
    cli: CommandLine, tmp_path: Path, tiny: str
):
    before = cli("models", "check", tiny, "--json").json
    assert any("recollect models calibrate" in note for note in before["notes"])

    measured = cli("models", "calibrate", str(tmp_path / "tiny"), "--json").json
    assert -1 <= measured["unrelated"] <= 1

    stored = json.loads((tmp_path / "tiny" / "calibration.json").read_text("utf-8"))
    assert stored["memory"]["unrelated"] == measured["unrelated"]
    after = cli("models", "check", tiny, "--json").json
    assert after["notes"] == []


@pytest.mark.parametrize("name", ["folder:/nowhere", "nonsense", "fastembed:x"])
def test_a_model_that_does_not_work_is_not_chosen(cli: CommandLine, name: str):
    file = _write_settings("[embedding]\nmodel = 'none'\n")
    refused = cli("models", "use", name, "--json")
    assert (refused.status, refused.error["code"]) == (6, "embedder_unusable")
    assert refused.error["hint"]
    assert file.read_text() == "[embedding]\nmodel = 'none'\n"


def test_a_variable_that_goes_before_the_file_is_told(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch, tiny: str
):
    monkeypatch.setenv("EMBEDDING_MODEL", "none")
    told = cli("models", "use", tiny)
    assert told.status == 0
    assert "an environment variable sets none" in told.out


def test_a_check_tells_dimension_and_speed_or_what_is_wrong(cli: CommandLine, tiny: str):
    checked = cli("models", "check", tiny)
    assert checked.status == 0
    assert "6 dimensions, first question" in checked.out
    failed = cli("models", "check", "folder:/nowhere")
    assert failed.status == 6
    assert "/nowhere does not hold a model" in failed.out
    assert "hint: " in failed.out
    as_object = cli("models", "check", "folder:/nowhere", "--json")
    assert (as_object.status, as_object.json["works"]) == (6, False)


def test_reindex_makes_the_vectors_of_a_new_model(cli: CommandLine, tmp_path: Path, tiny: str):
    cli("models", "use", tiny)
    for number in ("one", "two", "three"):
        cli("remember", number)
    assert "Nothing to do" in cli("reindex").out
    other = write_folder(tmp_path / "other")
    cli("models", "use", str(other))
    made = cli("reindex", "--json").json
    assert made["pieces"] == 3
    assert made["model"].startswith("other/")
    assert cli("reindex", "--json").json["pieces"] == 0


def test_reindex_changes_to_another_model_in_one_command(
    cli: CommandLine, tmp_path: Path, tiny: str
):
    cli("models", "use", tiny)
    for number in ("one", "two", "three"):
        cli("remember", number)
    other = f"folder:{write_folder(tmp_path / 'other')}"
    changed = cli("reindex", "--model", other)
    assert changed.status == 0, changed.err
    assert f"embedding.model = {other}" in changed.out
    assert "3 units had no vector of other/" in changed.out
    assert tomllib.loads(settings_file().read_text()) == {"embedding": {"model": other}}
    assert "Nothing to do" in cli("reindex").out
    cli("models", "calibrate", str(tmp_path / "other"))
    assert cli("doctor", "--json").json["verdict"] == "ok"


def test_a_change_of_the_model_can_be_left_to_the_background(
    cli: CommandLine, tmp_path: Path, tiny: str
):
    cli("models", "use", tiny)
    cli("remember", "one")
    other = str(write_folder(tmp_path / "other"))
    queued = cli("reindex", "--model", other, "--background", "--json").json
    assert (queued["pieces"], queued["queued"]) == (1, True)
    cli("work", "--once")
    assert cli("reindex", "--json").json["pieces"] == 0


@pytest.mark.parametrize("name", ["folder:/nowhere", "nonsense", "none"])
def test_a_model_that_makes_no_vectors_is_not_changed_to(cli: CommandLine, tiny: str, name: str):
    cli("models", "use", tiny)
    cli("remember", "one")
    before = settings_file().read_text()
    refused = cli("reindex", "--model", name, "--json")
    assert (refused.status, refused.error["code"]) == (6, "embedder_unusable")
    assert refused.error["hint"]
    assert settings_file().read_text() == before
    assert "Nothing to do" in cli("reindex").out


def test_reindex_without_a_model_has_nothing_to_do_or_says_why(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "none")
    nothing = {"model": "none", "pieces": 0, "queued": False}
    cli("remember", "Ann likes tea")
    assert cli("reindex", "--json").json == nothing
    monkeypatch.setenv("RECOLLECT_EMBEDDING__MODEL", "folder:/nowhere")
    refused = cli("reindex", "--json")
    assert (refused.status, refused.error["code"]) == (6, "embedder_unusable")
    assert "recollect models check" in refused.error["hint"]


class _Endless(FakeEmbedder):
    """A fake that embeds one batch and never ends the second."""

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self.is_stuck = asyncio.Event()

    async def embed(self, *given, **named):
        if self.calls:
            self.is_stuck.set()
            await asyncio.Event().wait()
        return await super().embed(*given, **named)


async def test_a_reindex_that_is_stopped_keeps_its_whole_batches(
    database_path: Path, clock: TurnedClock, capsys: pytest.CaptureFixture[str]
):
    async with Memory.open(database_path, clock=clock, embedder=FakeEmbedder()) as memory:
        await memory.remember_many([f"note {number}" for number in range(100)])
    endless = _Endless("fake-2")
    async with Memory.open(database_path, clock=clock, embedder=endless) as memory:
        working = asyncio.create_task(remade(memory))
        await asyncio.wait_for(endless.is_stuck.wait(), timeout=10)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
    assert "the vectors made so far are kept" in capsys.readouterr().err
    async with Memory.open(database_path, clock=clock, embedder=FakeEmbedder("fake-2")) as memory:
        assert await memory.reindex() == 100 - 64
