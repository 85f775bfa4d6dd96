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


def test_lines_that_differ_by_their_numbers_are_told_from_the_first_to_the_last():
    text = "\n".join(f"pallet {n}: bay {n % 37}, {n % 900} kg" for n in range(4000, 5600))
    assert _told(text, 200) == "pallet 4000: bay 4, 400 kg … pallet 5599: bay 12, 199 kg × 1600"
    assert _told("\n".join(["still waiting for 5 workers"] * 30), 200).count("waiting") == 1


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


def test_a_failing_test_is_told_with_its_reason_and_its_place():
    text = "\n".join(
        [
            *(f"tests/test_cart.py::test_sum_{n} PASSED" for n in range(400)),
            "_________________ test_partial_refund _________________",
            "    def test_partial_refund():",
            "E       AssertionError: assert Decimal('29.85') == Decimal('24.90')",
            "tests/orders/test_refunds.py:140: AssertionError",
            "=========== 1 failed, 400 passed in 8.13s ===========",
        ]
    )
    told = _told(text, 60)
    assert "1 failed, 400 passed in 8.13s" in told
    assert "test_partial_refund: assert Decimal('29.85') == Decimal('24.90')" in told
    assert "(test_refunds.py:140)" in told


def test_the_setting_that_differs_is_named_with_its_part():
    blocks = [
        f"[worker.{n}]\nqueue = q{n}\nretries = {0 if n == 17 else 3}\ntimeout = 30\n"
        for n in range(40)
    ]
    told = _told("\n".join(blocks), 60)
    assert "worker. 40" in told or "worker 40" in told
    assert "worker.17: retries = 0" in told


@pytest.mark.parametrize(
    ("said", "decided"),
    [
        (
            [
                f"[10:{n % 60:02}:05] {('Ann', 'Bob', 'Cy')[n % 3]}: I can hear you now, sorry."
                for n in range(60)
            ],
            "Ann: Decision then: we ship on the 14th of May, without the billing page.",
        ),
        (
            [
                f"{('王芳', '李雷', '赵磊')[n % 3]}（14:{n % 60:02}:10）：好的，收到。"
                for n in range(60)
            ],
            "王芳: 那就定了：迁移改到 7 月 12 日凌晨两点，停机不超过 40 分钟。",
        ),
    ],
    ids=["en", "zh"],
)
def test_of_a_meeting_what_was_decided_is_told_and_chatter_is_not(said: list[str], decided: str):
    name, _, words = decided.partition(": ")
    line = f"[10:30:05] {name}: {words}" if name.isascii() else f"{name}（14:30:10）：{words}"
    told = _told("\n".join([*said[:30], line, *said[30:]]), 120)
    assert decided.rstrip("。") in told
    assert name in told.split("\n")[0]


def test_a_rare_failure_survives_more_different_lines_than_are_kept():
    chance = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz"
    lines = [
        " ".join("".join(chance.choices(letters, k=6)) for _ in range(6)) for _ in range(30_000)
    ]
    lines[9_000] = "the connection to the ledger was refused"
    assert "connection to the ledger was refused" in _told("\n".join(lines), 100)
