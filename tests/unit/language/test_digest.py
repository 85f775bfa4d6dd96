"""A digest says what a reader of a long tool result would look for."""

import json
import random

import pytest

from recollect.language.digest import digest
from recollect.language.token_estimate import EstimatedTokens

_COUNT = EstimatedTokens().count


def _told(text: str, room: int, query: str = "") -> str:
    return str(digest(text, room, _COUNT, query=query))


def _log() -> str:
    chance = random.Random(7)
    lines = [
        f"2026-11-03 08:{n // 60 % 60:02}:{n % 60:02} INFO order {chance.randint(1000, 9999)} done"
        for n in range(3000)
    ]
    lines[1700] = "2026-11-03 08:28:20 ERROR disk /dev/sdb1 is full, writes are refused"
    return "\n".join(lines)


def test_a_log_tells_its_levels_and_the_one_error():
    told = _told(_log(), 120)
    assert "3000 lines" in told
    assert "INFO 2999" in told
    assert "ERROR 1" in told
    assert "/dev/sdb1 is full" in told


def test_a_java_trace_tells_its_root_cause_and_where_it_arose():
    text = "\n".join(
        [
            "starting",
            "org.springframework.beans.BeanCreationException: no bean 'pool'",
            "\tat org.springframework.Factory.create(Factory.java:529)",
            "Caused by: java.net.ConnectException: refused (db-3:5432)",
            "\tat java.net.Socket.connect(Socket.java:1)",
            "\tat com.acme.Pool.open(Pool.java:88)",
            "\t... 25 more",
        ]
    )
    told = _told(text, 200)
    assert "root cause: ConnectException: refused (db-3:5432) at Pool.open(Pool.java:88)" in told
    assert told.count("no bean 'pool'") == 1


def test_rows_that_differ_from_the_rest_are_named():
    rows = [{"id": f"ord-{n}", "state": "paid", "sum": n} for n in range(200)]
    rows[17]["state"] = "failed"
    told = _told(json.dumps({"items": rows}), 150)
    assert "200" in told
    assert "paid 199, failed 1" in told
    assert "ord-17" in told


@pytest.mark.parametrize("room", [20, 60, 200])
def test_a_digest_fits_its_budget(room: int):
    assert _COUNT(_told(_log(), room)) <= room * 1.1 + 2


@pytest.mark.parametrize("text", ["", " ", "\n\n", "one line", "{", "[]", "é" * 5000, "a," * 9999])
def test_any_text_has_a_digest(text: str):
    assert bool(_told(text, 60)) == bool(text.strip())
