"""The mood of a sentence by its form."""

import pytest

from recollect.language.claims.moods import mood, plain


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I moved to Bonn last week", "declarative"),
        ("When I was young, I lived in Porto", "declarative"),
        ("What I like most is tea", "declarative"),
        ("Book club is on Tuesday", "declarative"),
        ("It's in the drawer if you need it", "declarative"),
        ("I'd rather take the train", "declarative"),
        ("how long is the ride to the harbour", "interrogative"),
        ("do I need a permit in Wicklow", "interrogative"),
        ("Remind me what size the labels are", "interrogative"),
        ("You know her name, right?", "interrogative"),
        ("Could you write something to her?", "imperative"),
        ("Thanks! Please translate the letter", "imperative"),
        ("Book a table for two", "imperative"),
        ("If I get the job, I'll move to Bonn", "hypothetical"),
        ("Maybe I'll buy a boat", "hypothetical"),
        ("Suppose my name is Redbeard", "hypothetical"),
        ("我上周搬到波恩了", "declarative"),
        ("我还没吃饭呢", "declarative"),
        ("什么都可以", "declarative"),
        ("跑步我每天都跑", "declarative"),
        ("合同交给法务那边", "declarative"),
        ("上次那个密码是什么来着", "interrogative"),
        ("会议室要不要换一间", "interrogative"),
        ("你喜欢猫吗", "interrogative"),
        ("帮我查一下天气", "imperative"),
        ("能不能帮我写封信", "imperative"),
        ("翻译这段话", "imperative"),
        ("如果我拿到 offer 就搬去苏州", "hypothetical"),
        ("下个月可能去趟上海", "hypothetical"),
    ],
)
def test_form_shows_what_a_sentence_is_for(sentence: str, expected: str):
    assert mood(plain(sentence)) == expected
