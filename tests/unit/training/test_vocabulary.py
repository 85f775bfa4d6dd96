"""The student's tokenizer: MiniLM's, with Chinese characters and words added."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tokenizers import Tokenizer

from training.embedder import vocabulary

OLD = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "spare", "key", "##s", "the", "kitchen", "door", "钥"]
GLOSSES = {"备用": "spare", "钥匙": "key", "厨房": "the kitchen", "门": "door"}
TEXTS = ["备用钥匙在厨房的门后面", "厨房的钥匙"]
FREQUENCIES = {"备用": 30, "钥匙": 40, "厨房": 50, "不在文中": 1}


def base() -> dict[str, Any]:
    return {
        "version": "1.0",
        "truncation": {"max_length": 8, "strategy": "LongestFirst", "stride": 0},
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: row for row, token in enumerate(OLD)},
        },
    }


def cut(run: str) -> list[str]:
    """A segmenter that knows the glossed words only."""
    found: list[str] = []
    while run:
        word = next((it for it in GLOSSES if run.startswith(it)), run[0])
        found.append(word)
        run = run[len(word) :]
    return found


@pytest.fixture(scope="module")
def made() -> vocabulary.Vocabulary:
    rows = {token: row for row, token in enumerate(OLD)}
    return vocabulary.build(
        base(),
        TEXTS,
        FREQUENCIES,
        GLOSSES,
        cut,
        lambda gloss: [rows[word] for word in gloss.split()],
        words=3,
    )


@pytest.fixture(scope="module")
def tokenizer(made: vocabulary.Vocabulary) -> Tokenizer:
    return Tokenizer.from_str(json.dumps(made.tokenizer))


def rows(tokenizer: Tokenizer, text: str) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False).ids


def test_a_chinese_text_is_cut_longest_match_first(tokenizer: Tokenizer):
    first, *rest = rows(tokenizer, "备用钥匙在厨房")
    assert [first, *rest] == [tokenizer.token_to_id(it) for it in ("备用", "钥匙", "在", "厨房")]


def test_a_word_has_one_row_wherever_it_stands(tokenizer: Tokenizer):
    assert rows(tokenizer, "钥匙")[0] == rows(tokenizer, "备用钥匙")[1]


def test_english_is_read_as_before(tokenizer: Tokenizer):
    assert rows(tokenizer, "The spare keys") == [
        OLD.index(it) for it in ("the", "spare", "key", "##s")
    ]


def test_both_languages_stand_side_by_side(tokenizer: Tokenizer):
    chinese = tokenizer.token_to_id("钥匙")
    assert rows(tokenizer, "spare钥匙s") == [OLD.index("spare"), chinese, OLD.index("[UNK]")]


def test_an_old_row_of_a_chinese_character_is_read_no_more(
    made: vocabulary.Vocabulary, tokenizer: Tokenizer
):
    assert OLD.index("钥") not in rows(tokenizer, "钥")
    assert set(made.tokenizer["model"]["vocab"].values()) == set(range(made.size))


def test_new_rows_begin_as_their_gloss(made: vocabulary.Vocabulary, tokenizer: Tokenizer):
    kitchen = tokenizer.token_to_id("厨房")
    assert made.beginnings[kitchen] == [OLD.index("the"), OLD.index("kitchen")]
    assert made.beginnings[tokenizer.token_to_id("在")] == []
    assert made.characters[kitchen] == [tokenizer.token_to_id(it) for it in "厨房"]
    assert set(made.beginnings) == set(range(len(OLD), made.size))


def test_nothing_is_cut_short(tokenizer: Tokenizer):
    assert tokenizer.truncation is None
    run = "厨房" * vocabulary.LONGEST_RUN
    assert len(rows(tokenizer, run)) == vocabulary.LONGEST_RUN


def test_words_that_no_dictionary_has_need_to_be_frequent():
    counted = {"厨房": 10, "的门": 30, "一二三四五六七": 99, "key": 99, "门": 99}
    best = vocabulary.best_words(counted, {}, GLOSSES, limit=5)
    assert best == ["厨房", "的门"]


def test_a_row_without_a_gloss_begins_as_what_it_is_put_together_from():
    meanings = vocabulary._meanings(["厨", "房", "后", "厨房", "后厨"], GLOSSES)
    assert meanings["厨"] == meanings["房"] == meanings["后厨"] == "the kitchen"
    assert meanings["后"] == ""
