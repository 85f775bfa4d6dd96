"""Long texts are cut where a reader would pause, and nothing of them is lost."""

from hypothesis import given
from hypothesis import strategies as st

from recollect.language.sentences import passages


@given(st.text(max_size=3000), st.integers(10, 400))
def test_the_passages_together_are_the_text(text: str, size: int):
    spans = passages(text, size)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans) or text == ""


@given(st.text(st.characters(codec="ascii"), min_size=1, max_size=3000), st.integers(10, 400))
def test_no_passage_is_too_long(text: str, size: int):
    assert all(end - start <= size for start, end in passages(text, size))


def test_a_short_text_stays_whole():
    assert passages("Ann likes tea.") == [(0, 14)]
    assert passages("") == [(0, 0)]


def test_cuts_come_at_paragraphs_before_sentences():
    text = "First one. Second one.\n\nThird one. Fourth one."
    pieces = [text[start:end] for start, end in passages(text, 26)]
    assert pieces == ["First one. Second one.\n\n", "Third one. Fourth one."]


def test_chinese_is_cut_at_its_own_sentence_ends():
    text = "今天我们去了西湖。晚上吃了鱼。明天回家。"
    pieces = [text[start:end] for start, end in passages(text, 30)]
    assert pieces == ["今天我们去了西湖。", "晚上吃了鱼。", "明天回家。"]


def test_a_megabyte_without_a_single_break_is_cut_in_linear_time():
    spans = passages("x" * 1_000_000)
    assert spans[-1][1] == 1_000_000
    assert len(spans) >= 600
