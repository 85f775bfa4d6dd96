"""The readers of the sources, on a few lines of each form."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from training.sources import dialogues, gettext, markdown, markup, sentences, words
from training.sources.rows import Pair, companions, sampled, short_translations, translations

_PO = """
# A translator, 2024
msgid ""
msgstr "Language: zh_CN\\n"

#: ../../library/key.rst:1
msgid ""
"The :class:`dict` keeps ``keys`` "
"in order."
msgstr "字典 :class:`dict` 按顺序保存 ``键``。"

#: ../../library/key.rst:2
#, fuzzy
msgid "Not sure."
msgstr "不确定。"

msgid "Not translated."
msgstr ""
"""

_ENGLISH = """---
title: Moving house
---
First we pack the kitchen.

A paragraph that nobody translated, about Paris in 1999.

## Keys {#keys}

- Ask `Rui` for the spare key.
- Close the door.

```sh
make move
```

You are done in [ten minutes](/ten).
"""
_CHINESE = """---
title: 搬家
---
我们先打包厨房。

## 钥匙 {#keys}

- 向 `Rui` 要备用钥匙。
- 关门。

```sh
make move
```

[十分钟](/ten)后就完成了。
"""


_LOG = {"log": [{"text": "你好"}, {"text": "在"}]}


def _zipped(found: object) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("val.json", json.dumps(found))
    return packed.getvalue()


def test_gettext_entries_are_joined_and_fuzzy_ones_left_out():
    assert list(gettext.plain_entries(_PO)) == [
        ("字典 dict 按顺序保存 键。", "The dict keeps keys in order.")
    ]


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("See [the **guide**](/x) and `code`.", "See the guide and code."),
        ('A {{< glossary_tooltip text="Pod" term_id="pod" >}} runs', "A Pod runs"),
        (
            '{{domxref("Element.id")}} is a <em>string</em> &amp; more',
            "Element.id is a string & more",
        ),
        ("![a picture](x.png) snake_case stays", "snake_case stays"),
    ],
)
def test_markdown_is_read_without_its_marks(marked: str, plain: str):
    assert markup.plain_markdown(marked) == plain


def test_pages_are_aligned_though_one_has_a_paragraph_more():
    pairs = list(markdown.aligned(markdown.blocks(_CHINESE), markdown.blocks(_ENGLISH)))
    assert ("我们先打包厨房。", "First we pack the kitchen.") in pairs
    assert ("向 Rui 要备用钥匙。", "Ask Rui for the spare key.") in pairs
    assert ("十分钟后就完成了。", "You are done in ten minutes.") in pairs
    assert not [english for _, english in pairs if "nobody" in english]


def test_a_page_may_hold_both_languages():
    commented = "<!--\nClose the kitchen door.\n-->\n关上厨房的门。\n"
    in_turn = "Close the kitchen door.\n\n关上厨房的门。\n"
    expected = [("关上厨房的门。", "Close the kitchen door.")]
    assert list(markdown.commented(commented)) == expected
    assert list(markdown.in_turn(in_turn)) == expected


def test_headings_lead_to_their_paragraph_and_paragraphs_to_the_next():
    first, second = (
        "备用钥匙放在厨房门后面的小盒子里，" * 2,
        "要是找不到，就去问住在楼下的房东太太。" * 2,
    )
    page = f"# 房子\n\n## 钥匙\n\n{first}\n\n{second}\n"
    assert list(markdown.companions_of(page)) == [("房子 钥匙", first), (first, second)]


def test_dialogues_become_turns_and_replies():
    kdconv = json.dumps([{"messages": [{"message": "你好"}, {"message": "你好呀"}]}])
    assert list(dialogues.replies(dialogues.kdconv(kdconv))) == [("你好", "你好呀")]


def test_dialogues_in_two_languages_are_paired_turn_by_turn():
    chinese = dialogues.zipped(_zipped({"1": {"messages": [{"content": "几点？"}]}, "2": _LOG}))
    english = dialogues.zipped(_zipped({"1": {"log": [{"text": "What 's the time ?"}]}}))
    assert list(dialogues.same_turns(chinese, english)) == [("几点？", "What 's the time ?")]
    assert dialogues.detokenised("What 's the time ?") == "What's the time?"


def test_sentences_and_verses_are_paired():
    listed = "Hi.\t嗨。\tCC-BY 2.0\nHi.\t你好。\tCC-BY 2.0\n"
    pairs = list(sentences.tatoeba(listed))
    assert pairs == [("嗨。", "Hi."), ("你好。", "Hi.")]
    assert list(sentences.paraphrases(pairs)) == [("嗨。", "你好。")]
    usfx = '<book id="GEN"><c id="1"/><v id="1"/>起初<f>注</f>神创造天地。<ve/></book>'
    osis = (
        '<osis xmlns="http://www.bibletechnologies.net/2003/OSIS/namespace"><verse'
        ' osisID="Gen.1.1" sID="a"/>In the beginning<note>x</note> God made all.<verse eID="a"/>'
        "</osis>"
    )
    verses = sentences.same_verses(sentences.usfx_verses(usfx), sentences.osis_verses(osis))
    assert list(verses) == [("起初神创造天地。", "In the beginning God made all.")]


def test_words_get_their_meaning_from_wordnet_and_from_use():
    english = words.english_synsets(["02084071-n:\n  ili: i1\n  members:\n  - dog\n  - hound\n"])
    found = words.wordnet("02084071-n\tcmn:lemma\t狗\n02084071-n\tcmn:lemma\t聪明的\n",
                          "i1\t02084071-n\n", english)  # fmt: skip
    assert words.wordnet_glosses(found) == {"狗": "dog", "聪明的": "dog", "聪明": "dog"}
    assert list(words.synonyms(found)) == [("狗", "聪明的")]
    seen = [(["钥匙", "在"], ["key", "here"]), (["钥匙"], ["key"])] * 3
    assert words.aligned_words(seen)["钥匙"] == "key"
    assert list(words.same_leaves({"a": {"b": "狗"}, "x": 1}, {"a": {"b": "dog"}})) == [
        ("狗", "dog")
    ]


def test_only_pairs_that_can_be_translations_stay():
    rows = [("关门。", "Close the door."), ("关门。", "关门"), ("API", "API"), ("门", "x" * 90)]
    assert list(translations(rows)) == [Pair("关门。", "Close the door.")]
    assert list(short_translations([("门", "door"), ("door", "门")])) == [Pair("门", "door")]
    assert list(companions([("关上厨房的门", "关上厨房的门"), ("在吗", "在的")])) == []


def test_a_sample_keeps_the_order_and_is_always_the_same():
    pairs = [Pair(str(number), "x") for number in range(50)]
    chosen = sampled([*pairs, *pairs], 10)
    assert len(chosen) == 10
    assert chosen == sampled(pairs, 10) == sorted(chosen, key=lambda it: int(it.first))
