"""Pairs about what there may be several of: who speaks French may speak German, too.

`several.tsv` has such sentences with some of the values that they may have at the same time. Any
two are different. A few are held back to measure with.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

from training.judge.variants import Pair

_FILE = Path(__file__).with_name("several.tsv")
_SUBJECTS = {
    "en": ("User", "I", "Ann", "Bob", "My brother", "Priya", "The user", "Marek"),
    "zh": ("用户", "我", "小王", "李姐", "我爸", "阿宁", "老张", "室友"),
}
_IRREGULAR = {"has": "have", "is": "am", "can": "can", "goes": "go", "worked": "worked"}
_IRREGULAR |= {"met": "met", "bought": "bought", "teaches": "teach"}
_HELD_BACK = 7  # every so many sentences one
_WEIGHT = 2.0


def pairs_of_several(draw: random.Random, *, held: bool) -> Iterator[Pair]:
    """Yield every two values of each sentence, of one subject."""
    for number, line in enumerate(_FILE.read_text("utf-8").splitlines()):
        language, sentence, values = line.split("\t")
        if (number % _HELD_BACK == 0) is not held:
            continue
        for old, new in itertools.permutations(values.split("|"), 2):
            subject = draw.choice(_SUBJECTS[language])
            texts = (_filled(sentence, subject, value) for value in (old, new))
            yield Pair("different", *texts, _WEIGHT, "several")


def _filled(sentence: str, subject: str, value: str) -> str:
    if subject == "I" and sentence.startswith("{s} "):
        _, verb, rest = sentence.split(" ", 2)
        sentence = f"{{s}} {_IRREGULAR.get(verb, verb.removesuffix('s'))} {rest}"
    return sentence.format(s=subject, v=value)
