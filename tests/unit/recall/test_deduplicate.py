"""What says the same takes one place; another number, name, day or a "not" is another fact."""

from datetime import UTC, datetime, timedelta

import pytest

from recollect.domain.fields import new_record
from recollect.domain.record import SESSION_EPISODE, Evidence, Kind, Record
from recollect.domain.scope import Scope
from recollect.domain.turn import Turn, new_turn
from recollect.recall.deduplicate import DuplicateDetector, accounts

_ANN = Scope(user="ann")
_NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
_SAME = DuplicateDetector(0.85)


def _record(content: str, *, at: datetime = _NOW, kind: Kind = Kind.SEMANTIC) -> Record:
    return new_record(content, {"kind": kind}, _ANN, at)


def _turn(content: str, *, at: datetime = _NOW, role: str = "user", name: str = "") -> Turn:
    message = {"role": role, "content": content, "at": at, **({"name": name} if name else {})}
    return new_turn(message, _ANN, "talk", at, None)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I love hiking in the Alps", "I love hiking in the Alps!"),
        ("My passport expires in 2031", "The user's passport expires in 2031"),
        ("我的护照2031年到期", "用户的护照2031年到期。"),
        ("我周末喜欢去爬山", "我周末喜欢去爬山。"),
    ],
)
def test_of_two_that_say_the_same_the_better_stays(one: str, other: str):
    first, second = _record(one), _record(other)
    assert _SAME.repeats([first, second]) == {second.id: first.id}
    assert _SAME.repeats([second, first]) == {first.id: second.id}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "I paid 120 euros for the winter tyres of the car",
            "I paid 150 euros for the winter tyres of the car",
        ),
        (
            "I like strong black coffee in the morning",
            "I do not like strong black coffee in the morning",
        ),
        ("Ann lent Bob the red bicycle for May", "Bob lent Ann the red bicycle for May"),
        ("Is the blue tent in the cellar?", "The blue tent is in the cellar."),
        ("会议改到周三下午三点", "会议改到周三下午四点"),
        ("我每天早上都喝浓咖啡", "我每天早上都不喝浓咖啡"),
        ("张伟借给李娜一辆红色自行车", "李娜借给张伟一辆红色自行车"),
    ],
)
def test_another_number_a_denial_or_exchanged_names_are_another_fact(one: str, other: str):
    assert _SAME.repeats([_record(one), _record(other)]) == {}


@pytest.mark.parametrize("text", ["I went swimming yesterday", "我昨天去游泳了"])
def test_what_was_said_of_yesterday_on_two_days_are_two_things(text: str):
    later = _turn(text, at=_NOW + timedelta(days=3))
    assert _SAME.repeats([_turn(text), later]) == {}
    again = _turn(text)
    assert len(_SAME.repeats([_turn(text), again])) == 1


def test_the_same_event_on_two_days_happened_twice():
    text = "Ate at the Thai place"
    days = [_NOW, _NOW + timedelta(days=3)]
    assert _SAME.repeats([_record(text, at=at, kind=Kind.EPISODIC) for at in days]) == {}
    assert len(_SAME.repeats([_record(text, at=at) for at in days])) == 1


@pytest.mark.parametrize("text", ["I love sailing at night", "我喜欢晚上去划船"])
def test_what_two_people_say_of_themselves_are_two_facts(text: str):
    ann, bob = _turn(text, name="Ann"), _turn(text, name="Bob")
    assert _SAME.repeats([ann, bob]) == {}
    assert _SAME.repeats([ann, _turn(text, role="assistant")]) == {}


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("My dentist is Dr. Weber", "The user's dentist is Dr. Weber, in Park Lane"),
        ("我的牙医是王医生", "用户的牙医是王医生,诊所在中山路"),
    ],
)
def test_a_record_stands_for_the_turn_that_it_was_made_of(said: str, known: str):
    turn, again = _turn(said), _turn(said)
    record = _record(known).evolve(evidence=(Evidence(turn=turn.id),))
    assert _SAME.repeats([turn, again, record]) == {turn.id: record.id, again.id: record.id}
    assert _SAME.repeats([record, turn]) == {turn.id: record.id}


def test_a_record_does_not_stand_for_a_turn_that_says_more_or_otherwise():
    turn = _turn("My dentist is Dr. Weber and my doctor is Dr. Klein")
    record = _record("The user's dentist is Dr. Weber")
    assert _SAME.repeats([turn, record.evolve(evidence=(Evidence(turn=turn.id),))]) == {}
    turn = _turn("My dentist is not Dr. Weber")
    assert _SAME.repeats([turn, record.evolve(evidence=(Evidence(turn=turn.id),))]) == {}


def test_of_long_texts_any_detail_may_be_another():
    text = "The harbour of the old town was built before the war. " * 20
    long, copy, other = _record(text), _record(text), _record(f"{text} It burnt.")
    assert _SAME.repeats([long, copy, other]) == {copy.id: long.id}


def test_a_record_its_turn_and_the_reply_to_it_fill_one_place():
    said = _turn("I live in Leeds, by the way, and my sister plays the tuba")
    reply = _turn("Got it, you live in Leeds.", role="assistant")
    record = _record("User lives in Leeds").evolve(evidence=(Evidence(turn=said.id),))
    replies = {reply.id: said.id}
    shown = accounts([reply, said, record], replies, lambda turn, record: False)
    assert shown == {said.id: record.id, reply.id: record.id}
    shown = accounts([reply, said, record], replies, lambda turn, record: True)
    assert shown == {record.id: said.id, reply.id: said.id}


def test_a_turn_that_told_two_things_gives_way_to_the_record_that_tells_enough():
    said = _turn("I live in Leeds, and my sister plays the tuba")
    home, sister = (
        _record(content).evolve(evidence=(Evidence(turn=said.id),))
        for content in ("User lives in Leeds", "User's sister plays the tuba")
    )
    shown = accounts([said, sister, home], {}, lambda turn, record: record.id == sister.id)
    assert shown == {said.id: home.id}


def test_a_summary_of_a_session_never_stands_for_its_turns():
    said = _turn("I live in Leeds")
    summary = _record("User lives in Leeds.", kind=Kind.EPISODIC).evolve(
        source=SESSION_EPISODE, evidence=(Evidence(turn=said.id),)
    )
    assert accounts([summary, said], {}, lambda turn, record: False) == {}
