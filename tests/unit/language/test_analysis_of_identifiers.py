"""Names in code, addresses, paths, versions, numbers and dates: whole and in parts."""

import pytest

from recollect.language.analysis import query_terms, terms
from recollect.language.words import LONGEST_TERM, stem


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        ("getUserName", ["getusernam", "get", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("user_id", ["userid", "user", "id"]),
        ("wi-fi", ["wifi", "wi", "fi"]),
        ("x-ray", ["xray", "ray"]),
        ("U.S.A.", ["usa"]),
        ("ADR-003", ["adr3", "adr", "3"]),
        ("GPT4", ["gpt4", "gpt", "4"]),
        ("30min", ["30min", "30", "min"]),
        ("v2.3.1", ["v2.3.1", "2.3.1", "2.3", "2"]),
        ("C++", ["c++"]),
        ("C#", ["c#"]),
        ("Node.js", ["nodej", "node", "js"]),
        ("a1b2c3", ["a1b2c3"]),
        ("std::vector", ["std::vector", "std", "vector"]),
        ("APIs", ["api"]),
    ],
)
def test_a_compound_is_found_whole_and_in_parts(token: str, expected: list[str]) -> None:
    assert terms(token) == expected


@pytest.mark.parametrize(
    "spellings",
    [
        ("user_id", "userId", "user-id", "UserID"),
        ("e-mail", "email", "E‑mail"),
        ("ADR-003", "adr-3", "ADR003", "ADR_3"),
        ("Node.js", "nodejs"),
        ("GPT-4", "gpt4"),
        ("2024-04-02", "2024/4/2", "2024.04.02"),
        ("10:30am", "10:30 AM"),
        ("1,000,000", "1000000"),
        ("3rd", "3"),
        ("007", "7"),
        ("٤٢", "42"),
    ],
)
def test_spellings_of_one_thing_share_its_whole_form(spellings: tuple[str, ...]) -> None:
    assert {terms(spelling)[0] for spelling in spellings} == {terms(spellings[0])[0]}


def test_an_e_mail_address_is_found_by_itself_by_name_and_by_domain() -> None:
    found = terms("write to ann.lee@example.com today")
    for asked in ("ann.lee@example.com", "ann.lee", "example.com", "ann", "lee", "example"):
        assert set(query_terms(asked)) <= set(found), asked


def test_a_url_is_found_by_host_and_path() -> None:
    found = terms("see https://docs.example.com/guide/getting-started?lang=en#install.")
    for asked in ("docs.example.com", "guide", "getting-started", "getting", "lang", "install"):
        assert set(query_terms(asked)) <= set(found), asked


@pytest.mark.parametrize(
    "path", ["src/recollect/language/analysis.py", r"src\recollect\analysis.py"]
)
def test_a_path_is_found_by_file_and_folder(path: str) -> None:
    found = terms(f"open {path} first")
    for asked in (path, "analysis.py", "analysis", "recollect"):
        assert set(query_terms(asked)) <= set(found), asked


def test_a_short_version_finds_the_long_one() -> None:
    assert set(query_terms("2.3")) <= set(terms("released v2.3.1"))


def test_a_year_and_a_month_find_the_date() -> None:
    found = set(terms("due 2024-04-02"))
    assert set(query_terms("2024")) <= found
    assert set(query_terms("2024-04")) <= found
    assert set(query_terms("2024-05")) - found


def test_a_timestamp_is_found_by_date_and_time() -> None:
    found = set(terms("logged 2024-04-02T08:05:00Z"))
    assert set(query_terms("2024-04-02")) | set(query_terms("08:05")) <= found


def test_decimal_fractions_keep_their_zeros() -> None:
    assert terms("3.05")[0] != terms("3.5")[0]


def test_a_time_is_not_a_decimal_number() -> None:
    assert terms("8:30")[0] != terms("8.30")[0]


def test_chinese_text_may_touch_a_name() -> None:
    assert {"getusernam", "get", "user", "name"} <= set(terms("调用getUserName失败"))


@pytest.mark.parametrize("key", ["x" * 500, "9" * 5000, "aB" * 400, "a.b" * 100, "a/" * 400 + "b"])
def test_a_very_long_token_is_found_by_a_bounded_form(key: str) -> None:
    found = terms(key)
    assert found
    assert max(map(len, found)) <= LONGEST_TERM
    assert terms(key) == found


def test_stems_are_the_same_from_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    words = [f"{a}{b}ing" for a in ("walk", "paint", "search", "record") for b in "bcdfghklmnprst"]
    alone = [stem(word) for word in words]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: [stem(word) for word in words], range(50)))
    assert all(stems == alone for stems in together)
