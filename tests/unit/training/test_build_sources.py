"""Building SOURCES from repositories at named commits."""

from __future__ import annotations

import lzma
import subprocess
from pathlib import Path

import pytest

from training.sources import build
from training.sources.catalogue import Source, Wanted
from training.sources.repository import MissingSource, Repository


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def captions(tmp_path: Path) -> Source:
    """A clone of 3AM below MIRRORS, whose newest commit is not the one that is wanted."""
    folder = tmp_path / "mirrors" / "MaxyLee" / "3AM"
    (folder / "data").mkdir(parents=True)
    git(folder, "init", "--quiet")
    for part in ("train", "val", "test"):
        (folder / "data" / f"{part}.zh").write_text(f"一只狗在{part}跑步。\n", "utf-8")
        (folder / "data" / f"{part}.en").write_text(f"A dog runs in {part}.\n", "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "captions")
    commit = git(folder, "rev-parse", "HEAD")
    (folder / "data" / "train.zh").write_text("后来改了。\n", "utf-8")
    git(folder, "commit", "--quiet", "-am", "later")
    return Source("3am_captions", "3AM", (Wanted("MaxyLee/3AM", commit),), "MIT", False)


def test_rows_are_read_at_the_commit(
    tmp_path: Path, captions: Source, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(build, "glosses", lambda *_, **__: {"狗": "dog"})
    build.build(tmp_path / "mirrors", tmp_path / "sources", [captions])
    with lzma.open(tmp_path / "sources" / "par.tsv.xz", "rt", encoding="utf-8") as lines:
        assert "3am_captions\t一只狗在train跑步。\tA dog runs in train.\n" in set(lines)
    assert (tmp_path / "sources" / "glosses.tsv").read_text("utf-8") == "狗\tdog\n"


def test_what_is_missing_is_told_with_the_command_that_gets_it(tmp_path: Path, captions: Source):
    other = Source("x", "X", (Wanted("owner/name", "a" * 40),), "MIT", False)
    later = Source("y", "Y", (Wanted("MaxyLee/3AM", "b" * 40),), "MIT", False)
    with pytest.raises(MissingSource) as told:
        build.open_all(tmp_path / "mirrors", [other, later, captions])
    first, second = str(told.value).splitlines()
    assert "git clone https://github.com/owner/name" in first
    assert f"checkout {'a' * 40}" in first
    assert f"fetch origin {'b' * 40}" in second
    assert not (tmp_path / "sources").exists()


def test_many_files_are_read_at_once_and_missing_ones_left_out(tmp_path: Path, captions: Source):
    (wanted,) = captions.repositories
    opened = Repository.open(tmp_path / "mirrors", wanted.name, wanted.commit)
    assert opened.files("data", ".en") == ["data/test.en", "data/train.en", "data/val.en"]
    found = dict(opened.texts(["data/val.en", "data/none.en", "data/test.en"]))
    assert found == {"data/val.en": "A dog runs in val.\n", "data/test.en": "A dog runs in test.\n"}
