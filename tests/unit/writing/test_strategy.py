"""One text for two, in English and Chinese."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.relation import Strategy
from recollect.writing.strategy import merge


def test_overwriting_keeps_only_the_new_text():
    assert merge("overwrite", "Prefers tea.", "Prefers coffee.") == "Prefers coffee."


@pytest.mark.parametrize(
    ("old", "new", "both"),
    [
        ("Ran the import", "Fixed 3 rows.", "Ran the import. Fixed 3 rows."),
        ("跑了导入", "修了3行。", "跑了导入。修了3行。"),
        ("Done.", "done.", "Done."),
        ("", "New.", "New."),
        ("See main.py. Dr. Klein signs.", "See main.py.", "See main.py. Dr. Klein signs."),
    ],
)
def test_appending_keeps_both_and_repeats_nothing(old: str, new: str, both: str):
    assert merge("append", old, new) == both


_STATEMENTS = st.lists(
    st.sampled_from(
        [
            *(f"The {it} costs {n} dollars." for it in ("ring", "book") for n in (5, 6, 12)),
            *(f"{who} lives in {place}." for who in ("Ann", "Bob") for place in ("Oslo", "Rome")),
            *(f"{it}要{n}元。" for it in ("戒指", "书") for n in (5, 6, 12)),
            "Ann does not live in Oslo.",
            "书不要5元。",
        ]
    ),
    max_size=5,
)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(["append", "summarise"]), _STATEMENTS, _STATEMENTS)
def test_merging_loses_no_number_name_or_statement(
    strategy: Strategy, old: list[str], new: list[str]
):
    merged = merge(strategy, " ".join(dict.fromkeys(old)), " ".join(dict.fromkeys(new)))
    statements = [it for it in re.split(r"(?<=[.。]) *", merged) if it]
    assert set(statements) == {*old, *new}
    assert len(statements) == len(set(statements))
