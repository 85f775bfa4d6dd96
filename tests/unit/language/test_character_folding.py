"""One spelling for the same character, from the committed table and from Unicode itself."""

from pathlib import Path

import pytest

from recollect.language import characters
from recollect.language.characters import fold

VARIANTS = Path(characters.__file__).with_name("data") / "han_variants.txt"


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Ｒｅｃｏｌｌｅｃｔ　２", "Recollect 2"),
        ("ｶﾞｲﾄﾞ", "ガイド"),
        ("か\u3099", "が"),
        ("Crème Brûlée", "Creme Brulee"),
        ("cre\u0300me", "creme"),
        ("Ærøskøbing", "Aeroskobing"),
        ("don’t – e‑mail", "don't - e-mail"),
        ("繁體中文", "繁体中文"),
        ("한국어", "한국어"),
    ],
)
def test_variants_of_a_character_become_one(written: str, plain: str) -> None:
    assert fold(written) == plain


def test_upper_case_stays_for_the_humps_of_names() -> None:
    assert fold("getUserNámé") == "getUserName"


def test_the_table_of_variants_names_its_source_and_licence() -> None:
    header = VARIANTS.read_text(encoding="utf-8").split("㑮")[0]
    assert "OpenCC" in header
    assert "Apache License 2.0" in header


def test_no_variant_leads_to_another() -> None:
    data = VARIANTS.read_text(encoding="utf-8").splitlines()
    pairs = "".join(line for line in data if not line.startswith("#"))
    assert len(pairs) // 2 > 4000
    assert set(pairs[::2]).isdisjoint(pairs[1::2])


def test_the_memory_of_folded_characters_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(characters, "_MAX_CACHED_CHARACTERS", 100)
    every = "".join(map(chr, range(0x4E00, 0x5200)))
    assert len(fold(every)) == len(every)
    assert len(characters._plain) <= 100
