"""Our WordPiece reads the default model's tokenizer as the library does."""

import json
import random
from importlib.resources import files
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from recollect.models.wordpiece import wordpiece_of

_DATA = files("recollect_embedder").joinpath("tokenizer.json").read_bytes()
_ROOT = Path(__file__).parents[3]
_ODD = [
    "[MASK]",
    "[CLS]",
    "é",
    "Σ",
    "ς",
    "İ",
    "ß",
    "한",
    "ｱ",
    "①",
    "\u0301",
    "\x0b",
    "\u00a0",
    "\0",
]
# Each character by itself and in a word, but those that are newer than the library's tables.
_SCRIPTS = [*range(0x20, 0x600), *range(0x2000, 0x2400), *range(0x3000, 0x3100)]


def _texts() -> list[str]:
    pages = (*_ROOT.glob("docs/*.md"), *_ROOT.glob("tests/data/*.tsv"))
    lines = (it for page in pages for it in page.read_text(encoding="utf-8").splitlines())
    return [it for it in lines if it.strip()]


def test_every_text_and_pair_has_the_same_tokens():
    ours, library = wordpiece_of(_DATA), Tokenizer.from_str(_DATA.decode())
    assert ours is not None
    for tokenizer in (ours, library):
        tokenizer.no_padding()
        tokenizer.enable_truncation(64)
    chance, texts = random.Random(7), _texts()
    characters = [chr(it) for it in _SCRIPTS]
    mixed = [
        "".join(chance.choices([*_ODD, *characters, *"安妮喜欢绿茶 ab,。"], k=chance.randrange(30)))
        for _ in range(800)
    ]
    for text in (*chance.sample(texts, 800), *mixed):
        second = chance.choice(texts) * chance.choice((1, 5))
        for given in ((text,), (text, second)):
            expected, found = library.encode(*given), ours.encode(*given)
            assert (found.ids, found.type_ids) == (expected.ids, expected.type_ids), given
        alone = library.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, add_special_tokens=False).ids == alone, text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"lowercase":true', b'"lowercase":false'),
        (b'"type":"TemplateProcessing"', b'"type":"BertProcessing"'),
        (b'"behavior":"Isolated"', b'"behavior":"Removed"'),
        (b"{", b"["),
    ],
)
def test_a_file_of_another_form_is_left_to_the_library(before: bytes, after: bytes):
    compact = _DATA.replace(b'": ', b'":')
    assert before in compact
    assert wordpiece_of(compact.replace(before, after, 1)) is None


def test_each_word_of_the_vocabulary_is_known_by_itself():
    """Also those that are the same two bytes in memory, such as "my" and a Chinese character."""
    ours, library = wordpiece_of(_DATA), Tokenizer.from_str(_DATA.decode())
    assert ours is not None
    words = sorted({it.removeprefix("##") for it in json.loads(_DATA)["model"]["vocab"]})
    # Every tenth, and all of one or two letters.
    for word in {*words[::10], *(it for it in words if len(it) < 3)}:
        expected = library.encode(word, add_special_tokens=False).ids
        assert ours.encode(word, add_special_tokens=False).ids == expected, word
