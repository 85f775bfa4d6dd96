"""Personal data never reaches the store: not in a record, not in a message, not in its JSON."""

from datetime import UTC, datetime

import pytest

from recollect.domain.fields import RecordFields, new_record
from recollect.domain.record import Episode, Procedure, Record
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput
from recollect.writing.redaction import Redactor

_NOW = datetime(2026, 3, 1, tzinfo=UTC)
_MAIL = "ann.lee@example.com"
_PHONE = "13812345678"


def _record(content: str, **fields: object) -> Record:
    return new_record(content, RecordFields(**fields), Scope(user="ann"), _NOW)  # type: ignore[typeddict-item]


def test_off_changes_nothing():
    record = _record(f"Write to {_MAIL}")

    assert Redactor("off").kept(record) == (record, {})


def test_every_text_of_a_record_is_masked():
    episode = _record(
        f"发邮件到 {_MAIL}",
        kind="episodic",
        title=f"Mail to {_MAIL}",
        description=f"call {_PHONE}",
        tags=[_MAIL],
        participants=[_MAIL, "Bob"],
        outcome=f"电话 {_PHONE}",
        artifacts=[f"mailto:{_MAIL}"],
        metadata={"who": {"mail": [_MAIL, 3]}, "n": 1},
    )

    kept, counts = Redactor("mask").kept(episode)

    assert _MAIL not in repr(kept)
    assert _PHONE not in repr(kept)
    assert counts["email"] >= 5
    assert counts["phone"] == 2
    assert isinstance(kept.details, Episode)
    assert kept.details.participants == ("[email]", "Bob")
    assert kept.metadata == {"who": {"mail": ["[email]", 3]}, "n": 1}
    assert kept.content == "发邮件到 [邮箱]"


def test_the_steps_of_a_procedure_are_masked_in_their_order():
    procedure = _record(
        "How to reach Ann", kind="procedural", trigger=f"when {_MAIL} writes", steps=["a", _MAIL]
    )

    kept, _ = Redactor("mask").kept(procedure)

    assert kept.details == Procedure(trigger="when [email] writes", steps=("a", "[email]"))


def test_drop_refuses_a_record_and_does_not_say_what_was_in_it():
    with pytest.raises(InvalidInput) as refused:
        Redactor("drop").kept(_record(f"Write to {_MAIL}"))

    assert refused.value.code == "personal_data"
    assert _MAIL not in str(refused.value)


def test_what_was_there_before_can_be_hidden_in_any_mode():
    before = _record(f"Write to {_MAIL}")
    after = before.evolve(version=2)

    assert Redactor("drop").kept(after, before) == (after, {})


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (f"My mail is {_MAIL}.", "My mail is [email]."),
        (f"我的手机是{_PHONE}。", "我的手机是[电话]。"),
        ([{"type": "text", "text": _MAIL}], [{"type": "text", "text": "[email]"}]),
    ],
)
def test_a_message_keeps_its_place_without_what_is_personal(content: object, kept: object):
    message, counts = Redactor("mask").message({"role": "user", "content": content})

    assert message["content"] == kept
    assert sum(counts.values()) == 1


def test_calls_of_tools_stay_readable_and_keep_their_ids():
    given = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_9f8e7d6c5b4a39281706f5e4d3c2b1a0",
                "type": "function",
                "function": {"name": "send", "arguments": f'{{"to": "{_MAIL}", "n": 1}}'},
            }
        ],
    }

    message, counts = Redactor("mask").message(given)

    (call,) = message["tool_calls"]
    assert call["id"] == given["tool_calls"][0]["id"]  # type: ignore[index]
    assert call["function"]["arguments"] == '{"to": "[email]", "n": 1}'
    assert counts == {"email": 1}


def test_a_dropped_message_says_that_something_was_there():
    redactor = Redactor("drop")

    english, _ = redactor.message({"role": "user", "content": f"Mail me at {_MAIL} please"})
    chinese, _ = redactor.message({"role": "user", "content": f"请打电话给我，号码{_PHONE}"})

    assert english["content"] == "[removed: held personal data]"
    assert chinese["content"] == "[内容已移除：含个人信息]"
