"""Personal data and secrets: found in both languages, clean text left alone, fast, forgetful."""

import hashlib
import logging
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.language.privacy.personal_data import RedactKind, find_personal, redact
from tests.growth import grows_in_proportion

LABELLED = Path(__file__).parents[3] / "data" / "redact.tsv"
TOLD = LABELLED.with_name("redact_told.tsv")
WRITTEN_BEFORE_THE_RULES = "eeb5f32ea9f21a77bbe7e99b9d1d4f8bbf084466af6e9095bbdaf31fd058631b"
MARK = re.compile(r"⟦(?P<kind>\w+)\|(?P<value>.*?)⟧")
KINDS = ("email", "phone", "cn_id", "bank_card", "passport", "ip", "secret")
KINDS_TOLD = ("national_id", "bank_account")

# Made up, and taken apart so that no scanner takes it for real.
GITHUB_TOKEN = "ghp" + "_wTI734BN7jzWqTdE3uIt1gn1ZrF8vauUKbcP"

PIECES = [
    *("782-37-5996", "SSN ", "national id ", "DE89370400440532013000", "the door code is ", "4821"),
    *(
        " is my password",
        "use ",
        " as the password",
        "log in with bob / ",
        "passphrase is ",
        "门禁码",
    ),
    *("13812345678", "+86 ", "010-62345678", "415-555-0132", "4111111111111111", "4242 ", "1", "0"),
    *("11010519491231002X", "E12345678", "203.0.113.7", "2001:db8::1", "a@b.com", "order@x.com"),
    *("@", ".com", "密码是", "password=", " is ", "hunter2", "api key ", "token:", GITHUB_TOKEN),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0"),
    *(
        "护照",
        "passport ",
        "订单",
        "order ",
        "电话",
        "call ",
        "版本",
        "ID ",
        "my number ",
        "身份证",
    ),
    *(
        "[phone]",
        "[电话]",
        "[secret]",
        "[",
        "]",
        " ",
        "\n",
        "，",
        "。",
        ", ",
        ".",
        ":",
        "：",
        "=",
        "-",
    ),
    *(
        "/",
        "//",
        "://u:",
        "+",
        "(",
        ")",
        '"',
        "'",
        "“",
        "１３８",
        "\0",
        "\ud800",
        "\u0301",
        "🎉",
        "ß",
    ),
]
SOME_TEXT = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES)).map("".join))


class Sentence(NamedTuple):
    text: str
    spans: tuple[tuple[int, int, str], ...]


def parsed(line: str) -> Sentence:
    text, spans, end = "", [], 0
    for mark in MARK.finditer(line):
        text += line[end : mark.start()]
        spans.append((len(text), len(text) + len(mark["value"]), mark["kind"]))
        text += mark["value"]
        end = mark.end()
    return Sentence(text + line[end:], tuple(spans))


def labelled(
    language: str, half: int | None = None, path: Path = LABELLED
) -> tuple[list[Sentence], list[Sentence]]:
    """Sentences that hold something, and clean ones: all, or every second of each."""
    lines = path.read_text(encoding="utf-8").replace("¦", "").splitlines()
    sentences = [parsed(line.split("\t")[1]) for line in lines if line.startswith(f"{language}\t")]
    marked = [sentence for sentence in sentences if sentence.spans]
    clean = [sentence for sentence in sentences if not sentence.spans]
    return (marked, clean) if half is None else (marked[half::2], clean[half::2])


def found_and_wanted(sentences: Sequence[Sentence]) -> tuple[Counter[str], Counter[str]]:
    """How many of each kind were found whole and by their name, of how many."""
    found: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    for text, spans in sentences:
        places = find_personal(text)
        for start, end, kind in spans:
            wanted[kind] += 1
            found[kind] += any(
                place.start <= start and place.end >= end and place.kind == kind for place in places
            )
    return found, wanted


def test_the_labelled_sentences_are_those_written_before_the_rules():
    assert hashlib.sha256(LABELLED.read_bytes()).hexdigest() == WRITTEN_BEFORE_THE_RULES
    marked, clean = zip(labelled("en"), labelled("zh"), strict=True)
    assert sum(map(len, marked)) >= 150
    assert sum(map(len, clean)) >= 250


@pytest.mark.parametrize("half", [0, 1], ids=["seen", "held back"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_personal_data_is_found_and_clean_sentences_stay(language: str, half: int):
    marked, clean = labelled(language, half)
    found, wanted = found_and_wanted(marked)
    touched = [text for text, _ in clean if find_personal(text)]
    assert found.total() / wanted.total() >= 0.95
    assert len(touched) <= 0.01 * len(clean)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_ids_of_other_countries_told_passwords_and_codes_of_locks_are_found(language: str):
    marked, clean = labelled(language, path=TOLD)
    found, wanted = found_and_wanted(marked)
    assert found.total() / wanted.total() >= 0.95
    assert [text for text, _ in clean if find_personal(text)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_hides_behind_the_others(kind: str):
    found, wanted = found_and_wanted([*labelled("en")[0], *labelled("zh")[0]])
    assert wanted[kind] >= 15
    assert found[kind] / wanted[kind] >= 0.85


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_but_the_marked_is_taken(language: str):
    marked, _ = labelled(language)
    beside = [
        text[place.start : place.end]
        for text, spans in marked
        for place in find_personal(text)
        if not any(place.start < end and place.end > start for start, end, _ in spans)
    ]
    assert beside == []


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to anna@example.com or call 415-555-0132.", "Write to [email] or call [phone]."),
        ("邮箱anna@example.com，电话13812345678。", "邮箱[邮箱]，电话[电话]。"),
        ("身份证11010519491231002X，护照E12345678", "身份证[身份证]，护照[护照]"),
        ("card 4111 1111 1111 1111 from 203.0.113.7", "card [bank card] from [ip]"),
        (
            "password=hunter2 and ID card 11010519491231002X",
            "password=[secret] and ID card [id card]",
        ),
        ("卡号4111111111111111，密码是Abc@1234", "卡号[银行卡]，密码是[密钥]"),
        ("手机１３８１２３４５６７８，记一下", "手机[电话]，记一下"),
        ("打13812345678，13912345678都行", "打[电话]，[电话]都行"),
        ("postgres://app:pa55w0rd@db:5432/main", "postgres://app:[secret]@db:5432/main"),
    ],
)
def test_a_mask_speaks_the_language_of_the_text(text: str, masked: str):
    assert redact(text, "mask").text == masked


def test_a_private_key_goes_with_all_its_lines():
    body = "MIIEvQIBADANBgkqhkiG9w0\nAbC="
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    assert redact(f"use this:\n{key}\nthanks", "mask").text == "use this:\n[secret]\nthanks"


@pytest.mark.parametrize(
    "text",
    [
        "card 4111 1111 1111 1112",
        "卡号4111111111111112",
        "身份证号11010519491231002Y",
        "身份证号110105194912310021",
        "number 94111111111111111159",
        "订单号13812345678",
        "version 10.2.3.4",
        "bind 127.0.0.1 and ::1",
    ],
)
def test_what_fails_its_check_or_names_a_thing_is_left_alone(text: str):
    assert find_personal(text) == ()


def test_the_same_number_is_a_phone_or_an_order_by_the_word_before_it():
    assert find_personal("订单 13812345678") == ()
    assert [place.kind for place in find_personal("订单有问题打 13812345678")] == ["phone"]
    assert [place.kind for place in find_personal("订单还没到，13812345678")] == ["phone"]
    assert find_personal("Order no. 415-555-0132 is late") == ()
    assert [place.kind for place in find_personal("In case of need: 415-555-0132")] == ["phone"]


def test_counts_tell_how_many_of_each_kind():
    result = redact("a@example.com b@example.com, call 415-555-0132", "mask")
    assert result.counts == {"email": 2, "phone": 1}
    assert not result.dropped


def test_drop_refuses_the_whole_text_only_when_something_is_in_it():
    refused = redact("密码是Abc@1234，别外传", "drop")
    assert (refused.text, refused.dropped, refused.counts) == ("", True, {"secret": 1})
    kept = redact("密码是必填项", "drop")
    assert (kept.text, kept.dropped, kept.counts) == ("密码是必填项", False, {})


def test_off_leaves_everything():
    result = redact("call 415-555-0132", "off")
    assert (result.text, result.dropped, result.counts) == ("call 415-555-0132", False, {})


def test_what_was_removed_is_neither_kept_nor_logged(caplog: pytest.LogCaptureFixture):
    text = f"token {GITHUB_TOKEN}, password is hunter2"
    with caplog.at_level(logging.DEBUG):
        results = [find_personal(text), redact(text, "mask"), redact(text, "drop")]
    assert caplog.records == []
    assert not any(value in repr(results) for value in (GITHUB_TOKEN, "hunter2"))


def test_a_number_freed_by_a_mask_is_masked_with_it():
    # "order" inside the address made the phone look like an order's number.
    once = redact("order@example.com 13812345678", "mask")
    assert once.text == "[email] [phone]"
    assert redact(once.text, "mask").counts == {}


@settings(deadline=None, max_examples=150)
@given(SOME_TEXT)
def test_masking_twice_is_masking_once(text: str):
    once = redact(text, "mask").text
    again = redact(once, "mask")
    assert again.text == once
    assert again.counts == {}


@settings(deadline=None, max_examples=150)
@given(SOME_TEXT)
def test_places_are_in_order_and_apart(text: str):
    places = find_personal(text)
    kinds: set[RedactKind] = {place.kind for place in places}
    assert kinds <= {*KINDS, *KINDS_TOLD}
    ends = [0, *(place.end for place in places)]
    starts = [*(place.start for place in places), len(text)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert all(place.start < place.end for place in places)


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "1",
            "1-",
            "+1 ",
            "a.",
            "a@b.",
            "1.2.3.4.",
            "f:",
            "密码是",
            "password=",
            "key key: ",
            "eyJ",
        ),
        *("password for the ", "door code ", "use 12 for ", "ssn 1-"),
        *("-----BEGIN PRIVATE KEY-----\n", "sk-a1B2", "://a:", "13812345678 ", "order@x.co 138-"),
    ],
)
def test_a_long_text_made_to_be_slow_is_read_in_linear_time(piece: str):
    text = piece * (60_000 // len(piece))
    assert grows_in_proportion(lambda part: redact(part, "mask"), text)


@pytest.mark.parametrize(
    "key",
    [
        "sk" + "-abcdefghijklmnopqrstuvwxyz123456",
        "sk" + "-proj-1234567890abcdef1234567890abcdef",
        "sk" + "-aabbccddeeffgghh00112233",
        "sk" + "-ant-api03-qwertyuiopasdfghjklz0001",
    ],
)
@pytest.mark.parametrize("sentence", ["OPENAI_API_KEY={}", "Use {} for the demo.", "密钥{}给你用"])
def test_a_key_is_masked_however_regular_it_looks(sentence: str, key: str):
    assert key not in redact(sentence.format(key), "mask").text


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-pipeline-for-the-2026-report",
        "see sk-short-names-of-things-v2",
        "put your key here: sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "slovak: sk-SK-the-locale-we-ship-in-2026",
    ],
)
def test_names_with_hyphens_and_placeholders_are_no_keys(text: str):
    assert redact(text, "mask").text == text


def test_a_card_is_found_beside_what_it_pays_for():
    masked = redact("card for the booking: 4539 1488 0343 6467, thanks", "mask").text
    assert masked == "card for the booking: [bank card], thanks"
