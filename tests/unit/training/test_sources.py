"""Every source of the weights is named, with its licence: in the list, the card and NOTICE."""

from __future__ import annotations

from pathlib import Path

import pytest

from training.sources import build, notice
from training.sources.catalogue import read_catalogue

_PACKAGE = Path(__file__).parents[3] / "packages" / "recollect-embedder"
_NO_CONDITIONS = {"public domain"}
_FORBIDDEN = {"NC", "ND", "GPL", "AGPL", "LGPL"}


def test_card_and_notice_are_written_from_the_list():
    listed = notice.listed()
    card = (_PACKAGE / "README.md").read_text("utf-8")
    assert card == notice.with_table(card, notice.table(listed))
    assert (_PACKAGE / "NOTICE").read_text("utf-8") == notice.notice(listed)


@pytest.mark.parametrize("source", notice.listed(), ids=lambda it: it["key"])
def test_a_source_has_a_licence_that_was_read_and_allows_this(source: dict[str, object]):
    assert source["licence_read"] is True
    assert source["licence_in"]
    assert source["credit"]
    licences = str(source["licence"]).split(", ")
    for licence in licences:
        assert not _FORBIDDEN & set(licence.split("-"))
        assert licence in _NO_CONDITIONS or (_PACKAGE / "LICENSES" / f"{licence}.txt").is_file()
    if any("-SA-" in licence for licence in licences):
        assert source["share_alike"] is True


def test_every_text_of_a_licence_is_of_one_that_is_used():
    used = {licence for it in notice.listed() for licence in it["licence"].split(", ")}
    assert {file.stem for file in (_PACKAGE / "LICENSES").iterdir()} == used - _NO_CONDITIONS


def test_what_is_built_is_listed_at_a_commit():
    listed = {source.key: source for source in read_catalogue()}
    built = {*build.PARALLEL, *build.CHINESE, *build.SAID, *(key for key, *_ in build.COPIED)}
    from_packages = {"cedict"}
    assert built <= listed.keys()
    assert listed.keys() - built == {"minilm", "own"}
    for key in built - from_packages:
        assert listed[key].repositories
        assert all(len(it.commit) == 40 for it in listed[key].repositories)


@pytest.mark.parametrize("gone", ["LCTT", "SMILE", "EmoLLM", "Vue"])
def test_what_may_not_be_shipped_is_gone(gone: str):
    assert not [it for it in notice.listed() if gone in it["title"]]
