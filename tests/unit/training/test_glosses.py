"""One plain English gloss stands for each Chinese word."""

from __future__ import annotations

import pytest

from training.embedder.glosses import choose


def gloss(word: str, *entries: str) -> str | None:
    return choose([f"{word} {word} {entry}\n" for entry in entries]).words.get(word)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("[ka1 fei1] /coffee (loanword)/CL:杯[bei1]/", "coffee"),
        ("[xi3 huan5] /to like; to be fond of/", "like"),
        ("[mei2 gui1] /rose, rugosa rose/", "rose"),
        ("[gong1 ping2] /to be fair/", "fair"),
        ("[bang1 zhu4] /to give sb a hand with sth/", "give a hand with"),
        ("[de5] /(used after an attribute)/of; ~'s (possessive particle)/", "of"),
        ("[yi1 jian4] /lit. one arrow, two hawks/fig. to kill two birds/", "kill two birds"),
        ("[shen2 me5] /what?/something/", "what"),
        ("[zhi1] /classifier for birds/CL:個|个[ge4]/", None),
        ("[chen2] /old variant of 沉[chen2]/", None),
        ("[Nan2 jing1] /Nanjing subprovincial city on the Changjiang/", "Nanjing"),
        ("[Zhou1 er4] /Tuesday/", "Tuesday"),
    ],
)
def test_the_first_real_translation_is_taken_plainly(entry: str, expected: str | None):
    assert gloss("词", entry) == expected


def test_a_common_word_goes_before_a_name_spelled_the_same():
    assert gloss("王", "[Wang2] /surname Wang/Wang Island/", "[wang2] /king or monarch/") == (
        "king or monarch"
    )


def test_the_reading_with_most_meanings_is_the_everyday_one():
    accounting = "[kuai4] /to balance an account/accounting/"
    ability = "[hui4] /can; to know how to/to be likely to/to meet/"

    assert gloss("会", accounting, ability) == gloss("会", ability, accounting) == "can"


def test_traditional_headwords_are_found_by_their_simplified_form():
    glosses = choose(["電腦 电脑 [dian4 nao3] /computer/\n", "# a comment\n", "\n"])

    assert glosses.words == {"电脑": "computer"}


def test_surnames_are_kept_with_their_spelling():
    glosses = choose(
        [
            "馮 冯 [Feng2] /surname Feng/\n",
            "歐陽 欧阳 [Ou1 yang2] /two-character surname Ouyang/\n",
            "里 里 [Li3] /Li (surname)/\n",
        ]
    )

    assert glosses.surnames == {"冯": "Feng", "欧阳": "Ouyang", "里": "Li"}
    assert glosses.words == {"欧阳": "Ouyang"}


def test_characters_are_kept_with_the_spelling_of_their_everyday_reading():
    glosses = choose(
        [
            "偉 伟 [wei3] /big/large/great/\n",
            "綠 绿 [lu:4] /green/\n",
            "會 会 [kuai4] /to balance an account/accounting/\n",
            "會 会 [hui4] /can; to know how to/to be likely to/to meet/\n",
            "電腦 电脑 [dian4 nao3] /computer/\n",
        ]
    )

    assert glosses.readings == {"伟": "wei", "绿": "lu", "会": "hui"}
