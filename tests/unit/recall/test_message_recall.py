"""The clauses of a message, each of which may bring a memory of its own."""

from recollect.recall.message_recall import clauses_of


def test_a_request_for_several_things_has_several_clauses():
    english = "Write a note for the neighbours, with our address, and when the plumber comes."
    assert clauses_of(english) == [
        "Write a note for the neighbours",
        "and when the plumber comes.",
    ]
    assert clauses_of("帮我写自我介绍，讲讲我在哪家公司、用什么编程语言") == [
        "帮我写自我介绍",
        "讲讲我在哪家公司",
        "用什么编程语言",
    ]


def test_a_single_question_has_no_clauses():
    assert clauses_of("Where do we keep the spare keys?") == []
    assert clauses_of("备用钥匙放在哪里？") == []


def test_numbers_are_not_cut():
    assert clauses_of("Book the flight for 1,200 euros at 10:30 tomorrow morning") == []


def test_a_pasted_text_is_not_taken_apart():
    assert clauses_of("The harbour opens early, and the lantern shines late. " * 100) == []
