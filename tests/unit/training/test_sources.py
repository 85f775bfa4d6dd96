"""Every source of the weights is named, with its licence, in the model card."""

import tomllib
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_PERMISSIVE = ("Apache-2.0", "MIT", "CC0-1.0", "CC-BY-", "PSF-2.0")


def test_the_card_and_the_list_of_sources_agree():
    listed = tomllib.loads((_ROOT / "training" / "sources.toml").read_text("utf-8"))["source"]
    card = (_ROOT / "packages" / "recollect-embedder" / "README.md").read_text("utf-8")
    rows = [line for line in card.splitlines() if line.startswith("| ")]
    table = rows[rows.index("| source | licence |") + 1 :]
    assert table == [f"| {it['title']} | {it['licence']} |" for it in listed]


def test_no_source_forbids_what_is_done_with_it():
    listed = tomllib.loads((_ROOT / "training" / "sources.toml").read_text("utf-8"))["source"]
    for source in listed:
        for licence in source["licence"].split(", "):
            assert licence.startswith(_PERMISSIVE), source["title"]
            assert not {"NC", "ND"} & set(licence.split("-")), source["title"]
